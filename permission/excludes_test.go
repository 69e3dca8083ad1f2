package permission

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestExcludesNothingThatMatches: the quick look that makes a thousand rules
// cheap never keeps a rule from a command that it covers (spec S-7).
func TestExcludesNothingThatMatches(t *testing.T) {
	program := rapid.SampledFrom([]string{
		"git", "g", "'git'", `g\it`, "/usr/bin/git", "~/git", "$HOME/git", `"a b"`, `a\ b`, "X=1 git", `X="a b" git`, "A=(1 2) git",
		"timeout 5 git", "sudo git", "git -C d", "bash -c 'git push'", "xargs git", "$x", "<(git push)", "find . -exec git",
	})
	argument := rapid.SampledFrom([]string{"push", "'push'", `"pu sh"`, `p\ush`, "-f", "$x", "*", "~", "~/x", "''", `""`, "a:b", ":", "x=1", ">o"})
	line := rapid.Custom(func(t *rapid.T) string {
		return program.Draw(t, "program") + strings.Repeat(" ", rapid.IntRange(1, 2).Draw(t, "blanks")) +
			strings.Join(rapid.SliceOfN(argument, 0, 3).Draw(t, "arguments"), " ")
	})
	ending := rapid.SampledFrom([]string{"", ":*", " *", "*", " * x", "*push", " :*"})
	compared := 0
	rapid.Check(t, func(rt *rapid.T) {
		text := line.Draw(rt, "line")
		req := bashRequest(text)
		of := rapid.SampledFrom([]func(*rapid.T) string{
			func(t *rapid.T) string { return line.Draw(t, "rule") },
			func(*rapid.T) string { return text },
			func(t *rapid.T) string { return text[:rapid.IntRange(1, len(text)).Draw(t, "cut")] },
		}).Draw(rt, "kind")
		spec := strings.TrimSpace(of(rt) + ending.Draw(rt, "ending"))
		for _, p := range readLine(&req) {
			if p.cmd == nil || !p.cmd.excludes(spec) {
				continue
			}
			compared++
			for _, l := range []list{denyList, askList, allowList} {
				if p.cmd.matches(spec, req.Home, l) {
					rt.Errorf("%s rule Bash(%s) covers %q in %q, and is excluded", l, spec, p.text, text)
				}
			}
		}
	})
	if compared == 0 {
		t.Error("nothing was ever excluded")
	}
}
