package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/prompt"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/turn"
)

// A prepared call has a plan, or already a result that says why not.
type prepared struct {
	block llm.ToolCall
	plan  Plan
	out   Result
	ready bool // out is the result

	// What hooks see of the call, also when it has failed, and what they said.
	asked   permission.Request
	skill   string
	updated json.RawMessage // replaces block.Input
	said    string          // why they think so
	follow  []turn.Message  // after the result
	stop    error           // ends the turn
}

// input is what the call was made with.
func (p *prepared) input() json.RawMessage {
	if len(p.updated) > 0 {
		return p.updated
	}
	return p.block.Input
}

// callAll runs the tool calls of one answer. Read-only calls beside each other
// run in parallel, all others one after the other, in order; each call gets a
// result, whatever happens, so that the history stays valid (spec A-1).
func (a *agent) callAll(ctx context.Context, calls []llm.ToolCall, o turn.Override) (results []llm.Block, follow []turn.Message, more turn.Override, stop error) {
	for i := 0; i < len(calls); {
		group := a.group(calls[i:])
		a.callGroup(ctx, group, o.And(more))
		for _, p := range group {
			follow = append(follow, p.out.Messages...)
			follow = append(follow, p.follow...)
			stop = errors.Join(stop, p.stop)
			more = more.And(p.out.Override)
			results = append(results, llm.Block{Type: llm.ToolResult, ToolUseID: p.block.ID,
				Name: p.block.Name, Text: a.fit(p.out.Text), IsError: p.out.IsError})
		}
		i += len(group)
	}
	return results, follow, more, stop
}

// group plans the calls that run together: the read-only ones at the beginning,
// or the first one alone. What comes after is not planned yet, because what a
// path or a file is may change until then.
func (a *agent) group(calls []llm.ToolCall) []*prepared {
	list := []*prepared{a.plan(calls[0])}
	for _, b := range calls[1:] {
		if !list[0].plan.ReadOnly {
			break
		}
		p := a.plan(b)
		if !p.plan.ReadOnly {
			break
		}
		list = append(list, p)
	}
	return list
}

// plan finds the tool of a call and reads its input.
func (a *agent) plan(b llm.ToolCall) *prepared {
	p := &prepared{block: b}
	for _, t := range a.tools {
		if t.Spec().Name != b.Name {
			continue
		}
		input := b.Input
		if len(input) == 0 {
			input = json.RawMessage("{}")
		}
		var err error
		if p.plan, err = t.Plan(input); err != nil {
			p.fail("The input of %s is wrong: %s", b.Name, strings.TrimPrefix(err.Error(), b.Name+": "))
		}
		p.asked, p.skill = p.plan.Ask, p.plan.Skill
		return p
	}
	var names []string
	for _, t := range a.tools {
		names = append(names, t.Spec().Name)
	}
	p.fail("There is no tool %q. The tools are: %s", b.Name, strings.Join(names, ", "))
	return p
}

func (p *prepared) fail(format string, args ...any) {
	p.out, p.ready = Result{Text: fmt.Sprintf(format, args...), IsError: true}, true
	p.plan = Plan{ReadOnly: p.plan.ReadOnly}
}

// callGroup authorizes calls in order, then runs them, several at a time.
func (a *agent) callGroup(ctx context.Context, group []*prepared, o turn.Override) {
	for _, p := range group {
		if ctx.Err() != nil {
			p.fail("Cancelled before it ran.")
		}
		if !p.ready {
			a.authorize(ctx, p, o)
		}
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxParallel)
	for _, p := range group {
		if p.ready {
			continue
		}
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			a.runOne(ctx, p, o)
		})
	}
	wg.Wait()
	a.calls += len(group)
	if a.id != session.Main {
		last := group[len(group)-1].block.Name
		a.c.observe(Progress{Agent: a.id, Text: last, Calls: a.calls})
	}
}

func (a *agent) runOne(ctx context.Context, p *prepared, o turn.Override) {
	ctx, end := a.c.frame(ctx, ToolStarted{Agent: a.id, ID: p.block.ID, Name: p.block.Name, Input: p.block.Input})
	defer func() { end(ToolEnded{Agent: a.id, ID: p.block.ID, Name: p.block.Name, IsError: p.out.IsError}) }()
	began := a.c.opts.Now()
	out, err := p.plan.Run(ctx, CallEnv{
		ID: p.block.ID, Agent: a.id,
		Progress: func(s string) { a.c.observe(Progress{Agent: a.id, Text: s}) },
		Invoke: func(ctx context.Context, name, args string) (*invoke.Result, error) {
			env := a.env(o)
			env.Called = true // authorize has asked the hooks
			r, err := a.invoke(ctx, invoke.Request{Name: name, Args: args, By: invoke.ByModel, Agent: a.id}, env)
			if refusal(err) {
				a.c.deny(Denial{Tool: p.block.Name, Input: p.block.Input, Reason: err.Error()})
			}
			return r, err
		},
		Spawn: forker{a, o}.Fork,
	})
	a.noteCommand(p, err != nil || out.IsError, a.c.opts.Now().Sub(began))
	switch {
	case err == nil:
		// What was done is reported as done, also when the turn was cancelled in
		// the meantime: the next one builds on it.
		p.out = out
		if a.c.opts.Touched != nil && len(p.plan.Touches) > 0 {
			// What was done has its consequences, also when the turn was cancelled.
			for _, n := range a.c.opts.Touched(context.WithoutCancel(ctx), p.plan.Touches) {
				a.c.observe(Notice{Agent: a.id, Text: n})
			}
		}
		a.postTool(ctx, p, failed(out))
		a.wrote(ctx, p)
	case ctx.Err() != nil:
		p.fail("Cancelled while it ran.")
	default:
		p.fail("%s failed: %v", p.block.Name, err)
		a.postTool(ctx, p, p.out.Text)
	}
}

// failed is what a tool says of its failure; empty when there is none.
func failed(r Result) string {
	if r.IsError {
		return cmp.Or(r.Text, "it failed")
	}
	return ""
}

// refusal reports whether somebody, or a rule, said no to a skill.
func refusal(err error) bool {
	var refused *invoke.RefusedError
	var denied *prompt.DeniedError
	return errors.As(err, &refused) || errors.As(err, &denied)
}

// refuse makes a denial the result of a call, and keeps it for the report.
func (a *agent) refuse(p *prepared, reason string) {
	a.c.deny(Denial{Tool: p.block.Name, Input: p.block.Input, Reason: reason})
	p.fail("Permission denied: %s", reason)
}

func (c *Conversation) deny(d Denial) {
	d.Input = llm.Object(d.Input) // it is reported as JSON
	c.mu.Lock()
	defer c.mu.Unlock()
	c.denials = append(c.denials, d)
}

// Denials returns the calls that were not allowed, in order.
func (c *Conversation) Denials() []Denial {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Denial(nil), c.denials...)
}

// fit cuts a result that is too long for the model, and saves the whole of it.
func (a *agent) fit(s string) string {
	if len(s) <= MaxResult || utf8.RuneCountInString(s) <= MaxResult {
		return s
	}
	n, cut := 0, len(s)
	for i := range s {
		if n == MaxResult {
			cut = i
			break
		}
		n++
	}
	where := "the rest is lost"
	if path, err := a.c.spill(s); err == nil {
		where = "the whole result is in " + path
	}
	return fmt.Sprintf("%s\n[cut after %d of %d characters; %s]", s[:cut], MaxResult, utf8.RuneCountInString(s), where)
}

// spill saves a result and returns its path.
func (c *Conversation) spill(s string) (path string, err error) {
	if c.opts.SpillDir == "" {
		return "", errors.New("there is no directory for results")
	}
	if err := os.MkdirAll(c.opts.SpillDir, 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(c.opts.SpillDir, "result-*.txt")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(s)
	return f.Name(), errors.Join(err, f.Close())
}
