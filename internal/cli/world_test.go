package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/knack-skills/knack/skill"
)

// A world is a repository with a home, a state directory and a managed
// directory of its own, in which the command runs as a process.
type world struct {
	t    *testing.T
	dir  string // holds everything
	repo string
	env  []string
}

// newWorld returns a world in which two sound skills, aaa and zzz, surround
// whatever a test adds.
func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, repo: filepath.Join(dir, "repo"), env: append(os.Environ(), isolated(dir)...)}
	w.mkdir(".git")
	w.mkdir("../home")
	w.skill("aaa", "---\ndescription: first\n---\nFirst.\n")
	w.skill("zzz", "---\ndescription: last\n---\nLast.\n")
	return w
}

// path returns a path below the repository, with slashes.
func (w *world) path(name string) string { return filepath.Join(w.repo, filepath.FromSlash(name)) }

func (w *world) mkdir(name string) string {
	w.t.Helper()
	p := w.path(name)
	if err := os.MkdirAll(p, 0o755); err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) file(name, content string) string {
	w.t.Helper()
	p := filepath.Join(w.mkdir(filepath.Dir(name)), filepath.Base(name))
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) skill(name, content string) string {
	w.t.Helper()
	return w.file(".claude/skills/"+name+"/SKILL.md", content)
}

// command returns a run of knack in the repository. It is killed, and the test
// fails, when it hangs.
func (w *world) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "knack", args...)
	cmd.Dir, cmd.Env = w.repo, w.env
	cmd.WaitDelay = time.Second
	return cmd
}

type output struct {
	stdout, stderr string
	code           int
}

func (w *world) run(args ...string) output {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	cmd := w.command(ctx, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		w.t.Fatalf("knack %s hangs", strings.Join(args, " "))
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatal(err)
	}
	out := output{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
	if strings.Contains(out.stderr, "goroutine ") {
		w.t.Fatalf("knack %s panics:\n%s", strings.Join(args, " "), out.stderr)
	}
	return out
}

// list returns the ids of the project's skills, and demands that the two sound
// skills are among them.
func (w *world) list() []string {
	w.t.Helper()
	out := w.run("list", "--json", "--all")
	var rows []struct{ ID, Source string }
	if err := json.Unmarshal([]byte(out.stdout), &rows); err != nil || out.code != 0 {
		w.t.Fatalf("knack list: exit %d, %v\n%s%s", out.code, err, out.stdout, out.stderr)
	}
	var ids []string
	for _, r := range rows {
		if r.Source == "project" {
			ids = append(ids, r.ID)
		}
	}
	for _, id := range []string{"aaa", "zzz"} {
		if !slices.Contains(ids, id) {
			w.t.Errorf("the sound skill %s is lost among %q", id, ids)
		}
	}
	return ids
}

// problems returns what knack check says of the whole workspace.
func (w *world) problems() []skill.Problem {
	w.t.Helper()
	out := w.run("check", "--json")
	var r struct{ Problems []skill.Problem }
	if err := json.Unmarshal([]byte(out.stdout), &r); err != nil {
		w.t.Fatalf("knack check: exit %d, %v\n%s%s", out.code, err, out.stdout, out.stderr)
	}
	return r.Problems
}
