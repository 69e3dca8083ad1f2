package knack_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/shell"
	"github.com/knack-skills/knack/watch/fsnotify"
)

// A living is a lab whose engine is watching.
type living struct {
	*lab
	e    *knack.Engine
	done chan knack.Change

	notices chan string
	marks   int

	mu    sync.Mutex // guards the fields below
	asked []knack.Change
	deny  func(knack.Change) error
}

// live watches the repository of a lab. Times are short; nothing is compared
// with a clock.
func live(t *testing.T, files map[string]string, change ...func(*lab, *knack.WatchOptions)) *living {
	t.Helper()
	l := &living{lab: newLab(t, files), done: make(chan knack.Change, 100), notices: make(chan string, 1000)}
	l.e = l.open(trusted)
	o := knack.WatchOptions{
		Native: fsnotify.Open, Stable: 30 * time.Millisecond, Debounce: 15 * time.Millisecond, Poll: 10 * time.Millisecond,
		Done:   func(c knack.Change) { l.done <- c },
		Notice: func(n string) { l.notices <- n },
		Allow: func(_ context.Context, c knack.Change) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			if isMark(c) {
				return nil
			}
			l.asked = append(l.asked, c)
			if l.deny == nil {
				return nil
			}
			return l.deny(c)
		},
	}
	for _, c := range change {
		c(l.lab, &o)
	}
	stop, err := l.e.Watch(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return l
}

// next waits for a change that takes effect.
func (l *living) next() knack.Change {
	l.t.Helper()
	select {
	case c := <-l.done:
		return c
	case <-time.After(time.Minute):
		l.t.Fatalf("nothing took effect; notices %q", l.told())
		panic("not reached")
	}
}

// told returns what the person was told and nobody waited for.
func (l *living) told() (out []string) {
	for {
		select {
		case n := <-l.notices:
			out = append(out, n)
		default:
			return out
		}
	}
}

func (l *living) refuse(f func(knack.Change) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deny = f
}

// quiet waits until everything that happened before has been dealt with: a
// change of its own, which nobody objects to, comes after all of them. It
// returns what took effect before, less that.
func (l *living) quiet() (before []knack.Change) {
	l.t.Helper()
	l.marks++
	l.write("home/.claude/skills/mark/SKILL.md", doc("Mark "+strings.Repeat("i", l.marks)))
	for {
		c := l.next()
		if !slices.Contains(c.Changed, "mark") && !slices.Contains(c.Added, "mark") {
			before = append(before, c)
			continue
		}
		if len(c.Files) > 1 {
			before = append(before, c)
		}
		return before
	}
}

func isMark(c knack.Change) bool { return len(c.Files) == 1 && strings.Contains(c.Files[0], "/mark/") }

// notice waits until the person is told something.
func (l *living) notice(part string) string {
	l.t.Helper()
	for {
		select {
		case n := <-l.notices:
			if strings.Contains(n, part) {
				return n
			}
		case <-time.After(time.Minute):
			l.t.Fatalf("nobody was told of %q", part)
		}
	}
}

func (l *living) remove(name string) {
	l.t.Helper()
	if err := os.RemoveAll(filepath.Join(l.base, name)); err != nil {
		l.t.Fatal(err)
	}
}

func (l *living) rename(from, to string) {
	l.t.Helper()
	if err := os.Rename(filepath.Join(l.base, from), filepath.Join(l.base, to)); err != nil {
		l.t.Fatal(err)
	}
}

// text invokes a skill and returns its text.
func (l *living) text(name string) string {
	l.t.Helper()
	r, err := l.e.Invoke(l.t.Context(), invoke.Request{Name: name, By: invoke.ByUser})
	if err != nil {
		return "error: " + err.Error()
	}
	return r.Text
}

const ours = "repo/.claude/skills/"

// TestWatch: skills that are added, edited, renamed and removed while the engine
// runs (spec D-6 to D-8).
func TestWatch(t *testing.T) {
	l := live(t, map[string]string{ours + "alpha/SKILL.md": doc("Alpha"), "repo/.claude/commands/old.md": doc("Old")})
	for _, step := range []struct {
		name                    string
		do                      func()
		added, changed, removed []string
	}{
		{"add", func() { l.write(ours+"beta/SKILL.md", doc("Beta")) }, []string{"beta"}, nil, nil},
		{"edit", func() { l.write(ours+"alpha/SKILL.md", doc("Alphabet")) }, nil, []string{"alpha"}, nil},
		{"rename", func() { l.rename(ours+"beta", ours+"gamma") }, []string{"gamma"}, nil, []string{"beta"}},
		{"command", func() { l.write("repo/.claude/commands/old.md", doc("Older")) }, nil, []string{"old"}, nil},
		{"a root that was not there", func() { l.write("home/.agents/skills/late/SKILL.md", doc("Late")) }, []string{"late"}, nil, nil},
		{"a root goes", func() { l.rename("repo/.claude/skills", "repo/away") }, nil, nil, []string{"alpha", "gamma"}},
		{"and comes back", func() { l.rename("repo/away", "repo/.claude/skills") }, []string{"alpha", "gamma"}, nil, nil},
		{"edit after that", func() { l.write(ours+"gamma/SKILL.md", doc("Third")) }, nil, []string{"gamma"}, nil},
		{"remove", func() { l.remove(ours + "gamma") }, nil, nil, []string{"gamma"}},
	} {
		step.do()
		c := l.next()
		if !slices.Equal(c.Added, step.added) || !slices.Equal(c.Changed, step.changed) || !slices.Equal(c.Removed, step.removed) {
			t.Errorf("%s: %+v", step.name, c)
		}
		equal(t, step.name, c.Sources, []string{"skills"})
	}
	equal(t, "notices", l.told(), nil)
	if got := l.text("alpha"); !strings.Contains(got, "Alphabet now.") {
		t.Errorf("alpha says %q", got)
	}
	if got := l.text("gamma"); !strings.Contains(got, "no skill") && !strings.Contains(got, "nknown") {
		t.Errorf("gamma, which is gone, says %q", got)
	}
}

// TestWatchDeltas: the model is told each difference once; a body or the same
// bytes again are none (spec L-6, D-8).
func TestWatchDeltas(t *testing.T) {
	l := live(t, map[string]string{ours + "alpha/SKILL.md": doc("Alpha"), ours + "beta/SKILL.md": doc("Beta")})
	said := func() string { m, _ := l.e.Announce(session.Main); return m.Text }
	said()
	l.write(ours+"alpha/SKILL.md", doc("Alphabet"))
	l.remove(ours + "beta")
	l.quiet()
	if got := said(); !strings.Contains(got, "- alpha: Alphabet") || !strings.Contains(got, "- beta") || strings.Count(got, "\n- ") != 3 {
		t.Errorf("the model is told %q", got)
	}
	if got := said(); got != "" {
		t.Errorf("and once more %q", got)
	}
	l.write(ours+"alpha/SKILL.md", doc("Alphabet")+"More.\n")
	equal(t, "body only", l.next().Changed, []string{"alpha"})
	l.write(ours+"alpha/SKILL.md", doc("Alphabet")+"More.\n") // the same bytes
	if before := l.quiet(); len(before) > 0 {
		t.Errorf("the same bytes are a change: %+v", before)
	}
	if got := said(); strings.Contains(got, "alpha") {
		t.Errorf("a body is told of: %q", got)
	}
	if got := l.text("alpha"); !strings.Contains(got, "More.") {
		t.Errorf("alpha says %q", got)
	}
}

// TestWatchBroken: a file that is broken in the middle of an edit keeps its last
// good version, and the person is told (spec D-8).
func TestWatchBroken(t *testing.T) {
	l := live(t, map[string]string{ours + "alpha/SKILL.md": doc("Alpha")})
	l.quiet()
	l.write(ours+"alpha/SKILL.md", "---\ndescription: half")
	if c := l.next(); len(c.Added)+len(c.Changed)+len(c.Removed) > 0 {
		t.Errorf("a broken file is a change: %+v", c)
	}
	l.notice("what it said before still counts")
	if got := l.text("alpha"); !strings.Contains(got, "Alpha now.") {
		t.Errorf("alpha says %q", got)
	}
	l.write(ours+"alpha/SKILL.md", doc("Whole"))
	equal(t, "repaired", l.next().Changed, []string{"alpha"})
	if got := l.text("alpha"); !strings.Contains(got, "Whole now.") {
		t.Errorf("alpha says %q", got)
	}
}

// TestWatchHeld: what is not allowed does not count, also when something else
// is, until it is allowed or undone (spec D-8).
func TestWatchHeld(t *testing.T) {
	l := live(t, map[string]string{ours + "alpha/SKILL.md": doc("Alpha"), ours + "beta/SKILL.md": doc("Beta")})
	l.quiet()
	l.refuse(func(c knack.Change) error {
		if slices.Equal(c.Sources, []string{"skills"}) && !strings.Contains(c.Files[0], "gamma") {
			return errors.New("not on a Friday")
		}
		return nil
	})
	equal(t, "before", listed(l.e), []string{"alpha", "beta", "mark"})
	l.write(ours+"alpha/SKILL.md", doc("Evil"))
	if n := l.notice("not on a Friday"); !strings.Contains(n, ours+"alpha/SKILL.md") {
		t.Errorf("the notice is %q", n)
	}
	// It holds from that moment on, without another change to help.
	equal(t, "held", listed(l.e), []string{"alpha", "beta", "mark"})
	if got := l.text("alpha"); !strings.Contains(got, "Alpha now.") {
		t.Errorf("while it is held alpha says %q", got)
	}
	l.remove(ours + "beta")
	l.notice("not on a Friday")
	l.write(ours+"delta/SKILL.md", doc("New"))
	l.notice("not on a Friday")

	l.write(ours+"gamma/SKILL.md", doc("Gamma"))
	equal(t, "something else", l.next().Added, []string{"gamma"})
	if _, err := l.e.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	check := func(what string) {
		t.Helper()
		equal(t, what, listed(l.e), []string{"alpha", "beta", "gamma", "mark"})
		if a, b := l.text("alpha"), l.text("beta"); !strings.Contains(a, "Alpha now.") || !strings.Contains(b, "Beta now.") {
			t.Errorf("%s: %q, %q", what, a, b)
		}
	}
	check("while it is held")
	held := 0
	for _, p := range l.e.Problems() {
		if p.Code == "change-held" {
			held++
		}
	}
	if held != 3 {
		t.Errorf("%d problems of held files", held)
	}
	l.write("repo/.claude/settings.json", `{"permissions": {"deny": ["Skill(gamma)"]}}`)
	equal(t, "settings", l.next().Sources, []string{"project_settings"})
	equal(t, "after settings", listed(l.e), []string{"alpha", "beta", "mark"})
	l.write("repo/.claude/settings.json", `{}`)
	l.next()
	check("after settings")

	// Undone: nobody is asked.
	l.remove(ours + "delta")
	l.write(ours+"beta/SKILL.md", doc("Beta"))
	l.quiet()
	// Allowed at last.
	l.refuse(nil)
	l.write(ours+"alpha/SKILL.md", doc("Good"))
	equal(t, "allowed", l.next().Changed, []string{"alpha"})
	if got := l.text("alpha"); !strings.Contains(got, "Good now.") {
		t.Errorf("alpha says %q", got)
	}
	for _, p := range l.e.Problems() {
		if p.Code == "change-held" {
			t.Errorf("still held: %v", p)
		}
	}
}

// TestWatchSettings: rules that change while the engine runs hold for the next
// call; of the project's settings hooks may hold a change, of policy they may
// not (spec D-8, S-11).
func TestWatchSettings(t *testing.T) {
	l := live(t, map[string]string{ours + "alpha/SKILL.md": doc("Alpha"), "repo/.claude/settings.json": `{}`})
	verdict := func(command string) permission.Verdict {
		r := l.e.PermissionRequest("Bash")
		r.Input = permission.Input{Command: command}
		return l.e.Env().Rules.Decide(r).Verdict
	}
	deny := func(what string) string { return `{"permissions": {"deny": ["Bash(` + what + ` *)"]}}` }
	l.write("repo/.claude/settings.json", deny("rm"))
	equal(t, "sources", l.next().Sources, []string{"project_settings"})
	if v := verdict("rm -r x"); v != permission.Deny {
		t.Errorf("rm: %v", v)
	}
	// Half a file lifts nothing.
	l.write("repo/.claude/settings.json", `{"permissions": {`)
	l.notice("still counts")
	l.next()
	if v := verdict("rm -r x"); v != permission.Deny {
		t.Errorf("rm, with half a file: %v", v)
	}
	l.refuse(func(knack.Change) error { return errors.New("ask the team") })
	l.write("repo/.claude/settings.json", `{}`)
	l.notice("ask the team")
	l.write("etc/managed-settings.d/10-late.json", deny("curl"))
	if c := l.next(); !slices.Equal(c.Sources, []string{"policy_settings"}) {
		t.Errorf("%+v", c)
	}
	if v := verdict("curl x"); v != permission.Deny {
		t.Errorf("curl: %v", v)
	}
	if v := verdict("rm -r x"); v != permission.Deny {
		t.Error("the policy brought in what was held")
	}
	l.write("etc/managed-settings.d/10-late.json", `{`)
	l.notice("only managed hooks and managed allow rules count")
	l.next()
	if !l.e.Env().ManagedRulesOnly {
		t.Error("a broken policy does not fail closed")
	}
	l.write("etc/managed-settings.d/10-late.json", `{"strictPluginOnlyCustomization": ["skills"]}`)
	equal(t, "strict", l.next().Removed, []string{"alpha"})
	l.remove("etc/managed-settings.d")
	equal(t, "not strict", l.next().Added, []string{"alpha"})
	l.refuse(nil)
	l.write("repo/.claude/settings.json", `{"permissions": {"additionalDirectories": ["../other"]}}`)
	l.notice("permissions.additionalDirectories changed; that counts from the next session on")
	l.next()
	if v := verdict("rm -r x"); v == permission.Deny {
		t.Error("what is allowed at last does not count")
	}
}

// TestWatchNested: skills directories that touched files led to are watched, and
// the other one of a directory when it appears (spec D-1, D-6).
func TestWatchNested(t *testing.T) {
	l := live(t, map[string]string{"repo/apps/.claude/skills/near/SKILL.md": doc("Near")})
	nearer := make(chan bool, 1)
	l.e.OnChange(func(s *catalog.Snapshot) {
		if e, err := s.Resolve("near"); err == nil && e.Description == "Nearer" {
			select {
			case nearer <- true:
			default:
			}
		}
	})
	discover(t, l.e, "apps/x")
	l.write("repo/apps/.claude/skills/near/SKILL.md", doc("Nearer"))
	<-nearer // whether it was watched by then or not
	l.quiet()
	l.write("repo/apps/.claude/skills/near/SKILL.md", doc("Nearest"))
	equal(t, "edit", l.next().Changed, []string{"near"})
	l.remove("repo/apps/.claude/skills")
	equal(t, "gone", l.next().Removed, []string{"near"})
	l.write("repo/apps/.claude/skills/near/SKILL.md", doc("Again"))
	equal(t, "back", l.next().Added, []string{"near"})
	l.write("repo/apps/.agents/skills/twin/SKILL.md", doc("Twin"))
	equal(t, "twin", l.next().Added, []string{"twin"})
	discover(t, l.e, "apps/x")
	equal(t, "known", known(l.e), []string{"mark=user", "near=project", "twin=project"})
}

// A slow shell lets a test act while a command runs.
type slow struct{ begin, end chan struct{} }

func (s slow) Run(ctx context.Context, c shell.Command) (shell.Output, error) {
	s.begin <- struct{}{}
	<-s.end
	return shell.Output{Stdout: []byte("ran")}, ctx.Err()
}

// TestWatchInFlight: an invocation that has begun keeps what it began with.
func TestWatchInFlight(t *testing.T) {
	l := live(t, map[string]string{ours + "alpha/SKILL.md": "---\ndescription: Alpha\nallowed-tools: Bash\n---\nOld !`x`\n"})
	s := slow{make(chan struct{}), make(chan struct{})}
	env := l.e.Env()
	env.Shell = s
	got := make(chan string)
	go func() {
		r, err := invoke.Compile(l.t.Context(), invoke.Request{Name: "alpha", By: invoke.ByUser}, env)
		if err != nil {
			got <- err.Error()
			return
		}
		got <- r.Text
	}()
	<-s.begin
	l.write(ours+"alpha/SKILL.md", doc("New"))
	equal(t, "reloaded", l.next().Changed, []string{"alpha"})
	close(s.end)
	if text := <-got; !strings.Contains(text, "Old ran") {
		t.Errorf("the invocation says %q", text)
	}
	if text := l.text("alpha"); !strings.Contains(text, "New now.") {
		t.Errorf("the next says %q", text)
	}
}

// TestWatchFiles: files of the host are told after what changed took effect.
func TestWatchFiles(t *testing.T) {
	changed := make(chan string, 10)
	l := live(t, map[string]string{"repo/.env": "A=1\n"}, func(l *lab, o *knack.WatchOptions) {
		o.Files = func() []string { return []string{filepath.Join(l.base, "repo/.env")} }
		o.File = func(_ context.Context, path string) { changed <- path }
	})
	l.write("repo/.env", "A=2\n")
	if got := <-changed; got != filepath.Join(l.base, "repo/.env") {
		t.Errorf("got %s", got)
	}
	for _, c := range l.quiet() {
		t.Errorf("it is no change of the engine: %+v", c)
	}
}

// TestWatchActive: a skill that a file activated stays active when it is edited,
// and when it goes and comes back (spec D-3).
func TestWatchActive(t *testing.T) {
	l := live(t, map[string]string{ours + "py/SKILL.md": doc("Python", `paths: "*.py"`)})
	equal(t, "activated", discover(t, l.e, "a.py").IDs(), []string{"py"})
	l.write(ours+"py/SKILL.md", doc("Snakes", `paths: "*.py"`))
	equal(t, "edited", l.next().Changed, []string{"py"})
	equal(t, "listed", listed(l.e), []string{"py"})
	l.rename(ours+"py", "repo/away")
	equal(t, "gone", l.next().Removed, []string{"py"})
	l.rename("repo/away", ours+"py")
	equal(t, "back", l.next().Added, []string{"py"})
	equal(t, "listed", listed(l.e), []string{"py"})
	equal(t, "once more", discover(t, l.e, "b.py").IDs(), nil)
}

// TestWatchUnsettled: what somebody is still writing does not count because
// something else does (spec D-7, D-8).
func TestWatchUnsettled(t *testing.T) {
	l := live(t, map[string]string{ours + "alpha/SKILL.md": doc("Alpha"), ours + "beta/SKILL.md": doc("Beta")}, func(_ *lab, o *knack.WatchOptions) {
		o.Stable = time.Second
	})
	if err := os.Mkdir(filepath.Join(l.base, ours, "gamma"), 0o755); err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for n := 1; ; n++ {
			text := doc("Being written", "version: "+strings.Repeat("1", 1+n%50))
			for _, name := range []string{"alpha", "gamma"} {
				if err := os.WriteFile(filepath.Join(l.base, ours, name, "SKILL.md"), []byte(text), 0o644); err != nil {
					t.Error(err)
				}
			}
			select {
			case <-tick.C:
			case <-over:
				return
			}
		}
	})
	l.remove(ours + "beta")
	equal(t, "what is quiet", l.next().Removed, []string{"beta"})
	for e := range l.e.Snapshot().All() {
		if e.Description == "Being written" {
			t.Errorf("%s counts already", e.ID)
		}
	}
	close(over)
	writer.Wait()
	for last := false; !last; {
		last = slices.Contains(l.next().Added, "gamma")
	}
	equal(t, "in the end", listed(l.e), []string{"alpha", "gamma"})
}
