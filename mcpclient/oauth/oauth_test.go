package oauth_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/knack-skills/knack/internal/lab/oauthserver"
	"github.com/knack-skills/knack/mcpclient"
	"github.com/knack-skills/knack/mcpclient/oauth"
	"github.com/knack-skills/knack/mcpclient/sdk"
	"github.com/knack-skills/knack/mcpconfig"
)

const patience = 20 * time.Second

// A person says yes: the browser follows where it is sent. Whoever changes the
// way of the answer is the attacker.
type person struct {
	t     testing.TB
	visit func(page string) (answer string, err error) // nil follows
	mu    sync.Mutex
	pages []string
}

func (p *person) Visit(_ context.Context, page string) (string, error) {
	p.mu.Lock()
	p.pages = append(p.pages, page)
	p.mu.Unlock()
	if p.visit != nil {
		return p.visit(page)
	}
	return "", get(page)
}

func get(page string) error {
	res, err := http.Get(page)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return errors.New("the page says " + res.Status)
	}
	return nil
}

// end is where a browser is sent in the end, without going there.
func end(t testing.TB, page string) *url.URL {
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := c.Get(page)
	if err != nil {
		t.Error(err)
		return &url.URL{}
	}
	defer res.Body.Close()
	to, err := res.Location()
	if err != nil {
		t.Errorf("the page says %s: %v", res.Status, err)
		return &url.URL{}
	}
	return to
}

// A world is a server, and a person with a place to keep things.
type world struct {
	*testing.T
	lab   *oauthserver.Server
	store oauth.Files
	who   *person
}

func open(t *testing.T, o oauthserver.Options) *world {
	return &world{T: t, lab: oauthserver.Start(t, o), store: oauth.Files{Dir: t.TempDir()}, who: &person{t: t}}
}

func (w *world) config() mcpconfig.Server {
	return mcpconfig.Server{Name: "guarded", Transport: mcpconfig.HTTP, URL: w.lab.URL}
}

// signer has a person; stranger has none.
func (w *world) signer() *oauth.Client {
	return oauth.New(oauth.Options{Store: w.store, Person: w.who, Remedy: "run `login NAME`"})
}

func (w *world) stranger() *oauth.Client {
	return oauth.New(oauth.Options{Store: w.store, Remedy: "run `login NAME`"})
}

func (w *world) login() {
	w.Helper()
	if err := w.signer().Login(w.Context(), w.config()); !errors.Is(err, oauth.ErrInFile) {
		w.Fatal(err)
	}
}

// call connects as a session does, and calls the tool.
func (w *world) call(access mcpclient.Access) (string, error) {
	w.Helper()
	f := mcpclient.Start(mcpclient.Options{Servers: []mcpconfig.Server{w.config()}, Dialer: sdk.Dialer{Version: "test"}, Access: access})
	defer func() {
		if err := f.Close(); err != nil {
			w.Error(err)
		}
	}()
	if silent := f.Wait(w.Context(), patience, nil); len(silent) > 0 {
		return "", errors.New("silent")
	}
	r, err := f.Servers()[0].Call(w.Context(), "echo", []byte(`{"text":"hi"}`), nil)
	return mcpclient.Text(r.Content), err
}

// TestLogin: signing in, using what was given, renewing it, and signing out.
func TestLogin(t *testing.T) {
	for name, o := range map[string]oauthserver.Options{
		"public":  {},
		"scopes":  {Scopes: []string{"read", "list"}},
		"iss":     {Iss: true},
		"basic":   {Basic: true},
		"refresh": {Lifetime: 10 * time.Second}, // ends too soon, and is renewed before each use
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, o)
			if _, err := w.call(w.stranger()); err == nil || !strings.Contains(err.Error(), "run `login guarded`") {
				t.Fatalf("without a token: %v", err)
			}
			w.login()
			if got, err := w.call(w.stranger()); err != nil || !strings.Contains(got, "echo: hi") {
				t.Fatalf("%q %v", got, err)
			}
			q := w.lab.Pages()[0]
			if q["scope"] != strings.Join(o.Scopes, " ") || q["resource"] != w.lab.URL || !strings.HasPrefix(q["redirect_uri"], "http://127.0.0.1:") {
				t.Errorf("the page was asked %v", q)
			}
			w.lab.Forget(false)
			if got, err := w.call(w.stranger()); err != nil || !strings.Contains(got, "echo: hi") {
				t.Fatalf("after the tokens ended: %q %v", got, err)
			}
			if w.lab.Seen("refresh_token") == 0 || len(w.lab.Pages()) != 1 {
				t.Errorf("%d renewals, %d pages", w.lab.Seen("refresh_token"), len(w.lab.Pages()))
			}
			if was, err := w.stranger().Logout(t.Context(), w.lab.URL); !was || err != nil {
				t.Fatal(was, err)
			}
			if _, err := w.call(w.stranger()); err == nil || w.lab.Seen("/revoke") != 1 {
				t.Errorf("after signing out: %v, %d", err, w.lab.Seen("/revoke"))
			}
			if was, err := w.stranger().Logout(t.Context(), w.lab.URL); was || err != nil {
				t.Fatal(was, err)
			}
		})
	}
}

// TestPreregistered: what an entry says about the client.
func TestPreregistered(t *testing.T) {
	for _, basic := range []bool{false, true} {
		w := open(t, oauthserver.Options{Client: [2]string{"by hand", "s3cret:%/"}, Basic: basic})
		if err := w.signer().Login(t.Context(), w.config()); err == nil || !strings.Contains(err.Error(), `"oauth": {"clientId"`) {
			t.Fatal(err)
		}
		c := w.config()
		c.OAuth = mcpconfig.OAuth{ClientID: "by hand", ClientSecret: "s3cret:%/", Scopes: []string{"mine"}}
		if err := w.signer().Login(t.Context(), c); !errors.Is(err, oauth.ErrInFile) {
			t.Fatal(err)
		}
		if q := w.lab.Pages()[0]; q["scope"] != "mine" || q["client_id"] != "by hand" {
			t.Error(q)
		}
	}
}

// TestNotSignedInAnyMore: a session says so once, and asks no more.
func TestNotSignedInAnyMore(t *testing.T) {
	w := open(t, oauthserver.Options{})
	w.login()
	w.lab.Forget(true)
	c := w.stranger()
	_, err := w.call(c)
	if err == nil || !strings.Contains(err.Error(), "not signed in any more") || !strings.Contains(err.Error(), "run `login guarded`") || strings.ContainsAny(err.Error(), "\x1b\n<") {
		t.Errorf("%q", err)
	}
	asked := len(w.lab.Authorizations())
	if _, err := w.call(c); err == nil {
		t.Error("let in")
	}
	if n := len(w.lab.Authorizations()) - asked; n > 4 { // the SDK asks twice, to find the version
		t.Errorf("a refused server is asked %d times", n)
	}
	if len(w.lab.Pages()) != 1 {
		t.Error("a page was opened in a session")
	}
}

// TestStepUp: a call needs more than was given. A session says so, and the next
// time somebody signs in they are asked for it.
func TestStepUp(t *testing.T) {
	o := oauthserver.Options{Scopes: []string{"read"}, CallScope: "write"}
	w := open(t, o)
	w.login()
	c := w.stranger()
	for range 2 {
		if _, err := w.call(c); err == nil || !strings.Contains(err.Error(), "rights that you have not given: write; run `login guarded`") {
			t.Fatal(err)
		}
	}
	w.login()
	if got, err := w.call(w.stranger()); err != nil || !strings.Contains(got, "echo: hi") {
		t.Fatalf("%q %v", got, err)
	}
	if q := w.lab.Pages()[1]; q["scope"] != "read write" {
		t.Error(q)
	}
	w = open(t, o) // with somebody there
	if got, err := w.call(w.signer()); err != nil || !strings.Contains(got, "echo: hi") || len(w.lab.Pages()) != 2 {
		t.Errorf("%q %v %v", got, err, w.lab.Pages())
	}
}

// TestTogether: several processes, and several requests of each, renew once.
func TestTogether(t *testing.T) {
	w := open(t, oauthserver.Options{})
	w.login()
	w.lab.Forget(false)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got, err := w.call(w.stranger()); err != nil || !strings.Contains(got, "echo: hi") {
				t.Errorf("%q %v", got, err)
			}
		})
	}
	wg.Wait()
	if n := w.lab.Seen("refresh_token"); n != 1 {
		t.Errorf("%d renewals", n)
	}
}
