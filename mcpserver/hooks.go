package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
)

// Hooks runs the hooks of a workspace for clients (spec chapter 7). It is called
// by many of them at once.
type Hooks interface {
	// Run runs the hooks of one event for the client with the session s: those of
	// the workspace, then those that skills registered in s.
	Run(ctx context.Context, s *session.Session, in hook.Input) hook.Outcome
	// End says that the client is gone.
	End(s *session.Session)
}

// hooked runs hooks for a client; nil when there are none. What they have for
// the person is told to whoever runs the server, because a client may show it to
// its model.
func (s *Server) hooked(own *session.Session) func(context.Context, hook.Input) hook.Outcome {
	if s.hooks == nil {
		return nil
	}
	return func(ctx context.Context, in hook.Input) hook.Outcome {
		if ctx.Err() != nil {
			return hook.Outcome{} // the road looks, too
		}
		in.AgentID, in.PermissionMode = string(session.Main), string(agent.ModeDefault)
		out := s.hooks.Run(ctx, own, in)
		for _, n := range out.Notices {
			s.log.Warn(n, "session", own.ID)
		}
		return out
	}
}

// left ends what hooks keep for a client.
func (s *Server) left(own *session.Session) {
	if s.hooks != nil {
		s.hooks.End(own)
	}
}

// mayBeRead runs the PreToolUse hooks of SkillRead, also for a file that is read
// as a resource: a hook that keeps a skill away would be idle if its text could
// be read instead. They see each path in one spelling, and may refuse; what else
// they say has no place beside a file. An empty path is the list of the files.
func (s *Server) mayBeRead(ctx context.Context, own *session.Session, e *catalog.Entry, path string) error {
	run := s.hooked(own)
	if run == nil {
		return nil
	}
	if p, err := clean(path); path != "" && err == nil { // one that is wrong is read by nobody
		path = p
	}
	in := hook.Input{Event: hook.PreToolUse, ToolName: readTool, By: string(invoke.ByMCPClient),
		SkillPath: e.Origin.Path, SkillSource: string(e.Origin.Source)}
	in.ToolInput, _ = json.Marshal(map[string]string{"skill": calledBy(e), "path": path}) // texts
	request := permission.Request{Tool: readTool, Input: permission.Input{Skill: calledBy(e), Aliases: invoke.Aliases(e)}}
	in.Covers = func(rule string) bool { return permission.Covers(rule, request) }
	out := run(ctx, in)
	switch err := out.Err(in.Event); {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case out.Opinion == hook.Ask:
		return fmt.Errorf("a hook wants the person asked: %s, and nobody is here to ask", cmp.Or(out.Reason, "it gave no reason"))
	case len(out.UpdatedInput) > 0:
		return errors.New("a PreToolUse hook changed which file is read, which " + readTool + " cannot follow")
	case len(out.Context) > 0:
		s.log.Warn("a hook adds context to a file, which has no place for it", "skill", calledBy(e), "file", path)
	}
	return nil
}
