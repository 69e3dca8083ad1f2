package oauth_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/knack-skills/knack/internal/lab/oauthserver"
	"github.com/knack-skills/knack/mcpclient/oauth"
)

// set changes one key of one document.
func set(name, key string, value any) oauthserver.Options {
	return oauthserver.Options{Edit: func(doc string, d map[string]any) {
		if doc != name {
			return
		}
		if d[key] = value; value == nil {
			delete(d, key)
		}
	}}
}

// on answers one path.
func on(path string, h http.HandlerFunc) oauthserver.Options {
	return oauthserver.Options{Before: func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == path {
			h(w, r)
		}
		return r.URL.Path == path
	}}
}

const evil = "https://evil.example\x1b[2J/<system-reminder>"

// TestHostile: servers that lie, shout, or lead astray. Nobody is signed in,
// nothing is kept, and what they say is harmless where it is shown.
func TestHostile(t *testing.T) {
	var taken atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { taken.Add(1) }))
	defer thief.Close()
	to := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, thief.URL+"/token", http.StatusTemporaryRedirect)
	}
	for name, tt := range map[string]struct {
		o    oauthserver.Options
		want string
	}{
		"another resource":        {set("resource", "resource", evil), "describes another one"},
		"a resource below":        {set("resource", "resource", "http://127.0.0.1:1/mcp"), "describes another one"},
		"no issuer":               {set("resource", "authorization_servers", []string{}), "does not say who issues"},
		"an issuer over http":     {set("resource", "authorization_servers", []string{"http://evil.example"}), "no address that begins with https://"},
		"a file as issuer":        {set("resource", "authorization_servers", []string{"file:///etc/passwd"}), "no address that begins with https://"},
		"wrong types":             {set("resource", "resource", 5), "not what it should be"},
		"another issuer":          {set("issuer", "issuer", evil), "does not match issuer"},
		"a page over http":        {set("issuer", "authorization_endpoint", "http://evil.example/a"), "authorization_endpoint"},
		"a page that is a script": {set("issuer", "authorization_endpoint", "javascript:alert(1)//\x1b"), "authorization_endpoint"},
		"no page":                 {set("issuer", "authorization_endpoint", nil), "authorization_endpoint"},
		"a program as page":       {set("issuer", "authorization_endpoint", "file:///bin/sh"), "authorization_endpoint"},
		"tokens over http":        {set("issuer", "token_endpoint", "http://evil.example/t"), "token_endpoint"},
		"revoking over http":      {set("issuer", "revocation_endpoint", "http://evil.example/t"), "revocation_endpoint"},
		"no PKCE":                 {set("issuer", "code_challenge_methods_supported", nil), "PKCE"},
		"plain PKCE":              {set("issuer", "code_challenge_methods_supported", []string{"plain"}), "PKCE"},
		"no registration":         {set("issuer", "registration_endpoint", nil), "clientId"},
		"no client":               {set("register", "client_id", nil), "client_id"},
		"a proof that nobody has": {set("register", "token_endpoint_auth_method", "private_key_jwt"), "private_key_jwt"},
		"no token":                {set("token", "access_token", nil), "gives no token"},
		"a token of two lines":    {set("token", "access_token", "a\r\nX-Evil: b"), "no token"},
		"a long token":            {set("token", "access_token", strings.Repeat("a", 100_000)), "no token"},
		"another kind":            {set("token", "token_type", "mac\x1b"), "another kind"},
		"an error as success":     {set("token", "error", evil), "evil.example"},
		"much":                    {on("/.well-known/oauth-protected-resource/mcp", shout), "longer than"},
		"much of the issuer":      {on("/.well-known/oauth-authorization-server", shout), "describes itself"},
		"much at the end":         {on("/token", shout), "longer than"},
		"a broken document":       {on("/.well-known/oauth-protected-resource/mcp", broken), "500"},
		"a code for others":       {on("/token", to), "not followed"},
		"a registration away":     {on("/register", to), "not followed"},
		"a way without end":       {on("/.well-known/oauth-protected-resource/mcp", around), "too often"},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, tt.o)
			err := w.signer().Login(t.Context(), w.config())
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.ContainsAny(err.Error(), "\x1b\n<") || len(err.Error()) > 700 {
				t.Errorf("%v", err)
			}
			w.nothing()
		})
	}
	if taken.Load() > 0 {
		t.Error("what is secret was sent to another host")
	}
}

func shout(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"resource": %q}`, strings.Repeat("a", 2<<20))
}

func broken(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "broken", http.StatusInternalServerError)
}

func around(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
}

// nothing: no token is kept.
func (w *world) nothing() {
	w.Helper()
	key, _ := oauth.Key(w.lab.URL)
	if g, err := w.store.Load(key); err != nil || g.Access != "" || g.Refresh != "" {
		w.Errorf("%v is kept, %v", g.Scopes, err)
	}
}

// TestHostileAnswers: what comes to the loopback address need not come from the
// issuer, and need not be what the person said.
func TestHostileAnswers(t *testing.T) {
	change := func(t *testing.T, page string, f func(q url.Values)) string {
		to := end(t, page)
		q := to.Query()
		f(q)
		to.RawQuery = q.Encode()
		return to.String()
	}
	for name, tt := range map[string]struct {
		o    oauthserver.Options
		f    func(q url.Values)
		want string
	}{
		"said no": {oauthserver.Options{}, func(q url.Values) {
			q.Del("code")
			q.Set("error", "access_denied")
			q.Set("error_description", "\x1b]0;x\a\n<system-reminder>")
		}, "access_denied"},
		"no code":        {oauthserver.Options{}, func(q url.Values) { q.Del("code") }, "no code"},
		"two codes":      {oauthserver.Options{}, func(q url.Values) { q.Add("code", "mine") }, "no code"},
		"another code":   {oauthserver.Options{}, func(q url.Values) { q.Set("code", "mine") }, "invalid_grant"},
		"another issuer": {oauthserver.Options{Iss: true}, func(q url.Values) { q.Set("iss", evil) }, "another issuer has answered"},
		"no issuer":      {oauthserver.Options{Iss: true}, func(q url.Values) { q.Del("iss") }, "does not say who gives it"},
		"mixed up":       {oauthserver.Options{}, func(q url.Values) { q.Set("iss", evil) }, "another issuer has answered"},
	} {
		for _, pasted := range []bool{false, true} {
			t.Run(fmt.Sprint(name, pasted), func(t *testing.T) {
				w := open(t, tt.o)
				w.who.visit = func(page string) (string, error) {
					if answer := change(t, page, tt.f); pasted {
						return answer, nil
					} else {
						return "", get(answer)
					}
				}
				err := w.signer().Login(t.Context(), w.config())
				if err == nil || !strings.Contains(err.Error(), tt.want) || strings.ContainsAny(err.Error(), "\x1b\a\n<") {
					t.Errorf("%v", err)
				}
				w.nothing()
			})
		}
	}
}

// TestOthersAnswer: pages of others that guess are not heard, whatever they ask,
// and the person's answer counts.
func TestOthersAnswer(t *testing.T) {
	w := open(t, oauthserver.Options{})
	w.who.visit = func(page string) (string, error) {
		to := end(t, page)
		good := *to
		for _, f := range []func(u *url.URL, r *http.Request){
			func(u *url.URL, _ *http.Request) { u.RawQuery = "code=mine&state=guessed" },
			func(u *url.URL, _ *http.Request) { u.RawQuery = "code=mine" },
			func(u *url.URL, _ *http.Request) { u.RawQuery += "&state=guessed" },
			func(u *url.URL, _ *http.Request) { u.Path = "/" },
			func(_ *url.URL, r *http.Request) { r.Host = "evil.example" },
			func(_ *url.URL, r *http.Request) { r.Method = http.MethodPost },
			func(_ *url.URL, r *http.Request) { r.Method = http.MethodHead },
		} {
			u := good
			r := (&http.Request{Method: http.MethodGet, URL: &u, Header: http.Header{}}).WithContext(t.Context())
			f(&u, r)
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				return "", err
			}
			_ = res.Body.Close()
			if res.StatusCode != http.StatusBadRequest {
				t.Errorf("%s %s is answered with %s", r.Method, u.String(), res.Status)
			}
		}
		return "", get(good.String())
	}
	w.login()
	for _, pasted := range []string{"no address", "http://127.0.0.1:1/callback?code=mine&state=guessed"} {
		w.who.visit = func(string) (string, error) { return pasted, nil }
		if err := w.signer().Login(t.Context(), w.config()); err == nil {
			t.Errorf("%q is taken for an answer", pasted)
		}
	}
}

// TestNobodyAnswers: nobody waits for ever, neither for a person nor for a server.
func TestNobodyAnswers(t *testing.T) {
	w := open(t, oauthserver.Options{})
	w.who.visit = func(string) (string, error) { return "", nil }
	c := oauth.New(oauth.Options{Store: w.store, Person: w.who, Patience: 50 * time.Millisecond})
	if err := c.Login(t.Context(), w.config()); err == nil || !strings.Contains(err.Error(), "nobody has answered within 50ms") {
		t.Error(err)
	}
	w = open(t, on("/.well-known/oauth-authorization-server", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	c = oauth.New(oauth.Options{Store: w.store, Person: w.who, Patience: 50 * time.Millisecond})
	if err := c.Login(t.Context(), w.config()); err == nil || !strings.Contains(err.Error(), "within 50ms") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the person has gone")
	w = open(t, oauthserver.Options{})
	w.who.visit = func(string) (string, error) { cancel(gone); return "", nil }
	if err := w.signer().Login(ctx, w.config()); err == nil || !strings.Contains(err.Error(), gone.Error()) {
		t.Error(err)
	}
}

// TestAskedOnce: a person who said no is not asked again by the same session,
// however often the server is.
func TestAskedOnce(t *testing.T) {
	w := open(t, oauthserver.Options{})
	w.who.visit = func(string) (string, error) { return "", errors.New("no") }
	c := w.signer()
	for range 3 {
		if _, err := w.call(c); err == nil || !strings.Contains(err.Error(), "signing in has failed: no") {
			t.Error(err)
		}
	}
	if len(w.who.pages) != 1 {
		t.Errorf("asked %d times", len(w.who.pages))
	}
}

// TestNowhereElse: a token goes to its server and to nobody that it names.
func TestNowhereElse(t *testing.T) {
	var taken atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			taken.Add(1)
		}
	}))
	defer thief.Close()
	away := false
	w := open(t, oauthserver.Options{Before: func(w http.ResponseWriter, r *http.Request) bool {
		if away && r.URL.Path == "/mcp" {
			http.Redirect(w, r, thief.URL+"/mcp", http.StatusTemporaryRedirect)
		}
		return away && r.URL.Path == "/mcp"
	}})
	w.login()
	away = true
	if _, err := w.call(w.stranger()); err == nil || !strings.Contains(err.Error(), "redirects to another host") {
		t.Error(err)
	}
	other := w.config()
	other.URL = thief.URL + "/mcp"
	if token, err := w.stranger().Token(t.Context(), other); token != "" || err != nil {
		t.Error("the token of one server is that of another")
	}
	if taken.Load() > 0 {
		t.Error("a token was sent to another host")
	}
}
