package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/turn"
)

// maxStopBlocks is how often hooks may send an agent back to work in one turn.
const maxStopBlocks = 8

// A BlockedError reports what a hook did not let through (spec H-6).
type BlockedError = hook.BlockedError

// A StoppedError reports that a hook ended the turn (continue: false).
type StoppedError = hook.StoppedError

// hook runs the hooks of one event for a, and tells the person what they say
// to them.
func (a *agent) hook(ctx context.Context, in hook.Input) hook.Outcome {
	if a.c.opts.Hooks == nil || a.unwatched || ctx.Err() != nil {
		return hook.Outcome{}
	}
	in.AgentID, in.AgentType, in.PermissionMode = string(a.id), a.kind(), string(cmp.Or(a.mode, ModeDefault))
	out := a.c.opts.Hooks.Run(ctx, a.id, in)
	for _, n := range out.Notices {
		a.c.observe(Notice{Agent: a.id, Text: n})
	}
	return out
}

// must is hook for events that can only go on or not.
func (a *agent) must(ctx context.Context, in hook.Input) ([]turn.Message, error) {
	out := a.hook(ctx, in)
	if err := out.Err(in.Event); err != nil {
		return nil, err
	}
	return invoke.HookWords(in.Event, out.Context), nil
}

// Begin runs the SessionStart hooks; source is startup or resume. What they add
// stands before the next turn.
func (c *Conversation) Begin(ctx context.Context, source string) error {
	c.turnMu.Lock()
	defer c.turnMu.Unlock()
	msgs, err := c.main.must(ctx, hook.Input{Event: hook.SessionStart, Source: source})
	c.opening = append(c.opening, msgs...)
	return err
}

// Finish runs the SessionEnd hooks; reason says why the session ends. Nothing
// can keep it from ending.
func (c *Conversation) Finish(ctx context.Context, reason string) {
	c.main.hook(ctx, hook.Input{Event: hook.SessionEnd, Source: reason})
}

// Hear runs the UserPromptSubmit hooks over what a person typed, before
// anything is made of it. What they add stands before the next turn; a
// [BlockedError] or [StoppedError] means that the prompt is not to be used.
func (c *Conversation) Hear(ctx context.Context, typed string) error {
	c.turnMu.Lock()
	defer c.turnMu.Unlock()
	msgs, err := c.main.must(ctx, hook.Input{Event: hook.UserPromptSubmit, Prompt: typed})
	c.opening = append(c.opening, msgs...)
	return err
}

// ConfigChanged runs the ConfigChange hooks before changed settings or skills
// count; source is one of those of spec H-2. Its error is a [BlockedError] or a
// [StoppedError]. It is safe to call during a turn.
func (c *Conversation) ConfigChanged(ctx context.Context, source, file string) error {
	_, err := c.main.must(ctx, hook.Input{Event: hook.ConfigChange, Source: source, FilePath: file})
	return err
}

// FileChanged runs the FileChanged hooks. It is safe to call during a turn.
func (c *Conversation) FileChanged(ctx context.Context, path string) {
	c.main.hook(ctx, hook.Input{Event: hook.FileChanged, FilePath: path})
}

// toolInput is what hooks are told of a call.
func (a *agent) toolInput(e hook.Event, p *prepared) hook.Input {
	in := hook.Input{Event: e, ToolName: p.block.Name, ToolInput: llm.Object(p.input()), ToolUseID: p.block.ID}
	call := p.asked
	if call.Tool == "" {
		call.Tool = p.block.Name
	}
	if p.skill != "" {
		if entry, err := a.c.opts.Env().Catalog.Resolve(strings.TrimPrefix(strings.TrimSpace(p.skill), "/")); err == nil {
			in.SkillPath, in.SkillSource = entry.Origin.Path, string(entry.Origin.Source)
			call.Input.Skill, call.Input.Aliases = entry.ID, invoke.Aliases(entry)
		}
	}
	in.Covers = func(rule string) bool { return permission.Covers(rule, call) }
	return in
}

// preTool runs the PreToolUse hooks of a call. They may refuse it, or change
// its input; what they think of it is weighed by authorize.
func (a *agent) preTool(ctx context.Context, p *prepared) hook.Opinion {
	out := a.hook(ctx, a.toolInput(hook.PreToolUse, p))
	p.follow = append(p.follow, invoke.HookWords(hook.PreToolUse, out.Context)...)
	if out.Stop {
		p.stop = &StoppedError{Event: hook.PreToolUse, Reason: out.StopReason}
	}
	if out.Block || out.Opinion == hook.Deny || out.Stop {
		why := "a PreToolUse hook refused it: " + cmp.Or(out.Reason, out.StopReason, "it gave no reason")
		a.ruled(p, permission.Decision{Reason: why}, outcomeDeny)
		a.refuse(p, why)
		return hook.Deny
	}
	if len(out.UpdatedInput) > 0 {
		p.updated = out.UpdatedInput
		again := a.plan(llm.ToolCall{ID: p.block.ID, Name: p.block.Name, Input: out.UpdatedInput})
		p.plan, p.asked, p.skill = again.plan, again.asked, again.skill
		if again.ready {
			p.fail("A PreToolUse hook changed the input, and it does not fit. %s", again.out.Text)
		}
	}
	p.said = out.Reason
	return out.Opinion
}

// weigh joins what the rules and the mode decided with what hooks think (spec
// H-7): an allow lifts only a question that no rule asks and that a mode may
// skip, an ask turns an allow into a question.
func weigh(d permission.Decision, o hook.Opinion, reason string) permission.Decision {
	switch {
	case o == hook.Allow && d.Verdict == permission.Ask && d.Rule == nil && !d.Firm:
		d.Verdict, d.Reason = permission.Allow, "a hook allowed it: "+reason
	case o == hook.Ask && d.Verdict == permission.Allow:
		d.Verdict, d.Firm, d.Reason = permission.Ask, true, "a hook wants the person asked: "+reason
	}
	return d
}

// postTool runs the hooks after a call: what they say follows its result.
func (a *agent) postTool(ctx context.Context, p *prepared, failure string) {
	event, response := hook.PostToolUse, map[string]string{"text": p.out.Text}
	if failure != "" {
		event, response = hook.PostToolUseFailure, map[string]string{"error": failure}
	}
	in := a.toolInput(event, p)
	in.ToolResponse, _ = json.Marshal(response) // texts
	out := a.hook(ctx, in)
	p.follow = append(p.follow, invoke.HookWords(event, out.Context)...)
	if out.Block {
		p.follow = append(p.follow, invoke.HookWords(event, []string{"blocked: " + out.Reason})...)
	}
	if out.Stop {
		p.stop = &StoppedError{Event: event, Reason: out.StopReason}
	}
}

// wrote runs the FileChanged hooks for what a call has written.
func (a *agent) wrote(ctx context.Context, p *prepared) {
	if p.plan.ReadOnly || p.out.IsError {
		return
	}
	for _, f := range p.plan.Touches {
		out := a.hook(ctx, hook.Input{Event: hook.FileChanged, FilePath: f, ToolName: p.block.Name, ToolUseID: p.block.ID})
		p.follow = append(p.follow, invoke.HookWords(hook.FileChanged, out.Context)...)
	}
}

// atStop runs the hooks at the end of a turn. again reports that the agent must
// go on, with what they said as its next message.
func (a *agent) atStop(ctx context.Context, text string, blocked int) (again bool, err error) {
	in := hook.Input{Event: hook.Stop, Message: text, StopHookActive: blocked > 0}
	if a.id != session.Main {
		in.Event = hook.SubagentStop
	}
	out := a.hook(ctx, in)
	switch {
	case out.Stop:
		return false, nil // it stops anyway
	case out.Block && blocked >= maxStopBlocks:
		a.c.observe(Notice{Agent: a.id, Text: fmt.Sprintf("hooks sent the agent back to work %d times; it stops now", blocked)})
		return false, nil
	case out.Block, len(out.Context) > 0:
		if out.Block {
			out.Context = append([]string{out.Reason}, out.Context...)
		} else if blocked >= maxStopBlocks {
			return false, nil
		}
		a.join(userMessage(nil, invoke.HookWords(in.Event, out.Context)), true)
		return true, ctx.Err()
	}
	return false, nil
}
