package agent

import (
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
}

// callAll runs the tool calls of one answer. Read-only calls beside each other
// run in parallel, all others one after the other, in order; each call gets a
// result, whatever happens, so that the history stays valid (spec A-1).
func (a *agent) callAll(ctx context.Context, calls []llm.ToolCall, o turn.Override) (results []llm.Block, follow []turn.Message, more turn.Override) {
	for i := 0; i < len(calls); {
		group := a.group(calls[i:])
		a.callGroup(ctx, group, o.And(more))
		for _, p := range group {
			follow = append(follow, p.out.Messages...)
			more = more.And(p.out.Override)
			results = append(results, llm.Block{Type: llm.ToolResult, ToolUseID: p.block.ID,
				Name: p.block.Name, Text: a.fit(p.out.Text), IsError: p.out.IsError})
		}
		i += len(group)
	}
	return results, follow, more
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
	out, err := p.plan.Run(ctx, CallEnv{
		ID: p.block.ID, Agent: a.id,
		Progress: func(s string) { a.c.observe(Progress{Agent: a.id, Text: s}) },
		Invoke: func(ctx context.Context, name, args string) (*invoke.Result, error) {
			r, err := a.invoke(ctx, invoke.Request{Name: name, Args: args, By: invoke.ByModel, Agent: a.id}, o)
			if refusal(err) {
				a.c.deny(Denial{Tool: p.block.Name, Input: p.block.Input, Reason: err.Error()})
			}
			return r, err
		},
		Spawn: forker{a, o}.Fork,
	})
	switch {
	case err == nil:
		// What was done is reported as done, also when the turn was cancelled in
		// the meantime: the next one builds on it.
		p.out = out
		if a.c.opts.Touched != nil && len(p.plan.Touches) > 0 {
			a.c.opts.Touched(p.plan.Touches)
		}
	case ctx.Err() != nil:
		p.fail("Cancelled while it ran.")
	default:
		p.fail("%s failed: %v", p.block.Name, err)
	}
}

// refusal reports whether somebody, or a rule, said no to a skill.
func refusal(err error) bool {
	var refused *invoke.RefusedError
	var denied *prompt.DeniedError
	return errors.As(err, &refused) || errors.As(err, &denied)
}

// authorize lets a call through, or makes its refusal the result.
func (a *agent) authorize(ctx context.Context, p *prepared, o turn.Override) {
	if p.plan.Person && a.id != session.Main {
		p.fail("A subagent cannot ask the person; decide yourself and say what you assumed.")
		return
	}
	rules := a.rules(o)
	if p.plan.Ask.Tool == "" {
		// A tool without a specifier of its own can still be denied by name.
		d := permission.Rules{Deny: rules.Deny}.Decide(permission.Request{Tool: p.block.Name})
		if d.Verdict == permission.Deny {
			a.refuse(p, d.Reason)
		}
		return
	}
	if a.pool != nil {
		// A fork keeps to the patterns of its skill and its type, also where the
		// person's rules would allow more (spec I-9).
		call := p.plan.Ask
		call.Tool = p.block.Name // limits speak of tools as the agent has them
		if why := a.pool.Check(call); why != "" {
			a.refuse(p, why)
			return
		}
	}
	d := a.mode.judge(rules.Decide(p.plan.Ask), p.plan)
	if d.Verdict == permission.Allow {
		return
	}
	if d.Verdict == permission.Ask && a.asker() != nil {
		answer, err := a.asker().Ask(ctx, invoke.Question{Tool: p.block.Name, Input: p.block.Input,
			Command: p.plan.Ask.Input.Command, Reason: d.Reason, Suggest: d.Suggest})
		if err == nil && answer.Allow {
			return
		}
		switch {
		case ctx.Err() != nil:
			p.fail("Cancelled before it ran.")
			return
		case err == nil:
			a.refuse(p, strings.TrimSuffix("the person declined: "+answer.Reason, ": "))
			return
		}
		d.Reason += fmt.Sprintf("; asking failed: %v", err)
	}
	a.refuse(p, d.Reason)
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

// asker is who can be asked: nobody in a subagent (spec I-10).
func (a *agent) asker() invoke.Asker {
	if a.id != session.Main || a.mode == ModeDontAsk {
		return nil
	}
	return a.c.opts.Ask
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
