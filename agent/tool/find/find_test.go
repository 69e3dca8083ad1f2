package find_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/agent/tool/find"
	"github.com/knack-skills/knack/agent/tool/tooltest"
	"github.com/knack-skills/knack/session"
)

// world writes the files of an archive into a directory of their own. Their
// times are in the order of the archive, the first one being the newest.
func world(t testing.TB, archive string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
		when := at.Add(-time.Duration(i) * time.Minute)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// call calls a tool and returns its text; errors begin with "! ".
func call(t testing.TB, one agent.Tool, in string) string {
	t.Helper()
	p, err := one.Plan(json.RawMessage(in))
	if err != nil {
		return "! " + err.Error()
	}
	r, err := p.Run(t.Context(), agent.CallEnv{Agent: session.Main, Progress: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(r.Text, p.Ask.WorkDir, "DIR")
	if r.IsError {
		return "! " + text
	}
	return text
}

const project = `
-- .gitignore --
*.log
/build/
!keep.log
-- main.go --
package main

func main() { run() }
-- src/a.go --
package src

// MARK: one
func Run() error { return nil }
-- src/deep/b.go --
package deep
// mark: two
-- src/deep/.gitignore --
secret.txt
!trace.log
-- src/deep/secret.txt --
MARK hidden by the nested file
-- src/deep/trace.log --
MARK taken back
-- x.log --
MARK ignored
-- keep.log --
MARK kept
-- build/out.go --
MARK built
-- docs/read me.md --
# MARK list
one
two
three
-- .github/ci.yml --
mark: ci
-- web/app.ts --
const x = 1
-- web/app.test.ts --
const MARK = 2
-- web/app.tsx --
`

func TestContract(t *testing.T) {
	o := find.Options{Base: tool.Base{Dir: world(t, project)}}
	t.Run("Glob", func(t *testing.T) {
		tooltest.Run(t, find.NewGlob(o), `{"pattern":"**/*.go"}`, `{"pattern":"*","path":"src"}`)
	})
	t.Run("Grep", func(t *testing.T) {
		tooltest.Run(t, find.NewGrep(o), `{"pattern":"MARK"}`,
			`{"pattern":"x","path":"src","glob":"*.go","type":"go","output_mode":"content","-A":1,"-B":2,"-C":3,"-i":true,"-n":false,"head_limit":0,"multiline":true}`)
	})
}

func TestGlob(t *testing.T) {
	dir := world(t, project)
	g := find.NewGlob(find.Options{Base: tool.Base{Dir: dir}})
	for _, tt := range []struct{ in, want string }{
		{`{"pattern":"**/*.go"}`, "main.go\nsrc/a.go\nsrc/deep/b.go\n"},
		{`{"pattern":"*.go"}`, "main.go\n"},
		{`{"pattern":"*.go","path":"src"}`, "src/a.go\n"},
		{`{"pattern":"src/**/*.go"}`, "src/a.go\nsrc/deep/b.go\n"},
		{`{"pattern":"` + dir + `/src/*.go"}`, "src/a.go\n"},
		{`{"pattern":"` + dir + `/src/*.go","path":"` + dir + `"}`, "src/a.go\n"},
		{`{"pattern":"../*/a.go","path":"src"}`, "src/a.go\n"},
		{`{"pattern":"main.go"}`, "main.go\n"},
		{`{"pattern":"**/*.{ts,tsx}"}`, "web/app.ts\nweb/app.test.ts\nweb/app.tsx\n"},
		{`{"pattern":"web/app.?s"}`, "web/app.ts\n"},
		{`{"pattern":"docs/read me.*"}`, "docs/read me.md\n"},
		{`{"pattern":".github/**"}`, ".github/ci.yml\n"},
		{`{"pattern":"**/.gitignore"}`, ".gitignore\nsrc/deep/.gitignore\n"},
		{`{"pattern":"**/*.log"}`, "src/deep/trace.log\nkeep.log\n"},
		{`{"pattern":"*","path":"build"}`, "build/out.go\n"}, // named, so not ignored
		{`{"pattern":"**/ci.yml"}`, "No files match.\n[left out because of ignore files: 3 names; give one as path to look there]\n[left out because the name begins with a dot: 3]"},
		{`{"pattern":"a.go"}`, "No files match.\n[left out because of ignore files: 2 names; give one as path to look there]\n[left out because the name begins with a dot: 2]\n[the pattern names files of one directory; begin it with **/ to look below too]"},
		{`{"pattern":"x","path":"main.go"}`, "! DIR/main.go is no directory: give the directory as path and the name as pattern"},
		{`{"pattern":"x","path":"none"}`, "! DIR/none cannot be searched: stat DIR/none: no such file or directory"},
		{`{"pattern":"[a"}`, `! Glob: "[a" is no valid glob: check its brackets and braces, and write a \ before one that is meant as such`},
		{`{"pattern":"/etc/*","path":"` + dir + `"}`, "! Glob: the pattern begins at /etc, which is not in the path " + dir + ": leave path out, or make the pattern relative to it"},
	} {
		if d := cmp.Diff(strings.ReplaceAll(tt.want, "\x00", ""), call(t, g, tt.in)); d != "" {
			t.Errorf("%s: %s", tt.in, d)
		}
	}
}

func TestGlobLimit(t *testing.T) {
	var archive strings.Builder
	for i := range 130 {
		fmt.Fprintf(&archive, "-- f%03d --\n", i)
	}
	g := find.NewGlob(find.Options{Base: tool.Base{Dir: world(t, archive.String())}})
	got := strings.Split(call(t, g, `{"pattern":"*"}`), "\n")
	if len(got) != 101 || got[0] != "f000" || got[99] != "f099" || got[100] != "[130 files match; the 100 most recently changed are shown: make the pattern narrower to see others]" {
		t.Errorf("%d lines, from %q to %q", len(got), got[0], got[len(got)-1])
	}
}

func TestGrep(t *testing.T) {
	dir := world(t, project)
	if err := os.WriteFile(filepath.Join(dir, "binary"), []byte("MARK\x00"), 0o644); err != nil {
		t.Fatal(err)
	}
	g := find.NewGrep(find.Options{Base: tool.Base{Dir: dir}})
	for _, tt := range []struct{ in, want string }{
		{`{"pattern":"MARK"}`, "src/a.go\nsrc/deep/trace.log\nkeep.log\ndocs/read me.md\nweb/app.test.ts\n"},
		{`{"pattern":"mark","-i":true,"type":"go"}`, "src/a.go\nsrc/deep/b.go\n"},
		{`{"pattern":"MARK","glob":"*.go"}`, "src/a.go\n"},
		{`{"pattern":"MARK","glob":"src/**"}`, "src/a.go\nsrc/deep/trace.log\n"},
		{`{"pattern":"MARK","glob":"src"}`, "src/a.go\nsrc/deep/trace.log\n"},
		{`{"pattern":"MARK","glob":"*.{go,md}, *.ts !*.test.ts"}`, "src/a.go\ndocs/read me.md\n"},
		{`{"pattern":"MARK","glob":"!src,!web"}`, "keep.log\ndocs/read me.md\n"},
		{`{"pattern":"mark","glob":".github/**"}`, ".github/ci.yml\n"},
		{`{"pattern":"mark","path":".github"}`, ".github/ci.yml\n"},
		{`{"pattern":"MARK","path":"build"}`, "build/out.go\n"},
		{`{"pattern":"MARK","path":"x.log"}`, "x.log\n"},
		{`{"pattern":"MARK","output_mode":"content","path":"src"}`, "src/a.go:3:// MARK: one\nsrc/deep/trace.log:1:MARK taken back\n"},
		{`{"pattern":"MARK","output_mode":"content","path":"src/a.go"}`, "3:// MARK: one\n"},
		{`{"pattern":"MARK","output_mode":"content","path":"src/a.go","-n":false}`, "// MARK: one\n"},
		{`{"pattern":"MARK","output_mode":"content","path":"src/a.go","-C":1}`, "2-\n3:// MARK: one\n4-func Run() error { return nil }\n"},
		{`{"pattern":"MARK","output_mode":"content","path":"src/a.go","-C":9,"-A":0}`, "1-package src\n2-\n3:// MARK: one\n"},
		{`{"pattern":"^(one|three)$","output_mode":"content","path":"docs"}`, "docs/read me.md:2:one\ndocs/read me.md:4:three\n"},
		{`{"pattern":"^(#|three)","output_mode":"content","-A":1,"path":"docs/read me.md"}`, "1:# MARK list\n2-one\n--\n4:three\n"},
		{`{"pattern":"^(#|two)","output_mode":"content","-C":1,"path":"docs/read me.md"}`, "1:# MARK list\n2-one\n3:two\n4-three\n"},
		{`{"pattern":"^package","output_mode":"content","-A":1,"glob":"src/**"}`, "src/a.go:1:package src\nsrc/a.go-2-\n--\nsrc/deep/b.go:1:package deep\nsrc/deep/b.go-2-// mark: two\n"},
		{`{"pattern":"o","output_mode":"count","path":"docs"}`, "docs/read me.md:2\n[2 in 1 file]"},
		{`{"pattern":"package","output_mode":"count"}`, "main.go:1\nsrc/a.go:1\nsrc/deep/b.go:1\n[3 in 3 files]"},
		{`{"pattern":"one.*three","multiline":true,"output_mode":"content","path":"docs/read me.md"}`, "2:one\n3:two\n4:three\n"},
		{`{"pattern":"one\\ntwo","multiline":true,"output_mode":"count","path":"docs"}`, "docs/read me.md:1\n[1 in 1 file]"},
		{`{"pattern":"^two$","multiline":true}`, "docs/read me.md\n"},
		{`{"pattern":"e","output_mode":"content","head_limit":2,"path":"docs/read me.md"}`, "2:one\n4:three\n"},
		{`{"pattern":".","output_mode":"content","head_limit":2,"path":"docs/read me.md"}`, "1:# MARK list\n2:one\n[the first 2 lines are shown; there are more: narrow the search or raise head_limit]"},
		{`{"pattern":"package","head_limit":1}`, "main.go\n[3 files match; the 1 most recently changed are shown: narrow the search or raise head_limit]"},
		{`{"pattern":"MARK","head_limit":0,"glob":"web/*"}`, "web/app.test.ts\n"},
		{`{"pattern":"nothing like it","type":"md"}`, "No matches in . (type md).\n[left out because of ignore files: 3 names; give one as path to look there]\n[left out because the name begins with a dot: 3]"},
		{`{"pattern":"MARK","path":"binary"}`, "No matches in binary.\n[not searched because they are binary: 1 file]"},
		{`{"pattern":"x","path":"none"}`, "! DIR/none cannot be searched: stat DIR/none: no such file or directory"},
		{`{"pattern":"a\\nb"}`, "! Grep: the pattern looks for a line end, which no line has in it: set multiline to true"},
		{`{"pattern":"x","type":"pascal"}`, `! Grep: unknown type "pascal"`},
		{`{"pattern":"(?=x)"}`, "! Grep: the pattern is no regular expression: invalid or unsupported Perl syntax: `(?=`"},
		{`{"pattern":"interface{"}`, "No matches in ."},
	} {
		got := call(t, g, tt.in)
		if strings.HasPrefix(tt.want, "!") || tt.in == `{"pattern":"interface{"}` {
			if !strings.HasPrefix(got, tt.want) {
				t.Errorf("%s: %s", tt.in, got)
			}
		} else if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.in, d)
		}
	}
}

func TestGrepLines(t *testing.T) {
	dir := world(t, "-- f --\n")
	g := find.NewGrep(find.Options{Base: tool.Base{Dir: dir}})
	for _, tt := range []struct{ content, pattern, want string }{
		{"a\r\nb\r\n", "a$", "1:a\n"},
		{"\ufeffa\n", "^a", "1:a\n"},
		{"a", "a", "1:a\n"},
		{"\n\n\na", "^$", "1:\n2:\n3:\n"},
		{"x\xff y\n", "y", "1:x\ufffd y\n"},
		{"aXa\nbX\nX", "X", "1:aXa\n2:bX\n3:X\n"},
		{strings.Repeat("é", 400) + "needle" + strings.Repeat("x", 1000), "needle", "1:…" + strings.Repeat("é", 62) + "needle" + strings.Repeat("x", 369) + "…\n"},
	} {
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(tt.content), 0o644); err != nil {
			t.Fatal(err)
		}
		in, err := json.Marshal(map[string]string{"pattern": tt.pattern, "output_mode": "content", "path": "f"})
		if err != nil {
			t.Fatal(err)
		}
		if got := call(t, g, string(in)); got != tt.want {
			t.Errorf("%.30q: %q, want %q", tt.content, got, tt.want)
		}
	}
}

// TestRefused: rules about single files hold in a search for a directory, and
// nothing of those files is told (spec S-8).
func TestRefused(t *testing.T) {
	dir := world(t, project)
	o := find.Options{Base: tool.Base{Dir: dir}, Refused: func(a session.AgentID, path string) bool {
		return a == session.Main && path == filepath.Join(dir, "src", "a.go")
	}}
	for in, want := range map[string]string{
		`{"pattern":"package","glob":"src/**"}`:                         "src/deep/b.go\n[not shown because of permission rules: 1 file]",
		`{"pattern":"package","glob":"src/**","output_mode":"content"}`: "src/deep/b.go:1:package deep\n[not shown because of permission rules: 1 file]",
		`{"pattern":"package","path":"src/a.go"}`:                       "No matches in src/a.go.\n[not shown because of permission rules: 1 file]",
	} {
		if d := cmp.Diff(want, call(t, find.NewGrep(o), in)); d != "" {
			t.Errorf("%s: %s", in, d)
		}
	}
	if got := call(t, find.NewGlob(o), `{"pattern":"src/*"}`); !strings.HasPrefix(got, "No files match.\n[not shown because of permission rules: 1 file]") {
		t.Error(got)
	}
}

func TestAsk(t *testing.T) { // spec S-8
	dir := world(t, project)
	o := find.Options{Base: tool.Base{Dir: dir, Home: "/home/u"}}
	for _, tt := range []struct {
		one        agent.Tool
		name, in   string
		path, real string
	}{
		{find.NewGrep(o), "Grep", `{"pattern":"x"}`, dir, dir},
		{find.NewGrep(o), "Grep", `{"pattern":"x","path":"../up"}`, filepath.Join(filepath.Dir(dir), "up"), ""},
		{find.NewGlob(o), "Glob", `{"pattern":"**"}`, dir, dir},
		{find.NewGlob(o), "Glob", `{"pattern":"/etc/**"}`, "/etc", ""},
		{find.NewGlob(o), "Glob", `{"pattern":"~/.ssh/*"}`, "/home/u/.ssh", ""},
		{find.NewGlob(o), "Glob", `{"pattern":"../../x/*.go","path":"src"}`, filepath.Join(filepath.Dir(dir), "x"), ""},
		{find.NewGlob(o), "Glob", `{"pattern":"src/../../y/*"}`, filepath.Join(filepath.Dir(dir), "y"), ""},
	} {
		p, err := tt.one.Plan(json.RawMessage(tt.in))
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		if p.Ask.Tool != tt.name || p.Ask.Input.Path != tt.path || tt.real != "" && p.Ask.Input.RealPath != tt.real || !p.ReadOnly {
			t.Errorf("%s asks for %+v", tt.in, p.Ask)
		}
	}
}

// TestGlobStays: no pattern reaches out of the directory that was asked for.
func TestGlobStays(t *testing.T) {
	dir := world(t, "-- in/a --\n-- out/b --\n")
	g := find.NewGlob(find.Options{Base: tool.Base{Dir: filepath.Join(dir, "in")}})
	if err := os.Symlink(filepath.Join(dir, "out"), filepath.Join(dir, "in", "link")); err != nil {
		t.Skip("this system makes no links:", err)
	}
	for _, pattern := range []string{"*/../../out/*", "{..,x}/out/*", "**/../out/*", "link/*", "**", "[.][.]/out/b"} {
		p, err := g.Plan(json.RawMessage(`{"pattern":"` + pattern + `"}`))
		if err != nil {
			continue
		}
		r, err := p.Run(t.Context(), agent.CallEnv{Progress: func(string) {}})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(r.Text, "out/b") && !strings.HasSuffix(p.Ask.Input.RealPath, "out") {
			t.Errorf("%q finds %q, having asked for %s", pattern, r.Text, p.Ask.Input.RealPath)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, one := range find.Tools(find.Options{Base: tool.Base{Dir: world(t, project)}}) {
		p, err := one.Plan(json.RawMessage(`{"pattern":"x"}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Run(ctx, agent.CallEnv{Progress: func(string) {}}); err == nil {
			t.Error("a search goes on in a turn that has ended")
		}
	}
}

// TestAsGit compares what is left out with git itself (spec S-8).
func TestAsGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	dir := world(t, project+`
-- sub/.gitignore --
/*
!/only/
-- sub/only/f --
-- sub/other/f --
-- excluded/f --
-- home/.config/git/ignore --
*.bak
-- a.bak --
-- nested/.gitignore --
!*.log
-- nested/n.log --
`)
	home := filepath.Join(dir, "home")
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	if err := os.WriteFile(filepath.Join(dir, ".git", "info", "exclude"), []byte("excluded\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{".", "src", "sub", "nested"} {
		var want []string
		for line := range strings.Lines(git("-c", "core.quotePath=false", "ls-files", "--others", "--exclude-standard", from)) {
			name := strings.TrimSuffix(line, "\n")
			if !strings.HasPrefix(name, ".") && !strings.Contains(name, "/.") {
				want = append(want, name)
			}
		}
		g := find.NewGlob(find.Options{Base: tool.Base{Dir: dir, Home: home}})
		got := map[string]bool{}
		for line := range strings.Lines(call(t, g, `{"pattern":"**","path":"`+from+`"}`)) {
			got[strings.TrimSuffix(line, "\n")] = true
		}
		for _, w := range want {
			if !got[w] {
				t.Errorf("from %s: %s is missing", from, w)
			}
			delete(got, w)
		}
		for name := range got {
			if !strings.HasPrefix(name, "[") && name != "" {
				t.Errorf("from %s: git leaves out %s", from, name)
			}
		}
	}
}

func FuzzPlan(f *testing.F) {
	dir := world(f, project)
	tools := find.Tools(find.Options{Base: tool.Base{Dir: dir}})
	for _, s := range []string{`{"pattern":"**/*.go"}`, `{"pattern":"[a","path":"src"}`, `{"pattern":"(a|b)*","glob":"!*.{a,b}","multiline":true}`, `{"pattern":"{,a}/../x"}`, `[]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, one := range tools {
			p, err := one.Plan(raw)
			if err != nil {
				continue
			}
			if !strings.HasPrefix(p.Ask.Input.Path, dir) {
				continue // elsewhere, and so not to be run
			}
			if _, err := p.Run(t.Context(), agent.CallEnv{Progress: func(string) {}}); err != nil {
				t.Errorf("%s(%q): %v", one.Spec().Name, raw, err)
			}
		}
	})
}
