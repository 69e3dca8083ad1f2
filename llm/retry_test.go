package llm_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/knack-skills/knack/llm"
)

// answers is a model whose requests go as listed: each is a list of events, of
// which an error is the last.
func answers(each ...[]any) (m model, asked *int) {
	asked = new(int)
	return func(_ context.Context, _ llm.Request) iter.Seq2[llm.Event, error] {
		events := each[*asked]
		*asked++
		return func(yield func(llm.Event, error) bool) {
			for _, e := range events {
				err, failed := e.(error)
				ev, _ := e.(llm.Event)
				if !yield(ev, err) || failed {
					return
				}
			}
		}
	}, asked
}

// model is a model that is a function.
type model func(context.Context, llm.Request) iter.Seq2[llm.Event, error]

func (m model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return m(ctx, r)
}

var (
	overloaded = &llm.APIError{Status: 529, Type: "overloaded_error"}
	fine       = []any{llm.TextDelta{Text: "fine"}, llm.Done{Stop: llm.EndTurn}}
)

func noSleep(context.Context, time.Duration) error { return nil }

func TestRetryWaits(t *testing.T) { // spec A-1
	synctest.Test(t, func(t *testing.T) {
		m, asked := answers([]any{overloaded}, []any{overloaded}, []any{overloaded}, []any{overloaded}, fine)
		var waits []time.Duration
		begun := time.Now()
		a, err := llm.Collect(llm.Retry(m, llm.RetryPolicy{
			Max:    5 * time.Second,
			Jitter: func() float64 { return 0 },
			Wait:   func(_ int, d time.Duration, _ error) { waits = append(waits, d) },
		}).Stream(t.Context(), llm.Request{}))
		if err != nil || a.Text() != "fine" || *asked != 5 {
			t.Fatalf("%q, %v after %d requests", a.Text(), err, *asked)
		}
		if want := []time.Duration{1e9, 2e9, 4e9, 5e9}; !slices.Equal(waits, want) || time.Since(begun) != 12*time.Second {
			t.Errorf("waits = %v, %v in all", waits, time.Since(begun))
		}
	})
}

func TestRetryJitter(t *testing.T) {
	for jitter, want := range map[float64]time.Duration{0: 8 * time.Second, 0.5: 6 * time.Second, 0.999: 4004 * time.Millisecond} {
		m, _ := answers([]any{overloaded}, fine)
		var slept time.Duration
		_, err := llm.Collect(llm.Retry(m, llm.RetryPolicy{
			First: 8 * time.Second, Jitter: func() float64 { return jitter },
			Sleep: func(_ context.Context, d time.Duration) error { slept = d; return nil },
		}).Stream(t.Context(), llm.Request{}))
		if err != nil || slept.Round(time.Millisecond) != want {
			t.Errorf("jitter %v: slept %v, want %v (%v)", jitter, slept, want, err)
		}
	}
}

func TestRetryHonoursRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := answers([]any{&llm.APIError{Status: 429, RetryAfter: time.Minute}}, fine)
		begun := time.Now()
		_, err := llm.Collect(llm.Retry(m, llm.RetryPolicy{}).Stream(t.Context(), llm.Request{}))
		if err != nil || time.Since(begun) != time.Minute {
			t.Errorf("waited %v: %v", time.Since(begun), err)
		}
	})
	patient := &llm.APIError{Status: 429, RetryAfter: time.Hour}
	m, asked := answers([]any{patient})
	if _, err := llm.Collect(llm.Retry(m, llm.RetryPolicy{}).Stream(t.Context(), llm.Request{})); !errors.Is(err, patient) || *asked != 1 {
		t.Errorf("%v after %d requests", err, *asked)
	}
}

func TestRetryGivesUp(t *testing.T) {
	lasting := &llm.APIError{Status: 401}
	for _, tt := range []struct {
		name  string
		each  [][]any
		asked int
		want  error
	}{
		{"attempts are used up", [][]any{{overloaded}, {overloaded}, {overloaded}}, 3, overloaded},
		{"an error that lasts", [][]any{{lasting}}, 1, lasting},
		{"an event has come", [][]any{{llm.TextDelta{Text: "so far"}, overloaded}}, 1, overloaded},
		{"thinking has come", [][]any{{llm.ThinkingDelta{Text: "hm"}, llm.ErrCut}}, 1, llm.ErrCut},
		{"nothing comes", [][]any{{}, {}, {}}, 3, llm.ErrCut},
	} {
		m, asked := answers(tt.each...)
		_, err := llm.Collect(llm.Retry(m, llm.RetryPolicy{
			Attempts: 3, Sleep: noSleep,
		}).Stream(t.Context(), llm.Request{}))
		if !errors.Is(err, tt.want) || *asked != tt.asked {
			t.Errorf("%s: %v after %d requests", tt.name, err, *asked)
		}
	}
}

// TestRetryCancelled: a wait ends with its context, at once.
func TestRetryCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		m, asked := answers([]any{overloaded}, fine)
		time.AfterFunc(300*time.Millisecond, cancel)
		begun := time.Now()
		_, err := llm.Collect(llm.Retry(m, llm.RetryPolicy{}).Stream(ctx, llm.Request{}))
		if !errors.Is(err, context.Canceled) || *asked != 1 || time.Since(begun) != 300*time.Millisecond {
			t.Errorf("%v after %v and %d requests", err, time.Since(begun), *asked)
		}
	})
}

// TestRetryLeft: who leaves the loop gets no further request.
func TestRetryLeft(t *testing.T) {
	m, asked := answers(fine)
	for range llm.Retry(m, llm.RetryPolicy{}).Stream(t.Context(), llm.Request{}) {
		break
	}
	if *asked != 1 {
		t.Errorf("%d requests", *asked)
	}
}

func ExampleCollect() {
	m, _ := answers([]any{
		llm.TextDelta{Text: "I "}, llm.TextDelta{Text: "look."},
		llm.ToolCall{ID: "c1", Name: "Read", Input: []byte(`{"file_path":"a"}`)},
		llm.Done{Stop: llm.ToolCalls},
	})
	a, err := llm.Collect(m.Stream(context.Background(), llm.Request{}))
	fmt.Println(a.Text(), a.Calls[0].Name, a.Done.Stop, err)
	// Output: I look. Read tool_use <nil>
}

// TestRetryEnded: a request that failed because its context ended is not tried
// again, and nobody is told of a wait.
func TestRetryEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := model(func(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
		return func(yield func(llm.Event, error) bool) {
			cancel()
			yield(nil, llm.ErrCut)
		}
	})
	_, err := llm.Collect(llm.Retry(m, llm.RetryPolicy{
		Wait: func(int, time.Duration, error) { t.Error("a wait") },
	}).Stream(ctx, llm.Request{}))
	if !errors.Is(err, llm.ErrCut) {
		t.Errorf("error = %v", err)
	}
}
