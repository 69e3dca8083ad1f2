package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/knack-skills/knack/text"
)

// The bounds of what is asked of servers.
const (
	webTimeout   = 20 * time.Second // of one question
	maxAnswer    = 1 << 20          // bytes of one answer
	maxRedirects = 3
)

// errNone is a document that is not there.
var errNone = errors.New("there is none")

// A web asks servers, within bounds.
type web struct{ client *http.Client }

// web returns the client for all that concerns the server at address. One that
// everybody can reach has no say about what is asked in a private network.
func (c *Client) web(ctx context.Context, address string) (web, error) {
	u, err := url.Parse(address)
	if err != nil {
		return web{}, err
	}
	base := http.Client{}
	if c.o.HTTP != nil {
		base = *c.o.HTTP
	}
	next := base.Transport
	if t, ok := http.DefaultTransport.(*http.Transport); ok && next == nil {
		t = t.Clone()
		if !proxied(t, u) && public(ctx, u.Hostname()) {
			t.DialContext = (&net.Dialer{Timeout: webTimeout, Control: onlyPublic}).DialContext
		}
		t.DisableKeepAlives = true // the client is not kept
		next = t
	}
	if next == nil {
		next = http.DefaultTransport
	}
	base.Transport, base.Timeout, base.Jar = bounded{next}, webTimeout, nil
	base.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		switch first := via[0]; {
		case first.Method != http.MethodGet:
			return errors.New("it sends what is secret to another address, which is not followed")
		case len(via) > maxRedirects:
			return errors.New("it redirects too often")
		case !secure(r.URL), r.URL.Scheme != "https" && !loopback(first.URL.Hostname()):
			return errors.New("it redirects to an address that does not begin with https://")
		}
		return nil
	}
	return web{&base}, nil
}

// bounded ends an answer that is too long.
type bounded struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	res.Body = struct {
		io.Reader
		io.Closer
	}{&limited{res.Body, maxAnswer}, res.Body}
	return res, nil
}

// A limited reader fails where an [io.LimitedReader] would pretend that there is
// no more.
type limited struct {
	r    io.Reader
	left int
}

// Read implements [io.Reader].
func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("the answer is longer than %d KiB", maxAnswer>>10)
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

func proxied(t *http.Transport, u *url.URL) bool {
	if t.Proxy == nil {
		return false
	}
	p, err := t.Proxy(&http.Request{URL: u})
	return err == nil && p != nil
}

// public reports whether a host is on the internet, as far as is known.
func public(ctx context.Context, host string) bool {
	if loopback(host) {
		return false
	}
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return true
	}
	for _, ip := range all {
		if inside(ip) {
			return false
		}
	}
	return true
}

// inside reports whether an address is one of a network of somebody's own.
func inside(ip netip.Addr) bool {
	ip = ip.Unmap()
	return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || ip.IsMulticast() ||
		netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64}), 10).Contains(ip)
}

// onlyPublic refuses connections into the person's own network.
func onlyPublic(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if inside(at.Addr()) {
		return fmt.Errorf("a server of the internet names an address of this network, %s, which is not asked", at.Addr())
	}
	return nil
}

// json reads a document. [errNone] means that there is none: an answer of the
// class 4xx, or a page for people.
func (w web) json(ctx context.Context, address string, to any) error {
	u, err := url.Parse(address)
	if err != nil || !secure(u) || u.User != nil {
		return fmt.Errorf("it stands at an address that does not begin with https://: %s", shownText(address))
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	res, err := w.client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case res.StatusCode >= 400 && res.StatusCode < 500:
		return errNone
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("%s says %d", u.Host, res.StatusCode)
	case kind != "application/json" && !strings.HasSuffix(kind, "+json"):
		return errNone
	}
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("what %s says is not what it should be: %w", u.Host, err)
	}
	return nil
}

// shownText makes what a server says harmless, and short.
func shownText(s string) string { return text.Line(text.Cut(s, 300)) }

func shown(scopes []string) string {
	if len(scopes) == 0 {
		return "it does not say which"
	}
	return shownText(strings.Join(scopes, " "))
}
