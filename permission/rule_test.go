package permission

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseRule(t *testing.T) {
	tests := []struct {
		in, tool, spec string
		has            bool
	}{
		{"Bash", "Bash", "", false},
		{" Bash ", "Bash", "", false},
		{"Bash(git log:*)", "Bash", "git log:*", true},
		{"Bash(git log *)", "Bash", "git log *", true},
		{"Bash( git log:* )", "Bash", "git log:*", true},
		{"Bash (ls)", "Bash", "ls", true},
		{"Bash(*)", "Bash", "*", true},
		{`Bash(say -v "Samantha":*)`, "Bash", `say -v "Samantha":*`, true},
		{`Bash(grep ")":*)`, "Bash", `grep ")":*`, true},
		{`Bash(find . \( -name x \))`, "Bash", `find . \( -name x \)`, true},
		{`Bash(find . \( -name x \) -print)`, "Bash", `find . \( -name x \) -print`, true},
		{"Bash(echo $(date))", "Bash", "echo $(date)", true},
		{"Bash(echo it's:*)", "Bash", "echo it's:*", true},
		{`Bash(dir C:\)`, "Bash", `dir C:\`, true},
		{"mcp__server", "mcp__server", "", false},
		{"mcp__server__tool", "mcp__server__tool", "", false},
		{"mcp__server__*", "mcp__server__*", "", false},
		{"Agent(Explore, Plan)", "Agent", "Explore, Plan", true},
		{"WebFetch(domain:example.com)", "WebFetch", "domain:example.com", true},
		{"Skill(jerry:*)", "Skill", "jerry:*", true},
		{"Read(//etc/**)", "Read", "//etc/**", true},
		{"Read(src/a (copy).go)", "Read", "src/a (copy).go", true},
		{"Edit(ü/*.md)", "Edit", "ü/*.md", true},
	}
	for _, tt := range tests {
		got, err := ParseRule(tt.in)
		want := Rule{Text: strings.TrimSpace(tt.in), Tool: tt.tool, Specifier: tt.spec, HasSpec: tt.has}
		if err != nil || got != want {
			t.Errorf("ParseRule(%q) = %+v, %v; want %+v", tt.in, got, err, want)
		}
	}
}

func TestParseRuleErrors(t *testing.T) {
	tests := []struct{ in, says string }{
		{"", "empty rule"},
		{"  \t ", "empty rule"},
		{"Bash()", "nothing between"},
		{"Bash( )", "nothing between"},
		{"Bash(git log", "no closing parenthesis"},
		{"Bash(echo (x)", "no closing parenthesis"},
		{"Bash)", "never opened"},
		{"Bash(ls))", "goes on after"},
		{"Bash(ls) x", "goes on after"},
		{"Bash(ls), Read", "goes on after"},
		{"Bash(ls)(x)", "goes on after"},
		{"(ls)", "names no tool"},
		{"Bash ls", "name of its tool"},
		{"Read, Grep", "name of its tool"},
		{`"Bash(ls)"`, "quote in the name"},
		{"`Bash`", "quote in the name"},
		{"Bash(git log\nrm -rf x)", "control character"},
		{"Bash(ls\x00)", "control character"},
		{"Bash(ls\x1b[2J)", "control character"},
	}
	for _, tt := range tests {
		got, err := ParseRule(tt.in)
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("ParseRule(%q) = %+v, %v; want an error that says %q", tt.in, got, err, tt.says)
		}
		if err != nil && got != (Rule{}) {
			t.Errorf("ParseRule(%q) returns %+v besides an error", tt.in, got)
		}
	}
}

func FuzzParseRule(f *testing.F) {
	for _, s := range []string{"Bash", "Bash(git log:*)", "Bash(a", "a)b(", `Bash("(":*)`, "Skill(a:*)", "Bash(\\)", "Bash('))"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRule(s)
		if err != nil {
			if !utf8.ValidString(s) {
				return
			}
			if !utf8.ValidString(err.Error()) {
				t.Errorf("ParseRule(%q): error is not text: %q", s, err)
			}
			return
		}
		again, err := ParseRule(r.Text)
		if err != nil || again != r {
			t.Errorf("ParseRule(%q) reads back as %+v, %v", r.Text, again, err)
		}
		if r.HasSpec != strings.Contains(r.Text, "(") || r.HasSpec && r.Specifier == "" {
			t.Errorf("ParseRule(%q) = %+v", s, r)
		}
		_ = NeverMatches(r)
	})
}

// Spec F-6: rules that can match nothing.
func TestNeverMatches(t *testing.T) {
	tests := []struct{ rule, says string }{
		{"Bash(a:b:*)", "no program is called"},
		{"Bash(git:commit:*)", "write Bash(git commit:*)"},
		{"Bash(git:* push)", "write Bash(git * push)"},
		{"Bash(git:commit:* x)", "write Bash(git commit * x)"},
		{"Bash(git:)", "write Bash(git:*)"},
		{"Bash(git::*)", "write Bash(git:*)"},
		{"Bash(git:commit)", "write Bash(git commit:*)"},
		{"Bash(git:*push)", "write Bash(git push:*)"},
		{"Bash(npm:run test)", "write Bash(npm run test)"},
		{"Bash(npm:run test:*)", "write Bash(npm run test:*)"},
		{"Bash(git:*, ls)", "write Bash(git:*) and Bash(ls)"},
		{"Bash(git:* , ls:*,cat x)", "write Bash(git:*) and Bash(ls:*) and Bash(cat x)"},
		{"Bash(./run.sh:*, ls)", "write Bash(./run.sh:*) and Bash(ls)"},
		{"Bash(git:*;ls)", "write Bash(git:*) and Bash(ls)"},
		{"Bash(git:*&&ls -l)", "write Bash(git:*) and Bash(ls -l)"},
		{"Bash(git:* && ls)", "compared by itself"},
		{"Bash(:*)", "names no command"},
		{"Bash(git add:* && git commit:*)", "compared by itself"},
		{"Bash(git add && git commit:*)", "compared by itself"},
		{"Bash(cat * | grep *)", "compared by itself"},
		{"Bash(cd x; ls *)", "compared by itself"},
		{"Bash(echo * > out)", "without their redirections"},
		{"bash(ls:*)", "write Bash"},
		{"READ", "write Read"},
		{"Skill(/)", "names no skill"},
		{"Skill(:*)", "names no skill"},
		{"Agent(,)", "names no agent"},
		{"WebFetch(example.com)", "domain:"},
		{"WebFetch(domain:)", "names no host"},
		{"WebFetch(domain:https://example.com)", "no scheme"},
		{"WebFetch(domain:example.com:443)", "no scheme"},
		{"WebSearch(x)", "takes no specifier"},
		{"mcp__a__b(x)", "takes no specifier"},
		{"TodoWrite(x)", "nothing is known"},
		{"Read(!x)", "one pattern"},
		{"Read(a[b)", "not closed"},
	}
	for _, tt := range tests {
		r, err := ParseRule(tt.rule)
		if err != nil {
			t.Fatal(err)
		}
		if got := NeverMatches(r); !strings.Contains(got, tt.says) {
			t.Errorf("NeverMatches(%s) = %q, want something with %q", tt.rule, got, tt.says)
		}
	}
	for _, rule := range []string{
		"Bash", "Bash(*)", "Bash(git commit:*)", "Bash(git commit *)", "Bash(npm run test:unit:*)", "Bash(npm run test:*)",
		"Bash(curl http://localhost:8080/:*)", "Bash(npm * test)", "Bash(cd a && make)", "Bash(export A=1)", "Bash(export:*)",
		`Bash(/opt/a:b/run:*)`, `Bash(C:\tools\x.exe:*)`, "Bash(echo \"a && b\":*)", "Bash(ls*)", "Bash(FOO=1 make:*)",
		"Skill", "Skill(a:b:*)", "Skill(lark-*)", "Agent(a, b)", "WebFetch(domain:*.example.com)", "Read(a[bc].go)", `Read(a\[b)`,
		"mcp__a", "mcp__a__*", "mcp__a__b", "TodoWrite", "WebSearch", "WebSearch(*)", "Task(x)",
	} {
		r, err := ParseRule(rule)
		if err != nil {
			t.Fatal(err)
		}
		if got := NeverMatches(r); got != "" {
			t.Errorf("NeverMatches(%s) = %q", rule, got)
		}
	}
}

func TestWithLeavesRulesAlone(t *testing.T) {
	r := rules(t, "allow Bash(a:*)")
	r.Allow = append(make([]Rule, 0, 8), r.Allow...) // room to write into
	x, y := r.With(rules(t, "allow Bash(x:*)").Allow...), r.With(rules(t, "allow Bash(y:*)").Allow...)
	if len(r.Allow) != 1 || x.Allow[1].Specifier != "x:*" || y.Allow[1].Specifier != "y:*" {
		t.Errorf("shared storage: %v %v %v", r.Allow, x.Allow, y.Allow)
	}
}

func TestVerdictString(t *testing.T) {
	var zero Verdict
	if zero.String() != "ask" || Allow.String() != "allow" || Deny.String() != "deny" {
		t.Error(zero, Allow, Deny)
	}
}
