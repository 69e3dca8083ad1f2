package transcript_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/session/transcript"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/state"
)

// start is the time of the first entry; every entry is a second later.
var start = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

func project(t testing.TB) transcript.Project {
	t.Helper()
	p, err := transcript.At(filepath.Join(t.TempDir(), "state"), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func create(t testing.TB, p transcript.Project, id string) *transcript.Transcript {
	t.Helper()
	tr, err := p.Create(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, tr) })
	return tr
}

func resume(t testing.TB, p transcript.Project, id string) (*transcript.Transcript, *transcript.Conversation) {
	t.Helper()
	tr, c, err := p.Resume(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, tr) })
	return tr, c
}

func closed(t testing.TB, tr *transcript.Transcript) {
	t.Helper()
	if err := tr.Close(); err != nil {
		t.Error(err)
	}
}

func add(t testing.TB, tr *transcript.Transcript, payloads ...transcript.Payload) {
	t.Helper()
	for _, p := range payloads {
		if err := tr.Append(session.Main, p); err != nil {
			t.Fatal(err)
		}
	}
}

func message(text string) transcript.Message {
	data, err := json.Marshal(map[string]string{"role": "user", "text": text})
	if err != nil {
		panic(err) // text is a string
	}
	return transcript.Message{Message: data}
}

func messages(c *transcript.Conversation) (out []string) {
	for _, m := range c.Messages {
		var v struct{ Text string }
		if json.Unmarshal(m, &v) != nil {
			v.Text = "?" + string(m)
		}
		out = append(out, v.Text)
	}
	return out
}

func codes(c *transcript.Conversation) string {
	var out []string
	for _, p := range c.Problems {
		out = append(out, fmt.Sprintf("%s:%d", p.Code, p.Line))
	}
	return strings.Join(out, " ")
}

// live is a session as it runs, with the entries that tell of it.
func live(t testing.TB, tr *transcript.Transcript) *session.Session {
	t.Helper()
	s := session.New(tr.ID)
	invoke := func(id, text, args string) {
		s.Record(session.Main, session.Invoked{ID: id, Path: "/s/" + id, Text: text, Args: args, At: start})
		list := s.Invoked(session.Main)
		add(t, tr, message(text), transcript.InvocationOf(list[len(list)-1]))
	}
	tell := func(known map[string]skill.Summary, removed ...string) {
		s.Tell(session.Main, known, removed...)
		add(t, tr, transcript.AnnouncedOf(known, removed...))
	}
	add(t, tr, transcript.Meta{CWD: "/work", Model: "big", Title: "T"}, transcript.Prompt{Text: "/a 5m x\nplease"})
	tell(map[string]skill.Summary{
		"a": {ID: "a", Name: "A", Description: "D <é>", DescriptionFallback: true, WhenToUse: "W", ArgumentHint: "[x]", Version: "1"},
		"b": {ID: "b"},
	})
	invoke("a", "Old text of a & more.\n", "5m x")
	invoke("b", strings.Repeat("Long text of b.\n", 200), "")
	add(t, tr, transcript.Todos{Todos: json.RawMessage(`[{"content":"x"}]`)},
		transcript.Schedule{ID: "1", Task: json.RawMessage(`{"cron":"* * * * *"}`)},
		transcript.Schedule{ID: "2", Task: json.RawMessage(`{"cron":"1 * * * *"}`)},
		transcript.Schedule{ID: "1"})
	s.Activate("ts", "go")
	s.FoundBelow("apps/web")
	add(t, tr, transcript.Activated{IDs: []string{"ts", "go"}, Below: []string{"apps/web"}})
	rule, err := permission.ParseRule("Edit(/src/*)")
	if err != nil {
		t.Fatal(err)
	}
	rule.From, rule.Scope, rule.Root = "answer", "session", "/work"
	s.Keep(session.Main, permission.Rules{Allow: []permission.Rule{rule}})
	add(t, tr, transcript.Approval{List: "allow", Rule: "Edit(/src/*)", From: "answer", Root: "/work"})
	r := s.Restore(session.Main, session.Budget{PerSkill: 200, Total: 1000})
	add(t, tr, transcript.CompactedOf("manual", "keep it", "What was done.", r), message("What was done."), message(r.Text))
	invoke("a", "New text of a.\n", "")
	tell(map[string]skill.Summary{"c": {ID: "c"}}, "b")
	add(t, tr, transcript.Meta{Model: "small"}, transcript.Prompt{Text: "go on"}, message("go on"))
	return s
}

// same compares what two sessions remember, as far as it can be seen, and the
// texts that they take for known.
func same(t testing.TB, want, got *session.Session, texts ...session.Invoked) {
	t.Helper()
	for _, d := range []string{
		cmp.Diff(want.ID, got.ID),
		cmp.Diff(want.Invoked(session.Main), got.Invoked(session.Main)),
		cmp.Diff(want.Told(session.Main), got.Told(session.Main)),
		cmp.Diff(want.Kept(session.Main), got.Kept(session.Main)),
		cmp.Diff([]bool{want.Active("ts"), want.Active("go"), want.Active("x")}, []bool{got.Active("ts"), got.Active("go"), got.Active("x")}),
		cmp.Diff(want.Activations(), got.Activations()),
		cmp.Diff(want.Below(), got.Below()),
	} {
		if d != "" {
			t.Error(d)
		}
	}
	for _, i := range texts {
		if w, g := want.Record(session.Main, i), got.Record(session.Main, i); w != g {
			t.Errorf("%s %.20q: repeat is %v, was %v", i.ID, i.Text, g, w)
		}
	}
}

func TestResume(t *testing.T) { // spec M-4
	p := project(t)
	now := start
	p.Now = func() time.Time { now = now.Add(time.Second); return now }
	tr := create(t, p, "one")
	was := live(t, tr)
	if err := tr.Sync(); err != nil {
		t.Fatal(err)
	}
	closed(t, tr)
	_, c := resume(t, p, "one")
	if len(c.Problems) > 0 {
		t.Errorf("problems: %v", c.Problems)
	}
	long := strings.Repeat("Long text of b.\n", 200)
	same(t, was, c.Session,
		session.Invoked{ID: "a", Text: "New text of a.\n"}, session.Invoked{ID: "a", Text: "Old text of a & more.\n"},
		session.Invoked{ID: "b", Text: long}, session.Invoked{ID: "b", Text: long})
	got := messages(c)
	if len(got) != 4 || got[0] != "What was done." || !strings.Contains(got[1], "## Skill b") || got[2] != "New text of a.\n" || got[3] != "go on" {
		t.Errorf("messages %q", got)
	}
	want := transcript.Conversation{
		Summary: "What was done.", Meta: transcript.Meta{CWD: "/work", Model: "small", Title: "T"},
		Prompts: []string{"/a 5m x\nplease", "go on"}, Todos: json.RawMessage(`[{"content":"x"}]`),
		Schedules: []transcript.Schedule{{ID: "2", Task: json.RawMessage(`{"cron":"1 * * * *"}`)}},
	}
	c.Session, c.Messages = nil, nil
	if d := cmp.Diff(want, *c); d != "" {
		t.Error(d)
	}
}

func TestFormat(t *testing.T) { // spec M-4, M-5
	p := project(t)
	now := start
	p.Now = func() time.Time { now = now.Add(time.Second); return now }
	tr := create(t, p, "one")
	if err := tr.Append("agent-x", message("a\nb <c> & é\u2028")); err != nil {
		t.Fatal(err)
	}
	add(t, tr, transcript.Compacted{Trigger: "auto", Summary: "S"})
	data, err := os.ReadFile(tr.Path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"begin","time":"2026-05-04T03:02:02Z","agent_id":"main","data":{"version":1,"id":"one","project":"` + p.Path + `"}}
{"type":"message","time":"2026-05-04T03:02:03Z","agent_id":"agent-x","data":{"message":{"role":"user","text":"a\nb \u003cc\u003e \u0026 é\u2028"}}}
{"type":"compact_boundary","time":"2026-05-04T03:02:04Z","agent_id":"main","data":{"trigger":"auto","summary":"S"}}
`
	if d := cmp.Diff(want, string(data)); d != "" && runtime.GOOS != "windows" {
		t.Error(d)
	}
	// The names tell nothing of the project, and the modes let nobody look.
	if name := filepath.Base(p.Dir); len(name) != 32 || strings.Contains(p.Dir, filepath.Base(p.Path)) || filepath.Base(filepath.Dir(p.Dir)) != "projects" {
		t.Errorf("directory %s", p.Dir)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for path, want := range map[string]os.FileMode{
		tr.Path: 0o600, filepath.Join(p.Dir, "one.lock"): 0o600, p.Dir: 0o700,
		filepath.Dir(p.Dir): 0o700, filepath.Dir(filepath.Dir(p.Dir)): 0o700,
	} {
		if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", path, fi.Mode(), err, want)
		}
	}
	closed(t, tr)
	left, err := os.ReadDir(p.Dir)
	if err != nil || len(left) != 1 || left[0].Name() != "one.jsonl" {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAt(t *testing.T) {
	stateDir, dir := t.TempDir(), t.TempDir()
	a, err := transcript.At(stateDir, dir)
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if b, err := transcript.At(stateDir, link); err != nil || b.Dir != a.Dir {
		t.Errorf("a link to a project is another project: %v %v", b, err)
	}
	if b, err := transcript.At(stateDir, t.TempDir()); err != nil || b.Dir == a.Dir {
		t.Errorf("two projects share a directory: %v %v", b, err)
	}
	if _, err := transcript.At("", dir); !errors.Is(err, state.ErrNoDirectory) {
		t.Errorf("without a state directory: %v", err)
	}
	if _, err := transcript.At(stateDir, filepath.Join(dir, "none")); err == nil {
		t.Error("a project that does not exist has transcripts")
	}
	if _, err := os.Stat(a.Dir); !os.IsNotExist(err) {
		t.Errorf("asking made a directory: %v", err)
	}
}

func TestIDs(t *testing.T) {
	p := project(t)
	for _, id := range []string{"", ".", "..", "../x", "a/b", `a\b`, "a\x00", "-x", ".x", "a b", "é", strings.Repeat("x", 129)} {
		_, err := p.Create(id)
		_, _, err2 := p.Resume(id)
		err3 := p.Fork("one", id)
		for _, err := range []error{err, err2, err3} {
			if err == nil || !strings.Contains(err.Error(), "session id") {
				t.Errorf("%q: %v", id, err)
			}
		}
	}
	for _, id := range []string{"a", "A.b-c_9", strings.Repeat("x", 128)} {
		create(t, p, id)
	}
	if _, _, err := p.Resume("none"); !errors.Is(err, transcript.ErrNotFound) {
		t.Errorf("unknown session: %v", err)
	}
	if left, err := filepath.Glob(p.Dir + "/none*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
	closed(t, create(t, p, "again"))
	if _, err := p.Create("again"); !errors.Is(err, transcript.ErrExists) {
		t.Errorf("created twice: %v", err)
	}
	if err := os.Mkdir(filepath.Join(p.Dir, "dir.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Resume("dir"); !errors.Is(err, state.ErrNotPlain) {
		t.Errorf("a directory: %v", err)
	}
}

func TestAppendRefuses(t *testing.T) {
	p := project(t)
	tr := create(t, p, "one")
	before, err := os.ReadFile(tr.Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []transcript.Payload{
		transcript.Message{Message: json.RawMessage("{")},
		transcript.Todos{Todos: json.RawMessage("\n\n}")},
		transcript.Prompt{Text: strings.Repeat("x", 16<<20)},
	} {
		if err := tr.Append("", bad); err == nil || !strings.Contains(err.Error(), "session one: writing a ") {
			t.Errorf("%T: %v", bad, err)
		}
	}
	if after, err := os.ReadFile(tr.Path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("something was written: %v", err)
	}
	closed(t, tr)
	if err := tr.Append("", message("x")); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("after closing: %v", err)
	}
}

func TestSubagentsHaveEnded(t *testing.T) { // spec M-1, I-10
	p := project(t)
	tr := create(t, p, "one")
	const agent = "agent-x"
	for _, e := range []transcript.Payload{
		transcript.Subagent{ID: agent, Parent: session.Main, Type: "Explore", Skill: "s"},
		message("secret"), transcript.Invocation{ID: "s", Text: "x"},
		transcript.AnnouncedOf(map[string]skill.Summary{"s": {ID: "s"}}),
		transcript.Approval{List: "allow", Rule: "Bash"}, transcript.Compacted{Summary: "of the subagent"},
		transcript.Todos{Todos: json.RawMessage("[]")}, transcript.Activated{IDs: []string{"ts"}},
		transcript.Schedule{ID: "1", Task: json.RawMessage(`{}`)}, transcript.Subagent{ID: agent, Ended: true},
	} {
		if err := tr.Append(agent, e); err != nil {
			t.Fatal(err)
		}
	}
	add(t, tr, message("mine"))
	closed(t, tr)
	_, c := resume(t, p, "one")
	s := c.Session
	if got := messages(c); !slices.Equal(got, []string{"mine"}) || c.Summary != "" || c.Todos != nil || codes(c) != "" {
		t.Errorf("messages %q, summary %q, todos %s, %s", got, c.Summary, c.Todos, codes(c))
	}
	for _, a := range []session.AgentID{session.Main, agent} {
		if n := len(s.Invoked(a)) + len(s.Told(a)) + len(s.Kept(a).Allow); n > 0 {
			t.Errorf("%s remembers %d things of a subagent that ended", a, n)
		}
	}
	if !s.Active("ts") || len(c.Schedules) != 1 || len(s.Running()) > 0 {
		t.Error("what belongs to the whole session is lost")
	}
}

func TestDamagedLines(t *testing.T) {
	p := project(t)
	tr := create(t, p, "one")
	add(t, tr, message("1"))
	closed(t, tr)
	good, err := os.ReadFile(tr.Path)
	if err != nil {
		t.Fatal(err)
	}
	entry := func(kind, data string) string {
		return fmt.Sprintf(`{"type":%q,"time":"2026-01-01T00:00:00Z","agent_id":"main","data":%s}`+"\n", kind, data)
	}
	last := entry("message", `{"message":{"text":"2"}}`)
	for _, tt := range []struct{ middle, codes string }{
		{"", ""},
		{"{\n", "transcript-damaged:3"},
		{"\n", "transcript-damaged:3"},
		{"\x00\x00\n7\n[]\nnull\n{}\n", "transcript-damaged:3 transcript-damaged:4 transcript-damaged:5 transcript-damaged:6 transcript-damaged:7"},
		{entry("message", `{}`), "transcript-damaged:3"},
		{entry("message", `7`), "transcript-damaged:3"},
		{entry("activated", `{"ids":7}`), "transcript-damaged:3"},
		{entry("approval", `{"list":"allow","rule":"Bash("}`), "transcript-damaged:3"},
		{entry("approval", `{"list":"perhaps","rule":"Bash"}`), "transcript-damaged:3"},
		{entry("later", `{}`) + entry("later", `[]`) + entry("else", `1`), "transcript-unknown-entry:0 transcript-unknown-entry:0"},
		{strings.Repeat("x\n", 15), strings.Repeat("transcript-damaged:%d ", 10) + "transcript-damaged:0"},
	} {
		if err := os.WriteFile(tr.Path, []byte(string(good)+tt.middle+last), 0o600); err != nil {
			t.Fatal(err)
		}
		again, c := resume(t, p, "one")
		closed(t, again)
		want := tt.codes
		for i := 3; strings.Contains(want, "%d"); i++ {
			want = strings.Replace(want, "%d", fmt.Sprint(i), 1)
		}
		if got := codes(c); got != want || !slices.Equal(messages(c), []string{"1", "2"}) {
			t.Errorf("%q: %s, want %s; messages %q", tt.middle, got, want, messages(c))
		}
		for _, pr := range c.Problems {
			if pr.Path != tr.Path || pr.Message == "" {
				t.Errorf("%+v", pr)
			}
		}
		// Damage in the middle is left where it is: somebody may want to see it.
		if data, err := os.ReadFile(tr.Path); err != nil || string(data) != string(good)+tt.middle+last {
			t.Errorf("%q: the file was changed: %v", tt.middle, err)
		}
	}
	newer := strings.Replace(string(good), `"version":1`, `"version":2`, 1)
	if err := os.WriteFile(tr.Path, []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Resume("one"); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("a later format: %v", err)
	}
}

func TestEntries(t *testing.T) {
	p := project(t)
	tr := create(t, p, "one")
	add(t, tr, message("1"))
	if err := tr.Append("agent-x", transcript.Prompt{Text: "p"}); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(tr.Path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("oops\n" + `{"type":"later"}`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for e, err := range p.Entries("one") { // while it is open
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, e.Type+" "+string(e.Agent))
	}
	if len(got) != 5 || got[1] != "message main" || got[2] != "prompt agent-x" || !strings.Contains(got[3], "one.jsonl:4: ") || got[4] != "later " {
		t.Errorf("%q", got)
	}
	for _, err := range p.Entries("none") {
		if !errors.Is(err, transcript.ErrNotFound) {
			t.Errorf("unknown session: %v", err)
		}
	}
}
