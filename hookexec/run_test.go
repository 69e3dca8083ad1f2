package hookexec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/knack-skills/knack/audit"
	"github.com/knack-skills/knack/hook"
)

// pre is a call of Bash that is about to happen.
var pre = hook.Input{Event: hook.PreToolUse, SessionID: "s1", ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"ls && a<b"}`)}

// cmd is a command hook of PreToolUse in the user's settings.
func cmd(line string) Entry {
	return Entry{Owner: "settings", Level: User, Event: hook.PreToolUse, Handler: hook.Handler{Type: hook.Command, Command: line}}
}

func of(level, owner string, e Entry) Entry {
	e.Level, e.Owner = level, owner
	return e
}

// runner is one in a directory of its own, which commands find as $PWD.
func runner(t *testing.T) (*Runner, string) {
	t.Helper()
	dir := t.TempDir()
	r := New(Options{ProjectDir: dir, WorkDir: dir, SpillDir: filepath.Join(dir, "spill")})
	t.Cleanup(func() {
		ctx, stop := context.WithCancel(context.Background())
		stop()
		r.Close(ctx)
	})
	return r, dir
}

func lines(t *testing.T, path string) int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Count(string(b), "\n")
}

// TestExitStatus is the table of H-6.
func TestExitStatus(t *testing.T) {
	r, dir := runner(t)
	write(t, filepath.Join(dir, "plain.txt"), "")
	if err := os.Chmod(filepath.Join(dir, "plain.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		line, verdict, reason, notice string
	}{
		{"exit 0", OK, "", ""},
		{"echo why >&2; exit 2", Blocked, "why", ""},
		{"exit 2", Blocked, "without a reason", ""},
		{`echo '{"decision":"approve"}'; echo no >&2; exit 2`, Blocked, "no", ""},
		{"echo sorry >&2; exit 1", Failed, "", "exit status 1: sorry"},
		{`echo '{"decision":"block"}'; exit 3`, Failed, "", "exit status 3"},
		{"no-such-program x", Failed, "", "no-such-program was not found (exit status 127)"},
		{"no-such-program 2>/dev/null", Failed, "", "no-such-program was not found"},
		{"bash /x/check.sh", Failed, "", "/x/check.sh was not found (exit status 127)"},
		{"./plain.txt", Failed, "", "./plain.txt cannot be executed (exit status 126)"},
		{"kill -KILL $$", Failed, "", "exit status 137"},
		{`echo '{"decision":"block","reason":"json says no"}'`, Blocked, "json says no", ""},
		{`echo '{"decision":5}'`, OK, "", "decision is text"},
		{`echo '{"decision" "block"}'`, OK, "", "looks like JSON"},
		{`printf '{"systemMessage":"careful"}'`, OK, "", "hook of the user settings: careful"},
		{"bash ${CLAUDE_SKILL_DIR}/x.sh", Failed, "", "CLAUDE_SKILL_DIR is not set for it"},
	} {
		out, results := r.Trace(t.Context(), [][]Entry{{cmd(tt.line)}}, pre)
		if got := results[0]; got.Verdict != tt.verdict || out.Block != (tt.verdict == Blocked) || (out.Opinion == hook.Deny) != out.Block {
			t.Errorf("%s: %s, %+v", tt.line, got.Verdict, out)
		}
		if !strings.Contains(out.Reason, tt.reason) || out.Reason != "" && !strings.HasPrefix(out.Reason, "hook of the user settings: ") {
			t.Errorf("%s: reason %q", tt.line, out.Reason)
		}
		if got := strings.Join(out.Notices, "|"); !strings.Contains(got, tt.notice) || (got == "") != (tt.notice == "") {
			t.Errorf("%s: notices %q, want %q", tt.line, got, tt.notice)
		}
	}
}

// TestBlockEverywhere: exit status 2 blocks at every event, with its words.
func TestBlockEverywhere(t *testing.T) {
	r, _ := runner(t)
	for _, event := range hook.Events() {
		e := cmd("echo no >&2; exit 2")
		e.Event = event
		if out := r.Run(t.Context(), [][]Entry{{e}}, hook.Input{Event: event}); !out.Block || !strings.Contains(out.Reason, "no") {
			t.Errorf("%s: %+v", event, out)
		}
	}
}

// TestToldOnce: trouble is told once, and what is missing loudly for a skill.
func TestToldOnce(t *testing.T) {
	r, _ := runner(t)
	e := of(Skill, "gated", cmd("bash ${CLAUDE_SKILL_DIR}/../x/check.sh"))
	for _, dirs := range []Dirs{{}, {Skill: "/s"}} {
		e.Dirs = dirs
		out := r.Run(t.Context(), [][]Entry{{e}}, pre)
		if len(out.Notices) != 1 || !strings.Contains(out.Notices[0], "THIS CHECK IS NOT RUNNING") || !strings.Contains(out.Notices[0], "the skill gated") || out.Block {
			t.Errorf("%+v: %+v", dirs, out)
		}
		if again := r.Run(t.Context(), [][]Entry{{e}}, pre); len(again.Notices) > 0 {
			t.Errorf("told again: %q", again.Notices)
		}
	}
}

// TestInput: the event on standard input, the variables in the environment.
func TestInput(t *testing.T) {
	t.Setenv("CLAUDE_PLUGIN_ROOT", "/somebody/elses")
	r, dir := runner(t)
	e := cmd(`cat; echo "$CLAUDE_PROJECT_DIR|$KNACK_PROJECT_DIR|$CLAUDE_SKILL_DIR|${KNACK_PLUGIN_DATA}|${CLAUDE_PLUGIN_ROOT-unset}"`)
	e.Dirs = Dirs{Skill: "/s", PluginData: "/d"}
	_, results := r.Trace(t.Context(), [][]Entry{{e}}, pre)
	want := `{"session_id":"s1","cwd":"","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls && a<b"}}` + "\n" + dir + "|" + dir + "|/s|/d|unset\n"
	if got := results[0]; got.Stdout != want {
		t.Errorf("got\n%s\nwant\n%s%s", got.Stdout, want, got.Err)
	}
	broken := pre
	broken.ToolInput = json.RawMessage("{broken")
	if out := r.Run(t.Context(), [][]Entry{{cmd(`grep -q '"tool_input":"{broken"' && exit 2`)}}, broken); !out.Block {
		t.Errorf("an input that is no JSON: %+v", out)
	}
}

// TestDirectoryGone: a hook runs somewhere even if its directory is deleted.
func TestDirectoryGone(t *testing.T) {
	r, dir := runner(t)
	in := pre
	in.CWD = filepath.Join(dir, "gone")
	_, results := r.Trace(t.Context(), [][]Entry{{cmd("pwd")}}, in)
	if got := results[0]; strings.TrimSpace(got.Stdout) != dir {
		t.Errorf("%+v", got)
	}
	_, results = r.Trace(t.Context(), [][]Entry{{cmd(`mkdir x && cd x && rmdir ../x && exit 2`)}}, pre)
	if results[0].Verdict != Blocked {
		t.Errorf("%+v", results[0])
	}
}

// TestOrder: groups in order, and none after one that refused (H-7).
func TestOrder(t *testing.T) {
	r, dir := runner(t)
	log := filepath.Join(dir, "log")
	late := of(Skill, "s", cmd("echo skill >> log"))
	if out := r.Run(t.Context(), [][]Entry{{cmd("exit 2"), cmd("echo a >> log")}, {late}}, pre); !out.Block || lines(t, log) != 1 {
		t.Errorf("a refusal: %d lines, %+v", lines(t, log), out)
	}
	if out := r.Run(t.Context(), [][]Entry{{cmd(`echo '{"continue":false,"stopReason":"enough"}'`)}, {late}}, pre); !out.Stop || lines(t, log) != 1 || !strings.Contains(out.StopReason, "enough") {
		t.Errorf("a stop: %d lines, %+v", lines(t, log), out)
	}
	if out := r.Run(t.Context(), [][]Entry{{cmd("true")}, {late}}, pre); out.Block || lines(t, log) != 2 {
		t.Errorf("no opinion: %d lines, %+v", lines(t, log), out)
	}
}

// TestSourcesAdd: an identical command runs once for each source (H-7).
func TestSourcesAdd(t *testing.T) {
	r, dir := runner(t)
	a := cmd("echo x >> log")
	other := a
	other.Matcher = "Bash"
	r.Run(t.Context(), [][]Entry{{a, other, of(Project, "settings", a), of(Plugin, "p", a)}, {of(Skill, "s", a), of(Skill, "t", a)}}, pre)
	if n := lines(t, filepath.Join(dir, "log")); n != 5 {
		t.Errorf("%d runs, want 5", n)
	}
}

// TestParallel: hooks of one group meet each other.
func TestParallel(t *testing.T) {
	r, _ := runner(t)
	meet := "touch $0.%d; until [ -e $0.%d ]; do sleep 0.01; done"
	a, b := cmd(fmt.Sprintf(strings.ReplaceAll(meet, "$0", "meet"), 1, 2)), cmd(fmt.Sprintf(strings.ReplaceAll(meet, "$0", "meet"), 2, 1))
	a.Handler.Timeout, b.Handler.Timeout = 30*time.Second, 30*time.Second
	_, results := r.Trace(t.Context(), [][]Entry{{a, b}}, pre)
	for _, res := range results {
		if res.Verdict != OK {
			t.Errorf("%+v", res)
		}
	}
}

// TestOnce: exactly one success, whoever calls at the same time; what does not
// succeed keeps the hook (H-8).
func TestOnce(t *testing.T) {
	r, dir := runner(t)
	var mu sync.Mutex
	spends := 0
	entry := func(key, line string) Entry {
		e := of(Skill, "s", cmd(line))
		e.Key, e.Handler.Once = key, true
		e.Spend = func() bool { mu.Lock(); defer mu.Unlock(); spends++; return true }
		return e
	}
	e := entry("parallel", "echo x >> log")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { r.Run(t.Context(), [][]Entry{{e}}, pre) })
	}
	wg.Wait()
	if n := lines(t, filepath.Join(dir, "log")); n != 1 || spends != 1 {
		t.Errorf("%d runs, %d spent", n, spends)
	}
	for name, first := range map[string]string{"block": "exit 2", "fail": "exit 1", "timeout": "sleep 300", "json": `echo '{"decision":"block"}'`} {
		e := entry(name, "echo x >> "+name+"; if ! [ -e "+name+".2 ]; then touch "+name+".2; "+first+"; fi")
		for i := range 4 {
			if e.Handler.Timeout = 0; i == 0 && name == "timeout" {
				e.Handler.Timeout = 2 * time.Second
			}
			r.Run(t.Context(), [][]Entry{{e}}, pre)
		}
		if n := lines(t, filepath.Join(dir, name)); n != 2 {
			t.Errorf("%s: %d runs, want 2", name, n)
		}
	}
	if spends != 5 {
		t.Errorf("%d were taken away, want 5", spends)
	}
}

// TestUpdatedInput: later groups see the new input, an allow of the old one is
// void, and earlier groups and who is trusted more judge it anew.
func TestUpdatedInput(t *testing.T) {
	r, _ := runner(t)
	update := of(Project, "p", cmd(`echo '{"hookSpecificOutput":{"updatedInput":{"command":"rm -rf /"}}}'`))
	allow := cmd(`echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'`)
	guard := cmd(`if grep -q 'rm -rf'; then echo guarded >&2; exit 2; fi`)
	if out := r.Run(t.Context(), [][]Entry{{update, of(Project, "q", allow)}}, pre); string(out.UpdatedInput) != `{"command":"rm -rf /"}` || out.Opinion != hook.NoOpinion {
		t.Errorf("an allow of something else: %+v", out)
	}
	if out := r.Run(t.Context(), [][]Entry{{update}, {of(Skill, "s", guard)}}, pre); !out.Block || out.UpdatedInput != nil {
		t.Errorf("a guard of a later group: %+v", out)
	}
	if out := r.Run(t.Context(), [][]Entry{{update, of(Managed, "m", guard)}}, pre); !out.Block {
		t.Errorf("a managed guard of the same group: %+v", out)
	}
	for _, level := range []string{Managed, User, Project} {
		for _, rule := range []string{"", "Bash(rm *)"} {
			first := of(level, "guard", guard)
			first.Handler.If = rule
			in := pre
			in.Covers = func(string) bool { return false } // the old input
			if out := r.Run(t.Context(), [][]Entry{{first}, {of(Skill, "s", update)}}, in); !out.Block {
				t.Errorf("a %s guard of an earlier group, if %q: %+v", level, rule, out)
			}
		}
	}
	with := of(Skill, "s", guard)
	with.Handler.If = "Bash(rm *)"
	in := pre
	in.Covers = func(string) bool { return false }
	if out := r.Run(t.Context(), [][]Entry{{update}, {with}}, in); !out.Block {
		t.Errorf("a guard with an if for the new input: %+v", out)
	}
	if out := r.Run(t.Context(), [][]Entry{{with}}, in); out.Block {
		t.Errorf("an if that does not cover the call: %+v", out)
	}
}

// TestSkillStop: what a skill declares for Stop runs at the end of its fork.
func TestSkillStop(t *testing.T) {
	r, _ := runner(t)
	e := cmd("exit 2")
	e.Event = hook.Stop
	in := hook.Input{Event: hook.SubagentStop, AgentType: "Explore"}
	if out := r.Run(t.Context(), [][]Entry{{e}}, in); out.Block {
		t.Error("a Stop hook of the settings ran for a subagent")
	}
	if out := r.Run(t.Context(), [][]Entry{{of(Skill, "s", e)}}, in); !out.Block {
		t.Error("a Stop hook of a skill did not run at the end of its fork")
	}
}

// TestFiles: the matcher of FileChanged is a gitignore pattern.
func TestFiles(t *testing.T) {
	r, dir := runner(t)
	for _, tt := range []struct {
		matcher, path string
		want          bool
	}{
		{"*.go", "a/b.go", true}, {"*.go", filepath.Join(dir, "a/b.go"), true}, {"/b.go", "a/b.go", false}, {"docs/", "docs/x.md", true},
		{"*.go", "/elsewhere/b.go", false}, {"", "/elsewhere/b.go", true}, {"package.json|*.lock", "a/x.lock", true}, {"*.go", "a.md", false},
	} {
		e := Entry{Level: User, Event: hook.FileChanged, Matcher: tt.matcher, Handler: hook.Handler{Type: hook.Command, Command: "exit 2"}}
		if got := r.matches(e, hook.Input{Event: hook.FileChanged, FilePath: tt.path}); got != tt.want {
			t.Errorf("%q matches %q: %v", tt.matcher, tt.path, got)
		}
	}
}

// TestAsync: no say, not awaited by the event, ended with the runner.
func TestAsync(t *testing.T) {
	r, dir := runner(t)
	quick, forever := cmd(`echo '{"decision":"block","systemMessage":"done"}'; exit 0`), cmd("touch up; sleep 300")
	quick.Handler.Async, forever.Handler.Async = true, true
	out, results := r.Trace(t.Context(), [][]Entry{{quick}}, pre)
	if out.Block || results[0].Verdict != Started {
		t.Errorf("%+v", out)
	}
	if notices := r.Close(t.Context()); len(notices) != 1 || !strings.Contains(notices[0], "done") {
		t.Errorf("notices %q", notices)
	}
	r = New(Options{WorkDir: dir})
	r.Run(t.Context(), [][]Entry{{forever}}, pre)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	r.Close(ctx) // would not return within the test's time if it waited
	if st := r.Status(forever)[0]; st.Last != Failed || st.Runs != 1 {
		t.Errorf("%+v", st)
	}
	if _, results := r.Trace(t.Context(), [][]Entry{{forever}}, pre); results[0].Verdict != Failed {
		t.Errorf("after the end: %+v", results[0])
	}
}

// sink keeps records.
type sink struct {
	mu   sync.Mutex
	recs []audit.Record
	err  error
}

func (s *sink) Write(r audit.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recs = append(s.recs, r)
	return s.err
}

// TestAuditAndStatus: every run leaves a record and its result (H-11, S-12).
func TestAuditAndStatus(t *testing.T) {
	log := &sink{err: errors.New("disk full")}
	var shown []string
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := New(Options{WorkDir: t.TempDir(), Audit: log, Now: func() time.Time { return now },
		Show: func(m string) func() { shown = append(shown, m); return func() { shown = append(shown, "end") } }})
	e, unused := of(Skill, "gated", cmd("exit 2")), cmd("true")
	e.Handler.StatusMessage = "Checking"
	out := r.Run(t.Context(), [][]Entry{{e}}, pre)
	out2 := r.Run(t.Context(), [][]Entry{{e}}, pre)
	if len(out.Notices) != 0 || len(out2.Notices) != 0 { // the sink tells the person
		t.Errorf("notices %q, %q", out.Notices, out2.Notices)
	}
	if rec := log.recs[0]; len(log.recs) != 2 || rec.Kind != audit.Hook || rec.Outcome != Blocked || rec.Skill != "gated" || rec.Source != Skill || rec.Tool != "Bash" ||
		!strings.Contains(string(rec.Detail), `"event":"PreToolUse"`) || !strings.Contains(string(rec.Detail), `"exit":2`) {
		t.Errorf("%d records, %+v %s", len(log.recs), rec, rec.Detail)
	}
	st := r.Status(e, unused)
	if st[0].Runs != 2 || st[0].Last != Blocked || st[0].Summary != "exit 2" || !st[0].At.Equal(now) || st[1].Runs != 0 || st[1].Last != "" {
		t.Errorf("%+v", st)
	}
	if !slices.Equal(shown, []string{"Checking", "end", "Checking", "end"}) {
		t.Errorf("shown %q", shown)
	}
	if !strings.Contains(out.Reason, "the skill gated") || !strings.Contains(out.Reason, "until the session ends") {
		t.Errorf("the refusal does not say whose hook it is: %q", out.Reason)
	}
}

// TestInterrupted: a call is refused when not all hooks could speak.
func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	r := New(Options{WorkDir: t.TempDir(), Show: func(string) func() { stop(); return nil }})
	e := cmd("sleep 300")
	e.Handler.StatusMessage = "on its way"
	out := r.Run(ctx, [][]Entry{{e}}, pre)
	if out.Opinion != hook.Deny || len(out.Notices) > 0 {
		t.Errorf("%+v", out)
	}
}
