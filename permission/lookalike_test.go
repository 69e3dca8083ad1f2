package permission

import "testing"

// TestLookAlikes: a letter of another alphabet, an invisible one, or another
// case is another letter: no rule covers what only looks like its text.
func TestLookAlikes(t *testing.T) {
	for _, tt := range []struct {
		rule string
		req  Request
	}{
		{"Bash(git log:*)", bashRequest("g\u0456t log")}, {"Bash(g\u0456t log:*)", bashRequest("git push")}, {"Bash(make)", bashRequest("m\u0430ke")},
		{"Bash(make *)", bashRequest("ma\u200bke x")}, {"Bash(make *)", bashRequest("make\u00a0x")}, {"Bash(make *)", bashRequest("MAKE x")}, {"Bash(make:*)", bashRequest("\u202emake x")},
		{"Bash(make -n *)", bashRequest("make \u2010n x")}, {"Bash(make x)", bashRequest("make \uff58")}, {"Bash(make; x)", bashRequest("make\uff1b x")},
		{"Skill(mine)", Request{Tool: "Skill", Input: Input{Skill: "m\u0456ne"}}}, {"Skill(mine)", Request{Tool: "Skill", Input: Input{Skill: "mine\u200b"}}}, {"Skill(mine)", Request{Tool: "Skill", Input: Input{Skill: "Mine"}}},
		{"WebFetch(domain:example.com)", Request{Tool: "WebFetch", Input: Input{URL: "https://ex\u0430mple.com/"}}}, {"WebFetch(domain:example.com)", Request{Tool: "WebFetch", Input: Input{URL: "https://example.com\u3002evil.org/"}}},
		{"WebFetch(domain:example.com)", Request{Tool: "WebFetch", Input: Input{URL: "https://example.com@evil.org/"}}}, {"WebFetch(domain:example.com)", Request{Tool: "WebFetch", Input: Input{URL: "https://evil.org/#example.com"}}},
		{"Edit(src/**)", Request{Tool: "Edit", Input: Input{Path: "s\u0433c/x"}, WorkDir: "/w/p"}}, {"mcp__server", Request{Tool: "mcp__serv\u0435r__x"}},
		{"B\u0430sh", bashRequest("make")}, {"bash(make)", bashRequest("make")},
	} {
		r, err := ParseRule(tt.rule)
		if err != nil {
			continue // no rule at all
		}
		if d := (Rules{Allow: []Rule{r}}).Decide(tt.req); d.Verdict == Allow {
			t.Errorf("%s allows %+v: %s", tt.rule, tt.req.Input, d.Reason)
		}
	}
}
