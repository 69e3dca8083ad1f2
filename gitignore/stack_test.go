package gitignore_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knack-skills/knack/gitignore"
)

// A stack has a matcher for each directory with a .gitignore file; "" is the
// top.
type stack map[string]*gitignore.Matcher

// decide is the walk that the documentation of MatchSelf describes (spec D-1).
func (s stack) decide(path string) string {
	parts := strings.Split(path, "/")
	for i := range parts {
		isDir := i+1 < len(parts)
		pattern, ok := s.last(parts[:i+1], isDir)
		if ok || !isDir {
			return pattern
		}
	}
	return ""
}

// last asks the deepest file first.
func (s stack) last(parts []string, isDir bool) (pattern string, ok bool) {
	for depth := len(parts) - 1; depth >= 0; depth-- {
		m := s[strings.Join(parts[:depth], "/")]
		if m == nil {
			continue
		}
		if pattern, ok = m.MatchSelf(strings.Join(parts[depth:], "/"), isDir); pattern != "" {
			return pattern, ok
		}
	}
	return "", false
}

// TestStackedAgainstGit holds several files, one below the other, against git.
func TestStackedAgainstGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	lines := []string{"a", "b", "c", "x", "a/", "b/", "c/", "*", "*/", "/b", "/c", "/a", "b/c", "a/b/c", "**/x", "c/**", "/*", "a/*", "?", "[bc]"}
	r := rand.New(rand.NewPCG(7, 2026))
	repo := t.TempDir()
	git(t, repo, nil, "init", "-q")

	type question struct {
		files stack
		path  string
	}
	var asked []question
	var stdin bytes.Buffer
	for i := range 400 {
		top := fmt.Sprintf("s%03d", i)
		files := stack{}
		for _, dir := range []string{"", "a", "a/b"} {
			if err := os.MkdirAll(filepath.Join(repo, top, dir), 0o755); err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for n := r.IntN(4); n > 0; n-- {
				fmt.Fprintf(&text, "%s%s\n", []string{"", "!"}[r.IntN(2)], lines[r.IntN(len(lines))])
			}
			if text.Len() == 0 {
				continue
			}
			files[dir] = gitignore.CompileFile(text.String())
			if err := os.WriteFile(filepath.Join(repo, top, dir, ".gitignore"), []byte(text.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, path := range []string{"x", "c/x", "a/x", "a/c", "a/c/x", "a/b/x", "a/b/c", "a/b/c/x", "a/b/b/x", "b/c", "b/a/x"} {
			asked = append(asked, question{files, path})
			stdin.WriteString(top + "/" + path + "\x00")
		}
	}

	out := git(t, repo, &stdin, "check-ignore", "--no-index", "--stdin", "-v", "-n", "-z")
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	if len(fields) != 4*len(asked) {
		t.Fatalf("git answered %d fields to %d questions", len(fields), len(asked))
	}
	outcomes := map[string]int{}
	for i, q := range asked {
		want := fields[4*i+2]
		if got := q.files.decide(q.path); got != want {
			t.Errorf("set %d, path %s: got %q, git says %q", i/11, q.path, got, want)
		}
		switch {
		case want == "":
			outcomes["none"]++
		case want[0] == '!':
			outcomes["kept"]++
		default:
			outcomes["ignored"]++
		}
	}
	if outcomes["none"] < 100 || outcomes["kept"] < 100 || outcomes["ignored"] < 100 {
		t.Errorf("the questions are too much alike: %v", outcomes)
	}
}
