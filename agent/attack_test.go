package agent

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/permission"
)

// TestDenyNeverAllowsMore: over rules, modes and what hooks say, one deny rule
// more never allows a call that was not, and no mode and no hook allows what a
// deny or an ask rule covers (spec S-1, S-10, H-7).
func TestDenyNeverAllowsMore(t *testing.T) {
	texts := []string{"Bash", "Bash(*)", "Bash(rm:*)", "Bash(git *)", "Bash(git push:*)", "Bash(make)", "Read", "Read(secret)", "Edit", "Edit(a/**)", "Edit(secret)", "Skill", "Skill(x:*)", "*"}
	rule := rapid.Custom(func(t *rapid.T) permission.Rule {
		r, err := permission.ParseRule(rapid.SampledFrom(texts).Draw(t, "rule"))
		if err != nil {
			t.Fatal(err)
		}
		return r
	})
	rules := rapid.SliceOfN(rule, 0, 3)
	call := func(tool string, in permission.Input) permission.Request {
		return permission.Request{Tool: tool, Input: in, WorkDir: "/w/p", Home: "/home/u"}
	}
	var requests []permission.Request
	for _, line := range []string{"rm x", "git push && rm x", "git status", "make; $(rm x)", "cat secret", "'", "rm -rf /", "make > secret", "cd a && git log"} {
		requests = append(requests, call("Bash", permission.Input{Command: line}))
	}
	for _, path := range []string{"a/b", "secret", ".git/config", "/etc/x"} {
		requests = append(requests, call("Read", permission.Input{Path: path}), call("Edit", permission.Input{Path: path}), call("Write", permission.Input{Path: path}))
	}
	requests = append(requests, call("Skill", permission.Input{Skill: "x:y"}))
	rapid.Check(t, func(t *rapid.T) {
		rs := permission.Rules{Deny: rules.Draw(t, "deny"), Ask: rules.Draw(t, "ask"), Allow: rules.Draw(t, "allow")}
		mode := rapid.SampledFrom(Modes()).Draw(t, "mode")
		said := rapid.SampledFrom([]hook.Opinion{hook.NoOpinion, hook.Allow, hook.Ask}).Draw(t, "hook")
		plan := Plan{Ask: rapid.SampledFrom(requests).Draw(t, "request"), ReadOnly: rapid.Bool().Draw(t, "reads")}
		decide := func(rs permission.Rules) permission.Decision {
			return weigh(mode.judge(rs.Decide(plan.Ask), plan), said, "why")
		}
		before := decide(rs)
		more := rs
		more.Deny = append([]permission.Rule{rule.Draw(t, "one more")}, rs.Deny...)
		if after := decide(more); after.Verdict == permission.Allow && before.Verdict != permission.Allow || before.Verdict == permission.Deny && after.Verdict != permission.Deny {
			t.Fatalf("%s: one deny more makes %s %s", mode, before.Verdict, after.Verdict)
		}
		asked := rs
		asked.Ask = append([]permission.Rule{rule.Draw(t, "one question more")}, rs.Ask...)
		if after := decide(asked); after.Verdict == permission.Allow && before.Verdict != permission.Allow {
			t.Fatalf("%s: one question more makes %s %s", mode, before.Verdict, after.Verdict)
		}
		if plain := rs.Decide(plan.Ask); plain.Verdict != permission.Allow && before.Verdict == permission.Allow && (plain.Verdict == permission.Deny || plain.Firm) {
			t.Fatalf("%s, %v: %s was lifted", mode, said, plain.Reason)
		}
	})
}
