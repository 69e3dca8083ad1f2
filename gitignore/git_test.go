package gitignore_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/knack-skills/knack/gitignore"
)

// trickyFiles are whole .gitignore files that were written by hand; random ones
// join them in TestAgainstGit.
var trickyFiles = []string{
	"*", "**", "***", "/*", "/**", "*/", "**/", "/", "//", "!", "!/", "#", "\\#a", "#a", "\\!a", "!a",
	"a", "/a", "a/", "/a/", "a//", "//a", "./a", "../a", "a/.", "a/b", "/a/b", "a/b/", "b/c",
	"*\n!a", "*\n!a\n!b", "a/\n!a/b", "a/*\n!a/b", "a/**\n!a/b", "a/**\n!a/b/**", "/*\n!/a\n/a/*\n!/a/b", "*\n!*/\n!*.go", "!a\na", "a\n!a\na",
	"**/a", "**/a/", "/**/a", "a/**", "a/**/", "a/**/b", "a/**/**/b", "a/***/b", "**/a/**", "**/*", "**/*/", "*/**", "**/**", "**/a/b", "**/b/**/c",
	"foo**", "foo**/bar", "foo**bar", "**foo", "**foo/bar", "a**/b", "a**b", "a/**b", "a/b**/c", "a/b**", "foo**/**", "fo**/bar", "f*o**/bar", "?oo**/bar", "/foo**/bar", "foo/**bar/baz", "foo***/bar",
	"a/**\\/b", "**\\/b", "a\\/b", "a\\/", "\\a", "\\\\", "a\\", "\\", "a\\\\b", "a\\*b", "\\*", "a/\\", "*\\", "*\\/b", "\\**", "\\**/b", "a/\\**/b",
	"?", "??", "a?", "?/b", "a?b", "a/?", "?*", "*?", "*.?", "*.go", "*.go/", ".*", "*.", "*a*", "*a", "a*", "a*b*c", "*/b", "*/*", "*/*/c", "a*/b", "*b/c", "/*/c", "*/b/*",
	"[ab]", "[!a]", "[^a]", "[a-c]", "[c-a]", "[]a]", "[]]", "[!]a]", "[]", "[!]", "[", "[a", "a[", "[a-]", "[-a]", "[a-c-e]", "[a-\\c]", "[\\]]", "[\\a-c]", "[\\", "[a\\", "[a-\\", "[[]", "[[a]", "[[:]", "[[::]]", "[[:x]", "[[:x]]", "[[:alpha:]", "[[:alpha:]]", "[[:alpha:]-z]", "[a-[:alpha:]]", "[[:bogus:]]", "[![:alpha:]]", "[[:digit:][:upper:]]", "[[:ALPHA:]]", "[[:alpha:]b", "[a[:]b]",
	"[[:space:]]", "[[:blank:]]", "[[:cntrl:]]", "[[:punct:]]", "[[:graph:]]", "[[:print:]]", "[[:xdigit:]]", "[[:lower:]]", "[[:upper:]]", "[[:alnum:]]", "[[:digit:]]",
	"a[/]b", "a[!x]b", "[/]", "[a/b]", "a/[b/c]", "a[b/]c", "[!/]/b",
	"a ", "a  ", "a\\ ", "a\\  ", "a\\\\ ", " a", "a b", "a\t", "a \t", "a\r", "a\r\n", "a \r\n", "a\r \n", "\r\n", " \n", "\n\n a", "a\\\r\n", "a/ ", "a/\\ ", "! a", "!a ", "#\na", " #a", "a#b",
	"\ufeffa", "\ufeff#a\nb", "b\n\ufeffa", "é", "[é]", "?é", "\xff", "[\x80-\xff]", "A", "FOO",
	"{a,b}", "a,b", "$a", "^a", "a|b", "(a)", "a+",
	"a*a*a*a*a*a*b", "**/a*a*b/**/c", "*a*/**/*b*", "**/x/**/y/**/z",
}

// names are segments of the paths asked about.
var names = []string{
	"a", "b", "c", "ab", "abc", "aab", "foo", "bar", "foobar", "baz", "A", "FOO", "a.go", "b.md", ".a", "x.", "z", "y", "x",
	"a b", "a ", "a  ", " a", " ", "*", "**", "?", "[", "]", "[a]", "[ab]", "a]", "\\", "a\\", "a\\b", "a*b", "!", "!a", "#", "#a", " #a", "a#b", "-", "^", "^a",
	"{a,b}", "a,b", "$a", "a|b", "(a)", "a+", "é", "éa", "aé", "\xff", "\x80", "\x01", "\x7f", "\v", "\f", "\t", "a\t", "a \t", "\r", "a\r", "0", "9", "_", "~", ":", "...", "..a", "\ufeffa",
	"aaaaaaaa", "aaaab",
}

// pieces are what random patterns are made of.
var pieces = []string{
	"a", "b", "c", "foo", "bar", "x", "a.go", ".", "-", "]", "^", "é", "\xff", " ", "\t", "#", "!", "{", "}", ",", ":", "0",
	"*", "*", "**", "**", "***", "?", "/", "/", "/", "/**/", "/**", "**/", "*/", "/*",
	"[ab]", "[!a]", "[^b]", "[a-c]", "[c-a]", "[]a]", "[!]a]", "[]", "[a", "[\\]]", "[a-\\c]", "[[:alpha:]]", "[[:digit:]-]", "[[:nope:]]", "[[:]", "[[:punct:]]", "[/a]", "[!/]",
	"\\", "\\*", "\\?", "\\[", "\\\\", "\\/", "\\ ", "\\a", "\\#", "\\!",
}

// realDirs exist on disk below each pattern file, so that git can tell them
// from files.
var realDirs = []string{"a/b", "a", "foo"}

func randomFile(r *rand.Rand) string {
	var b strings.Builder
	for n := 1 + r.IntN(4); n > 0; n-- {
		if r.IntN(4) == 0 {
			b.WriteByte('!')
		}
		for k := 1 + r.IntN(6); k > 0; k-- {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		b.WriteString([]string{"\n", "\n", "\n", "/\n", " \n", "\r\n"}[r.IntN(6)])
	}
	return b.String()
}

func randomPath(r *rand.Rand) string {
	parts := make([]string, 1+r.IntN(4))
	for i := range parts {
		n := len(names)
		if r.IntN(3) > 0 {
			n = 9 // mostly the names that patterns speak of
		}
		parts[i] = names[r.IntN(n)]
	}
	return strings.Join(parts, "/")
}

// TestAgainstGit holds the matcher against git itself (spec S-8, D-4): each
// pattern file in a directory of its own, all paths in one git process.
func TestAgainstGit(t *testing.T) {
	t.Run("case counts", func(t *testing.T) { againstGit(t, 2200, "false", gitignore.CompileFile) })
	t.Run("case is ignored", func(t *testing.T) { againstGit(t, 600, "true", gitignore.CompileFileFold) })
}

func againstGit(t *testing.T, count int, ignoreCase string, compile func(string) *gitignore.Matcher) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	r := rand.New(rand.NewPCG(1, 2026))
	files := append([]string(nil), trickyFiles...)
	for len(files) < count {
		files = append(files, randomFile(r))
	}
	repo := t.TempDir()
	git(t, repo, nil, "init", "-q")
	git(t, repo, nil, "config", "core.ignoreCase", ignoreCase)

	var stdin bytes.Buffer
	type question struct {
		file string
		path string
		dir  bool
	}
	var asked []question
	for i, file := range files {
		dir := fmt.Sprintf("s%04d", i)
		ask := func(path string, isDir bool) {
			if runtime.GOOS == "windows" && strings.Contains(path, `\`) {
				return // git takes it for a separator there
			}
			asked = append(asked, question{file, path, isDir})
			stdin.WriteString(dir + "/" + path + "\x00")
		}
		for _, d := range realDirs {
			if err := os.MkdirAll(filepath.Join(repo, dir, filepath.FromSlash(d)), 0o755); err != nil {
				t.Fatal(err)
			}
			ask(d, true)
		}
		if err := os.WriteFile(filepath.Join(repo, dir, ".gitignore"), []byte(file), 0o644); err != nil {
			t.Fatal(err)
		}
		if i < len(trickyFiles) {
			for _, name := range names {
				if name != "a" && name != "foo" { // these are directories
					ask(name, false)
				}
				ask("q/"+name, false)
				ask("a/"+name+"/z", false)
			}
		}
		for range 12 {
			ask("a/"+randomPath(r)+"/f", false)
			ask(randomPath(r)+"/f", false)
			ask("foo/"+randomPath(r)+"/bar", false)
		}
	}

	out := git(t, repo, &stdin, "check-ignore", "--no-index", "--stdin", "-v", "-n", "-z")
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	if len(fields) != 4*len(asked) {
		t.Fatalf("git answered %d fields to %d questions", len(fields), len(asked))
	}
	matched, wrong := 0, 0
	var m *gitignore.Matcher
	for i, q := range asked {
		if i == 0 || q.file != asked[i-1].file {
			m = compile(q.file)
		}
		want := fields[4*i+2]
		got, ok := m.Match(q.path, q.dir)
		if want != "" {
			matched++
		}
		if got == want && ok == (want != "" && !strings.HasPrefix(want, "!")) {
			continue
		}
		if wrong++; wrong <= 30 {
			t.Errorf("file %q, path %q, directory %v: got %q %v, git says %q", q.file, q.path, q.dir, got, ok, want)
		}
	}
	t.Logf("%d files, %d questions, %d matched, %d disagree", len(files), len(asked), matched, wrong)
}

// git runs git without anybody's configuration.
func git(t *testing.T, dir string, stdin *bytes.Buffer, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "core.excludesFile="}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir, "XDG_CONFIG_HOME="+dir, "LC_ALL=C")
	if stdin != nil {
		cmd.Stdin = stdin
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	// check-ignore exits with 1 when nothing is ignored.
	if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("git %v: %v\n%s", args, err, errs.String())
	}
	return out.String()
}
