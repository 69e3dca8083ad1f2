package permission

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// newTracedBash is a real bash whose stubs write down all their words.
func newTracedBash(t testing.TB) realBash {
	t.Helper()
	b := newRealBash(t)
	for _, s := range stubs {
		// One write each, since both ends of a pipe write at once.
		script := "#!/bin/sh\nr=$(printf '%s\\037' \"${0##*/}\" \"$@\"; printf x)\nprintf '%s\\036' \"${r%x}\" >>\"$STUBLOG\"\n"
		if err := os.WriteFile(filepath.Join(b.bin, s), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// traced returns what ran, word by word.
func (b realBash) traced(t testing.TB, line string) (all [][]string) {
	t.Helper()
	for run := range strings.SplitSeq(b.log(t, line), "\036") {
		if words := strings.Split(run, "\037"); len(words) > 1 {
			all = append(all, words[:len(words)-1])
		}
	}
	return all
}

// fits reports whether a command as the analysis knows it can be what ran.
func fits(form []word, ran []string) bool {
	if len(form) == 0 {
		return len(ran) == 0
	}
	w := form[0]
	switch {
	case w.static:
		return len(ran) > 0 && w.value == ran[0] && fits(form[1:], ran[1:])
	case w.splits:
		return fits(form[1:], ran) || len(ran) > 0 && fits(form, ran[1:])
	}
	return len(ran) > 0 && strings.HasPrefix(ran[0], w.value) && fits(form[1:], ran[1:])
}

// checkFits: a line that the analysis is sure of runs what it said, word by
// word, with what it does not know marked as unknown.
func checkFits(t interface {
	Errorf(string, ...any)
}, line string, all [][]string) {
	if _, unsure := seen(line); unsure {
		return
	}
	var forms [][]word
	req := Request{Tool: "Bash", Input: Input{Command: line}, WorkDir: "/w"} // the home is another each time
	for _, p := range readLine(&req) {
		if p.cmd == nil {
			continue
		}
		forms = append(forms, p.cmd.forms...)
		for _, f := range p.cmd.hidden {
			// What sudo or find run is seen by its name; its words may be theirs.
			forms = append(forms, []word{f[0], {splits: true}})
		}
	}
	for _, ran := range all {
		if !slices.ContainsFunc(forms, func(f []word) bool {
			named := append([]word{{value: base(f[0].value), static: f[0].static, splits: f[0].splits}}, f[1:]...)
			return fits(named, ran)
		}) {
			t.Errorf("bash runs %q in %q, which fits nothing the analysis saw", ran, line)
		}
	}
}

// TestWordsAgree compares the words of commands with what bash really gives to
// programs: quotes, escapes, braces, expansions, here-documents and pipes.
func TestWordsAgree(t *testing.T) {
	b := newTracedBash(t)
	count := 0
	lines := []string{
		`alpha a 'b c' "d e" f\ g $'h\ti' "j\$k" 'l'm"n"`, `alpha "" '' x`, `alpha {a,b}{1..3}`, `alpha {a,--output=x}`, `alpha a{b,}c "{a,b}" {a} {,}`,
		`alpha * ? [a] "*"`, `alpha "$X" $X ${X:-a b} "${X:-a b}"`, `alpha ${X:---output=y}`, `alpha $(echo a b) "$(echo a b)"`, "alpha `echo a b`",
		`alpha $((1+2)) ~ ~/x "~" a=~`, `alpha "$@" $* x`, `alpha a\
b`, "alpha 'a\nb'", `alpha # a`, `alpha a#b`, `alpha \# \; \&`, `alpha -- -x`, `alpha <<<x y`, "alpha a <<E b\nc\nE", `alpha 2>&1 a >o b`, `>o alpha a`,
		`X=1 alpha $X`, `timeout 5 alpha a`, `nice -n 1 alpha 'a b'`, `echo "a b" | xargs alpha x`, `echo a | xargs -I{} alpha x{}y`, `env A=1 alpha a`, `command alpha a`,
		`bash -c 'alpha a "b c"'`, `eval alpha a 'b\ c'`, `find . -maxdepth 0 -exec alpha x {} y \;`, `alpha $'\x2d-output' $'\u00e9'`, `alpha é "ü"`, `f() { alpha "$1"; }; f a b`,
		`for i in a b; do alpha $i; done`, `git log $(git describe --tags)..HEAD`, `git -C x log -- a`, `alpha "a"'b'$X"c"`, `alpha a"$(alpha b)"c`,
	}
	for _, tt := range hiddenRuns {
		lines = append(lines, tt.line)
	}
	for _, line := range lines {
		all := b.traced(t, line)
		count += len(all)
		checkFits(t, line, all)
	}
	if count < 100 {
		t.Errorf("only %d commands ran", count)
	}
}

// TestRandomWords does so with random lines.
func TestRandomWords(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many shells")
	}
	b := newTracedBash(t)
	gen := lineGen()
	deadline := time.Now().Add(5 * time.Second) // the rest of the lines are not run
	rapid.Check(t, func(rt *rapid.T) {
		if line := gen.Draw(rt, "line"); len(line) < 2000 && time.Now().Before(deadline) {
			checkFits(rt, line, b.traced(t, line))
		}
	})
}
