package permission

import (
	"os/exec"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

func TestWords(t *testing.T) {
	tests := []struct {
		in, value      string
		static, splits bool
	}{
		{`git`, "git", true, false},
		{`g\it`, "git", true, false},
		{`"git"`, "git", true, false},
		{`'g'"i"t`, "git", true, false},
		{`$'\x67it'`, "git", true, false},
		{`$'\147it'`, "git", true, false},
		{`$'a\n\'\\b'`, "a\n'\\b", true, false},
		{`$'\u0067'`, "g", true, false},
		{`$'a\u00e9'`, "a", false, false},
		{`$'a\0b'`, "a", false, false},
		{`$'a\cx'`, "a", false, false},
		{`$"git"`, "", false, false},
		{`"a\$b\"c\x"`, `a$b"c\x`, true, false},
		{`'a\'`, `a\`, true, false},
		{`""`, "", true, false},
		{`a$x`, "a", false, true},
		{`"a$x"`, "a", false, false},
		{`"a$@"`, "a", false, true},
		{`"${x[@]}"`, "", false, true},
		{`a$(b)`, "a", false, true},
		{`"$(b)"`, "", false, false},
		{`a*`, "a", false, true},
		{`a?b`, "a", false, true},
		{`[`, "[", true, false},
		{`]`, "]", true, false},
		{`a[bc]d`, "a", false, true},
		{`a\[bc]d`, "a[bc]d", true, false},
		{`"*"`, "*", true, false},
		{`{}`, "{}", true, false},
		{`a{b,c}`, "a", false, true},
		{`a{1..3}`, "a", false, true},
		{`a{b}`, "a{b}", true, false},
		{`"{a,b}"`, "{a,b}", true, false},
		{`{a,"b"}`, "", false, true},
		{`~`, "/home/u", true, false},
		{`~/x`, "/home/u/x", true, false},
		{`~root`, "", false, false},
		{`"~/x"`, "~/x", true, false},
		{`\~/x`, "~/x", true, false},
		{`a~`, "a~", true, false},
		{`$HOME/x`, "/home/u/x", true, false},
		{`"${HOME}/x"`, "/home/u/x", true, false},
		{`${HOME%u}`, "", false, true},
		{`<(a)`, "/dev/fd/", false, false},
		{`é`, "é", true, false},
	}
	for _, tt := range tests {
		w := oneWord(t, tt.in, "/home/u")
		if w.value != tt.value || w.static != tt.static || w.splits != tt.splits || w.text != tt.in {
			t.Errorf("%s = %+v, want %q static %v splits %v", tt.in, w, tt.value, tt.static, tt.splits)
		}
	}
	if w := oneWord(t, "$HOME/x", "/home/a b"); w.static {
		t.Errorf("a home with a blank splits: %+v", w)
	}
	if w := oneWord(t, "~/x", ""); w.static {
		t.Errorf("a home nobody knows: %+v", w)
	}
}

func oneWord(t *testing.T, text, home string) word {
	t.Helper()
	line := "x " + text
	file, err := parse(line)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return readWord(line, home, file.Stmts[0].Cmd.(*syntax.CallExpr).Args[1])
}

// FuzzWord compares every word that is read as static with what bash makes of it.
func FuzzWord(f *testing.F) {
	for _, s := range []string{"a", `g\it`, `"a b"`, `$'\x41\t'`, "~/x", "a{b}", `"\$x"`, "'a'b", "[", `a\ b`, "{", "a]b", "$'\\''"} {
		f.Add(s)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		f.Skip("no bash on this machine to compare with")
	}
	dir := f.TempDir() // empty: nothing for patterns to expand to
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsAny(s, "`&|;<>()\n\r\x00") || strings.Contains(strings.TrimPrefix(s, "$'"), "$") {
			return // a word, and nothing that runs
		}
		line := "printf %s. " + s
		file, err := parse(line)
		if err != nil || len(file.Stmts) != 1 || len(file.Stmts[0].Redirs) > 0 {
			return
		}
		call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
		if !ok || len(call.Args) != 3 || len(call.Assigns) > 0 || file.Stmts[0].Background {
			return
		}
		w := readWord(line, "/home/u", call.Args[2])
		if !w.static {
			return
		}
		cmd := exec.CommandContext(t.Context(), bash, "--norc", "--noprofile", "-c", line)
		cmd.Dir, cmd.Env = dir, []string{"HOME=/home/u", "PATH=/nonexistent", "LC_ALL=C.UTF-8"}
		out, err := cmd.Output()
		if err != nil {
			return // not a line of bash
		}
		if string(out) != w.value+"." {
			t.Errorf("%s is %q in bash, read as %q", s, out, w.value+".")
		}
	})
}
