//go:build unix

package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/knack-skills/knack/skill"
)

// TestHostileFiles: whatever lies where a skill should be, nothing hangs, the
// skills beside it load, and one named diagnostic tells of it (F-3, C-11).
func TestHostileFiles(t *testing.T) {
	nested := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	tests := []struct {
		name string
		make func(w *world, file string) error // file is <root>/bad/SKILL.md
		code string
	}{
		{"FIFO", func(_ *world, f string) error { return syscall.Mkfifo(f, 0o644) }, "not-a-regular-file"},
		{"directory", func(_ *world, f string) error { return os.Mkdir(f, 0o755) }, "not-a-regular-file"},
		{"endless device", func(_ *world, f string) error { return os.Symlink("/dev/zero", f) }, "link-leaves-root"},
		{"random device", func(_ *world, f string) error { return os.Symlink("/dev/urandom", f) }, "link-leaves-root"},
		{"link to itself", func(_ *world, f string) error { return os.Symlink("SKILL.md", f) }, "link-loop"},
		{"link to nothing", func(_ *world, f string) error { return os.Symlink("gone.md", f) }, "dangling-link"},
		{"link to a secret", func(_ *world, f string) error { return os.Symlink("/etc/passwd", f) }, "link-leaves-root"},
		{"100 MB", func(_ *world, f string) error { return sparse(f, 100<<20) }, "too-large"},
		{"NUL", text("---\ndescription: a\x00b\n---\n"), "binary"},
		{"binary", text("\x7fELF\x02\x01\x01\x00\x00\x00"), "binary"},
		{"not UTF-8", text("---\ndescription: caf\xe9\n---\n"), "invalid-utf8"},
		{"alias bomb", text("---\nx: &x [1,1]\ny: [*x,*x]\ndescription: bomb\n---\n"), "yaml-alias"},
		{"deep YAML", text("---\ndescription: deep\nmetadata: " + nested + "\n---\n"), "yaml-recovered"},
		{"huge frontmatter", text("---\ndescription: " + strings.Repeat("x", 70<<10) + "\n---\n"), "frontmatter-too-large"},
		{"no closing fence", text("---\ndescription: open\n"), "unclosed-frontmatter"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			file := filepath.Join(w.mkdir(".claude/skills/bad"), "SKILL.md")
			if err := tt.make(w, file); err != nil {
				t.Fatal(err)
			}
			w.list()
			found := w.problems()
			if !slices.ContainsFunc(found, func(p skill.Problem) bool {
				return p.Code == tt.code && strings.HasPrefix(p.Path, filepath.Dir(file)) && p.Fix != ""
			}) {
				t.Errorf("no diagnostic %s with a fix for %s among %+v", tt.code, file, found)
			}
			// Given by name, it is judged as well, and read by nobody.
			for _, args := range [][]string{{"check", file}, {"check", filepath.Dir(file)}, {"render", "bad"}, {"show", "bad"}} {
				if out := w.run(args...); strings.Contains(out.stdout, "root:") {
					t.Errorf("knack %s shows a file outside the repository:\n%s", args[0], out.stdout)
				}
			}
		})
	}
}

func text(s string) func(*world, string) error {
	return func(_ *world, f string) error { return os.WriteFile(f, []byte(s), 0o644) }
}

// sparse makes a file that is large but takes no room.
func sparse(name string, size int64) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Truncate(size)
}

// TestHostileDirectories: directories that lead nowhere, to themselves or
// back up cost nothing but a diagnostic (C-3, C-7).
func TestHostileDirectories(t *testing.T) {
	w := newWorld(t)
	root := w.mkdir(".claude/skills")
	for name, target := range map[string]string{"self": ".", "up": "..", "ping": "pong", "pong": "ping", "off": "/"} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := w.list(), []string{"aaa", "zzz"}; !slices.Equal(got, want) {
		t.Errorf("got skills %q, want %q", got, want)
	}
	found := w.problems()
	for name, code := range map[string]string{"self": "link-loop", "up": "link-loop", "ping": "link-loop", "off": "link-leaves-root"} {
		if !slices.ContainsFunc(found, func(p skill.Problem) bool { return p.Code == code && filepath.Base(p.Path) == name }) {
			t.Errorf("no diagnostic %s for the link %s among %+v", code, name, found)
		}
	}
}

// TestHostileNames: no directory name breaks a line, a table or a terminal.
func TestHostileNames(t *testing.T) {
	w := newWorld(t)
	names := []string{"new\nline", "esc\x1b[31mred", "tab\there", "bad\xff\xfeutf", "\u202ertl", "-flag", "a:b", "back\\slash",
		"$(touch pwned)", "`touch pwned`", `"quoted"`, "日本語", strings.Repeat("n", 255)}
	made := 0
	for _, n := range names {
		if err := os.Mkdir(filepath.Join(w.mkdir(".claude/skills"), n), 0o755); err != nil {
			t.Logf("this file system refuses %q: %v", n, err)
			continue
		}
		w.skill(n, "---\ndescription: hostile\n---\nBody of it.\n")
		made++
	}
	if got := len(w.list()); got != made+2 {
		t.Errorf("got %d skills, want %d", got, made+2)
	}
	for _, args := range [][]string{{"list", "-v"}, {"check"}, {"doctor"}, {"listing"}, {"search", "hostile"}, {"explain", "日本語"}} {
		out := w.run(args...)
		for line := range strings.Lines(out.stdout + out.stderr) {
			if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u202e' }) {
				t.Errorf("knack %s prints a control character: %q", args[0], line)
			}
		}
	}
	table := w.run("list")
	for line := range strings.Lines(table.stdout) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
			t.Errorf("a line of the table has %d columns: %q", n, line)
		}
	}
	if out := w.run("render", "-C", w.repo, "--", "-flag"); !strings.Contains(out.stdout, "Body of it.") {
		t.Errorf("a name like a flag cannot be rendered after --: %+v", out)
	}
	if _, err := os.Stat(w.path("pwned")); err == nil {
		t.Error("a directory name was run")
	}
}

// TestTooManyDirectories: a root ends at 20,000 directories, with one
// diagnostic (C-3).
func TestTooManyDirectories(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 20,001 directories")
	}
	w := newWorld(t)
	root := w.mkdir(".claude/skills")
	for i := range 20_001 {
		if err := os.Mkdir(filepath.Join(root, fmt.Sprintf("m%05d", i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	out := w.run("list", "-v", "--source", "project")
	if out.code != 0 || !strings.Contains(out.stdout, "aaa") {
		t.Errorf("the skills before the limit are lost: exit %d\n%s", out.code, out.stdout)
	}
	if n := strings.Count(out.stderr, "[too-many-directories]"); n != 1 {
		t.Errorf("got %d diagnostics, want 1:\n%.2000s", n, out.stderr)
	}
}

// TestUnreadable: a root, a directory and a file that cannot be read are
// diagnostics. The name is too long for the system, which holds for every
// user, root included.
func TestUnreadable(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("n", 300)
	w.env = append(w.env, "CLAUDE_CONFIG_DIR="+filepath.Join(w.dir, long))
	out := w.run("list", "-v")
	if out.code != 0 || !strings.Contains(out.stdout, "aaa") || !strings.Contains(out.stderr, "[unreadable") {
		t.Errorf("exit %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	if out := w.run("list", "--add-dir", filepath.Join(w.dir, long)); out.code != 2 {
		t.Errorf("an --add-dir that is none: exit %d, want 2: %s", out.code, out.stderr)
	}
}

// TestGarbageSettings: no settings file stops anything.
func TestGarbageSettings(t *testing.T) {
	for _, garbage := range []string{"", "{", "[]", "null", "\x00\x01", `{"permissions": 7}`, `{"skillOverrides": ["x"]}`,
		`{"permissions": {"deny": ["Bash("]}}`, strings.Repeat("[", 100_000), `{"a":` + strings.Repeat("x", 2<<20) + `}`} {
		t.Run(fmt.Sprintf("%.30q", garbage), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			file := w.file(".claude/settings.json", garbage)
			w.list()
			out := w.run("list")
			if garbage != "" && !strings.Contains(out.stderr, filepath.Base(file)) {
				t.Errorf("nobody is told of the file: %q", out.stderr)
			}
		})
	}
}
