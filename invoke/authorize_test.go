package invoke_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/prompt"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/mcp"
)

// permissions are skills of every kind that authorization tells apart.
func permissions(t *testing.T) *world {
	return newWorld(t, catalog.Options{}, map[string]string{
		"user/safe/SKILL.md": file("x", "model: opus", "effort: high", "disallowed-tools: Write", "argument-hint: '[x]'",
			"arguments: a b", "version: '1'", "license: MIT", "shell: bash", "allowed-tools: []"),
		"user/grants/SKILL.md":           file("x", "allowed-tools: Bash(git push)"),
		"user/hooked/SKILL.md":           file("x", "hooks:", "  PreToolUse:", "    - hooks:", "        - {type: command, command: ls}"),
		"user/power/SKILL.md":            file("x", "shell: powershell"),
		"user/runs/SKILL.md":             file("!`touch marker`"),
		"user/reads/SKILL.md":            file("!`echo fine`"),
		"user/pushes/SKILL.md":           file("!`touch marker`", "allowed-tools: Bash(touch *)"),
		"user/own-script/SKILL.md":       file("!`sh ${CLAUDE_SKILL_DIR}/x.sh`"),
		"user/own-script/x.sh":           "echo ran",
		"user/titled/SKILL.md":           file("x", "name: Fancy Title"),
		"user/both/SKILL.md":             file("!`touch marker`", "allowed-tools: Bash(touch *)", "hooks:", "  Stop:", "    - hooks:", "        - {type: command, command: ls}"),
		"project/lark-doc/SKILL.md":      file("x", "allowed-tools: Read"),
		"command/eu/deploy.md":           file("x", "allowed-tools: Read"),
		"managed/policy/SKILL.md":        file("x", "allowed-tools: Bash(git push)"),
		"bundled/commit":                 file("!`touch marker`", "allowed-tools: Bash(touch *)"),
		"web/site/SKILL.md":              file("x", "allowed-tools: Read"),
		"plugin/tools/skills/p/SKILL.md": file("x", "allowed-tools: Read"),
	}, mcp.Source{Server: "github", Client: server{"!`touch marker`"}})
}

func TestRuleOrder(t *testing.T) { // spec S-2
	w := permissions(t)
	const deny, ask, allow = "deny user Skill(grants)", "ask user Skill(grants)", "allow user Skill(grants)"
	for _, tt := range []struct {
		rules []string
		want  string // how it ends without anybody to ask
	}{
		{[]string{deny, ask, allow}, "denied by Skill(grants) in user/settings.json (user)"},
		{[]string{deny, allow}, "denied by"},
		{[]string{ask, allow}, "needs approval by Skill(grants) in user/settings.json (user), and nobody is here to ask; remove that ask rule"},
		{[]string{allow}, ""},
		{nil, `it needs approval for allowed-tools, and nobody is here to ask; to allow it, add "Skill(grants)" or "Skill(grants:*)" to permissions.allow`},
		{[]string{"deny user Skill"}, "denied by Skill in"},
		{[]string{"deny user Skill(*)"}, "denied by"},
		{[]string{"allow user Skill"}, ""},
		{[]string{"deny user Bash"}, "it needs approval for allowed-tools"},
	} {
		_, err := invoke.Invoke(t.Context(), invoke.Request{Name: "grants", By: invoke.ByModel}, w.env(tt.rules...))
		if tt.want == "" {
			if err != nil {
				t.Errorf("%q: %v", tt.rules, err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%q: started", tt.rules)
			continue
		}
		r := refusal(t, err)
		contains(t, fmt.Sprint(tt.rules), r.Error(), tt.want)
		if r.Rule != "S-2" {
			t.Errorf("%q: rule %s", tt.rules, r.Rule)
		}
	}
}

func TestSkillRules(t *testing.T) { // spec S-3: a refusal holds under every name, an allowance under one
	w := permissions(t)
	for _, tt := range []struct {
		rule, name string
		ok         bool
	}{
		{"allow user Skill(lark-*)", "lark-doc", true},
		{"allow user Skill(/lark-doc)", "lark-doc", true},
		{"allow user Skill(lark-doc:*)", "lark-doc", true},
		{"allow user Skill(lark-doc *)", "lark-doc", true},
		{"allow user Skill(lark:*)", "lark-doc", false},
		{"allow user Skill(project:lark-doc)", "lark-doc", false},
		{"allow user Skill(deploy)", "eu:deploy", false},
		{"allow user Skill(eu:*)", "eu:deploy", true},
		{"allow user Skill(p)", "tools:p", false},
		{"allow user Skill(tools:*)", "tools:p", true},
		{"deny user Skill(titled)", "titled", false},
		{"deny user Skill(Fancy Title)", "titled", false},
		{"deny user Skill(user:titled)", "titled", false},
		{"deny user Skill(title)", "titled", true},
		{"deny user Skill(site)", "site", false},
		{"deny user Skill(apps/web:site)", "site", false},
		{"deny user Skill(commit)", "commit", false},
		{"deny user Skill(p)", "tools:p", false},
		{"deny user Skill(github:*)", "github:issue", false},
		{"ask user Skill(Fancy Title)", "titled", false},
		{"ask user Skill(commit)", "commit", false}, // trusted origins are asked about, too
		{"ask user Skill(policy)", "policy", false},
	} {
		env := w.env(tt.rule, "allow user Bash(touch *)")
		env.Fork = &agents{}
		_, err := invoke.Invoke(t.Context(), invoke.Request{Name: tt.name, Args: "x", By: invoke.ByModel}, env)
		if (err == nil) != tt.ok {
			t.Errorf("%s, calling %s: %v", tt.rule, tt.name, err)
		}
	}
}

func TestSafeProperties(t *testing.T) { // spec S-4, C-13
	w := permissions(t)
	for name, want := range map[string][]string{
		"safe":         nil,
		"titled":       nil,
		"reads":        nil,
		"github:issue": nil, // its command is text
		"grants":       {"allowed-tools"},
		"hooked":       {"hooks"},
		"power":        {"shell"},
		"runs":         {"inline commands"},
		"pushes":       {"allowed-tools", "inline commands"}, // its own grants do not count
		"both":         {"allowed-tools", "hooks", "inline commands"},
		"own-script":   {"inline commands"},
	} {
		e := w.entry(name)
		in, err := e.Content.Body.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := invoke.Unsafe(e, in, w.env()); !cmp.Equal(got, want) {
			t.Errorf("Unsafe(%s) = %q, want %q", name, got, want)
		}
		env := w.env()
		env.Fork = &agents{}
		err = invoke.Check(t.Context(), invoke.Request{Name: name, By: invoke.ByModel}, env)
		if (err == nil) != (want == nil) {
			t.Errorf("%s by a model: %v", name, err)
		}
		for _, word := range want {
			contains(t, name, err.Error(), word)
		}
	}
	for _, name := range []string{"commit", "policy"} { // trusted origins
		if _, err := invoke.Invoke(t.Context(), invoke.Request{Name: name, By: invoke.ByModel}, w.env()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Commands are judged as they will run: with the skill's directory in them.
	script := w.entry("own-script").Origin.Dir + "/x.sh"
	r, err := invoke.Invoke(t.Context(), invoke.Request{Name: "own-script", By: invoke.ByModel}, w.env("allow user Bash(sh "+script+")"))
	if err != nil {
		t.Fatal(err)
	}
	contains(t, "text", r.Text, "\nran\n")
}

func TestPersons(t *testing.T) { // spec S-5
	w := permissions(t)
	for _, by := range []invoke.Caller{invoke.ByUser, invoke.ByKeyword} {
		for _, tt := range []struct {
			rule string
			ok   bool
		}{
			{"deny user Skill(grants)", true},
			{"deny project Skill", true},
			{"deny local Skill(grants)", true},
			{"deny command-line Skill(grants)", true},
			{"ask user Skill(grants)", true},
			{"ask managed Skill(grants)", true},
			{"deny managed Skill(grants)", false},
			{"deny managed Skill", false},
			{"deny managed Skill(user:grants)", false},
			{"deny managed Skill(other)", true},
		} {
			p := &person{}
			env := w.env(tt.rule)
			env.Ask = p
			_, err := invoke.Invoke(t.Context(), invoke.Request{Name: "grants", By: by}, env)
			if (err == nil) != tt.ok {
				t.Errorf("%s by %s: %v", tt.rule, by, err)
			}
			if len(p.asked) > 0 {
				t.Errorf("%s by %s: asked %+v", tt.rule, by, p.asked)
			}
			if err != nil {
				contains(t, tt.rule, refusal(t, err).Reason, "managed/settings.json (managed)")
			}
		}
	}
}

func TestAskAboutSkill(t *testing.T) { // spec S-2
	w := permissions(t)
	broken := errors.New("terminal closed")
	for _, tt := range []struct {
		name, rule string
		person     person
		want       string // "" if it starts
		questions  int
	}{
		{"grants", "", person{answer: invoke.Answer{Allow: true}}, "", 1},
		{"grants", "", person{}, "the person declined", 1},
		{"grants", "", person{answer: invoke.Answer{Reason: "not today"}}, "the person declined: not today", 1},
		{"grants", "", person{err: broken, answer: invoke.Answer{Allow: true}}, "terminal closed", 1},
		{"grants", "allow user Skill(grants)", person{}, "", 0}, // nobody is asked about what a rule allows
		{"grants", "deny user Skill(grants)", person{answer: invoke.Answer{Allow: true}}, "denied by", 0},
		{"safe", "", person{}, "", 0},
		{"safe", "ask user Skill(safe)", person{answer: invoke.Answer{Allow: true}}, "", 1},
		{"safe", "ask user Skill(safe)", person{}, "declined", 1},
		{"commit", "", person{}, "", 0},
		{"commit", "ask user Skill(commit)", person{}, "declined", 1},
	} {
		var rules []string
		if tt.rule != "" {
			rules = append(rules, tt.rule)
		}
		env := w.env(rules...)
		p := tt.person
		env.Ask = &p
		_, err := invoke.Invoke(t.Context(), invoke.Request{Name: tt.name, By: invoke.ByModel}, env)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %q: %v, want %q", tt.name, tt.rule, err, tt.want)
		}
		if len(p.asked) != tt.questions {
			t.Errorf("%s %q: asked %+v", tt.name, tt.rule, p.asked)
		}
		if tt.person.err != nil && !errors.Is(err, broken) {
			t.Errorf("%v does not wrap the error of the asker", err)
		}
	}
	p := &person{answer: invoke.Answer{Allow: true}}
	env := w.env()
	env.Ask = p
	if _, err := invoke.Invoke(t.Context(), invoke.Request{Name: "both", By: invoke.ByModel}, env); err != nil {
		t.Fatal(err)
	}
	want := []invoke.Question{{
		Skill: "both", Source: skill.User, Path: w.entry("both").Origin.Path,
		Details: []string{"allows without asking: Bash(touch *)", "runs on Stop: ls", "runs at once: touch marker"},
		Unsafe:  []string{"allowed-tools", "hooks", "inline commands"},
		Reason:  "it needs approval for allowed-tools, hooks and inline commands",
		Suggest: []string{"Skill(both)", "Skill(both:*)"},
	}}
	if d := cmp.Diff(want, p.asked); d != "" {
		t.Error(d)
	}
}

func TestAskAboutCommand(t *testing.T) { // spec P-10
	w := newWorld(t, catalog.Options{}, map[string]string{
		"user/two/SKILL.md": file("!`touch one` !`touch two`"),
	})
	for _, tt := range []struct {
		name   string
		person *person
		rules  []string
		want   string
		asked  []string
	}{
		{"yes", &person{answer: invoke.Answer{Allow: true}}, nil, "", []string{"touch one", "touch two"}},
		{"no", &person{answer: invoke.Answer{Reason: "never"}}, nil, "the person declined: never", []string{"touch one"}},
		{"no reason", &person{}, nil, "denied: the person declined\n", []string{"touch one"}},
		{"error", &person{err: errors.New("closed")}, nil, "closed", []string{"touch one"}},
		{"half", &person{}, []string{"allow user Bash(touch one)"}, "declined", []string{"touch two"}},
		{"denied", &person{answer: invoke.Answer{Allow: true}}, []string{"deny user Bash(touch two)"}, "Bash(touch two)", []string{"touch one"}},
		{"ask rule", &person{answer: invoke.Answer{Allow: true}}, []string{"allow user Bash(touch *)", "ask user Bash(touch two)"}, "", []string{"touch two"}},
		{"nobody", nil, nil, "nobody can be asked here", nil},
	} {
		env := w.env(tt.rules...)
		env.WorkDir = t.TempDir()
		w.dir = env.WorkDir
		if tt.person != nil {
			env.Ask = tt.person
		}
		_, err := invoke.Invoke(t.Context(), invoke.Request{Name: "two", By: invoke.ByUser}, env)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		if ran := w.exists("one") && w.exists("two"); ran != (err == nil) || w.exists("one") != w.exists("two") {
			t.Errorf("%s: ran %v, error %v", tt.name, ran, err)
		}
		var asked []string
		if tt.person != nil {
			for _, q := range tt.person.asked {
				asked = append(asked, q.Command)
				if q.Skill != "two" || q.Reason == "" {
					t.Errorf("%s: %+v", tt.name, q)
				}
			}
		}
		if !slices.Equal(asked, tt.asked) {
			t.Errorf("%s: asked about %q, want %q", tt.name, asked, tt.asked)
		}
		if _, denied := errors.AsType[*prompt.DeniedError](err); err != nil && tt.name != "error" && !denied {
			t.Errorf("%s: %T", tt.name, err)
		}
	}
}

// Check says no exactly when Compile would refuse, with the same words.
func TestCheckIsCompile(t *testing.T) { // spec G-7
	w := permissions(t)
	rules := [][]string{nil, {"allow user Skill"}, {"deny user Skill(grants)"}, {"deny managed Skill(safe)"}, {"ask user Skill(commit)"},
		{"allow user Bash(touch *)"}, {"ask user Skill"}, {"deny user Bash(touch *)", "allow user Skill"}}
	askers := []invoke.Asker{nil, &person{}, &person{answer: invoke.Answer{Allow: true}}, &person{err: errors.New("closed")}}
	refused, passed := 0, 0
	for e := range w.snap.All() {
		for by := range callers {
			for _, r := range rules {
				for _, ask := range askers {
					env := w.env(r...)
					env.Ask, env.NoShell = ask, true // authorization is what matters here
					req := invoke.Request{Name: e.ID, By: by}
					check := invoke.Check(t.Context(), req, env)
					_, err := invoke.Compile(t.Context(), req, env)
					if fmt.Sprint(check) != fmt.Sprint(err) {
						t.Fatalf("%s by %q with %q: Check says %v, Compile %v", e.ID, by, r, check, err)
					}
					if err == nil {
						passed++
					} else {
						refused++
					}
				}
			}
		}
	}
	if refused < 100 || passed < 100 {
		t.Errorf("%d refused, %d passed: the table is one-sided", refused, passed)
	}
	if w.exists("marker") {
		t.Error("a check ran something")
	}
	// Nor does it read what a decision does not depend on: reading a bundled
	// skill may extract its files.
	read := false
	w = newWorld(t, catalog.Options{}, nil, values{&skill.Skill{
		Summary: skill.Summary{ID: "s"}, Origin: skill.Origin{Source: skill.Bundled},
		Content: skill.Content{Body: skill.BodyFunc(func(ctx context.Context) (skill.Instructions, error) {
			read = true
			return skill.Instructions{}, ctx.Err()
		})},
	}})
	if err := invoke.Check(t.Context(), invoke.Request{Name: "s", By: invoke.ByModel}, w.env()); err != nil || read {
		t.Errorf("err %v, read %v", err, read)
	}
}
