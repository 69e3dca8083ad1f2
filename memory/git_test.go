package memory

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// answers is a git that says what is written in it, by subcommand.
type answers map[string]string

func (a answers) Git(_ context.Context, _ string, args ...string) (string, error) {
	out, ok := a[args[0]]
	if !ok {
		return "", errors.New("exit status 1")
	}
	return out, nil
}

func inside(more answers) answers {
	more["rev-parse"] = "true\n"
	return more
}

func TestStatus(t *testing.T) { // spec A-5
	many := "## main\n"
	for i := range maxChanged + 7 {
		many += fmt.Sprintf("?? f%d\n", i)
	}
	for _, tt := range []struct {
		name string
		git  answers
		want *Repository
	}{
		{"no git", answers{}, nil},
		{"bare", answers{"rev-parse": "false\n"}, nil},
		{"clean", inside(answers{"status": "## main...origin/main [ahead 1]\n", "log": "abc one\ndef two\n"}),
			&Repository{Branch: "main", Upstream: "origin/main [ahead 1]", Commit: "true", Commits: []string{"abc one", "def two"}}},
		{"changes", inside(answers{"status": "## a.b\n M x y\nR  a -> b\n?? \"q\x1b[31m\"\n"}),
			&Repository{Branch: "a.b", Commit: "true", Changes: []string{" M x y", "R  a -&gt; b", "?? \"q\""}}},
		{"detached", inside(answers{"status": "## HEAD (no branch)\n"}), &Repository{Commit: "true"}},
		{"no commits", inside(answers{"status": "## No commits yet on main\n?? a\n"}), &Repository{Branch: "main", Commit: "true", Changes: []string{"?? a"}}},
		{"failing", inside(answers{}), &Repository{Commit: "true", Skipped: "git could not tell"}},
		{"programs", inside(answers{"config": "filter.x.clean\n", "symbolic-ref": "main\n", "status": "## other\n"}),
			&Repository{Branch: "main", Commit: "true", Skipped: "the configuration of the repository names programs to compare files with, and the workspace is not trusted"}},
	} {
		if d := cmp.Diff(tt.want, Status(context.Background(), "/x", GitOptions{Git: tt.git})); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
	r := Status(context.Background(), "/x", GitOptions{Git: inside(answers{"status": many, "config": "filter.x.clean\n"}), Trusted: true})
	if len(r.Changes) != maxChanged || r.More != 7 {
		t.Errorf("%d and %d", len(r.Changes), r.More)
	}
}

// slow is a git that never answers.
type slow struct{}

func (slow) Git(ctx context.Context, _ string, args ...string) (string, error) {
	if args[0] != "status" {
		return "true\n", nil
	}
	<-ctx.Done()
	return "", ctx.Err()
}

func TestStatusIsBounded(t *testing.T) {
	r := Status(context.Background(), "/x", GitOptions{Git: slow{}, Timeout: time.Millisecond, Trusted: true})
	if r == nil || r.Skipped != "git did not answer in time" {
		t.Errorf("%+v", r)
	}
}

func TestRepositoryRender(t *testing.T) {
	r := &Repository{Branch: "main", Upstream: "origin/main", Commit: "abc", Changes: []string{" M a"}, More: 3, Commits: []string{"abc one"}}
	want := "Git, as it was when the conversation began (it is not updated):\nBranch: main (tracks origin/main)\nChanges:\n M a\n… and 3 more\nLast commits:\nabc one"
	if got := r.Render(); got != want {
		t.Errorf("%q", got)
	}
	for _, tt := range []struct {
		r    Repository
		want string
	}{
		{Repository{Commit: "abc", Commits: []string{"abc x"}}, "Branch: none, detached at abc\nChanges: none\nLast commits:\nabc x"},
		{Repository{Branch: "m", Skipped: "why"}, "Branch: m\nChanges: not known; why\nCommits: none yet"},
		{Repository{}, "Branch: unknown\nChanges: none\nCommits: none yet"},
	} {
		if got := tt.r.Render(); !strings.HasSuffix(got, "):\n"+tt.want) {
			t.Errorf("%q", got)
		}
	}
	if (*Repository)(nil).Render() != "" {
		t.Error("nil is something")
	}
}

func TestSurroundings(t *testing.T) {
	s := Surroundings{
		WorkDir: "/w/<x>", ProjectDir: "/w", MoreDirs: []string{"/m"}, Platform: "linux/amd64", Shell: "bash",
		Date: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC), Repository: &Repository{Branch: "main"}, Headless: true,
	}
	want := `<environment>
Working directory: /w/&lt;x&gt;
Project directory: /w
Additional directory: /m
Platform: linux/amd64
Shell: bash
Date: 2026-02-03 (Tuesday)
Nobody can answer questions: decide, say what you assumed, and go on.
Git repository: yes

` + s.Repository.Render() + "\n</environment>"
	if d := cmp.Diff(want, s.Render()); d != "" {
		t.Error(d)
	}
	if got := (Surroundings{WorkDir: "/w", ProjectDir: "/w"}).Render(); !strings.Contains(got, "Git repository: no\n") || strings.Contains(got, "Project") {
		t.Error(got)
	}
}

// repository makes a real one, whose configuration tries to run programs.
func repository(t *testing.T) (dir, proof string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir = home(t)
	proof = filepath.Join(dir, "ran")
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@x.example", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(environment(os.Environ()), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("git %v: %v\n%s", args, err, out)
		}
	}
	run("init", "--quiet", "--initial-branch=main")
	write(t, dir, map[string]string{"a.txt": "a\n", ".gitignore": "ran\n"})
	run("add", "a.txt", ".gitignore")
	run("commit", "--quiet", "-m", "first <b>")
	program := filepath.Join(dir, ".git", "evil.sh")
	write(t, dir, map[string]string{".git/evil.sh": "#!/bin/sh\necho x > '" + proof + "'\ncat\n", "b.txt": "b\n", ".gitattributes": "*.txt filter=evil\n"})
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"core.fsmonitor", "core.pager", "filter.evil.clean", "gpg.program", "core.sshCommand"} {
		run("config", key, program)
	}
	run("config", "log.showSignature", "true")
	write(t, dir, map[string]string{"a.txt": "A\n"}) // as long as before: contents have to be compared
	return dir, proof
}

func TestProgram(t *testing.T) {
	dir, proof := repository(t)
	r := Status(context.Background(), dir, GitOptions{Timeout: time.Minute})
	if r == nil || r.Branch != "main" || len(r.Commits) != 1 || !strings.HasSuffix(r.Commits[0], "first &lt;b&gt;") || r.Skipped == "" {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(proof); err == nil {
		t.Error("a program of the repository ran")
	}
	index, err := os.Stat(filepath.Join(dir, ".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	r = Status(context.Background(), dir, GitOptions{Timeout: time.Minute, Trusted: true})
	if r == nil || !slices.Contains(r.Changes, " M a.txt") || !slices.Contains(r.Changes, "?? b.txt") {
		t.Errorf("%+v", r)
	}
	if after, err := os.Stat(filepath.Join(dir, ".git", "index")); err != nil || !after.ModTime().Equal(index.ModTime()) {
		t.Error("the index was written")
	}
	if r := Status(context.Background(), home(t), GitOptions{Timeout: time.Minute}); r != nil {
		t.Errorf("%+v outside of a repository", r)
	}
}

func TestEnvironment(t *testing.T) {
	got := environment([]string{"PATH=/bin", "GIT_DIR=/x", "GIT_EXTERNAL_DIFF=evil", "GITHUB_TOKEN=t"})
	if !slices.Contains(got, "PATH=/bin") || slices.Contains(got, "GIT_DIR=/x") || slices.Contains(got, "GIT_EXTERNAL_DIFF=evil") || !slices.Contains(got, "GIT_NO_LAZY_FETCH=1") {
		t.Errorf("%q", got)
	}
}
