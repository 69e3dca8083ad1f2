package discovery_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/knack-skills/knack/discovery"
)

// A tree is a directory without links in its name.
type tree struct {
	t   testing.TB
	dir string
}

// newTree makes files, by name. "a -> b" is a link to b, "a/" a directory.
func newTree(t testing.TB, files map[string]string) tree {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := tree{t, dir}
	for name, text := range files {
		w.write(name, text)
	}
	return w
}

func (w tree) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

func (w tree) write(name, text string) {
	w.t.Helper()
	name, target, link := strings.Cut(name, " -> ")
	must(w.t, os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	switch {
	case link:
		must(w.t, os.Symlink(strings.ReplaceAll(target, "$TOP", w.dir), w.path(name)))
	case strings.HasSuffix(name, "/"):
		must(w.t, os.MkdirAll(w.path(name), 0o755))
	default:
		must(w.t, os.WriteFile(w.path(name), []byte(text), 0o644))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// below names the directories that were found, and "!" those that git ignores.
func below(found []discovery.Found) string {
	var out []string
	for _, f := range found {
		if len(f.Roots) > 0 {
			out = append(out, f.Below)
		}
		for range f.Problems {
			out = append(out, "!"+f.Below)
		}
	}
	return strings.Join(out, " ")
}

// counted counts what is asked of the file system.
type counted struct {
	discovery.OS
	calls *atomic.Int64
}

func (c counted) Lstat(path string) (fs.FileInfo, error) { c.calls.Add(1); return c.OS.Lstat(path) }
func (c counted) Read(path string) ([]byte, error)       { c.calls.Add(1); return c.OS.Read(path) }
func (c counted) Real(path string) (string, error)       { c.calls.Add(1); return c.OS.Real(path) }

// environment is what git and discovery are told in these tests.
func (w tree) environment(more map[string]string) (getenv func(string) string, list []string) {
	env := map[string]string{"HOME": w.path("home"), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C", "XDG_CONFIG_HOME": ""}
	for k, v := range more {
		env[k] = v
	}
	for k, v := range env {
		if v != "" {
			list = append(list, k+"="+v)
		}
	}
	return func(name string) string { return env[name] }, append(list, "PATH="+os.Getenv("PATH"))
}

// git runs git in a directory of the tree, with the environment of the tree alone.
func (w tree) git(env []string, dir, stdin string, args ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = w.path(dir), env, strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	// check-ignore exits with 1 when nothing is ignored.
	if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != 1 {
		w.t.Fatalf("git %v: %v\n%s", args, err, errs.String())
	}
	return out.String()
}

// needGit skips a test where there is no git to compare with.
func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
}
