package approval_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/knack-skills/knack/approval"
	"github.com/knack-skills/knack/internal/lab/killed"
	"github.com/knack-skills/knack/skill"
)

// work is for a test binary that is run again as another process: it approves
// over and over, until it is killed or has done it often enough.
const work = "APPROVAL_TEST_WORK"

func TestMain(m *testing.M) {
	if args := os.Getenv(work); args != "" {
		dir, which, _ := strings.Cut(args, "|")
		if err := approveMany(dir, which); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func approveMany(dir, which string) error {
	s := approval.Store{Dir: filepath.Join(dir, "approvals")}
	for i := range 60 {
		c := content(map[string]string{"SKILL.md": which, "big.txt": strings.Repeat(which+"\n", 4000)})
		if err := s.Approve(approval.Key{Workspace: dir, Skill: "project:x"}, c); err != nil {
			return err
		}
		if i == 0 {
			fmt.Println("began")
		}
	}
	return nil
}

// content is what files consist of, without a disk.
func content(files map[string]string) approval.Content {
	dir, err := os.MkdirTemp("", "approval")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
			panic(err)
		}
	}
	c, err := approval.Read(context.Background(), skill.Origin{Path: filepath.Join(dir, "SKILL.md")}, skill.Run{AllowedTools: []string{"Bash"}},
		skill.Instructions{Dir: dir, Text: files["SKILL.md"], Source: files["SKILL.md"]})
	if err != nil {
		panic(err)
	}
	return c
}

func store(t *testing.T) (approval.Store, approval.Key) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	return approval.Store{Dir: filepath.Join(t.TempDir(), "approvals"), Now: func() time.Time { return now }},
		approval.Key{Workspace: t.TempDir(), Skill: "project:deploy"}
}

func look(t *testing.T, s approval.Store, k approval.Key, c approval.Content) approval.Standing {
	t.Helper()
	st, err := s.Look(k, c)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// Only what was approved is approved: for its workspace, its id, its files and
// what holds of its frontmatter (spec S-14).
func TestBound(t *testing.T) {
	s, k := store(t)
	files := map[string]string{"SKILL.md": "do it\n", "run.sh": "echo one\n", "data.bin": "a\x00b", "docs/a.md": "text\n"}
	c := content(files)
	if st := look(t, s, k, c); st.Approved || st.Known {
		t.Fatalf("before: %+v", st)
	}
	if err := s.Approve(k, c); err != nil {
		t.Fatal(err)
	}
	if st := look(t, s, k, c); !st.Approved {
		t.Fatalf("after: %+v", st)
	}
	terms := c
	terms.Terms = strings.Repeat("0", 64)
	for name, tt := range map[string]struct {
		k       approval.Key
		c       approval.Content
		changed string
		diff    string
	}{
		"another workspace": {approval.Key{Workspace: t.TempDir(), Skill: k.Skill}, c, "", ""},
		"another id":        {approval.Key{Workspace: k.Workspace, Skill: "plugin:deploy"}, c, "", ""},
		"other terms":       {k, terms, "what its frontmatter said when it was loaded", ""},
		"a script":          {k, content(with(files, "run.sh", "echo two\n")), "run.sh has changed", "--- run.sh\n+++ run.sh\n@@ -1,1 +1,1 @@\n-echo one\n+echo two\n"},
		"no text":           {k, content(with(files, "data.bin", "a\x00c!")), "data.bin has changed", "data.bin: changed from 3 to 4 bytes, not shown\n"},
		"a new file":        {k, content(with(files, "new.sh", "rm\n")), "new.sh is new", "--- (none)\n+++ new.sh\n@@ -0,0 +1,1 @@\n+rm\n"},
		"a file is gone":    {k, content(with(files, "run.sh", "")), "run.sh is gone", "--- run.sh\n+++ (none)\n@@ -1,1 +0,0 @@\n-echo one\n"},
		"renamed":           {k, content(with(with(files, "run.sh", ""), "Run.sh", "echo one\n")), "Run.sh is new,run.sh is gone", ""},
	} {
		st := look(t, s, tt.k, tt.c)
		if st.Approved || strings.Join(st.Changed, ",") != tt.changed || st.Known != (tt.changed != "") {
			t.Errorf("%s: %+v", name, st)
		}
		if tt.diff != "" && st.Diff != tt.diff {
			t.Errorf("%s:\n%s", name, cmp.Diff(tt.diff, st.Diff))
		}
	}
}

func with(files map[string]string, name, text string) map[string]string {
	out := map[string]string{}
	for n, t := range files {
		out[n] = t
	}
	if out[name] = text; text == "" {
		delete(out, name)
	}
	return out
}

// A link that leads out of the skill can change behind its back, so nothing is
// bound to it; one that stays inside is part of the content.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("SKILL.md", "x")
	write("a.sh", "a")
	read := func() approval.Content {
		t.Helper()
		c, err := approval.Read(t.Context(), skill.Origin{Path: filepath.Join(dir, "SKILL.md")}, skill.Run{}, skill.Instructions{Dir: dir, Source: "x"})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	link := filepath.Join(dir, "run.sh")
	seen := map[string]string{read().Hash: "nothing"}
	for _, tt := range []struct {
		to    string
		loose bool
	}{{"a.sh", false}, {"SKILL.md", false}, {"../outside.sh", true}, {"/etc/passwd", true}, {"./x/../../y", true}} {
		if err := os.Symlink(tt.to, link); err != nil {
			t.Skip("this system has no links:", err)
		}
		c := read()
		if (c.Loose != "") != tt.loose {
			t.Errorf("link to %s: loose %q", tt.to, c.Loose)
		}
		if was, twice := seen[c.Hash]; twice {
			t.Errorf("links to %s and %s have one hash", was, tt.to)
		}
		seen[c.Hash] = tt.to
		s, k := store(t)
		if err := s.Approve(k, c); (err != nil) != tt.loose {
			t.Errorf("link to %s: %v", tt.to, err)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
}

// What is hashed is what will run, not what lies on the disk by now.
func TestSourceCounts(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "SKILL.md")
	if err := os.WriteFile(path, []byte("evil"), 0o644); err != nil {
		t.Fatal(err)
	}
	hash := func(in skill.Instructions, origin skill.Origin) string {
		t.Helper()
		h, _, err := approval.Hash(t.Context(), origin, in)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	loaded := hash(skill.Instructions{Dir: dir, Source: "good"}, skill.Origin{Path: path})
	alone := hash(skill.Instructions{Source: "good"}, skill.Origin{})
	remote := hash(skill.Instructions{Text: "good"}, skill.Origin{Source: skill.MCP})
	if loaded != alone || alone != remote {
		t.Errorf("one text, hashes %s, %s, %s", loaded, alone, remote)
	}
	if hash(skill.Instructions{Dir: dir, Source: "evil"}, skill.Origin{Path: path}) == loaded {
		t.Error("the text does not count")
	}
}

// A damaged or forged file is an error and no approval; the next one mends it.
func TestDamaged(t *testing.T) {
	for _, text := range []string{"", "{", "null", "{}", `{"hash":"x"}`, `[]`, "\x00", `{"unknown":1}`} {
		s, k := store(t)
		c := content(map[string]string{"SKILL.md": "x"})
		if err := s.Approve(k, c); err != nil {
			t.Fatal(err)
		}
		file := only(t, s)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if st, err := s.Look(k, c); err == nil || st.Approved {
			t.Errorf("%q: %+v, %v", text, st, err)
		}
		if list, err := s.List(t.Context()); err == nil || len(list) > 0 {
			t.Errorf("%q: listed %v, %v", text, list, err)
		}
		if err := s.Approve(k, c); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if st, err := s.Look(k, c); err != nil || !st.Approved {
			t.Errorf("%q: after mending: %+v, %v", text, st, err)
		}
	}
	// One field at a time says something else.
	for _, change := range []func(m map[string]any){
		func(m map[string]any) { m["hash"] = strings.Repeat("0", 64) },
		func(m map[string]any) { m["terms"] = "" },
		func(m map[string]any) { m["skill"] = "project:other" },
		func(m map[string]any) { m["workspace"] = "/elsewhere" },
		func(m map[string]any) { m["files"].(map[string]any)["SKILL.md"].(map[string]any)["text"] = "y" },
		func(m map[string]any) { m["files"].(map[string]any)["more"] = map[string]any{"sum": "", "size": 0} },
	} {
		s, k := store(t)
		c := content(map[string]string{"SKILL.md": "x"})
		if err := s.Approve(k, c); err != nil {
			t.Fatal(err)
		}
		file := only(t, s)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		change(m)
		if data, err = json.Marshal(m); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if st, err := s.Look(k, c); err == nil || st.Approved {
			t.Errorf("%s: %+v, %v", data, st, err)
		}
	}
}

func only(t *testing.T, s approval.Store) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.Dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	return files[0]
}

func TestRevoke(t *testing.T) {
	s, k := store(t)
	c := content(map[string]string{"SKILL.md": "x"})
	for _, id := range []string{"a", "b"} {
		if err := s.Approve(approval.Key{Workspace: k.Workspace, Skill: id}, c); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.List(t.Context())
	if err != nil || len(list) != 2 || list[0].Skill != "a" || list[0].Time.Nanosecond() != 0 || list[0].Hash != c.Hash {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, id := range []string{"", "none", "../x", "0", list[0].ID + ".json"} {
		if err := s.Revoke(id); !errors.Is(err, approval.ErrUnknown) {
			t.Errorf("revoking %q: %v", id, err)
		}
	}
	if err := s.Revoke(list[0].ID); err != nil {
		t.Fatal(err)
	}
	if st := look(t, s, approval.Key{Workspace: k.Workspace, Skill: "a"}, c); st.Approved || st.Known {
		t.Errorf("revoked: %+v", st)
	}
	if st := look(t, s, approval.Key{Workspace: k.Workspace, Skill: "b"}, c); !st.Approved {
		t.Errorf("the other: %+v", st)
	}
}

// Without a state directory nothing is known, and keeping is refused.
func TestNoStore(t *testing.T) {
	c := content(map[string]string{"SKILL.md": "x"})
	k := approval.Key{Workspace: t.TempDir(), Skill: "x"}
	if err := (approval.Store{}).Approve(k, c); err == nil {
		t.Error("kept nowhere")
	}
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := approval.Store{Dir: filepath.Join(blocked, "approvals")}
	if err := s.Approve(k, c); err == nil {
		t.Error("kept in a file")
	}
	if st, err := s.Look(k, c); st.Approved {
		t.Errorf("%+v, %v", st, err)
	}
}

// Two processes that answer at once leave one whole answer, and a process that
// is killed in the middle leaves the one before (spec M-5).
func TestProcesses(t *testing.T) {
	dir := t.TempDir()
	s, k := approval.Store{Dir: filepath.Join(dir, "approvals")}, approval.Key{Workspace: dir, Skill: "project:x"}
	contents := map[string]approval.Content{}
	for _, which := range []string{"one", "two"} {
		contents[which] = content(map[string]string{"SKILL.md": which, "big.txt": strings.Repeat(which+"\n", 4000)})
	}
	check := func(when string) {
		t.Helper()
		var approved []string
		for which, c := range contents {
			st, err := s.Look(k, c)
			if err != nil {
				t.Fatalf("%s: %v", when, err)
			}
			if st.Approved {
				approved = append(approved, which)
			}
		}
		if len(approved) != 1 {
			t.Fatalf("%s: approved %v", when, approved)
		}
	}
	command := func(which string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), work+"="+dir+"|"+which)
		cmd.Stderr = os.Stderr
		return cmd
	}
	var wg sync.WaitGroup
	for which := range contents {
		wg.Go(func() {
			if out, err := command(which).Output(); err != nil {
				t.Errorf("%v %s", err, out)
			}
		})
	}
	wg.Wait()
	check("two processes")
	for range 8 {
		killed.At(t, command("two"), 5)
		check("killed")
	}
}

// A diff leads from the old text to the new one, whatever they are.
func TestDiffApplies(t *testing.T) {
	line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "long line\n"})
	dir := t.TempDir()
	s, k := approval.Store{Dir: filepath.Join(dir, "approvals")}, approval.Key{Workspace: dir, Skill: "x"}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) string {
			text := strings.Join(rapid.SliceOfN(line, 1, 40).Draw(t, name), "")
			if rapid.Bool().Draw(t, name+" ends") {
				text += "end"
			}
			return text
		}
		old, now := draw("old"), draw("now")
		if err := s.Approve(k, content(map[string]string{"SKILL.md": old})); err != nil {
			t.Fatal(err)
		}
		st, err := s.Look(k, content(map[string]string{"SKILL.md": now}))
		if err != nil {
			t.Fatal(err)
		}
		if (old == now) != st.Approved || (old == now) != (st.Diff == "") {
			t.Fatalf("%q to %q: %+v", old, now, st)
		}
		if got, err := patch(old, st.Diff); err != nil || got != now {
			t.Fatalf("%q to %q by\n%s\ngave %q, %v", old, now, st.Diff, got, err)
		}
	})
}

// patch applies a unified diff of one file.
func patch(old, diff string) (string, error) {
	if diff == "" {
		return old, nil
	}
	lines := strings.SplitAfter(old, "\n")
	var out strings.Builder
	at := 0 // lines of old that are done
	rows := strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
	for i, row := range rows[2:] {
		bare := i+3 < len(rows) && strings.HasPrefix(rows[i+3], `\`)
		switch row[0] {
		case '@':
			var from, n int
			if _, err := fmt.Sscanf(row, "@@ -%d,%d", &from, &n); err != nil {
				return "", err
			}
			if n > 0 {
				from--
			}
			for ; at < from; at++ {
				out.WriteString(lines[at])
			}
		case ' ', '-':
			if want := strings.TrimSuffix(lines[at], "\n"); want != row[1:] {
				return "", fmt.Errorf("line %d is %q, not %q", at+1, want, row[1:])
			}
			if at++; row[0] == ' ' {
				out.WriteString(row[1:] + ending(bare))
			}
		case '+':
			out.WriteString(row[1:] + ending(bare))
		}
	}
	for ; at < len(lines); at++ {
		out.WriteString(lines[at])
	}
	return out.String(), nil
}

func ending(bare bool) string {
	if bare {
		return ""
	}
	return "\n"
}
