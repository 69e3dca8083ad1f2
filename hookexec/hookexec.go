// Package hookexec runs lifecycle hooks (spec H-3 to H-11): it picks those that
// match an event, runs their handlers side by side, and joins what they say.
// What hooks exist, and which of them policy lets in ([Admit]), is for the
// caller to collect; what a verdict means for the agent is for the agent.
//
// A hook is somebody's program: it may hang, flood its output, die, print
// nonsense or lie about who speaks. None of that stops an event, and nothing
// that it prints reaches the model or the person as anything but a hook's words.
package hookexec

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/knack-skills/knack/audit"
	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/shell"
)

// The levels at which hooks are declared, which decide what policy says of
// them and whose word weighs more.
const (
	Managed = "managed"
	User    = "user"
	Project = "project"
	Local   = "local"
	Plugin  = "plugin"
	Skill   = "skill"
	Agent   = "agent"
)

// ranks orders levels by trust, highest first; those without a rank come last.
var ranks = map[string]int{Managed: 2, User: 1}

// An Entry is one handler of one matcher, with where it comes from.
type Entry struct {
	Owner   string // who declared it: a settings file, the name of a plugin, agent or skill
	Level   string // managed, user, project, local, plugin, skill or agent
	Event   hook.Event
	Matcher string
	Handler hook.Handler
	Dirs    Dirs
	Env     []string // what its process finds besides, as os.Environ; nil for most
	// Spend takes a handler away that is to run once, after its first success
	// (spec H-8), and reports whether this call took it; nil leaves that to the
	// Runner alone, for its own lifetime.
	Spend func() bool
	// Key names this handler of this registration; it must be comparable. Nil
	// means that entries of the same owner and content are the same.
	Key any
}

// Entries are the handlers of c, in their order. Where they come from, and all
// else that c does not say, is as in like.
func Entries(c hook.Config, like Entry) (out []Entry) {
	for _, g := range c {
		for _, h := range g.Handlers {
			e := like
			e.Event, e.Matcher, e.Handler = g.Event, g.Matcher, h
			out = append(out, e)
		}
	}
	return out
}

// Dirs are the directories that the variables of spec H-5 name. One that is
// empty is a variable that is not set.
type Dirs struct {
	Skill, PluginRoot, PluginData string
}

// Options are what a [Runner] works with. Ports that are nil make handlers of
// their type fail with a notice.
type Options struct {
	Shell shell.Runner // nil is shell.Exec
	// Env returns the environment of hooks, as os.Environ; nil, also as its
	// answer, means the process's own.
	Env        func() []string
	ProjectDir string       // CLAUDE_PROJECT_DIR; FileChanged patterns are relative to it
	WorkDir    string       // where hooks run when the input's cwd is gone
	SpillDir   string       // where texts that are too long are saved; empty drops the rest
	HTTP       *http.Client // nil is one with Go's defaults; redirects are never followed

	AskModel func(ctx context.Context, model, prompt string) (string, error)
	// RunAgent runs a subagent with tools for at most maxTurns turns and returns
	// its last answer.
	RunAgent func(ctx context.Context, model, prompt string, maxTurns int) (string, error)
	// CallTool calls a tool of an MCP server and returns its text. A result that
	// is an error is an error.
	CallTool func(ctx context.Context, server, tool string, input map[string]any) (string, error)

	Audit audit.Sink // tells the person itself when it cannot write; nil keeps no log
	// Frame is told of each handler that is about to run. It returns the context
	// of what happens inside, and what to call with the result; nil is fine.
	Frame func(ctx context.Context, e Entry, in hook.Input) (inside context.Context, end func(Result))
	Now   func() time.Time
	// Show is given the statusMessage of a hook that begins, and what it returns
	// is called when the hook has ended. Both may come from several goroutines.
	Show func(message string) (hide func())
}

// The verdicts on one run, in the words of the audit log, and two of our own.
const (
	OK      = "ok"      // it ended well and refused nothing
	Failed  = "error"   // it could not run, or ended badly; it has no say
	Timeout = "timeout" // it was ended; it has no say
	Blocked = "blocked" // it refused
	Started = "started" // it is async and runs in the background
	Spent   = "spent"   // it was to run once and has
)

// A Result is one handler's run for one event.
type Result struct {
	Entry          Entry
	Verdict        string // one of the constants above
	Exit           int    // of a command
	Stdout, Stderr string // of a command: at most 1 MiB each; Stdout also what other types answered
	Outcome        hook.Outcome
	Err            string // why it has no say
	Duration       time.Duration
}

// A Status is an entry with the result of its last run (spec H-11).
type Status struct {
	Entry    Entry
	Summary  string // the handler in one line
	Runs     int
	Last     string // verdict of the last run; empty before the first
	Err      string // of the last run
	At       time.Time
	Duration time.Duration // of the last run
}

// Run runs the hooks that match in, group by group: all of a group side by
// side, and no group after one that refused (spec H-7). It returns when all
// have said what they have to say or ctx ended; then a call on which hooks
// decide is refused, because not all of them have spoken.
func (r *Runner) Run(ctx context.Context, groups [][]Entry, in hook.Input) hook.Outcome {
	out, _ := r.Trace(ctx, groups, in)
	return out
}

// Trace is [Runner.Run] with the result of each handler that ran, in the order
// of the groups.
func (r *Runner) Trace(ctx context.Context, groups [][]Entry, in hook.Input) (hook.Outcome, []Result) {
	in.ToolInput, in.ToolResponse = valid(in.ToolInput), valid(in.ToolResponse)
	total := hook.Outcome{Notices: r.take()}
	var all []Result
	var before []Entry
	for _, entries := range groups {
		out, results := r.group(ctx, entries, before, in)
		before = append(before, entries...)
		all = append(all, results...)
		total = hook.Then(total, out)
		if total.Refuses() {
			break
		}
		if len(out.UpdatedInput) > 0 {
			in = changed(in, out.UpdatedInput)
		}
	}
	if ctx.Err() != nil && decides(in.Event) && !total.Refuses() {
		total = hook.Then(total, hook.Outcome{Opinion: hook.Deny, Reason: "interrupted before all hooks had spoken"})
	}
	return total, all
}

// decides reports whether a hook can refuse a call at e.
func decides(e hook.Event) bool { return e == hook.PreToolUse || e == hook.PermissionRequest }

// valid returns raw, or its bytes as JSON text: one broken value must not keep
// hooks from hearing of an event.
func valid(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || json.Valid(raw) {
		return raw
	}
	text, err := json.Marshal(string(raw))
	if err != nil {
		return nil
	}
	return text
}
