package hookexec

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/shell"
)

// A Runner runs hooks and remembers how they ended. It is safe for concurrent
// use.
type Runner struct {
	opts Options // fixed at creation

	quit chan struct{} // closed when what runs in the background must end
	wg   sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	states  map[any]*state
	pending []string // notices that nobody has been told yet
	closed  bool
}

// New returns a runner. The caller closes it.
func New(o Options) *Runner {
	if o.Shell == nil {
		o.Shell = shell.Exec{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	client := http.Client{}
	if o.HTTP != nil {
		client = *o.HTTP
	}
	// A redirect would carry headers with secrets to somebody else.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	o.HTTP = &client
	return &Runner{opts: o, quit: make(chan struct{}), states: map[any]*state{}}
}

// one runs a handler and makes of its answer what may be passed on.
func (r *Runner) one(ctx context.Context, e Entry, in hook.Input, payload []byte) Result {
	st := r.state(e)
	if e.Handler.Once {
		// Exactly one success: calls at the same time wait for how the first ends.
		select {
		case st.turn <- struct{}{}:
			defer func() { <-st.turn }()
		case <-ctx.Done():
			return Result{Entry: e, Verdict: Failed, Err: "it was interrupted"}
		}
		if r.spent(st) {
			return Result{Entry: e, Verdict: Spent}
		}
	}
	hide := func() {}
	if message := e.Handler.StatusMessage; message != "" && r.opts.Show != nil {
		if h := r.opts.Show(r.shown(message)); h != nil {
			hide = h
		}
	}
	end := func(Result) {}
	if r.opts.Frame != nil {
		ctx, end = r.opts.Frame(ctx, e, in)
	}
	start := r.opts.Now()
	a := r.handle(ctx, e, in, payload)
	took := r.opts.Now().Sub(start)
	hide()
	res := r.conclude(e, in, st, a)
	res.Duration = took
	if res.Verdict == OK && e.Handler.Once {
		r.spend(st, e)
	}
	end(res)
	r.log(&res, in)
	r.remember(st, res, start)
	return res
}

// handle runs the handler of any type within its time limit. A process has its
// limit from the shell, which also reaps its children.
func (r *Runner) handle(ctx context.Context, e Entry, in hook.Input, payload []byte) answer {
	if e.Handler.Type == hook.Command {
		return r.command(ctx, e, in, payload)
	}
	limited, cancel := context.WithTimeout(ctx, e.Handler.Limit())
	defer cancel()
	var a answer
	switch e.Handler.Type {
	case hook.HTTP:
		a = r.post(limited, e, in, payload)
	case hook.Prompt, hook.Agent:
		a = r.judged(limited, e, payload)
	case hook.MCPTool:
		a = r.tool(limited, e, in, payload)
	default:
		return failed("type", "there is no handler type %q", e.Handler.Type)
	}
	switch {
	case a.fault == "" || limited.Err() == nil:
	case ctx.Err() != nil:
		a.fault, a.kind = "it was interrupted", "interrupted"
	default:
		a.fault, a.kind, a.timedOut = "it was ended after "+e.Handler.Limit().String()+", its time limit", "timeout", true
	}
	return a
}

// background starts an async handler, which has no say (spec H-4). It outlives
// the event, not the runner.
func (r *Runner) background(ctx context.Context, e Entry, in hook.Input, payload []byte) Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return Result{Entry: e, Verdict: Failed, Err: "the session is over"}
	}
	free, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r.wg.Go(func() {
		defer cancel()
		ended := make(chan struct{})
		defer close(ended)
		go func() {
			select {
			case <-r.quit:
				cancel()
			case <-ended:
			}
		}()
		res := r.one(free, e, in, payload)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.pending = append(r.pending, res.Outcome.Notices...)
	})
	return Result{Entry: e, Verdict: Started}
}

// Close waits for what runs in the background until ctx ends, then kills it,
// and returns the notices that no event has passed on. Hooks that are not
// async can still run.
func (r *Runner) Close(ctx context.Context) []string {
	r.mu.Lock()
	first := !r.closed
	r.closed = true
	r.mu.Unlock()
	done := make(chan struct{})
	go func() {
		r.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	if first {
		close(r.quit)
	}
	<-done
	return r.take()
}

// take returns the pending notices and forgets them.
func (r *Runner) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	notices := r.pending
	r.pending = nil
	return notices
}
