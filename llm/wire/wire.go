// Package wire is what the small clients of model providers share: sending a
// request, reading the server-sent events of the answer, and the errors of
// both. What the events mean is the business of the clients.
package wire

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/knack-skills/knack/llm"
)

// maxErrorBody is how much of the body of an error is read.
const maxErrorBody = 64 << 10

// Client returns a client that follows no redirects: the request carries a key
// and a conversation, and both are for the host that was configured. A request
// ends with a [SilenceError] when the server sends nothing for as long as
// silence, or for twice as long before its headers; zero means
// [DefaultSilence], and a negative duration that it may be silent for ever. Nil
// stands for [http.DefaultClient].
func Client(c *http.Client, silence time.Duration) *http.Client {
	if c == nil {
		c = http.DefaultClient
	}
	own := *c
	if own.Transport == nil {
		own.Transport = http.DefaultTransport
	}
	if silence = cmp.Or(silence, DefaultSilence); silence > 0 {
		own.Transport = listening{own.Transport, silence}
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// BaseURL reads the address of a provider.
func BaseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	if u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return nil, fmt.Errorf("base URL %q: it must look like https://host/path", u.Redacted())
	}
	return u, nil
}

// Encode returns v as JSON with <, > and & as they are: models count each byte.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Post sends a JSON body. A response whose status is not 2xx is an
// [llm.APIError].
func Post(ctx context.Context, c *http.Client, address string, header http.Header, body []byte) (*Stream, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = header.Clone()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	res, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode/100 == 2 {
		return newStream(res.Body), nil
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	// An error that breaks off still has its status.
	text, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	return nil, Failure(res.StatusCode, res.Header, text)
}

// A Decoder turns the events of one answer into events of the model.
type Decoder interface {
	// Feed reads an event. With done, the answer is complete.
	Feed(e Event) (out []llm.Event, done bool, err error)
	// End is called when the stream ends, or breaks, before Feed said done. It
	// returns the end of the answer if the provider has said all that matters,
	// and else an error.
	End() ([]llm.Event, error)
}

// Answer sends a request when it is iterated, and decodes what comes back. The
// stream is closed when the iteration stops, or ctx ends.
func Answer(ctx context.Context, open func() (*Stream, error), decoder func() Decoder) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		s, err := open()
		if err != nil {
			yield(nil, outcome(ctx, err))
			return
		}
		defer s.Close()
		d := decoder()
		for done := false; !done; {
			var out []llm.Event
			out, done, err = step(ctx, s, d)
			for _, e := range out {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(nil, outcome(ctx, err))
				return
			}
		}
	}
}

// step reads one event. A stream that breaks after the provider has said all
// that matters is whole, unless it broke because the caller left.
func step(ctx context.Context, s *Stream, d Decoder) (out []llm.Event, done bool, err error) {
	e, err := s.Next()
	if err == nil {
		return d.Feed(e)
	}
	if ctx.Err() != nil {
		return nil, true, err
	}
	out, ended := d.End()
	if ended != nil && !errors.Is(err, io.EOF) {
		return nil, true, err // it says more than that the end is missing
	}
	return out, true, ended
}

// outcome is the error of a request: the context's own when it ended.
func outcome(ctx context.Context, err error) error {
	if ctxErr := ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	return err
}

// Damaged is the error for an event that is not what the protocol says. When it
// was the last one and has no end, the stream was cut in the middle of it.
func Damaged(e Event, err error) error {
	if e.Unterminated {
		return fmt.Errorf("%w, in the middle of an event", llm.ErrCut)
	}
	return fmt.Errorf("%w: an event cannot be read (%w): %s", llm.ErrCut, err, excerpt(e.Data))
}

// excerpt is the beginning of a text, on one line.
func excerpt(b []byte) string {
	const limit = 300
	s := strings.Join(strings.Fields(strings.ToValidUTF8(string(b[:min(len(b), 4*limit)]), "")), " ")
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}
