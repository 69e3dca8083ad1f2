package permission_test

import (
	"fmt"

	"github.com/knack-skills/knack/permission"
)

func list(texts ...string) []permission.Rule {
	var out []permission.Rule
	for _, text := range texts {
		r, err := permission.ParseRule(text)
		if err != nil {
			panic(err)
		}
		r.From, r.Scope = ".claude/settings.json", "project"
		out = append(out, r)
	}
	return out
}

func ExampleRules_Decide() {
	rules := permission.Rules{
		Deny:  list("Bash(git push:*)"),
		Allow: list("Bash(git *)", "Bash(make:*)"),
	}
	for _, line := range []string{
		"git commit -m 'a; b'",
		"make && git status",
		"make | tee log.txt",
		"sudo bash -c 'git push'",
	} {
		d := rules.Decide(permission.Request{
			Tool:    "Bash",
			Input:   permission.Input{Command: line},
			WorkDir: "/work", Home: "/home/me",
		})
		fmt.Printf("%s: %s\n", d.Verdict, d.Reason)
	}
	// Output:
	// allow: allowed by Bash(git *) in .claude/settings.json (project)
	// allow: allowed by Bash(make:*) in .claude/settings.json (project): "make"
	// ask: needs approval: no rule allows "tee log.txt"; Bash(tee:*) would allow it
	// deny: denied by Bash(git push:*) in .claude/settings.json (project): "git push"
}

// A refusal covers a skill under every name, an allow only its id.
func ExampleRules_Decide_skill() {
	req := permission.Request{Tool: "Skill", Input: permission.Input{Skill: "apps/web:deploy"}}
	fmt.Println(permission.Rules{Deny: list("Skill(deploy)")}.Decide(req).Verdict)
	fmt.Println(permission.Rules{Allow: list("Skill(deploy)")}.Decide(req).Verdict)
	fmt.Println(permission.Rules{Allow: list("Skill(apps/web:*)")}.Decide(req).Verdict)
	// Output:
	// deny
	// ask
	// allow
}

// What a mode may skip is an Ask for want of a rule, never a firm one.
func ExampleDecision_firm() {
	rules := permission.Rules{Allow: list("Bash(rm:*)")}
	for _, line := range []string{"rm -rf build", "rm -rf ..", "rmdir x"} {
		d := rules.Decide(permission.Request{Tool: "Bash", Input: permission.Input{Command: line}, WorkDir: "/work/project"})
		fmt.Println(line, d.Verdict, d.Firm)
	}
	// Output:
	// rm -rf build allow false
	// rm -rf .. ask true
	// rmdir x ask false
}

func ExampleNeverMatches() {
	for _, r := range list("Bash(git:commit:*)", "WebFetch(example.com)") {
		fmt.Println(r.Text, "-", permission.NeverMatches(r))
	}
	// Output:
	// Bash(git:commit:*) - no program is called "git:commit": only a final ":*" stands for arguments; write Bash(git commit:*)
	// WebFetch(example.com) - WebFetch rules name a host: write WebFetch(domain:example.com)
}
