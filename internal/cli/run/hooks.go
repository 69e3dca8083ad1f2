package run

import (
	"context"
	"slices"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/hookexec"
	"github.com/knack-skills/knack/internal/cli/chat"
	"github.com/knack-skills/knack/internal/cli/servers"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/session"
)

// hooks runs the hooks of a conversation without a language model (spec chapter
// 7), at the events that such a one has. The agent loop, which runs those of
// every other conversation, is not there.
type hooks struct {
	e      *knack.Engine
	bare   bool
	out    *writer
	runner *hookexec.Runner
	begun  bool
}

// events are those that happen without a language model. No tool is called but
// Skill, and nobody could go on when a Stop hook wants that.
var events = []hook.Event{hook.SessionStart, hook.SessionEnd, hook.UserPromptSubmit, hook.UserPromptExpansion, hook.PreToolUse,
	hook.PermissionRequest, hook.Notification, hook.SkillInvoked, hook.ConfigChange, hook.FileChanged}

func newHooks(e *knack.Engine, bare bool, out *writer, mcp *servers.Set) *hooks {
	o := chat.HookOptions(e)
	o.SpillDir, o.CallTool, o.Frame = chat.SpillDir(e), mcp.CallTool, chat.Frame(out.telemetry)
	return &hooks{e: e, bare: bare, out: out, runner: hookexec.New(o)}
}

// hookServers names the MCP servers that hooks of these events call.
func hookServers(e *knack.Engine, bare bool) (names []string) {
	for _, entry := range chat.GlobalHooks(e, bare) {
		if entry.Handler.Type == hook.MCPTool && slices.Contains(events, entry.Event) {
			names = append(names, entry.Handler.Server)
		}
	}
	return names
}

// run runs the hooks of one event, and tells the person what they say to them.
func (h *hooks) run(ctx context.Context, in hook.Input) hook.Outcome {
	if ctx.Err() != nil {
		return hook.Outcome{} // the road looks, too
	}
	in.SessionID, in.CWD = h.e.Session().ID, h.e.Dir()
	in.AgentID, in.PermissionMode = string(session.Main), string(agent.ModeDefault)
	out := h.runner.Run(ctx, chat.HooksFor(h.e, h.e.Session(), session.Main, h.bare), in)
	for _, n := range out.Notices {
		h.out.notice(n)
	}
	return out
}

// must is run for events that can only go on or not. What hooks add is for a
// model, so that an answer without one does not have it; a stream shows it where
// it would stand.
func (h *hooks) must(ctx context.Context, in hook.Input) error {
	out := h.run(ctx, in)
	if err := out.Err(in.Event); err != nil {
		return err
	}
	for _, m := range invoke.HookWords(in.Event, out.Context) {
		h.out.added(m)
	}
	return nil
}

// begin runs the SessionStart hooks, before the first message.
func (h *hooks) begin(ctx context.Context) error {
	if h.begun {
		return nil
	}
	h.begun = true
	return h.must(ctx, hook.Input{Event: hook.SessionStart, Source: "startup"})
}

// hear runs the UserPromptSubmit hooks over what a person typed.
func (h *hooks) hear(ctx context.Context, typed string) error {
	return h.must(ctx, hook.Input{Event: hook.UserPromptSubmit, Prompt: typed})
}

// keepUp keeps skills and settings up to date until end is called. A run of one
// message is over too soon for that.
func (h *hooks) keepUp(ctx context.Context) (end func()) {
	return chat.KeepUp(ctx, h.e, chat.Listener{Bare: h.bare, Notice: h.out.notice,
		Config: func(ctx context.Context, source, file string) error {
			return h.run(ctx, hook.Input{Event: hook.ConfigChange, Source: source, FilePath: file}).Err(hook.ConfigChange)
		},
		File: func(ctx context.Context, path string) {
			h.run(ctx, hook.Input{Event: hook.FileChanged, FilePath: path})
		}})
}

// end runs the SessionEnd hooks, and waits for what runs in the background.
func (h *hooks) end() {
	for _, n := range chat.EndHooks(h.runner, func(ctx context.Context, why string) {
		h.run(ctx, hook.Input{Event: hook.SessionEnd, Source: why})
	}) {
		h.out.notice(n)
	}
}
