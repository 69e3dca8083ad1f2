package invoke

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/turn"
)

// events are the hooks that stand beside the road for each caller, in the order
// in which they run (spec H-2). SkillInvoked runs for all of them, last, and
// PermissionRequest wherever somebody would be asked.
//
// A model's Skill tool is a tool call. A loop that runs the hooks of all its calls
// says so in [Env].Called; for a model or a client without one they run here. That
// a person picked a prompt is the client's word alone: what is to keep models away
// from a skill holds for prompts, too.
var events = map[Caller][]hook.Event{
	ByUser:      {hook.UserPromptExpansion},
	ByKeyword:   {hook.UserPromptExpansion},
	ByModel:     {hook.PreToolUse},
	BySchedule:  {},
	ByAgent:     {},
	ByMCPClient: {hook.PreToolUse},
	// A hook may change the input, and the later ones have to see what is left.
	ByMCPPrompt: {hook.PreToolUse, hook.UserPromptExpansion},
}

// hooksFor are the events of a caller. An unknown one is held to what holds for
// a stranger.
func hooksFor(by Caller) []hook.Event {
	if list, known := events[by]; known {
		return list
	}
	return events[ByMCPClient]
}

// HookWords are what hooks add for the model. They are marked as such, so that
// they cannot pass for the person's words.
func HookWords(e hook.Event, texts []string) (out []turn.Message) {
	for _, t := range texts {
		out = append(out, turn.Message{Role: turn.User, Meta: true,
			Text: fmt.Sprintf("<system-reminder>\n%s hook: %s\n</system-reminder>", e, t)})
	}
	return out
}

// hooked is one invocation with the hooks beside it.
type hooked struct {
	env   Env
	req   Request // as hooks have changed it
	added []turn.Message
}

// steps run the hooks of one event.
var steps = map[hook.Event]func(h *hooked, ctx context.Context, e *catalog.Entry) error{
	hook.PreToolUse:          (*hooked).preTool,
	hook.UserPromptExpansion: (*hooked).expanding,
}

// beforehand runs the hooks that stand before everything else.
func (h *hooked) beforehand(ctx context.Context) error {
	if h.env.Hooks == nil {
		return nil
	}
	for _, event := range hooksFor(h.req.By) {
		if event == hook.PreToolUse && h.env.Called && h.req.By == ByModel {
			continue
		}
		e, err := h.env.Catalog.Resolve(Named(h.req.Name))
		if err != nil {
			return nil // the road itself says what is wrong with the name
		}
		if err := steps[event](h, ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// invoked runs the SkillInvoked hooks: everything else has let the skill
// through, and nothing is remembered or started yet.
func (h *hooked) invoked(ctx context.Context, e *catalog.Entry) error {
	if h.env.Hooks == nil {
		return nil
	}
	_, err := h.run(ctx, h.about(hook.SkillInvoked, e))
	return err
}

// expanding runs the hooks before a skill's text takes the place of what
// somebody typed.
func (h *hooked) expanding(ctx context.Context, e *catalog.Entry) error {
	in := h.about(hook.UserPromptExpansion, e)
	in.Prompt = "/" + strings.TrimSpace(e.ID+" "+h.req.Args)
	_, err := h.run(ctx, in)
	return err
}

// about is what hooks are told of the invocation.
func (h *hooked) about(event hook.Event, e *catalog.Entry) hook.Input {
	return hook.Input{Event: event, CommandName: e.ID, CommandArgs: h.req.Args, By: string(h.req.By),
		SkillPath: e.Origin.Path, SkillSource: string(e.Origin.Source)}
}

// run runs the hooks of one event, which may end the invocation. One that ends
// meanwhile has not been let through by all of them.
func (h *hooked) run(ctx context.Context, in hook.Input) (hook.Outcome, error) {
	out := h.env.Hooks(ctx, in)
	if err := out.Err(in.Event); err != nil {
		return out, err
	}
	h.added = append(h.added, HookWords(in.Event, out.Context)...)
	return out, ctx.Err()
}

// call is the input of the Skill tool.
type call struct {
	Skill string `json:"skill"`
	Args  string `json:"args,omitempty"`
}

// preTool runs the PreToolUse hooks of a call for which no loop has run them. They
// may refuse it, change its input, or want the person asked; their allow lifts
// nothing, because what a skill needs is found out later (spec H-7).
func (h *hooked) preTool(ctx context.Context, e *catalog.Entry) error {
	in := h.about(hook.PreToolUse, e)
	in.CommandName, in.CommandArgs = "", ""
	in.ToolName = "Skill"
	in.ToolInput, _ = json.Marshal(call{Named(h.req.Name), h.req.Args}) // texts
	request := skillRequest(e, h.req, h.env)
	in.Covers = func(rule string) bool { return permission.Covers(rule, request) }
	out, err := h.run(ctx, in)
	if err != nil {
		if ctx.Err() == nil {
			h.env.noteDecision(agentOf(h.req), "Skill", e, permission.Decision{Reason: err.Error()}, permission.Deny.String(), "")
		}
		return err
	}
	if len(out.UpdatedInput) > 0 {
		if e, err = h.change(e, out.UpdatedInput); err != nil {
			return err
		}
	}
	if out.Opinion == hook.Ask {
		return h.askPerson(ctx, e, out.Reason)
	}
	return nil
}

// change takes what hooks made of the input.
func (h *hooked) change(e *catalog.Entry, input json.RawMessage) (*catalog.Entry, error) {
	var c call
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.DisallowUnknownFields()
	err := dec.Decode(&c)
	if err == nil && strings.TrimSpace(c.Skill) == "" {
		err = errors.New(`"skill" is missing`)
	}
	if err != nil {
		return nil, &RefusedError{ID: idOf(e), By: h.req.By, Rule: "H-6",
			Reason: "a PreToolUse hook changed the input, and it does not fit: " + err.Error(), Fix: "correct what the hook answers as updatedInput"}
	}
	h.req.Name, h.req.Args = c.Skill, c.Args
	return h.env.Catalog.Resolve(Named(c.Skill))
}

// askPerson asks because a hook wants it. Neither a rule nor another hook can
// answer in their place.
func (h *hooked) askPerson(ctx context.Context, e *catalog.Entry, reason string) error {
	d := permission.Decision{Verdict: permission.Ask, Firm: true, Reason: "a hook wants the person asked: " + cmp.Or(reason, "it gave no reason")}
	q := Question{Skill: idOf(e), Source: e.Origin.Source, Path: e.Origin.Path, Reason: d.Reason, Firm: true}
	answer, err := ask(ctx, h.env, q)
	refused := &RefusedError{ID: idOf(e), By: h.req.By, Rule: "H-7"}
	outcome := outcomeApproved
	switch {
	case errors.Is(err, ErrNobody):
		refused.Reason, refused.Fix = d.Reason+", and nobody is here to ask", "start it where somebody can answer"
		outcome = permission.Deny.String()
	case err != nil:
		return fmt.Errorf("asking about skill %q: %w", idOf(e), err)
	case !answer.Allow:
		refused.Reason, outcome = declined(answer), outcomeDeclined
	}
	h.env.noteDecision(agentOf(h.req), "Skill", e, d, outcome, "")
	if outcome != outcomeApproved {
		return refused
	}
	return nil
}
