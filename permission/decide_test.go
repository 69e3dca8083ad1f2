package permission

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Spec S-1: deny, then ask, then allow; a skill cannot lift what settings refuse.
func TestOrder(t *testing.T) {
	tests := []struct {
		lists string
		line  string
		want  Verdict
	}{
		{"", "make", Ask},
		{"allow Bash(make:*)", "make", Allow},
		{"ask Bash(make:*)|allow Bash(make:*)", "make", Ask},
		{"deny Bash(make:*)|ask Bash(make:*)|allow Bash(make:*)", "make", Deny},
		{"deny Bash(git push:*)|allow Bash(git push *)", "git push origin", Deny},
		{"deny Bash|allow Bash(make:*)", "make", Deny},
		{"deny Bash(*)", "ls", Deny},
		{"deny Bash", "'", Deny},
		{"deny Bash", "", Deny},
		{"ask Bash|allow Bash", "make", Ask},
		{"deny Bash(rm:*)|allow Bash", "make && rm x", Deny},
		{"ask Bash(rm:*)|allow Bash", "make && rm x", Ask},
		{"allow Bash(make:*)|allow Bash(rm:*)", "make && rm x", Allow},
		{"allow Bash(make:*)", "make && rm x", Ask},
		{"deny *", "make", Deny},
		{"allow *", "make", Ask},
		{"allow Read|allow Edit", "make", Ask},
	}
	for _, tt := range tests {
		var lists []string
		if tt.lists != "" {
			lists = strings.Split(tt.lists, "|")
		}
		checkBash(t, bashTest{line: tt.line, want: tt.want}, lists...)
	}
}

// Spec S-2, K-8: a reason names the rule, its file and its scope, or the rule
// that is missing.
func TestReasons(t *testing.T) {
	skillReq := Request{Tool: "Skill", Input: Input{Skill: "report"}, WorkDir: "/w/p", Home: "/home/u"}
	tests := []struct {
		list string
		req  Request
		want string
	}{
		{"deny Skill(report)", skillReq, "denied by Skill(report) in ~/.claude/settings.json (user)"},
		{"ask Skill(report)", skillReq, "needs approval by Skill(report) in ~/.claude/settings.json (user)"},
		{"allow Skill(report)", skillReq, "allowed by Skill(report) in ~/.claude/settings.json (user)"},
		{"allow Skill(other)", skillReq, `needs approval: no rule allows "report"; Skill(report) or Skill(report:*) would allow it`},
		{"deny Bash(rm:*)", bashRequest("make && rm x"), `denied by Bash(rm:*) in ~/.claude/settings.json (user): "rm x"`},
		{"allow Bash(make:*)", bashRequest("make x"), "allowed by Bash(make:*) in ~/.claude/settings.json (user)"},
		{"allow Bash(x)", bashRequest("git status"), "allowed without a rule: git status only reads"},
		{"allow Bash(echo:*)", bashRequest(`echo "$1" | awk 1 || echo INVALID`), `needs approval: no rule allows "awk 1"; Bash(awk:*) would allow it`},
		{"allow Bash(x)", bashRequest("a; b; c"), `needs approval: no rule allows "a"; Bash(a:*), Bash(b:*) and Bash(c:*) would allow it`},
		{"allow Bash(x)", bashRequest("rm -rf /"), "needs approval whatever the rules allow: it removes /, a directory of the system"},
		{"allow Bash(x)", bashRequest("make 'x"), `needs approval: "make 'x": it cannot be read as a shell line: 1:6: reached EOF without closing quote ` + "`'`"},
	}
	for _, tt := range tests {
		if d := rules(t, tt.list).Decide(tt.req); d.Reason != tt.want {
			t.Errorf("%s on %+v:\n got %s\nwant %s", tt.list, tt.req.Input, d.Reason, tt.want)
		}
	}
	bare := Rules{Deny: []Rule{{Tool: "Skill", Specifier: "report", HasSpec: true}}}
	if d := bare.Decide(skillReq); d.Reason != "denied by Skill(report)" {
		t.Errorf("a rule without text or file: %s", d.Reason)
	}
}

func TestSuggest(t *testing.T) {
	tests := []struct {
		line string
		want []string
	}{
		{"mkdir test", []string{"Bash(mkdir:*)"}},
		{"git push origin main", []string{"Bash(git push:*)"}},
		{"git -C x push", []string{"Bash(git -C x push)"}},
		{"npm run build", []string{"Bash(npm run:*)"}},
		{"git --version; go test ./...", []string{"Bash(go test:*)"}},
		{"timeout 5 LANG=C", []string{"Bash(LANG=C:*)"}},
		{"LANG=C make x", []string{"Bash(make:*)"}},
		{"PATH=x make", []string{"Bash(PATH=x make)"}},
		{"timeout 5 make x", []string{"Bash(make:*)"}},
		{"sudo make x", []string{"Bash(sudo make x)"}},
		{`node "/p/c.mjs" status ""`, []string{"Bash(node:*)"}},
		{"'my prog' x", []string{"Bash('my prog' x)"}},
		{"make; make a; ls", []string{"Bash(make:*)"}},
		{"make > out", []string{"Bash(make:*)", "Edit(//w/p/out)"}},
		{"$x y", []string{"Bash($x y)"}},
		{"make $((x))", []string{"Bash(make $((x)))"}},
		{"sudo rm *", nil},
		{"make 'x", nil},
		{"make\x00", nil},
	}
	for _, tt := range tests {
		d := (Rules{}).Decide(bashRequest(tt.line))
		if d.Verdict != Ask || !slices.Equal(d.Suggest, tt.want) {
			t.Errorf("%q = %s, suggests %q, want %q", tt.line, d.Verdict, d.Suggest, tt.want)
		}
	}
	others := []struct {
		req  Request
		want []string
	}{
		{Request{Tool: "Skill", Input: Input{Skill: "a:b"}}, []string{"Skill(a:b)", "Skill(a:b:*)"}},
		{Request{Tool: "Skill"}, nil},
		{Request{Tool: "Write", Input: Input{Path: "a.go"}, WorkDir: "/w"}, []string{"Edit(//w/a.go)"}},
		{Request{Tool: "Grep", Input: Input{Path: "/x"}, WorkDir: "/w"}, []string{"Read(//x)"}},
		{Request{Tool: "Edit", Input: Input{Path: "a", RealPath: "/b"}, WorkDir: "/w"}, nil},
		{Request{Tool: "WebFetch", Input: Input{URL: "https://A.org:1/x"}}, []string{"WebFetch(domain:a.org)"}},
		{Request{Tool: "WebFetch", Input: Input{URL: "::"}}, nil},
		{Request{Tool: "Agent", Input: Input{Agent: "Plan"}}, []string{"Agent(Plan)"}},
		{Request{Tool: "mcp__a__b"}, []string{"mcp__a__b"}},
		{Request{}, nil},
	}
	for _, tt := range others {
		if d := (Rules{}).Decide(tt.req); d.Verdict != Ask || !slices.Equal(d.Suggest, tt.want) {
			t.Errorf("%+v = %s, suggests %q, want %q", tt.req, d.Verdict, d.Suggest, tt.want)
		}
	}
}

// Spec K-8: the rules that were looked at, in order.
func TestTried(t *testing.T) {
	rs := rules(t, "deny Bash(rm:*)", "deny Read(x)", "ask Bash(git push:*)", "allow Bash(npm:*)", "allow Bash(make:*)", "allow Bash(zzz)")
	d := rs.Decide(bashRequest("make x"))
	var got []string
	for _, try := range d.Tried {
		got = append(got, fmt.Sprint(try.List, " ", try.Rule.Text, " ", try.Matched, " ", try.Part))
	}
	want := []string{
		"deny Bash(rm:*) false make x", "ask Bash(git push:*) false make x",
		"allow Bash(npm:*) false make x", "allow Bash(make:*) true make x",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if d.Rule == nil || d.Rule.Text != "Bash(make:*)" || d.Part != "make x" {
		t.Errorf("%+v", d)
	}
	d.Rule.Text = "changed"
	if rs.Allow[1].Text != "Bash(make:*)" {
		t.Error("a decision shares its rule with the lists")
	}
	many := Rules{Allow: manyRules(t, 1000)}
	if n := len(many.Decide(bashRequest("nothing")).Tried); n != maxTried {
		t.Errorf("%d rules kept, want %d", n, maxTried)
	}
}

// TestLongLines: no line keeps a decision busy; one that did would run into the
// time limit of the tests.
func TestLongLines(t *testing.T) {
	all := rules(t, "allow Bash", "deny Bash(alpha:*)")
	for name, line := range map[string]string{
		"too long":    "echo " + strings.Repeat("x", maxLine),
		"parentheses": strings.Repeat("(", maxLine-10),
		"nested":      strings.Repeat("$(", 20000),
		"closed":      strings.Repeat("$(", 20000) + strings.Repeat(")", 20000),
		"braces":      strings.Repeat("{ ", 20000) + strings.Repeat("; }", 1000),
		"backquotes":  strings.Repeat("`", 60001),
		"double":      strings.Repeat("((", 30000),
		"quotes":      strings.Repeat(`"$(`, 20000),
		"heredocs":    strings.Repeat("cat <<E;", 8000),
	} {
		if d := all.Decide(bashRequest(line)); d.Verdict == Allow {
			t.Errorf("%s: %s", name, d.Verdict)
		}
	}
	for name, line := range map[string]string{
		"sudos":    strings.Repeat("sudo ", 12000) + "beta",
		"shells":   strings.Repeat("sh ", 12000) + "-c beta",
		"evals":    strings.Repeat("eval ", 12000) + "beta",
		"timeouts": strings.Repeat("timeout 1 ", 6000) + "beta",
		"commands": strings.Repeat("beta;", 12000),
		"stars":    "beta " + strings.Repeat("*a", 30000),
		"cds":      strings.Repeat("cd a;", 12000) + "beta > x",
	} {
		if d := all.Decide(bashRequest(line)); d.Verdict == Deny {
			t.Errorf("%s: %s %s", name, d.Verdict, d.Reason)
		}
		if d := all.Decide(bashRequest(strings.Replace(line, "beta", "alpha", 1))); d.Verdict == Allow {
			t.Errorf("%s with alpha: %s", name, d.Verdict)
		}
	}
	deep := "alpha"
	for range 6 {
		deep = "sh -c '" + strings.ReplaceAll(deep, "'", `'\''`) + "'"
	}
	if d := all.Decide(bashRequest(deep)); d.Verdict != Deny {
		t.Errorf("six shells deep: %s", d.Verdict)
	}
	if d := all.Decide(bashRequest("sh -c '" + strings.Repeat("eval ", 30) + "beta'")); d.Verdict == Deny {
		t.Errorf("thirty evals of beta: %s", d.Reason)
	}
}

// ruleGen and requestGen draw from the same small words, so that rules match.
func ruleGen() *rapid.Generator[Rule] {
	texts := []string{
		"Bash", "Bash(*)", "Bash(alpha:*)", "Bash(alpha)", "Bash(alpha beta:*)", "Bash(*beta)", "Bash(a*)", "Bash(git push:*)", "Bash(echo:*)",
		"Bash(sudo alpha:*)", "Bash(find:*)", "Bash(rm:*)", "Bash(timeout:*)", "Bash(alpha; beta)", "Read", "Read(.env)", "Read(a/**)", "Edit", "Edit(a/**)", "Edit(//w/p/**)",
		"Write(*.md)", "Skill", "Skill(a)", "Skill(a:*)", "Skill(*b)", "mcp__s", "mcp__s__*", "mcp__*", "*", "Agent(x)", "WebFetch(domain:a.org)", "WebFetch",
	}
	return rapid.Custom(func(t *rapid.T) Rule {
		r, err := ParseRule(rapid.SampledFrom(texts).Draw(t, "rule"))
		if err != nil {
			t.Fatal(err)
		}
		return r
	})
}

func rulesGen() *rapid.Generator[Rules] {
	list := rapid.SliceOfN(ruleGen(), 0, 4)
	return rapid.Custom(func(t *rapid.T) Rules {
		return Rules{Deny: list.Draw(t, "deny"), Ask: list.Draw(t, "ask"), Allow: list.Draw(t, "allow")}
	})
}

func requestGen() *rapid.Generator[Request] {
	lines := lineGen()
	return rapid.Custom(func(t *rapid.T) Request {
		req := Request{
			Tool:    rapid.SampledFrom([]string{"Bash", "Bash", "Bash", "Read", "Edit", "Write", "Grep", "Skill", "Agent", "WebFetch", "mcp__s__t", "Other", ""}).Draw(t, "tool"),
			WorkDir: rapid.SampledFrom([]string{"/w/p", ""}).Draw(t, "dir"),
			Home:    rapid.SampledFrom([]string{"/home/u", ""}).Draw(t, "home"),
		}
		req.Input = Input{
			Command: lines.Draw(t, "line"),
			Path:    rapid.SampledFrom([]string{"a/b", ".env", "/w/p/x.md", "", "../x", ".git/x"}).Draw(t, "path"),
			Skill:   rapid.SampledFrom([]string{"a", "a:b", "b", ""}).Draw(t, "skill"),
			URL:     rapid.SampledFrom([]string{"https://a.org", "https://b.a.org", "x"}).Draw(t, "url"),
			Agent:   "x",
		}
		return req
	})
}

// Adding a rule to one list only moves decisions in the direction of the list.
func TestMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rs, req, extra := rulesGen().Draw(t, "rules"), requestGen().Draw(t, "request"), ruleGen().Draw(t, "extra")
		before := rs.Decide(req).Verdict
		deny, ask := rs, rs
		deny.Deny = slices.Concat(rs.Deny, []Rule{extra})
		ask.Ask = slices.Concat(rs.Ask, []Rule{extra})
		if after := deny.Decide(req).Verdict; after == Allow && before != Allow || before == Deny && after != Deny {
			t.Errorf("denying %s: %s became %s", extra.Text, before, after)
		}
		if after := ask.Decide(req).Verdict; after == Allow && before != Allow || (after == Deny) != (before == Deny) {
			t.Errorf("asking %s: %s became %s", extra.Text, before, after)
		}
		if after := rs.With(extra).Decide(req).Verdict; before == Allow && after != Allow || (after == Deny) != (before == Deny) {
			t.Errorf("allowing %s: %s became %s", extra.Text, before, after)
		}
	})
}

// What a decision suggests is enough, and every decision explains itself.
func TestSuggestionsSuffice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rs, req := rulesGen().Draw(t, "rules"), requestGen().Draw(t, "request")
		d := rs.Decide(req)
		if d.Reason == "" || d.Verdict == Deny && d.Rule == nil {
			t.Errorf("%+v explains nothing", d)
		}
		if len(d.Suggest) == 0 {
			return
		}
		if d.Verdict != Ask || d.Firm {
			t.Errorf("%s suggests %q", d.Verdict, d.Suggest)
		}
		var more []Rule
		for _, s := range d.Suggest {
			r, err := ParseRule(s)
			if err != nil {
				t.Fatalf("suggests %q: %v", s, err)
			}
			if never := NeverMatches(r); never != "" && !strings.Contains(s, ":") {
				t.Errorf("suggests %q: %s", s, never)
			}
			more = append(more, r)
		}
		if after := rs.With(more...).Decide(req); after.Verdict != Allow {
			t.Errorf("%q suggests %q, which gives %s (%s)", req.Input.Command, d.Suggest, after.Verdict, after.Reason)
		}
	})
}

// A rule that NeverMatches reports matches nothing that is drawn here.
func TestNeverIsTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{
			"Bash(a:b:*)", "Bash(:*)", "Bash(alpha; beta:*)", "Bash(alpha | *)", "Bash(alpha > o:*)", "bash", "Skill(/)", "WebFetch(a.org)", "mcp__s__t(x)",
			"Other(x)", "Read(!a)", "Read(a[)", "Agent(,)",
		}).Draw(t, "rule")
		r, err := ParseRule(text)
		if err != nil || NeverMatches(r) == "" {
			t.Fatalf("%s: %v", text, err)
		}
		req := requestGen().Draw(t, "request")
		plain := (Rules{}).Decide(req).Verdict
		if got := (Rules{Allow: []Rule{r}}).Decide(req).Verdict; got != plain {
			t.Errorf("allow %s makes %s of %s: %+v", text, got, plain, req)
		}
	})
}

// FuzzDecide: every request gets a decision, and an allow never comes without
// a rule or a read-only reason.
func FuzzDecide(f *testing.F) {
	for _, tt := range hiddenRuns {
		f.Add("Bash(alpha:*)", "Bash", tt.line)
	}
	f.Add("Read(//a/**)", "Read", "/a/b")
	f.Add("Edit({a,b}/[c]*)", "Edit", "../../x")
	f.Add("WebFetch(domain:*.a)", "WebFetch", "http://[::1")
	f.Add("Skill(a:* *)", "Skill", "a:b:c")
	f.Fuzz(func(t *testing.T, rule, tool, subject string) {
		r, err := ParseRule(rule)
		if err != nil {
			r = Rule{Tool: tool, Specifier: rule, HasSpec: true}
		}
		req := Request{Tool: tool, WorkDir: "/w/p", Home: "/home/u", Input: Input{
			Command: subject, Path: subject, URL: subject, Skill: subject, Agent: subject, Aliases: []string{subject},
		}}
		plain := (Rules{}).Decide(req)
		allowed := Rules{Allow: []Rule{r}}.Decide(req)
		denied := Rules{Deny: []Rule{r}, Allow: []Rule{r}}.Decide(req)
		for _, d := range []Decision{plain, allowed, denied} {
			if d.Reason == "" || d.Verdict == Deny && d.Rule == nil {
				t.Errorf("%+v explains nothing", d)
			}
		}
		if plain.Verdict == Deny || allowed.Verdict == Deny {
			t.Error("denied without a deny rule")
		}
		if denied.Verdict == Allow && allowed.Rule != nil && allowed.Part == denied.Part && denied.Rule != nil {
			t.Errorf("%s allows what it also denies: %q", rule, subject)
		}
		_ = NeverMatches(r)
	})
}

// FuzzCommands: taking a line apart never fails, and always gives a part.
func FuzzCommands(f *testing.F) {
	for _, tt := range hiddenRuns {
		f.Add(tt.line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		req := bashRequest(line)
		parts := readLine(&req)
		if len(parts) == 0 {
			t.Fatal("no part")
		}
		for _, p := range parts {
			if p.cmd == nil {
				continue
			}
			for _, form := range slices.Concat(p.cmd.forms, p.cmd.hidden) {
				if len(form) == 0 && !p.unread {
					t.Errorf("%q: a command without words", line)
				}
			}
		}
	})
}
