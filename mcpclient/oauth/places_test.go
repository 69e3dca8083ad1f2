package oauth_test

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/knack-skills/knack/internal/lab/oauthserver"
	"github.com/knack-skills/knack/mcpclient"
	"github.com/knack-skills/knack/mcpclient/oauth"
	"github.com/knack-skills/knack/mcpconfig"
)

// TestCallbackPort: a port that is fixed belongs to an address with localhost,
// and is answered at it.
func TestCallbackPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	w := open(t, oauthserver.Options{Client: [2]string{"by-hand", ""}})
	c := w.config()
	c.OAuth = mcpconfig.OAuth{ClientID: "by-hand", CallbackPort: l.Addr().(*net.TCPAddr).Port}
	if err := w.signer().Login(t.Context(), c); err == nil || !strings.Contains(err.Error(), "cannot be waited for") {
		t.Errorf("a port that others have: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.signer().Login(t.Context(), c); !errors.Is(err, oauth.ErrInFile) {
		t.Fatal(err)
	}
	if got := w.lab.Pages()[0]["redirect_uri"]; got != "http://localhost:"+port+"/callback" {
		t.Error(got)
	}
}

// TestNamedIssuer: an entry may say where the issuer describes itself, for a
// server that says nothing; at another host nobody is believed.
func TestNamedIssuer(t *testing.T) {
	nothing := on("/.well-known/oauth-protected-resource/mcp", http.NotFound)
	w := open(t, nothing)
	c := w.config()
	if err := w.signer().Login(t.Context(), c); err == nil {
		t.Error("nobody issues tokens, and there is one")
	}
	c.OAuth.Metadata = w.lab.Issuer + "/.well-known/oauth-authorization-server"
	if err := w.signer().Login(t.Context(), c); !errors.Is(err, oauth.ErrInFile) {
		t.Error(err)
	}
	lies := set("issuer", "issuer", "http://127.0.0.1:1")
	lies.Before = nothing.Before
	w = open(t, lies)
	c = w.config()
	c.OAuth.Metadata = w.lab.Issuer + "/.well-known/oauth-authorization-server"
	if err := w.signer().Login(t.Context(), c); err == nil || !strings.Contains(err.Error(), "describes another issuer") {
		t.Error(err)
	}
	w.nothing()
}

// TestEverybody: at a server that lets everybody in there is nothing to sign in
// for, unless it says where.
func TestEverybody(t *testing.T) {
	free := oauthserver.Options{Before: func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/mcp" {
			w.WriteHeader(http.StatusOK)
			return true
		}
		return false
	}}
	w := open(t, free)
	w.login()
	hidden := oauthserver.Options{Before: func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
			http.NotFound(w, r)
			return true
		}
		return free.Before(w, r)
	}}
	w = open(t, hidden)
	if err := w.signer().Login(t.Context(), w.config()); err == nil || !strings.Contains(err.Error(), "lets everybody in") {
		t.Error(err)
	}
}

// TestNotThere: where nothing is kept for lack of a place, signing in says so; an
// issuer that is away is no reason to forget what it issued.
func TestNotThere(t *testing.T) {
	w := open(t, oauthserver.Options{})
	w.store.Dir = ""
	if err := w.signer().Login(t.Context(), w.config()); err == nil || !strings.Contains(err.Error(), "is not kept") {
		t.Error(err)
	}
	away := false
	w = open(t, oauthserver.Options{Before: func(w http.ResponseWriter, r *http.Request) bool {
		if away && r.URL.Path == "/token" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		return false
	}})
	w.login()
	w.lab.Forget(false)
	away = true
	c := w.stranger()
	token, err := c.Token(t.Context(), w.config())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Refused(t.Context(), w.config(), mcpclient.Refusal{Token: token, Status: http.StatusUnauthorized}); err == nil || !strings.Contains(err.Error(), "the token is not renewed") {
		t.Error(err)
	}
	away = false
	if got, err := w.call(w.stranger()); err != nil || !strings.Contains(got, "echo: hi") {
		t.Errorf("%q %v", got, err)
	}
}
