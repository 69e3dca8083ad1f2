package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/knack-skills/knack/llm"
)

// A key goes to the host that was configured, and nowhere else.
func TestNoRedirects(t *testing.T) {
	var elsewhere atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Store(true) }))
	t.Cleanup(other.Close)
	first := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(first.Close)
	given := &http.Client{}
	_, err := Post(t.Context(), Client(given, 0), first.URL, http.Header{"X-Key": {"secret"}}, []byte("{}"))
	var api *llm.APIError
	if !errors.As(err, &api) || api.Status != http.StatusTemporaryRedirect || elsewhere.Load() {
		t.Errorf("error %v, elsewhere %v", err, elsewhere.Load())
	}
	if given.CheckRedirect != nil {
		t.Error("the client that was given changed")
	}
}

func TestBaseURL(t *testing.T) {
	for s, ok := range map[string]bool{
		"https://api.example.com/v1": true, "http://localhost:11434/v1/": true,
		"api.example.com/v1": false, "file:///etc/passwd": false, "https://": false, "": false, "http://[": false,
	} {
		if _, err := BaseURL(s); (err == nil) != ok {
			t.Errorf("%q: %v", s, err)
		}
	}
}

// closing knows whether a body was closed.
type closing struct {
	io.Reader
	closed *atomic.Bool
}

func (c closing) Close() error { c.closed.Store(true); return nil }

// endless gives a text for each event, and ends never.
type endless struct{}

func (endless) Feed(e Event) ([]llm.Event, bool, error) {
	if string(e.Data) == "bad" {
		return nil, false, errors.New("bad")
	}
	return []llm.Event{llm.TextDelta{Text: string(e.Data)}}, string(e.Data) == "last", nil
}
func (endless) End() ([]llm.Event, error) { return nil, llm.ErrCut }

// However an answer ends, its body is closed.
func TestAnswerCloses(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		stop     int // after so many events; zero never
		want     error
	}{
		{"complete", "data: a\n\ndata: last\n\ndata: more\n\n", 0, nil},
		{"left early", "data: a\n\ndata: b\n\n", 1, nil},
		{"cut", "data: a\n\n", 0, llm.ErrCut},
	} {
		var closed atomic.Bool
		open := func() (*Stream, error) {
			return newStream(closing{strings.NewReader(tt.in), &closed}), nil
		}
		n := 0
		var failed error
		for _, err := range Answer(t.Context(), open, func() Decoder { return endless{} }) {
			failed = err
			if n++; n == tt.stop {
				break
			}
		}
		if !errors.Is(failed, tt.want) || !closed.Load() {
			t.Errorf("%s: error %v, closed %v", tt.name, failed, closed.Load())
		}
	}
}

// An answer can be asked for again: each iteration is a request.
func TestAnswerAgain(t *testing.T) {
	requests := 0
	answer := Answer(t.Context(), func() (*Stream, error) {
		requests++
		return streamOf(strings.NewReader("data: last\n\n")), nil
	}, func() Decoder { return endless{} })
	for range 2 {
		for e, err := range answer {
			if err != nil || e != (llm.TextDelta{Text: "last"}) {
				t.Errorf("%v, %v", e, err)
			}
		}
	}
	if requests != 2 {
		t.Errorf("%d requests", requests)
	}
}

// When the context ends, its error is what the caller sees, whatever broke.
func TestAnswerCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	open := func() (*Stream, error) { cancel(); return nil, errors.New("broken pipe") }
	for _, err := range Answer(ctx, open, func() Decoder { return endless{} }) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v", err)
		}
	}
}

// satisfied has heard all that matters, whenever the stream ends.
type satisfied struct{ endless }

func (satisfied) End() ([]llm.Event, error) { return []llm.Event{llm.Done{Stop: llm.EndTurn}}, nil }

// leaving ends a context when it is read to its end, and breaks.
type leaving struct{ leave func() }

func (l leaving) Read([]byte) (int, error) { l.leave(); return 0, errors.New("connection reset") }

// What breaks after the provider has said all that matters is a whole answer,
// unless the caller left.
func TestAnswerBreaksLate(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		leave := func() {}
		if leaves {
			leave = cancel
		}
		open := func() (*Stream, error) {
			return streamOf(io.MultiReader(strings.NewReader("data: a\n\n"), leaving{leave})), nil
		}
		a, err := llm.Collect(Answer(ctx, open, func() Decoder { return satisfied{} }))
		if leaves != errors.Is(err, context.Canceled) || leaves != (a.Done == nil) || a.Text() != "a" {
			t.Errorf("leaves %v: %+v, %v", leaves, a, err)
		}
	}
}

func TestEncode(t *testing.T) {
	if got, err := Encode("a < b && c\n"); string(got) != `"a < b && c\n"` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := Encode(make(chan int)); err == nil {
		t.Error("a channel was encoded")
	}
}
