package llmtest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/knack-skills/knack/llm"
)

func testStatus(t *testing.T, p Provider) {
	for _, tt := range []struct {
		reply     Reply
		retryable bool
	}{
		{Reply{Status: 400, Type: "invalid_request_error", Message: "bad field"}, false},
		{Reply{Status: 401, Type: "authentication_error", Message: "bad key"}, false},
		{Reply{Status: 404, Type: "not_found_error", Message: "no such model"}, false},
		{Reply{Status: 429, Type: "rate_limit_error", Message: "slow down", RetryAfter: 7 * time.Second}, true},
		{Reply{Status: 500, Type: "api_error", Message: "oops"}, true},
		{Reply{Status: 529, Type: "overloaded_error", Message: "Overloaded"}, true},
	} {
		s := p.Start(t, tt.reply)
		_, events, err := gather(t, s.Model(), Request())
		var api *llm.APIError
		if !errors.As(err, &api) || len(events) != 0 {
			t.Errorf("status %d: error %v after %v, want an APIError alone", tt.reply.Status, err, events)
			continue
		}
		if api.Status != tt.reply.Status || !strings.Contains(api.Message, tt.reply.Message) || api.RetryAfter != tt.reply.RetryAfter {
			t.Errorf("status %d: %+v", tt.reply.Status, api)
		}
		if api.Retryable() != tt.retryable || llm.Retryable(err) != tt.retryable {
			t.Errorf("status %d: Retryable = %v", tt.reply.Status, api.Retryable())
		}
		if n := len(s.Seen()); n != 1 {
			t.Errorf("status %d: the provider sent %d requests by itself", tt.reply.Status, n)
		}
	}
}

// testErrorEvent: an error in the middle is an error, not an end.
func testErrorEvent(t *testing.T, p Provider) {
	s := p.Start(t, Reply{Parts: []Part{text("so far")}, Fault: ErrorEvent, Type: "overloaded_error", Message: "Overloaded"})
	a, _, err := gather(t, s.Model(), Request())
	var api *llm.APIError
	if !errors.As(err, &api) || !strings.Contains(api.Message, "Overloaded") {
		t.Errorf("error = %v", err)
	}
	if a.Done != nil || a.Text() != "so far" {
		t.Errorf("Done %v, text %q", a.Done, a.Text())
	}
}

// testCut: a stream without its end is an error, and half a call is no call.
func testCut(t *testing.T, p Provider) {
	whole := []Part{text("first")}
	half := append(whole, call("c1", "Look", `{"path":"a long enough name to be sent in pieces"}`))
	for _, tt := range []struct {
		name  string
		reply Reply
	}{
		{"early", Reply{Fault: CutEarly}},
		{"inside a call", Reply{Fault: CutInside, Stop: llm.ToolCalls, Parts: half}},
		{"inside text", Reply{Fault: CutInside, Parts: whole}},
		{"late", Reply{Fault: CutLate, Parts: whole}},
		{"reset", Reply{Fault: Reset, Stop: llm.ToolCalls, Parts: half}},
	} {
		a, _, err := gather(t, p.Start(t, tt.reply).Model(), Request())
		if !errors.Is(err, llm.ErrCut) {
			t.Errorf("%s: error = %v, want ErrCut", tt.name, err)
		}
		if len(a.Calls) != 0 {
			t.Errorf("%s: half a call became %+v", tt.name, a.Calls)
		}
	}
}

func testMalformed(t *testing.T, p Provider) {
	a, _, err := gather(t, p.Start(t, Reply{Parts: []Part{text("first")}, Fault: Malformed}).Model(), Request())
	if err == nil || a.Done != nil {
		t.Errorf("error %v, Done %v", err, a.Done)
	}
}

func testDrop(t *testing.T, p Provider) {
	_, events, err := gather(t, p.Start(t, Reply{Fault: Drop}).Model(), Request())
	if err == nil || len(events) != 0 || !llm.Retryable(err) {
		t.Errorf("error %v (retryable: %v) after %v", err, llm.Retryable(err), events)
	}
}

func testCancel(t *testing.T, p Provider) {
	s := p.Start(t, Reply{Parts: []Part{text("first")}, Fault: Hang})
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	defer cancel()
	var failed error
	for e, err := range s.Model().Stream(ctx, Request()) {
		if failed != nil {
			t.Fatalf("after %v came %v, %v", failed, e, err)
		}
		failed = err
		cancel()
	}
	if !errors.Is(failed, context.Canceled) || llm.Retryable(failed) {
		t.Errorf("error = %v", failed)
	}
}

func testCancelBefore(t *testing.T, p Provider) {
	s := p.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := llm.Collect(s.Model().Stream(ctx, Request())); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	if n := len(s.Seen()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// testBreak: leaving the loop ends the request, else the server never stops.
func testBreak(t *testing.T, p Provider) {
	s := p.Start(t, Reply{Parts: []Part{text("first")}, Fault: Hang})
	for e, err := range s.Model().Stream(context.WithoutCancel(t.Context()), Request()) {
		if err != nil {
			t.Fatalf("%v, %v", e, err)
		}
		break
	}
}

// testConcurrent: one model serves many at once.
func testConcurrent(t *testing.T, p Provider) {
	const n = 8
	replies := make([]Reply, n)
	for i := range replies {
		replies[i] = Reply{Parts: []Part{text("same"), call("c1", "Look", `{"path":"a"}`)}, Stop: llm.ToolCalls}
	}
	s := p.Start(t, replies...)
	answers, errs := make([]llm.Answer, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { answers[i], errs[i] = llm.Collect(s.Model().Stream(t.Context(), Request())) })
	}
	wg.Wait()
	for i, a := range answers {
		if errs[i] != nil || a.Text() != "same" || len(a.Calls) != 1 {
			t.Errorf("%d: %+v, %v", i, a, errs[i])
		}
	}
	if got := len(s.Seen()); got != n {
		t.Errorf("the server saw %d requests", got)
	}
}

// testRetry: what a provider reports fits what Retry understands.
func testRetry(t *testing.T, p Provider) {
	s := p.Start(t,
		Reply{Status: 529, Type: "overloaded_error", Message: "Overloaded"},
		Reply{Status: 429, Type: "rate_limit_error", Message: "slow down", RetryAfter: 9 * time.Second},
		Reply{Fault: Drop},
		Reply{Fault: CutEarly},
		Reply{Parts: []Part{text("at last")}})
	var slept []time.Duration
	m := llm.Retry(s.Model(), llm.RetryPolicy{Attempts: 5, Sleep: func(ctx context.Context, d time.Duration) error {
		slept = append(slept, d)
		return ctx.Err()
	}})
	a, _, err := gather(t, m, Request())
	if err != nil || a.Text() != "at last" {
		t.Fatalf("%q, %v", a.Text(), err)
	}
	if len(slept) != 4 || slept[1] < 9*time.Second {
		t.Errorf("slept %v", slept)
	}
}

// Silence checks a model whose server sent something and then stays silent
// (Fault [Hang]), and whose patience is short: the answer ends with an error
// that may pass, and is not taken for a whole one.
func Silence(t *testing.T, m llm.Model) {
	t.Helper()
	a, _, err := gather(t, m, Request())
	if !errors.Is(err, llm.ErrCut) || !llm.Retryable(err) || a.Done != nil {
		t.Errorf("error %v (retryable: %v), Done %v", err, llm.Retryable(err), a.Done)
	}
}
