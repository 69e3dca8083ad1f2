package foreign_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/knack-skills/knack/internal/cli"
	"github.com/knack-skills/knack/internal/lab/npm"
	"github.com/knack-skills/knack/sandbox"
)

// TestMain makes this binary the program itself when it is called knack, which
// is how foreign programs start it.
func TestMain(m *testing.M) {
	if code, mine := sandbox.Main(os.Args); mine {
		os.Exit(code)
	}
	if filepath.Base(os.Args[0]) == "knack" {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// A place is a project with a skill, and a home, for one foreign program.
type place struct {
	t   *testing.T
	dir string // project and home at once
	bin string // where knack is
}

const greeting = "Say hello to Ann, and nothing else."

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{t: t, dir: t.TempDir(), bin: t.TempDir()}
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(p.bin, "knack"))
	}
	if err != nil {
		t.Fatal(err)
	}
	p.write(".claude/skills/greet/SKILL.md", "---\nname: greet\ndescription: Greets somebody. Use when asked to greet.\nargument-hint: \"[who]\"\n---\nSay hello to $ARGUMENTS, and nothing else.\n")
	p.write(".claude/skills/greet/notes.md", "Be kind.\n")
	p.write(".claude/skills/release/SKILL.md", "---\nname: release\ndescription: Releases\ndisable-model-invocation: true\narguments: [version]\n---\nRelease $version.\n")
	return p
}

func (p *place) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, filepath.FromSlash(strings.TrimPrefix(name, "~/")))
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// patience is how long a foreign program may take.
const patience = 3 * time.Minute

// run runs a program of s in the project, with knack on its path.
func (p *place) run(s npm.Set, env []string, name string, args ...string) (stdout, stderr string, err error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	cmd := s.Command(ctx, p.dir, env, name, args...)
	p.path(cmd)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// path puts knack on the path of cmd, and its state into the project.
func (p *place) path(cmd *exec.Cmd) {
	for i, v := range cmd.Env {
		if rest, ok := strings.CutPrefix(v, "PATH="); ok {
			cmd.Env[i] = "PATH=" + p.bin + string(os.PathListSeparator) + rest
		}
	}
}

// audited returns the audit log that knack wrote.
func (p *place) audited() string {
	p.t.Helper()
	var all []byte
	err := filepath.WalkDir(p.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == "audit.jsonl" {
			var data []byte
			data, err = os.ReadFile(path)
			all = append(all, data...)
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return string(all)
}
