package invoke

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/permission"
)

// Nobody is the Asker of a host without a person. Unlike none at all, it leaves
// PermissionRequest hooks to answer first.
type Nobody struct{}

var _ Asker = Nobody{}

// Ask returns [ErrNobody].
func (Nobody) Ask(context.Context, Question) (Answer, error) { return Answer{}, ErrNobody }

// ask puts a question to hooks, then to the person (spec H-2).
func ask(ctx context.Context, env Env, q Question) (Answer, error) {
	if env.Ask == nil {
		return Answer{}, ErrNobody
	}
	if env.Hooks == nil {
		return env.Ask.Ask(ctx, q)
	}
	out := env.Hooks(ctx, aboutQuestion(q))
	switch {
	case out.Refuses():
		return Answer{Reason: "a PermissionRequest hook refused it: " + cmp.Or(out.Reason, out.StopReason, "it gave no reason")}, nil
	case ctx.Err() != nil:
		return Answer{}, ctx.Err()
	case out.Opinion == hook.Allow && !q.Firm:
		return Answer{Allow: true}, nil
	}
	if _, none := env.Ask.(Nobody); !none {
		env.Hooks(ctx, hook.Input{Event: hook.Notification, Message: "permission is needed: " + q.Reason})
	}
	return env.Ask.Ask(ctx, q)
}

// aboutQuestion is what PermissionRequest hooks are told.
func aboutQuestion(q Question) hook.Input {
	in := hook.Input{Event: hook.PermissionRequest, ToolName: cmp.Or(q.Tool, "Skill"), ToolInput: q.Input, CommandName: q.Skill, Message: q.Reason}
	if q.Command != "" && q.Tool == "" {
		in.ToolName = "Bash"
	}
	if len(in.ToolInput) == 0 {
		in.ToolInput, _ = json.Marshal(map[string]string{"skill": q.Skill, "command": q.Command}) // texts
	}
	call := permission.Request{Tool: in.ToolName, Input: permission.Input{Command: q.Command, Skill: q.Skill}}
	in.Covers = func(rule string) bool { return permission.Covers(rule, call) }
	return in
}
