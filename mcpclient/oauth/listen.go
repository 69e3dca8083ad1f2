package oauth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// callback is the path of redirect addresses.
const callback = "/callback"

// A listener waits on the loopback address for the answer of a browser.
type listener struct {
	redirect string // what the issuer redirects to, to the letter
	host     string // of it
	state    string // what the answer has to hold
	issuer   string // who answers
	named    bool   // the answer has to say so
	open     []net.Listener
}

// listen opens a port. A port that an entry names belongs to an address that was
// registered by hand, which programs of this kind write with localhost.
func listen(ctx context.Context, port int) (*listener, error) {
	var lc net.ListenConfig
	first, err := lc.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("the answer of the browser cannot be waited for: %w", err)
	}
	l := &listener{host: first.Addr().String(), open: []net.Listener{first}}
	if port != 0 {
		l.host = net.JoinHostPort("localhost", strconv.Itoa(port))
		// localhost may mean either; where the other is not there, it is not meant.
		if second, err := lc.Listen(ctx, "tcp", net.JoinHostPort("::1", strconv.Itoa(port))); err == nil {
			l.open = append(l.open, second)
		}
	}
	l.redirect = "http://" + l.host + callback
	return l, nil
}

func (l *listener) close() {
	for _, one := range l.open {
		_ = one.Close() // it was only read from
	}
}

// answer shows the page and waits for the code.
func (l *listener) answer(ctx context.Context, person Person, page string) (code string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		code string
		err  error
	}
	done := make(chan result, 1)
	tell := func(code string, err error) {
		select {
		case done <- result{code, err}:
		default: // there is an answer already
		}
	}
	srv := &http.Server{ReadHeaderTimeout: webTimeout, MaxHeaderBytes: 64 << 10, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && l.serve(w, r, tell) {
			return
		}
		http.Error(w, "This is not the answer that is waited for.", http.StatusBadRequest)
	})}
	for _, one := range l.open {
		go func() { _ = srv.Serve(one) }() // it ends below
	}
	defer func() {
		end, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer stop()
		_ = srv.Shutdown(end) // the page of the answer is sent, or nobody reads it
	}()
	go func() {
		pasted, err := person.Visit(ctx, page)
		if err != nil {
			tell("", err)
		} else if pasted = strings.TrimSpace(pasted); pasted != "" {
			u, err := url.Parse(pasted)
			if err != nil || u.Path != callback {
				tell("", errors.New("that is not the address that the browser was sent to"))
				return
			}
			if code, ok, err := l.read(u.Query()); ok {
				tell(code, err)
			} else {
				tell("", errors.New("that is an answer to another question: its state is not the one of this page"))
			}
		}
	}()
	select {
	case r := <-done:
		return r.code, r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// serve answers the browser. What does not know the state is ignored: other pages
// can ask this address as well.
func (l *listener) serve(w http.ResponseWriter, r *http.Request, tell func(string, error)) bool {
	if r.URL.Path != callback || r.Host != l.host {
		return false
	}
	code, ok, err := l.read(r.URL.Query())
	if !ok {
		return false
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Connection", "close")
	said := "You are signed in. You can close this page."
	if err != nil {
		said = "Signing in has failed; the terminal says why. You can close this page."
	}
	_, _ = w.Write([]byte(said + "\n")) // nobody else is to know
	tell(code, err)
	return true
}

// read takes the code out of an answer. ok is false when it is none to this page.
func (l *listener) read(q url.Values) (code string, ok bool, err error) {
	if len(q["state"]) != 1 || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(l.state)) != 1 {
		return "", false, nil
	}
	iss := q.Get("iss")
	switch {
	case l.named && iss == "":
		return "", true, errors.New("the answer does not say who gives it, as it has to")
	case iss != "" && iss != l.issuer:
		return "", true, fmt.Errorf("another issuer has answered, %s", shownText(iss))
	case q.Get("error") != "":
		return "", true, &issuerError{code: shownText(q.Get("error")), text: shownText(q.Get("error_description"))}
	case len(q["code"]) != 1 || q.Get("code") == "":
		return "", true, errors.New("the answer holds no code")
	}
	return q.Get("code"), true, nil
}
