package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/knack-skills/knack/mcpclient"
	"github.com/knack-skills/knack/mcpconfig"
)

// An issuerError is what an issuer said instead of giving a token.
type issuerError struct {
	status int
	code   string // as RFC 6749 has it; "" when it said something else
	text   string
}

// Error implements error. The texts are harmless.
func (e *issuerError) Error() string {
	said := e.code
	if said == "" {
		said = fmt.Sprintf("status %d", e.status)
	}
	if e.text != "" {
		said += " (" + e.text + ")"
	}
	return "the issuer of tokens says " + said
}

// final reports whether asking again is in vain.
func (e *issuerError) final() bool {
	return e.code != "" && e.status < 500 && e.status != http.StatusTooManyRequests && e.code != "temporarily_unavailable" && e.code != "server_error" && e.code != "slow_down"
}

// maxToken bounds a token, in bytes.
const maxToken = 32 << 10

// A ticket is the answer of a token endpoint.
type ticket struct {
	Access      string      `json:"access_token"`
	Type        string      `json:"token_type"`
	Expires     json.Number `json:"expires_in"`
	Refresh     string      `json:"refresh_token"`
	Scope       string      `json:"scope"`
	Error       string      `json:"error"`
	Description string      `json:"error_description"`
}

// ask sends a form to an endpoint of the issuer, as the program that g was given
// to. secret texts never come back in an error.
func (w web) ask(ctx context.Context, endpoint string, g Grant, form url.Values) (ticket, error) {
	form = cloneForm(form)
	if g.Method != Basic {
		form.Set("client_id", g.ClientID)
	}
	if g.Method == Post {
		form.Set("client_secret", g.ClientSecret)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return ticket{}, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	if g.Method == Basic {
		r.SetBasicAuth(url.QueryEscape(g.ClientID), url.QueryEscape(g.ClientSecret))
	}
	res, err := w.client.Do(r)
	if err != nil {
		return ticket{}, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return ticket{}, err
	}
	var t ticket
	bad := json.Unmarshal(data, &t)
	if res.StatusCode/100 != 2 || t.Error != "" {
		return ticket{}, &issuerError{res.StatusCode, shownText(t.Error), shownText(t.Description)}
	}
	if bad != nil && len(data) > 0 {
		return ticket{}, errors.New("what the issuer of tokens says is not what it should be") // it may hold a token
	}
	return t, nil
}

func cloneForm(form url.Values) url.Values {
	out := url.Values{}
	for k, v := range form {
		out[k] = v
	}
	return out
}

// took is g with what the issuer gave.
func took(g Grant, t ticket) (Grant, error) {
	if t.Type != "" && !strings.EqualFold(t.Type, "bearer") {
		return g, fmt.Errorf("the issuer gives a token of another kind, %s", shownText(t.Type))
	}
	for _, token := range []string{t.Access, t.Refresh} {
		if len(token) > maxToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			return g, errors.New("the issuer gives something that is no token")
		}
	}
	if t.Access == "" {
		return g, errors.New("the issuer gives no token")
	}
	g.Access, g.Expires = t.Access, time.Time{}
	if n, err := t.Expires.Float64(); err == nil && n > 0 {
		g.Expires = time.Now().Add(time.Duration(min(n, 10*365*24*3600)) * time.Second).Round(time.Second)
	}
	if t.Refresh != "" {
		g.Refresh = t.Refresh
	}
	if scopes := tokens(strings.Fields(t.Scope)); len(scopes) > 0 {
		g.Scopes = scopes
	}
	return g, nil
}

// errSame leaves a grant as it is.
var errSame = errors.New("nothing changes")

// renew replaces the token of a place that ended or was refused: by the one that
// another process has, or by a new one of the issuer. It is called with the
// place locked; other processes wait, since many issuers take a refresh token
// only once. The error is [*mcpclient.DeniedError] when a person is needed.
func (c *Client) renew(ctx context.Context, s mcpconfig.Server, key string, p *place) error {
	stale := p.grant.Access
	now, err := c.o.Store.Load(key)
	if err != nil {
		return c.stranger(s, "what was kept of signing in cannot be read ("+err.Error()+")")
	}
	if now.Access == stale && now.Refresh == "" {
		return c.over(s, stale)
	}
	var denied error
	err = c.o.Store.Change(key, func(g Grant) (Grant, error) {
		if g.Access != stale && g.Access != "" && (g.Expires.IsZero() || time.Until(g.Expires) > early) {
			p.grant = g
			return g, errSame
		}
		if g.Refresh == "" {
			p.grant, denied = g, c.over(s, g.Access)
			return g, errSame
		}
		// It is not ended half way: the issuer would have taken the old token, and
		// nobody would have the new one.
		next, err := c.refresh(context.WithoutCancel(ctx), key, g)
		var said *issuerError
		switch {
		case errors.As(err, &said) && said.final():
			denied = c.stranger(s, "you are not signed in any more: "+said.Error())
			next = Grant{Wanted: g.Wanted}
		case err != nil:
			return g, err
		}
		p.grant = next
		return next, nil
	})
	if err != nil && !errors.Is(err, errSame) && !errors.Is(err, ErrInFile) {
		return fmt.Errorf("the token is not renewed: %w", err)
	}
	return denied
}

// over says that there is no token, or none any more.
func (c *Client) over(s mcpconfig.Server, token string) *mcpclient.DeniedError {
	if token == "" {
		return c.stranger(s, "it asks you to sign in")
	}
	return c.stranger(s, "you are not signed in any more")
}

// refresh asks the issuer for a new token.
func (c *Client) refresh(ctx context.Context, key string, g Grant) (Grant, error) {
	w, err := c.web(ctx, key)
	if err != nil {
		return g, err
	}
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {g.Refresh}}
	if g.Resource != "" {
		form.Set("resource", g.Resource)
	}
	t, err := w.ask(ctx, g.TokenURL, g, form)
	if err != nil {
		return g, err
	}
	return took(g, t)
}

// revoke tells the issuer that a grant is not used any more, if it wants to know.
func (c *Client) revoke(ctx context.Context, key string, g Grant) error {
	if g.RevokeURL == "" {
		return nil
	}
	w, err := c.web(ctx, key)
	if err != nil {
		return err
	}
	form := url.Values{"token": {g.Access}, "token_type_hint": {"access_token"}}
	if g.Refresh != "" { // it takes the others with it
		form = url.Values{"token": {g.Refresh}, "token_type_hint": {"refresh_token"}}
	}
	_, err = w.ask(ctx, g.RevokeURL, g, form)
	return err
}
