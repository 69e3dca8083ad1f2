package permission

import (
	"strings"
	"testing"
)

// TestNamedOptions: an allow rule about a program that mostly reads does not
// mean the options by which it writes files or starts programs, however they
// come into the line; a rule that names one does (spec S-7).
func TestNamedOptions(t *testing.T) {
	for rule, lines := range map[string]struct{ allowed, open string }{
		"Bash(git log:*)": {
			allowed: "git log -3\ngit log --oneline main..HEAD\ngit log -- --output=x\ngit log -- $x\ngit log $(git describe --tags --abbrev=0)..HEAD\ngit log \"$(git merge-base main HEAD)\"..\ncd . && git log\ntimeout 5 git log -p\n" +
				"git log $(git describe --tags --abbrev=0 2>/dev/null || echo \"\")..HEAD\ngit log $(git describe --tags || echo v0)",
			open: "git log --output=x\ngit log --outp x\ngit log --ext-diff\ngit log -O x\ngit log $x\ngit log \"$x\"\ngit log ${x:---output=y}\ngit log $(git describe --tags || echo --output=x)\ngit log $(git describe --tags || echo \"$x\")\ngit log $(git describe --tags >x)\ngit log $(cat args)\ngit log *\n" +
				"git log {--output=x,-p}\nls | xargs git log\necho x | xargs -I{} git log {}\ntimeout 5 git log --output=x\ngit log '--output=x'\ngit log --out\"put\"=x\ngit log $'\\x2d-output=x'\n" +
				"cd sub && git log\ncd .. ; git log\n(cd sub; git log)\ncd $x; git log\npushd x; git log",
		},
		"Bash(git *)":                {allowed: "git log --output=x\ngit log $x\ngit -c a=b log\ngit -C x log\nls | xargs git log"},
		"Bash(git log --output *)":   {allowed: "git log --output x", open: "git log --output x --ext-diff"},
		"Bash(git log --output=x)":   {allowed: "git log --output=x", open: "git log --output=y"},
		"Bash(git log $x)":           {allowed: "git log $x", open: "git log $y"},
		"Bash(git log * --output=*)": {allowed: "git log -p --output=x", open: "git log -O x --output=y"},
		"Bash(git * main)":           {allowed: "git log main\ngit push main", open: "git log --output=x main\ngit -c core.pager=x log main\ngit --exec-path=x log main\ngit -C x log main"},
		"Bash(git -C * log:*)":       {allowed: "git -C x log\ngit -C x log -3", open: "git -C x -c core.pager=y log\ngit -C x log --output=y"},
		"Bash(git fetch:*)":          {allowed: "git fetch origin", open: "git fetch --upload-pack=x\ngit fetch --upload-pack x y\ngit fetch --upl=x\ngit fetch $x"},
		"Bash(git status)":           {allowed: "git status\ncd . && git status", open: "cd sub && git status"},
		"Bash(cd sub && git status)": {allowed: "cd sub && git status", open: "cd other && git status"},
		"Bash(git push *)":           {allowed: "git push origin main", open: "git push --receive-pack=x\ngit push --exec x"},
		"Bash(git clone:*)":          {allowed: "git clone https://a.org/b", open: "git clone -u x y\ngit clone -c core.pager=x y\ngit clone --template=x y"},
		"Bash(git rebase:*)":         {allowed: "git rebase main", open: "git rebase -x y\ngit rebase --exec y main\ngit rebase -ix y"},
		"Bash(git submodule:*)":      {allowed: "git submodule status", open: "git submodule foreach x\ngit submodule --quiet foreach x\ngit submodule $x"},
		"Bash(git bisect:*)":         {allowed: "git bisect start", open: "git bisect run x"},
		"Bash(git bisect run make)":  {allowed: "git bisect run make"},
		"Bash(git grep:*)":           {allowed: "git grep x", open: "git grep -Ox y\ngit grep --open x"},
		"Bash(rg:*)":                 {allowed: "rg x\nrg -n x src", open: "rg --pre x y\nrg --pre=x y\nrg -z x\nrg --hostname-bin=x y\nls | xargs rg"},
		"Bash(rg --pre cat *)":       {allowed: "rg --pre cat x", open: "rg --pre cat --hostname-bin=x y"},
		"Bash(sort *)":               {allowed: "sort -u x", open: "sort -o x y\nsort -uo x y\nsort --compress-program=x y"},
		"Bash(sort -o *)":            {allowed: "sort -o x y", open: "sort -ox y\nsort -o x --compress-program=y z"},
		"Bash(sort -n *)":            {allowed: "sort -n x", open: "sort -n -o x y\nsort -no x y"},
	} {
		rs := rules(t, "allow "+rule, "allow Bash(cd:*)", "allow Bash(xargs:*)", "allow Bash(timeout:*)")
		for want, list := range map[Verdict]string{Allow: lines.allowed, Ask: lines.open} {
			for line := range strings.SplitSeq(list, "\n") {
				if line == "" {
					continue
				}
				if d := rs.Decide(bashRequest(line)); d.Verdict != want {
					t.Errorf("%s: %q = %s, want %s (%s)", rule, line, d.Verdict, want, d.Reason)
				}
			}
		}
	}
	d := rules(t, "allow Bash(git log:*)").Decide(bashRequest("git log --output=x"))
	if !strings.Contains(d.Reason, "a rule must name --output") || len(d.Suggest) != 1 || d.Suggest[0] != "Bash(git log --output=x)" {
		t.Errorf("%+v", d)
	}
	for _, l := range []string{"deny", "ask"} {
		if d := rules(t, l+" Bash(git log:*)", "allow Bash").Decide(bashRequest("git log --output=x")); d.Verdict == Allow {
			t.Errorf("%s: %+v", l, d)
		}
	}
}
