package invoke_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/skill"
)

func TestNames(t *testing.T) { // spec I-3, C-6
	w := newWorld(t, catalog.Options{}, map[string]string{
		"user/deploy/SKILL.md":    file("Deploy.", "name: Ship It"),
		"user/destroy/SKILL.md":   file("Destroy."),
		"project/deploy/SKILL.md": file("Project deploy."),
	})
	for _, tt := range []struct{ name, text string }{
		{"deploy", "Deploy."},
		{"/deploy", "Deploy."},
		{"  deploy\n", "Deploy."},
		{" / deploy ", "Deploy."},
		{"Ship It", "Deploy."},
		{"user:deploy", "Deploy."},
		{"project:deploy", "Project deploy."},
	} {
		for _, by := range []invoke.Caller{invoke.ByUser, invoke.ByModel} {
			r, err := invoke.Invoke(t.Context(), invoke.Request{Name: tt.name, By: by}, w.env())
			if err != nil || !strings.HasSuffix(r.Text, "\n\n"+tt.text+"\n") {
				t.Errorf("%q by %s: %v, %v", tt.name, by, r, err)
			}
		}
	}
	for _, name := range []string{
		"", "/", "//deploy", "../deploy", "deploy/../deploy", "/etc/passwd", "deploy\x00", "de\nploy", "Deploy", "DEPLOY",
		"deploy ship", "deploy:", ":deploy", "\xff", "user:../deploy", "deploy/SKILL.md", strings.Repeat("a", 1<<16),
	} {
		env := w.env()
		_, err := invoke.Invoke(t.Context(), invoke.Request{Name: name, By: invoke.ByModel}, env)
		if _, ok := errors.AsType[*catalog.NotFoundError](err); !ok {
			t.Errorf("%.40q: got %v, want an unknown skill", name, err)
		}
	}
	_, err := invoke.Invoke(t.Context(), invoke.Request{Name: "deplo", By: invoke.ByModel}, w.env())
	missing, _ := errors.AsType[*catalog.NotFoundError](err)
	if missing == nil || len(missing.Near) == 0 || len(missing.Near) > 3 || missing.Near[0] != "deploy" {
		t.Errorf("near names: %v", err)
	}
}

func TestAmbiguousName(t *testing.T) { // spec C-6
	w := newWorld(t, catalog.Options{}, map[string]string{
		"user/a/SKILL.md": file("A.", "name: Both"),
		"user/b/SKILL.md": file("B.", "name: Both"),
	})
	_, err := invoke.Invoke(t.Context(), invoke.Request{Name: "Both", By: invoke.ByUser}, w.env())
	several, _ := errors.AsType[*catalog.AmbiguousError](err)
	if several == nil || !cmp.Equal(several.IDs, []string{"a", "b"}) {
		t.Errorf("got %v, want both ids", err)
	}
}

// callers, with whether a person is behind them.
var callers = map[invoke.Caller]bool{
	invoke.ByUser: true, invoke.ByKeyword: true,
	invoke.ByModel: false, invoke.BySchedule: false, invoke.ByAgent: false, invoke.ByMCPClient: false,
	"": false, "somebody": false, // unknown callers are held to the rules for models
}

// Who may start what: every combination of the two switches, of paths and of
// callers.
func TestTruthTable(t *testing.T) { // spec I-3
	files := map[string]string{}
	for _, user := range []bool{true, false} {
		for _, model := range []bool{true, false} {
			for _, paths := range []bool{true, false} {
				front := []string{fmt.Sprintf("user-invocable: %v", user), fmt.Sprintf("disable-model-invocation: %v", !model)}
				if paths {
					front = append(front, "paths: '*.go'")
				}
				files[fmt.Sprintf("user/s-%v-%v-%v/SKILL.md", user, model, paths)] = file("Body.", front...)
			}
		}
	}
	w := newWorld(t, catalog.Options{}, files)
	for by, person := range callers {
		for _, active := range []bool{true, false} {
			for name := range files {
				id := strings.Split(name, "/")[1]
				var user, model, paths bool
				if _, err := fmt.Sscanf(strings.ReplaceAll(id, "-", " "), "s %t %t %t", &user, &model, &paths); err != nil {
					t.Fatal(err)
				}
				env := w.env()
				if active {
					env.Session.Activate(id)
				}
				want := person && user || !person && model && (!paths || active)
				_, err := invoke.Invoke(t.Context(), invoke.Request{Name: id, By: by}, env)
				if want != (err == nil) {
					t.Errorf("%s by %q, active %v: got %v", id, by, active, err)
				}
				if err != nil {
					if r := refusal(t, err); r.Rule != "I-3" || r.ID != id || r.By != by || r.Reason == "" || r.Fix == "" {
						t.Errorf("%s by %q: %+v", id, by, r)
					}
				}
			}
		}
	}
}

func TestRefusalTexts(t *testing.T) { // spec I-3
	w := newWorld(t, catalog.Options{
		Overrides:     map[string]catalog.Visibility{"held": catalog.UserInvocableOnly},
		OverridesFrom: map[string]string{"held": "/p/settings.json"},
	}, map[string]string{
		"user/wrap-up/SKILL.md":  file("x", "disable-model-invocation: true"),
		"user/helper/SKILL.md":   file("x", "user-invocable: false"),
		"user/nobody/SKILL.md":   file("x", "user-invocable: false", "disable-model-invocation: true"),
		"user/held/SKILL.md":     file("x"),
		"user/on-ts/SKILL.md":    file("x", "paths: ['src/**/*.{ts,tsx}', docs]"),
		"user/broken/SKILL.md":   file("x", "disable-model-invocation: [perhaps"),
		"command/legacy-flag.md": file("x", "disable-model-invocation: yes"),
	})
	for _, tt := range []struct {
		name string
		by   invoke.Caller
		want []string
	}{
		{"wrap-up", invoke.ByModel, []string{"only the person can run it (disable-model-invocation)", "do not imitate it", "tell the person to type /wrap-up"}},
		{"wrap-up", invoke.BySchedule, []string{"by a schedule", "only a person can run it", "type /wrap-up"}},
		{"wrap-up", invoke.ByAgent, []string{"by an agent definition", "only a person can run it"}},
		{"wrap-up", invoke.ByMCPClient, []string{"by an MCP client"}},
		{"wrap-up", "robot", []string{`by the caller "robot"`}},
		{"helper", invoke.ByUser, []string{"by a person", "user-invocable: false", "only the model", "describe the task"}},
		{"helper", invoke.ByKeyword, []string{"by a keyword", "user-invocable: false"}},
		{"nobody", invoke.ByUser, []string{"nobody can start it", "user-invocable: false"}},
		{"nobody", invoke.ByModel, []string{"nobody can start it"}},
		{"held", invoke.ByModel, []string{"only the person can run it (skillOverrides in /p/settings.json)", "/held"}},
		{"on-ts", invoke.ByModel, []string{"src/**/*.ts", "src/**/*.tsx", "docs", "none was touched", "read or edit"}},
		{"broken", invoke.ByModel, []string{"only the person can run it"}},
		{"legacy-flag", invoke.ByModel, []string{"only the person can run it"}},
	} {
		_, err := invoke.Invoke(t.Context(), invoke.Request{Name: tt.name, By: tt.by}, w.env())
		if err == nil {
			t.Errorf("%s by %s: started", tt.name, tt.by)
			continue
		}
		contains(t, tt.name, refusal(t, err).Error(), tt.want...)
	}
	for _, name := range []string{"held", "on-ts", "wrap-up", "legacy-flag", "broken"} {
		if _, err := invoke.Invoke(t.Context(), invoke.Request{Name: name, By: invoke.ByUser}, w.env()); err != nil {
			t.Errorf("/%s: %v", name, err)
		}
	}
}

func TestDisabled(t *testing.T) { // spec C-9: off is off for everybody, with the file that says so
	off := false
	w := newWorld(t, catalog.Options{
		DisableBundled: true,
		Overrides:      map[string]catalog.Visibility{"deploy": catalog.Off, "lost": catalog.Off},
		OverridesFrom: map[string]string{"deploy": "/u/settings.json", "lost": "/u/settings.json",
			"disableBundledSkills": "/m/managed-settings.json"},
	}, map[string]string{
		"user/deploy/SKILL.md":    file("x"),
		"project/deploy/SKILL.md": file("x"),
		"user/lost/SKILL.md":      file("x"),
		"bundled/shipped":         file("x"),
	}, values{&skill.Skill{
		Summary: skill.Summary{ID: "flagged", Description: "x"}, Origin: skill.Origin{Source: skill.User, Path: "/u/flagged"},
		Trigger: skill.Trigger{Enabled: func() bool { return off }}, Content: skill.Content{Body: skill.Text("x")},
	}})
	for _, tt := range []struct{ name, want string }{
		{"deploy", `skillOverrides sets "deploy" to off in /u/settings.json`},
		{"project:deploy", `skillOverrides sets "deploy" to off in /u/settings.json`},
		{"lost", "in /u/settings.json"},
		{"shipped", "disableBundledSkills switches all bundled skills off in /m/managed-settings.json"},
		{"flagged", "it says that it is not available now"},
	} {
		for by := range callers {
			_, err := invoke.Invoke(t.Context(), invoke.Request{Name: tt.name, By: by}, w.env("allow user Skill"))
			if err == nil {
				t.Errorf("%s by %q: started", tt.name, by)
				continue
			}
			if r := refusal(t, err); r.Rule != "C-9" {
				t.Errorf("%s by %q: rule %s", tt.name, by, r.Rule)
			}
			contains(t, tt.name, err.Error(), tt.want)
		}
	}
	off = true // the callback is asked each time
	if _, err := invoke.Invoke(t.Context(), invoke.Request{Name: "flagged", By: invoke.ByUser}, w.env()); err != nil {
		t.Error(err)
	}
}

// A skill that lost its id is another skill: what was allowed or activated
// under the id is not for it, and what was refused is (spec C-8, S-3).
func TestShadowed(t *testing.T) {
	front := []string{"allowed-tools: Bash(git push)", "paths: '*.go'"}
	w := newWorld(t, catalog.Options{}, map[string]string{
		"user/deploy/SKILL.md":    file("The person's.", front...),
		"project/deploy/SKILL.md": file("Not the person's.", front...),
	})
	call := func(name string, by invoke.Caller, rules ...string) (*invoke.Result, error) {
		env := w.env(rules...)
		env.Session.Activate("deploy")
		return invoke.Invoke(t.Context(), invoke.Request{Name: name, By: by}, env)
	}
	if _, err := call("deploy", invoke.ByModel, "allow user Skill(deploy)"); err != nil {
		t.Error(err)
	}
	if _, err := call("project:deploy", invoke.ByModel, "allow user Skill(deploy)"); err == nil {
		t.Error("project:deploy is active although only deploy was activated")
	} else {
		contains(t, "refusal", err.Error(), `skill "project:deploy"`, "none was touched")
	}
	env := w.env("allow user Skill(deploy)")
	env.Session.Activate("project:deploy")
	_, err := invoke.Invoke(t.Context(), invoke.Request{Name: "project:deploy", By: invoke.ByModel}, env)
	if err == nil {
		t.Fatal("Skill(deploy) allows project:deploy")
	}
	contains(t, "refusal", refusal(t, err).Error(), "allowed-tools", `"Skill(project:deploy)"`)
	env.Rules = rulesOf(t, "allow user Skill(project:deploy)")
	r, err := invoke.Invoke(t.Context(), invoke.Request{Name: "project:deploy", By: invoke.ByModel}, env)
	if err != nil {
		t.Fatal(err)
	}
	contains(t, "message", r.Messages[0].Text, "<command-name>/project:deploy</command-name>")
	if got := env.Session.Invoked("main")[0].ID; got != "project:deploy" {
		t.Errorf("recorded as %q", got)
	}
	if _, err := call("project:deploy", invoke.ByUser, "deny managed Skill(deploy)"); err == nil {
		t.Error("a managed deny of deploy does not hold for project:deploy")
	}
}
