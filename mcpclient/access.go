package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/knack-skills/knack/mcpconfig"
)

// An Access says who asks, to servers behind HTTP that want to know. Package
// oauth implements it. It is safe for concurrent use.
type Access interface {
	// Token returns what follows "Bearer " in the Authorization header of a
	// request to s, or "" when there is nothing.
	Token(ctx context.Context, s mcpconfig.Server) (string, error)
	// Refused is told that s did not accept a request. Without an error it is
	// worth to ask for the token again and to repeat the request.
	Refused(ctx context.Context, s mcpconfig.Server, r Refusal) error
}

// A Refusal is what a server said to a request that it did not accept.
type Refusal struct {
	Token      string   // what was sent; "" means nothing
	Status     int      // 401 or 403
	Challenges []string // its WWW-Authenticate headers: text of strangers
}

// A DeniedError is why a server does not let this person in. Trying again changes
// nothing before the person does something.
type DeniedError struct{ Reason string }

// Error says what to do.
func (e *DeniedError) Error() string { return e.Reason }

// maxAsked is how often one request is sent: as it is, after a new token, and
// after one with more rights.
const maxAsked = 3

// An entrance is the way of requests to one server: with the headers of its entry
// and the token of the person, and to nobody else.
type entrance struct {
	server mcpconfig.Server
	access Access // nil when nobody signs in
	next   http.RoundTripper
	denied func(*DeniedError)
	astray func(error) // ends the attempt to connect: the protocol may wait for an answer
}

// RoundTrip implements [http.RoundTripper]. That a server does not know who is
// asking is an error here, where it can be said what to do.
func (e entrance) RoundTrip(r *http.Request) (*http.Response, error) {
	if !sameOrigin(r.URL, e.server.URL) {
		// The old transport lets the server name the address for messages.
		unsent(r)
		denied := &DeniedError{Reason: fmt.Sprintf("it sends messages to another host, %s, which is not followed", r.URL.Host)}
		e.astray(denied)
		return nil, e.noted(denied)
	}
	for asked := 1; ; asked++ {
		res, refusal, err := e.ask(r, asked)
		if err != nil || refusal == nil {
			return res, e.noted(err)
		}
		_ = res.Body.Close() // what it says besides is not needed
		if asked == maxAsked {
			return nil, e.noted(&DeniedError{Reason: fmt.Sprintf("it keeps refusing (%d), whatever token it is given", refusal.Status)})
		}
		if r.Body != nil && r.GetBody == nil {
			return nil, errors.New("it asks for authorization in the middle of a request that cannot be repeated")
		}
		if err := e.refused(r, *refusal); err != nil {
			return nil, e.noted(err)
		}
	}
}

// ask sends the request once. refusal is nil unless the server wants to know who
// is asking, or wants them to have more rights.
func (e entrance) ask(r *http.Request, asked int) (res *http.Response, refusal *Refusal, err error) {
	out := r.Clone(r.Context())
	if asked > 1 && r.GetBody != nil {
		if out.Body, err = r.GetBody(); err != nil {
			return nil, nil, err
		}
	}
	for k, v := range e.server.Headers {
		if strings.EqualFold(k, "host") {
			out.Host = v
			continue
		}
		out.Header.Set(k, v)
	}
	said := Refusal{}
	if e.signs() {
		if said.Token, err = e.access.Token(r.Context(), e.server); err != nil {
			unsent(out)
			return nil, nil, err
		}
		if said.Token != "" {
			out.Header.Set("Authorization", "Bearer "+said.Token)
		}
	}
	if res, err = e.next.RoundTrip(out); err != nil {
		return nil, nil, err
	}
	said.Status, said.Challenges = res.StatusCode, res.Header.Values("WWW-Authenticate")
	switch {
	case res.StatusCode == http.StatusUnauthorized:
	case res.StatusCode == http.StatusForbidden && e.signs() && strings.Contains(strings.Join(said.Challenges, " "), "insufficient_scope"):
	default:
		return res, nil, nil
	}
	return res, &said, nil
}

// refused says what to do about a refusal, or nil when it is worth to ask again.
func (e entrance) refused(r *http.Request, refusal Refusal) error {
	switch {
	case e.signs():
		return e.access.Refused(r.Context(), e.server, refusal)
	case Authorized(e.server):
		return &DeniedError{Reason: "it does not accept the Authorization header of its entry (401 Unauthorized)"}
	}
	return &DeniedError{Reason: `it asks for authorization (401 Unauthorized): add a header to its entry, as in "headers": {"Authorization": "Bearer ${TOKEN}"}`}
}

// signs reports whether a token of the person may go to the server. An entry that
// says itself who asks is left alone.
func (e entrance) signs() bool {
	return e.access != nil && !e.server.OAuth.Off && !Authorized(e.server)
}

// Authorized reports whether the entry of a server says itself who asks, with a
// header or in its address.
func Authorized(s mcpconfig.Server) bool {
	for k := range s.Headers {
		if strings.EqualFold(k, "authorization") {
			return true
		}
	}
	u, err := url.Parse(s.URL)
	return err == nil && u.User != nil
}

// noted tells the link about a refusal, which the protocol may hide from it.
func (e entrance) noted(err error) error {
	if denied, ok := errors.AsType[*DeniedError](err); ok && e.denied != nil {
		e.denied(denied)
	}
	return err
}

// unsent closes the body of a request that goes nowhere.
func unsent(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close() // it was only to be read
	}
}

func sameOrigin(u *url.URL, server string) bool {
	first, err := url.Parse(server)
	return err == nil && strings.EqualFold(u.Host, first.Host) && u.Scheme == first.Scheme
}
