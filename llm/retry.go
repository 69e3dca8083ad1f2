package llm

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"time"
)

// A RetryPolicy says how often and how soon a request is sent again. The zero
// value of a field stands for the value given with it.
type RetryPolicy struct {
	Attempts int           // requests in all; 6
	First    time.Duration // before the second request, doubled for each further one; 1 s
	Max      time.Duration // of one wait that the provider did not ask for; 30 s
	MaxAsked time.Duration // of one wait that the provider asked for; a longer one is an error at once; 5 min
	// Jitter shortens a wait by up to half, so that many clients do not come
	// back at once; it returns a number in [0, 1). Nil is random.
	Jitter func() float64
	// Sleep waits, or returns the context's error. Nil waits on a timer.
	Sleep func(ctx context.Context, d time.Duration) error
	// Wait is told of each wait, so that people know what is going on. It may
	// be nil.
	Wait func(attempt int, d time.Duration, err error)
}

// Retry returns a model that sends a request again when it failed in a way that
// may pass (see [Retryable]) before its first event. Once an event has come,
// what follows is the caller's: text that was shown cannot be taken back.
func Retry(m Model, p RetryPolicy) Model {
	if p.Attempts == 0 {
		p.Attempts = 6
	}
	if p.First == 0 {
		p.First = time.Second
	}
	if p.Max == 0 {
		p.Max = 30 * time.Second
	}
	if p.MaxAsked == 0 {
		p.MaxAsked = 5 * time.Minute
	}
	if p.Jitter == nil {
		p.Jitter = rand.Float64
	}
	if p.Sleep == nil {
		p.Sleep = sleep
	}
	return retrying{m, p}
}

type retrying struct {
	model  Model
	policy RetryPolicy
}

// Stream implements [Model].
func (t retrying) Stream(ctx context.Context, r Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for attempt := 1; ; attempt++ {
			err, finished := once(t.model.Stream(ctx, r), yield)
			if finished {
				return
			}
			if ctx.Err() != nil || attempt >= t.policy.Attempts || !Retryable(err) {
				yield(nil, err)
				return
			}
			d, ok := t.policy.wait(attempt, err)
			if !ok {
				yield(nil, err)
				return
			}
			if t.policy.Wait != nil {
				t.policy.Wait(attempt, d, err)
			}
			if err := t.policy.Sleep(ctx, d); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// once passes a stream on. It reports false, with the error, when the stream
// failed before its first event; nothing was passed on then.
func once(events iter.Seq2[Event, error], yield func(Event, error) bool) (failed error, finished bool) {
	begun := false
	for e, err := range events {
		if err != nil && !begun {
			return err, false
		}
		begun = true
		if !yield(e, err) || err != nil {
			return nil, true
		}
	}
	if !begun {
		return ErrCut, false
	}
	return nil, true
}

// wait is how long to wait after a failed attempt; false means that the
// provider asks for more patience than the policy has.
func (p RetryPolicy) wait(attempt int, err error) (time.Duration, bool) {
	d := p.First
	for i := 1; i < attempt && d < p.Max; i++ {
		d *= 2
	}
	d = min(d, p.Max)
	d -= time.Duration(p.Jitter() * float64(d) / 2)
	var api *APIError
	if errors.As(err, &api) && api.RetryAfter > 0 {
		return max(d, api.RetryAfter), api.RetryAfter <= p.MaxAsked
	}
	return d, true
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
