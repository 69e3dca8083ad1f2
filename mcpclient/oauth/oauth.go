// Package oauth signs a person in at MCP servers behind HTTP, as the protocol has
// it: it finds out who issues tokens for a server, introduces this program there,
// lets the person say yes in a browser, keeps what they were given, and renews it
// in silence. It speaks OAuth with the parts of the official Go SDK; its types go
// no further.
//
// A [Client] without a [Person] never signs anybody in: it uses what is kept, and
// says what to do when that is not enough. Everything that servers say is text of
// strangers: bounded, made harmless, and believed only where it concerns
// themselves.
package oauth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/knack-skills/knack/mcpclient"
	"github.com/knack-skills/knack/mcpconfig"
)

// A Person says yes, or no, in a browser.
type Person interface {
	// Visit shows them a page. A session does not wait long for the answer: whoever
	// starts one signs the person in before, with [Client.Login]. It may return before they have answered; the answer
	// comes over the loopback address then. Where their browser runs on another
	// machine it returns the address that the browser was sent to in the end.
	// ctx ends when the answer is there, or is not waited for any more.
	Visit(ctx context.Context, page string) (answer string, err error)
}

// Options is what a client is made of. Store is required.
type Options struct {
	Store  Store
	Person Person // nil means that nobody is there
	Remedy string // what a person does to sign in, with NAME for the server
	Name   string // of this program, for the page on which they say yes
	// Metadata is the address of a document that introduces this program, for
	// servers that read it instead of registering programs; empty means none.
	Metadata string
	HTTP     *http.Client  // nil means one that keeps within bounds
	Patience time.Duration // with a person; zero means five minutes
}

// A Client implements [mcpclient.Access]. It is safe for concurrent use.
type Client struct {
	o Options

	mu   sync.Mutex // guards the map; each place has a lock of its own
	with map[string]*place
}

// A place is what is known about one server.
type place struct {
	mu     sync.Mutex // held while somebody signs in or renews
	loaded bool
	inFile bool // the grant was kept in the second-best place
	grant  Grant
	asked  []string               // scopes that the person was asked for
	failed *mcpclient.DeniedError // how signing in went; nobody is asked twice
}

var _ mcpclient.Access = (*Client)(nil)

// New returns a client.
func New(o Options) *Client {
	if o.Patience == 0 {
		o.Patience = 5 * time.Minute
	}
	if o.Name == "" {
		o.Name = "Knack"
	}
	return &Client{o: o, with: map[string]*place{}}
}

func (c *Client) place(key string) *place {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.with[key]
	if p == nil {
		p = &place{}
		c.with[key] = p
	}
	return p
}

// early is how long before its end a token is renewed.
const early = 30 * time.Second

// Token implements [mcpclient.Access].
func (c *Client) Token(ctx context.Context, s mcpconfig.Server) (string, error) {
	key, ok := Key(s.URL)
	if !ok || s.OAuth.Off {
		return "", nil
	}
	p := c.place(key)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.loaded {
		g, err := c.o.Store.Load(key)
		if err != nil {
			return "", c.stranger(s, "what was kept of signing in cannot be read ("+err.Error()+")")
		}
		p.grant, p.loaded = g, true
	}
	if p.grant.Access == "" || p.grant.Expires.IsZero() || time.Until(p.grant.Expires) > early {
		return p.grant.Access, nil
	}
	if p.grant.Refresh == "" && time.Until(p.grant.Expires) > 0 {
		return p.grant.Access, nil
	}
	if err := c.renew(ctx, s, key, p); err != nil {
		return "", err
	}
	return p.grant.Access, nil
}

// Refused implements [mcpclient.Access].
func (c *Client) Refused(ctx context.Context, s mcpconfig.Server, r mcpclient.Refusal) error {
	key, ok := Key(s.URL)
	if !ok {
		return &mcpclient.DeniedError{Reason: "it asks for authorization, and its address begins with http://: nothing secret is sent there"}
	}
	ch := challenge(r.Challenges)
	p := c.place(key)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.grant.Access != r.Token { // another request was faster
		return nil
	}
	if r.Status == http.StatusForbidden {
		return c.more(ctx, s, key, p, ch)
	}
	// Another process may have signed in or renewed, and a token may end early.
	err := c.renew(ctx, s, key, p)
	if err == nil && p.grant.Access != r.Token {
		return nil
	}
	denied, isDenied := errors.AsType[*mcpclient.DeniedError](err)
	if err != nil && !isDenied {
		return err
	}
	if c.o.Person == nil {
		if denied == nil {
			denied = c.stranger(s, "it asks for authorization")
		}
		return denied
	}
	return c.grant(ctx, s, key, p, ch)
}

// more asks for the rights that a request lacked.
func (c *Client) more(ctx context.Context, s mcpconfig.Server, key string, p *place, ch challenged) error {
	if len(union(union(p.grant.Scopes, p.asked), ch.scopes)) == len(union(p.grant.Scopes, p.asked)) {
		return &mcpclient.DeniedError{Reason: "it demands rights, and does not accept that they were given: " + shown(ch.scopes)}
	}
	if c.o.Person != nil {
		return c.grant(ctx, s, key, p, ch)
	}
	denied := c.stranger(s, "it demands rights that you have not given: "+shown(ch.scopes))
	err := c.o.Store.Change(key, func(g Grant) (Grant, error) {
		wanted := union(g.Wanted, ch.scopes) // the next time somebody signs in they are asked for
		if len(wanted) == len(g.Wanted) || len(wanted) > maxScopes {
			return g, errSame
		}
		g.Wanted = wanted
		p.grant = g
		return g, nil
	})
	if err != nil && !errors.Is(err, ErrInFile) && !errors.Is(err, errSame) {
		return errors.Join(denied, err)
	}
	return denied
}

// grant lets the person say yes, and keeps what they are given.
func (c *Client) grant(ctx context.Context, s mcpconfig.Server, key string, p *place, ch challenged) error {
	if p.failed != nil {
		return p.failed
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.o.Patience, fmt.Errorf("nobody has answered within %s", c.o.Patience))
	defer cancel()
	g, err := c.signIn(ctx, s, ch, p.grant)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		p.failed = &mcpclient.DeniedError{Reason: "signing in has failed: " + err.Error()}
		return p.failed
	}
	p.grant, p.loaded, p.asked = g, true, union(p.asked, ch.scopes)
	err = c.o.Store.Change(key, func(Grant) (Grant, error) { return g, nil })
	if p.inFile = errors.Is(err, ErrInFile); p.inFile {
		return nil
	}
	if err != nil {
		return fmt.Errorf("signing in has worked, and is not kept: %w", err)
	}
	return nil
}

// stranger says that nobody who may come in is known.
func (c *Client) stranger(s mcpconfig.Server, what string) *mcpclient.DeniedError {
	if c.o.Remedy == "" {
		return &mcpclient.DeniedError{Reason: what}
	}
	name := s.Name
	if strings.ContainsFunc(name, odd) {
		name = strconv.Quote(name)
	}
	return &mcpclient.DeniedError{Reason: what + "; " + strings.ReplaceAll(c.o.Remedy, "NAME", name)}
}

// odd reports whether a rune of a name means something to a shell.
func odd(r rune) bool {
	return !strings.ContainsRune("-_.:@/", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

// Login signs the person in, whether or not they were before, and finds out that
// the server lets them in. More scopes are asked for besides those that the
// server names. The error is [ErrInFile] when everything worked and the token
// stands in the second-best place.
func (c *Client) Login(ctx context.Context, s mcpconfig.Server, scopes ...string) error {
	key, ok := Key(s.URL)
	switch {
	case mcpclient.Authorized(s):
		return errors.New("its entry says itself who asks, in its headers or its address, so there is nothing to sign in for")
	case s.OAuth.Off:
		return errors.New(`its entry says "oauth": false, so no token would be used`)
	case !ok:
		return errors.New("nobody signs in over http://: a token could be read on the way; the address has to begin with https://")
	case c.o.Person == nil:
		return errors.New("there is nobody who could sign in")
	}
	p := c.place(key)
	p.mu.Lock()
	defer p.mu.Unlock()
	g, err := c.o.Store.Load(key)
	if err != nil {
		g = Grant{} // it is lost: what comes now takes its place
	}
	p.grant, p.loaded, p.failed = g, true, nil
	p.grant.Wanted = union(p.grant.Wanted, scopes)
	r, err := c.knock(ctx, s, "")
	if err != nil {
		return err
	}
	for range 2 { // what is granted first may not be enough
		ch := challenged{optional: r == nil}
		if r != nil {
			ch = challenge(r.Challenges)
		}
		if err := c.grant(ctx, s, key, p, ch); err != nil {
			return err
		}
		if r, err = c.knock(ctx, s, p.grant.Access); err != nil {
			return err
		}
		if r == nil && p.inFile {
			return ErrInFile
		}
		if r == nil || r.Status == http.StatusUnauthorized {
			break
		}
	}
	if r != nil {
		return fmt.Errorf("the server does not accept the token that was just issued for it (%d)", r.Status)
	}
	return nil
}

// Logout forgets the person's token for the server at url, and tells its issuer
// that it is not used any more. was is false when there was none. An issuer that
// cannot be told is an error, and the token is forgotten all the same.
func (c *Client) Logout(ctx context.Context, url string) (was bool, err error) {
	key, ok := Key(url)
	if !ok {
		return false, nil
	}
	p := c.place(key)
	p.mu.Lock()
	defer p.mu.Unlock()
	var old Grant
	err = c.o.Store.Change(key, func(g Grant) (Grant, error) {
		old = g
		return Grant{}, nil
	})
	p.grant, p.loaded = Grant{}, true
	if err != nil || old.Access == "" && old.Refresh == "" {
		return false, err
	}
	return true, c.revoke(ctx, key, old)
}

// newSecret returns a text that nobody can guess, of 52 characters.
func newSecret() string { return rand.Text() + rand.Text() }

// union returns a with what b has besides.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
