package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/text"
)

const (
	maxRedirects = 5
	userAgent    = "Knack/1 (+https://github.com/knack-skills/knack)"
)

// client returns what one call connects with. It keeps nothing: no cookies, no
// connections.
func (t *WebFetch) client() *http.Client {
	dialer := &net.Dialer{}
	if !t.o.AllowPrivate {
		dialer.Control = func(_, address string, _ syscall.RawConn) error { return public(address) }
	}
	direct := &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, ForceAttemptHTTP2: true}
	var rt http.RoundTripper = direct
	if t.o.Proxy != nil {
		rt = &chooser{proxy: t.o.Proxy, private: t.o.AllowPrivate, direct: direct, through: &http.Transport{Proxy: t.o.Proxy, DisableKeepAlives: true, ForceAttemptHTTP2: true}}
	}
	return &http.Client{
		Transport:     rt,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// A chooser sends requests through a proxy where there is one. The proxy itself
// may well have a private address.
type chooser struct {
	proxy           func(*http.Request) (*url.URL, error)
	private         bool
	direct, through http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (c *chooser) RoundTrip(r *http.Request) (*http.Response, error) {
	p, err := c.proxy(r)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return c.direct.RoundTrip(r)
	}
	if !c.private {
		if err := publicName(r.URL.Hostname()); err != nil {
			return nil, err
		}
	}
	return c.through.RoundTrip(r)
}

// fetch gets a page, follows redirects within its host, and returns its text.
func (t *WebFetch) fetch(ctx context.Context, env agent.CallEnv, u *url.URL) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, t.o.Timeout, fmt.Errorf("%s took longer than %s", u, t.o.Timeout))
	defer cancel()
	client := t.client()
	for range maxRedirects + 1 {
		env.Progress("fetching " + u.String())
		next, page, err := t.once(ctx, client, u)
		if err != nil && ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if err != nil || next == nil {
			return page, err
		}
		if !sameSite(u, next) {
			return fmt.Sprintf("%s redirects to another host, which was not followed. To fetch it, call WebFetch with this url:\n%s", u, next), nil
		}
		u = next
	}
	return "", fmt.Errorf("%s: more than %d redirects", u, maxRedirects)
}

// sameSite reports whether a redirect stays where the permission was given for:
// at the same host and port, or going over from http to https.
func sameSite(from, to *url.URL) bool {
	if !strings.EqualFold(from.Hostname(), to.Hostname()) || from.Scheme == "https" && to.Scheme != "https" {
		return false
	}
	return port(from) == port(to) || port(from) == "80" && port(to) == "443"
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// once sends one request. It returns where a redirect leads, or the page.
func (t *WebFetch) once(ctx context.Context, client *http.Client, u *url.URL) (next *url.URL, page string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "text/html, text/markdown, text/plain, application/json, */*;q=0.5")
	resp, err := client.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return nil, "", fmt.Errorf("%s could not be fetched: %w", u, err)
	}
	defer func() { _ = resp.Body.Close() }() // what matters was read
	if resp.StatusCode >= 300 && resp.StatusCode < 400 && resp.Header.Get("Location") != "" {
		if next, err = u.Parse(resp.Header.Get("Location")); err != nil {
			return nil, "", fmt.Errorf("%s redirects to something that is no address: %w", u, err)
		}
		next, err = readURL(next.String())
		if err != nil {
			return nil, "", fmt.Errorf("%s redirects to an address that is not fetched: %w", u, err)
		}
		return next, "", nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, t.o.MaxBytes+1))
	if err != nil {
		return nil, "", fmt.Errorf("%s broke off: %w", u, err)
	}
	cut := int64(len(body)) > t.o.MaxBytes
	if cut {
		body = body[:t.o.MaxBytes]
	}
	shown, err := readable(u, resp.Header.Get("Content-Type"), body)
	switch {
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return nil, "", fmt.Errorf("%s answered %d %s\n%s", u, resp.StatusCode, http.StatusText(resp.StatusCode), start(shown))
	case err != nil:
		return nil, "", err
	case cut:
		shown += fmt.Sprintf("\n[the page is longer than %d bytes; the rest was not read]", t.o.MaxBytes)
	}
	return nil, u.String() + "\n\n" + shown, nil
}

// start is the beginning of the page that comes with an error.
func start(s string) string { return text.Cut(s, 500) }

// readable turns a page into text without anything that only machines see.
func readable(u *url.URL, contentType string, body []byte) (string, error) {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind = ""
	}
	if kind == "" {
		kind, _, _ = strings.Cut(http.DetectContentType(body), ";")
	}
	if !isText(kind) {
		return "", fmt.Errorf("%s is %s, which is no text", u, kind)
	}
	s, note := decode(body, params["charset"])
	if strings.ContainsRune(s, 0) {
		return "", fmt.Errorf("%s calls itself %s but is binary", u, kind)
	}
	if kind == "text/html" || kind == "application/xhtml+xml" {
		s = fromHTML(u, s)
	}
	return text.Block(s) + note, nil
}

func isText(kind string) bool {
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") {
		return !strings.HasPrefix(kind, "image/") || kind == "image/svg+xml"
	}
	switch kind {
	case "application/json", "application/xml", "application/javascript", "application/x-javascript", "application/yaml",
		"application/x-yaml", "application/toml", "application/x-ndjson", "application/x-sh", "application/sql":
		return true
	}
	return false
}

// decode returns a page as UTF-8. Other character sets than the two most common
// are rare; a note says when one was met.
func decode(body []byte, charset string) (s, note string) {
	body = []byte(strings.TrimPrefix(string(body), "\ufeff"))
	switch strings.ToLower(charset) {
	case "", "utf-8", "utf8", "us-ascii", "ascii":
		if charset != "" || utf8.Valid(body) || !mostlyASCII(body) {
			return strings.ToValidUTF8(string(body), "\ufffd"), ""
		}
		return latin(body), ""
	case "iso-8859-1", "latin1", "windows-1252", "cp1252", "iso-8859-15":
		return latin(body), ""
	}
	return strings.ToValidUTF8(string(body), "\ufffd"), fmt.Sprintf("\n[the page is written in %q; characters beyond ASCII may be wrong]", charset)
}

// mostlyASCII tells a text of western Europe from other encodings.
func mostlyASCII(body []byte) bool {
	n := 0
	for _, b := range body {
		if b >= 0x80 {
			n++
		}
	}
	return n*5 < len(body)
}

// windows1252 is what bytes 0x80 to 0x9f stand for in pages of "Latin-1".
const windows1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"

func latin(body []byte) string {
	high := []rune(windows1252)
	var b strings.Builder
	for _, c := range body {
		if c >= 0x80 && c < 0xa0 {
			b.WriteRune(high[c-0x80])
		} else {
			b.WriteRune(rune(c))
		}
	}
	return b.String()
}
