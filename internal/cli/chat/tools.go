package chat

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/agenttool"
	"github.com/knack-skills/knack/agent/skilltool"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/agent/tool/bash"
	"github.com/knack-skills/knack/agent/tool/file"
	"github.com/knack-skills/knack/agent/tool/find"
	"github.com/knack-skills/knack/agent/tool/question"
	"github.com/knack-skills/knack/agent/tool/todo"
	"github.com/knack-skills/knack/agent/tool/web"
	"github.com/knack-skills/knack/agentdef"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/shell"
)

// A toolbox is every tool of a session, in the order in which the model sees
// them, with what has to be closed at its end.
type toolbox struct {
	all    []agent.Tool
	seen   *file.Seen
	shells *bash.Shells
	todos  *todo.Lists
}

func newToolbox(h *Host) toolbox {
	e := h.Engine
	base := tool.Base{Dir: e.Dir(), Home: e.Place().Home, More: e.MoreDirs()}
	t := toolbox{seen: file.NewSeen(), todos: todo.NewLists(),
		shells: bash.NewShells(bash.Options{Base: base, Runner: bashRunner(e), Env: e.Environ, Spill: h.spill()})}
	t.all = []agent.Tool{
		file.NewRead(base, t.seen), file.NewWrite(base, t.seen), file.NewEdit(base, t.seen), file.NewMultiEdit(base, t.seen),
	}
	t.all = append(t.all, find.Tools(find.Options{Base: base, Refused: h.refused})...)
	t.all = append(t.all, t.shells.Tools()...)
	t.all = append(t.all, web.New(web.Options{Proxy: http.ProxyFromEnvironment}), todo.New(t.todos), question.New(h.o.Questions), agenttool.Agent{Types: describe(h.defs)})
	t.all = append(t.all, h.Servers.Tools()...)
	if !h.o.NoSkills && !h.noSkillAllowed() {
		t.all = append(t.all, skilltool.Skill{}, skilltool.Search{Finder: e})
	}
	return t
}

// noSkillAllowed reports whether a rule denies every skill to the model; then
// it is not offered the tool.
func (h *Host) noSkillAllowed() bool {
	d := permission.Rules{Deny: h.invokeEnv().Rules.Deny}.Decide(permission.Request{Tool: "Skill"})
	return d.Verdict == permission.Deny
}

// bashRunner runs what the rules decided command by command: in the sandbox of
// the engine, where protected paths may be written. Git could not commit
// otherwise.
func bashRunner(e *knack.Engine) shell.Runner {
	r := e.Env().Shell
	if free, ok := r.(interface{ Unprotected() shell.Runner }); ok {
		return free.Unprotected()
	}
	return r
}

// endAgent drops what the tools remember of a subagent (spec I-10).
func (t toolbox) endAgent(id session.AgentID) {
	t.shells.EndAgent(id)
	t.seen.EndAgent(id)
	t.todos.EndAgent(id)
}

// refused keeps single files out of searches that were approved for a directory.
func (h *Host) refused(_ session.AgentID, path string) bool {
	r := h.Engine.PermissionRequest("Read")
	r.Input = permission.Input{Path: path}
	return permission.Rules{Deny: h.invokeEnv().Rules.Deny}.Decide(r).Verdict == permission.Deny
}

// describe writes one line for each agent type.
func describe(defs *agentdef.Set) string {
	var b strings.Builder
	for _, d := range defs.All() {
		fmt.Fprintf(&b, "- %s: %s\n", d.Name, strings.Join(strings.Fields(d.Description), " "))
	}
	return strings.TrimRight(b.String(), "\n")
}
