package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/knack-skills/knack/llm"
)

// DefaultSilence is how long a server may send nothing in the middle of an
// answer. Providers send signs of life while a model thinks, and the slowest of
// those that do not are well within it.
const DefaultSilence = 5 * time.Minute

// A SilenceError says that a server stopped sending without ending its answer.
// It is an [llm.ErrCut], so the request may be sent again.
type SilenceError struct{ After time.Duration }

func (e *SilenceError) Error() string {
	return fmt.Sprintf("%v: the server sent nothing for %s", llm.ErrCut, e.After)
}

// Unwrap returns [llm.ErrCut].
func (e *SilenceError) Unwrap() error { return llm.ErrCut }

// listening ends requests whose server falls silent. A connection that broke
// without a word, as when a laptop changes networks, would hang for ever.
type listening struct {
	next    http.RoundTripper
	silence time.Duration
}

// RoundTrip implements [http.RoundTripper]. Until the headers come, a server
// has twice as long: it may be loading the model.
func (l listening) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, end := context.WithCancelCause(r.Context())
	b := &body{ctx: ctx, end: end, silence: l.silence}
	b.timer = time.AfterFunc(2*l.silence, func() { end(&SilenceError{2 * l.silence}) })
	res, err := l.next.RoundTrip(r.WithContext(ctx))
	b.timer.Stop()
	if err != nil {
		err = b.reason(err)
		end(nil)
		return nil, err
	}
	b.timer = time.AfterFunc(l.silence, func() { end(&SilenceError{l.silence}) })
	b.timer.Stop() // it runs while somebody waits for bytes
	b.in, res.Body = res.Body, b
	return res, nil
}

// A body is the body of a response. The time that its reader takes between two
// reads is not the server's.
type body struct {
	in      io.ReadCloser
	ctx     context.Context // of the request: the life of a body
	end     context.CancelCauseFunc
	timer   *time.Timer
	silence time.Duration
}

func (b *body) Read(p []byte) (int, error) {
	b.timer.Reset(b.silence)
	n, err := b.in.Read(p)
	b.timer.Stop()
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.reason(err)
	}
	return n, err
}

func (b *body) Close() error {
	b.timer.Stop()
	err := b.in.Close()
	b.end(nil)
	return err
}

// reason is why a request failed: err, or the silence that ended it.
func (b *body) reason(err error) error {
	if silent, ok := errors.AsType[*SilenceError](context.Cause(b.ctx)); ok {
		return silent
	}
	return err
}
