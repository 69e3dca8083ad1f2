package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/knack-skills/knack/mcpclient"
	"github.com/knack-skills/knack/mcpconfig"
)

// challenged is what a server demands of a request that it refused.
type challenged struct {
	metadata string   // where it describes itself
	scopes   []string // the rights that are needed
	optional bool     // it has refused nothing
}

// maxChallenge bounds what is read of the headers of a refusal, in bytes.
const maxChallenge = 8 << 10

// challenge reads the headers of a refusal. What is no challenge is none: where
// the server describes itself is found out without one.
func challenge(headers []string) (out challenged) {
	for _, h := range headers {
		if len(h) > maxChallenge {
			continue
		}
		all, err := oauthex.ParseWWWAuthenticate([]string{h})
		if err != nil {
			continue
		}
		for _, one := range all {
			if one.Scheme != "bearer" {
				continue
			}
			if out.metadata == "" {
				out.metadata = one.Params["resource_metadata"]
			}
			if len(out.scopes) == 0 {
				out.scopes = tokens(strings.Fields(one.Params["scope"]))
			}
		}
	}
	return out
}

// maxScopes is how many scopes are asked for.
const maxScopes = 100

// tokens leaves out what is no scope.
func tokens(scopes []string) []string {
	out := slices.DeleteFunc(slices.Clone(scopes), func(s string) bool {
		return s == "" || len(s) > 200 || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' || r == '\\' })
	})
	return out[:min(len(out), maxScopes)]
}

// A realm is who issues tokens for a server.
type realm struct {
	resource string // what the tokens are for
	meta     *oauthex.AuthServerMeta
	scopes   []string // those that the server has
}

// discover finds out who issues tokens for a server.
func (c *Client) discover(ctx context.Context, s mcpconfig.Server, ch challenged, w web) (realm, error) {
	prm, err := resource(ctx, s.URL, ch, w)
	if err != nil {
		return realm{}, err
	}
	if prm == nil && ch.optional && s.OAuth.Metadata == "" {
		return realm{}, errors.New("the server lets everybody in, and does not say where one could sign in")
	}
	var r realm
	switch {
	case prm == nil:
		r, err = older(ctx, s.URL, w)
	default:
		r = realm{resource: prm.Resource, scopes: tokens(prm.ScopesSupported)}
		if s.OAuth.Metadata == "" {
			r.meta, err = issuer(ctx, prm.AuthorizationServers[0], w)
		}
	}
	if err == nil && s.OAuth.Metadata != "" {
		if r.meta, err = described(ctx, s.OAuth.Metadata, w); err != nil {
			err = fmt.Errorf("oauth.authServerMetadataUrl: %w", err)
		}
	}
	if err != nil {
		return realm{}, err
	}
	return r, check(s.URL, r.meta)
}

// older is the realm of a server of the first version of the protocol: it issues
// its tokens itself, at its own host.
func older(ctx context.Context, server string, w web) (realm, error) {
	u, err := url.Parse(server)
	if err != nil {
		return realm{}, err
	}
	origin := u.Scheme + "://" + u.Host
	r := realm{resource: resourceOf(u)}
	r.meta, err = described(ctx, origin+"/.well-known/oauth-authorization-server", w)
	if errors.Is(err, errNone) {
		r.meta, err = issuer(ctx, origin, w)
	}
	return r, err
}

// resourceOf is the name of a server for those who issue tokens.
func resourceOf(u *url.URL) string {
	v := *u
	v.Fragment, v.RawFragment = "", ""
	return v.String()
}

// resource reads how a server describes itself, in the places and the order that
// the protocol names. It is nil when it does not. A description of another server
// is refused, and no other is looked for: somebody wants tokens for it.
func resource(ctx context.Context, server string, ch challenged, w web) (*oauthex.ProtectedResourceMetadata, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	known := *u
	known.RawQuery, known.Fragment, known.RawFragment, known.RawPath = "", "", "", ""
	var places []string
	if ch.metadata != "" {
		places = append(places, ch.metadata)
	}
	const at = "/.well-known/oauth-protected-resource"
	if path := strings.Trim(u.Path, "/"); path != "" {
		known.Path = at + "/" + path
		places = append(places, known.String())
	}
	known.Path = at
	places = append(places, known.String())
	for _, place := range places {
		var prm oauthex.ProtectedResourceMetadata
		err := w.json(ctx, place, &prm)
		switch {
		case errors.Is(err, errNone):
			continue
		case err != nil:
			return nil, fmt.Errorf("how the server describes itself: %w", err)
		case !describes(prm.Resource, u):
			return nil, fmt.Errorf("the server describes another one, %s, and is not believed", shownText(prm.Resource))
		case len(prm.AuthorizationServers) == 0:
			return nil, errors.New("the server does not say who issues tokens for it")
		}
		return &prm, nil
	}
	return nil, nil
}

// describes reports whether a description is one of the server at u: of its
// address, or of one above it.
func describes(resource string, u *url.URL) bool {
	r, err := url.Parse(resource)
	if err != nil || r.User != nil || r.Fragment != "" || r.Scheme != u.Scheme || !strings.EqualFold(r.Host, u.Host) {
		return false
	}
	if r.RawQuery != "" && r.RawQuery != u.RawQuery {
		return false
	}
	return strings.HasPrefix(strings.TrimSuffix(u.Path, "/")+"/", strings.TrimSuffix(r.Path, "/")+"/")
}

// issuer reads how an authorization server describes itself. One that does not has
// its endpoints where the first version of the protocol put them.
func issuer(ctx context.Context, address string, w web) (*oauthex.AuthServerMeta, error) {
	u, err := url.Parse(address)
	if err != nil || !secure(u) || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("who issues tokens for the server is no address that begins with https://: %s", shownText(address))
	}
	meta, err := auth.GetAuthServerMetadata(ctx, address, w.client)
	if err != nil {
		return nil, fmt.Errorf("how %s describes itself: %s", u.Host, shownText(err.Error()))
	}
	if meta == nil {
		root := strings.TrimSuffix(address, "/")
		meta = &oauthex.AuthServerMeta{Issuer: address, AuthorizationEndpoint: root + "/authorize", TokenEndpoint: root + "/token", RegistrationEndpoint: root + "/register",
			CodeChallengeMethodsSupported: []string{"S256"}}
	}
	return meta, nil
}

// described reads a description of which the address is known and the issuer is
// not. It may be of one at that host alone.
func described(ctx context.Context, address string, w web) (*oauthex.AuthServerMeta, error) {
	var first struct {
		Issuer string `json:"issuer"`
	}
	u, err := url.Parse(address)
	if err != nil || !secure(u) {
		return nil, errors.New("it does not begin with https://")
	}
	if err := w.json(ctx, address, &first); err != nil {
		return nil, err
	}
	if i, err := url.Parse(first.Issuer); err != nil || i.Scheme != u.Scheme || i.Host != u.Host {
		return nil, fmt.Errorf("%s describes another issuer, %s, and is not believed", u.Host, shownText(first.Issuer))
	}
	meta, err := oauthex.GetAuthServerMeta(ctx, address, first.Issuer, w.client)
	switch {
	case err != nil:
		return nil, errors.New(shownText(err.Error()))
	case meta == nil:
		return nil, errNone
	}
	return meta, nil
}

// check holds a description against what nobody may go without. Only a server on
// this machine may send the person's browser to this machine.
func check(server string, m *oauthex.AuthServerMeta) error {
	own, err := url.Parse(server)
	if err != nil {
		return err
	}
	if !slices.Contains(m.CodeChallengeMethodsSupported, "S256") {
		return errors.New("who issues tokens for the server does not protect codes on their way (PKCE with S256)")
	}
	for _, one := range []struct{ name, address string }{
		{"authorization_endpoint", m.AuthorizationEndpoint}, {"token_endpoint", m.TokenEndpoint},
		{"registration_endpoint", m.RegistrationEndpoint}, {"revocation_endpoint", m.RevocationEndpoint},
	} {
		if one.address == "" && one.name != "authorization_endpoint" && one.name != "token_endpoint" {
			continue
		}
		u, err := url.Parse(one.address)
		if err != nil || !secure(u) || u.User != nil || u.Fragment != "" || loopback(u.Hostname()) && !loopback(own.Hostname()) {
			return fmt.Errorf("its %s is no address that begins with https://: %s", one.name, shownText(one.address))
		}
	}
	return nil
}

// knock asks a server whether it lets somebody in: with a token, or without. It
// is nil unless the server refuses.
func (c *Client) knock(ctx context.Context, s mcpconfig.Server, token string) (*mcpclient.Refusal, error) {
	method, body := http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	accept := "application/json, text/event-stream"
	if s.Transport == mcpconfig.SSE {
		method, body, accept = http.MethodGet, "", "text/event-stream"
	}
	w, err := c.web(ctx, s.URL)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, webTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, s.URL, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for k, v := range s.Headers {
		r.Header.Set(k, v)
	}
	r.Header.Set("Accept", accept)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := w.client.Transport.RoundTrip(r) // it follows nobody
	if err != nil {
		return nil, fmt.Errorf("the server does not answer: %w", err)
	}
	_ = res.Body.Close() // what it says does not matter
	if res.StatusCode != http.StatusUnauthorized && res.StatusCode != http.StatusForbidden {
		return nil, nil
	}
	return &mcpclient.Refusal{Status: res.StatusCode, Challenges: res.Header.Values("WWW-Authenticate")}, nil
}
