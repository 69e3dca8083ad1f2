//go:build unix

package cli_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/knack-skills/knack/settings"
)

func lookPath(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// managedKeys are those that count from managed files alone, and those that
// chapter S-11 names besides.
func managedKeys() []string {
	out := []string{"permissions.deny", "permissions.ask", "permissions.allow", "permissions.defaultMode", "disableSkillShellExecution",
		"disableBypassPermissionsMode", "skillOverrides.create-skill", "disableAllHooks", "sandbox", "env.HTTPS_PROXY", "skillPrecedence"}
	for _, k := range settings.Keys() {
		if k.Who == "only managed" {
			out = append(out, k.Name)
		}
	}
	return out
}

// does is an attempt of a model that makes a call, in a run with these flags;
// it succeeds when the file is there afterwards.
func does(who, mark, call string, flags ...string) attempt {
	return attempt{who, func(w *world) bool {
		w.acts([]string{call}, append([]string{"-p", "go", "--trust"}, flags...)...)
		return w.exists(mark)
	}}
}

// hears is an attempt that succeeds when a run says a text.
func hears(who, want string, args ...string) attempt {
	return attempt{who, func(w *world) bool {
		out := w.run(args...)
		return strings.Contains(out.stdout, want)
	}}
}

// under returns the attempt after something else was set up.
func (a attempt) under(set func(w *world)) attempt {
	return attempt{a.who, func(w *world) bool {
		set(w)
		return a.got(w)
	}}
}

// person, project and local write a settings file.
func person(text string) func(*world) {
	return func(w *world) { w.file("../home/.claude/settings.json", text) }
}

func project(text string) func(*world) {
	return func(w *world) { w.file(".claude/settings.json", text) }
}

func local(text string) func(*world) {
	return func(w *world) { w.file(".claude/settings.local.json", text) }
}

// granting is a skill that allows itself a rule.
func granting(rule, body string) string {
	return "---\ndescription: d\nallowed-tools: " + quoted(rule) + "\n---\n" + body + "\n"
}

// everybody tries a call that a rule would allow: by a rule of each level and
// flag, a grant, a mode, a hook that agrees.
func everybody(mark, call, rule string) []attempt {
	allow := `{"permissions":{"allow":[` + quoted(rule) + `]}}`
	return []attempt{
		does("the person's settings", mark, call).under(person(allow)),
		does("the project", mark, call).under(project(allow)),
		does("local settings", mark, call).under(local(allow)),
		does("--settings", mark, call, "--settings", allow),
		does("--allowedTools", mark, call, "--allowedTools", rule),
		{"a skill", func(w *world) bool {
			w.skill("lift", granting(rule, "Go."))
			w.acts([]string{call}, "-p", "/lift", "--trust")
			return w.exists(mark)
		}},
		does("a hook", mark, call).under(person(hookFile("PreToolUse", "", says(agrees)))),
	}
}

// bypass is the same with the mode that asks nobody.
func bypass(mark, call string) attempt {
	return does("the mode", mark, call, "--permission-mode", "bypassPermissions")
}

// promises are all promises of the policy in the guide, by line.
func promises() map[string]promise {
	all := map[string]promise{}
	for _, some := range []map[string]promise{rulePromises(), skillPromises(), pluginPromises(), hookPromises(), commandPromises(), incidentPromises()} {
		for key, p := range some {
			all[key] = p
		}
	}
	return all
}

func rulePromises() map[string]promise {
	push, publish := bash("git push origin main"), bash("npm publish")
	write := func(w *world) string {
		return `{"name":"Write","input":{"file_path":` + quoted(w.path(".github/ci.yml")) + `,"content":"x"}}`
	}
	key := attempt{"", func(w *world) bool {
		w.file("../home/.ssh/id", "KEY-TEXT")
		_, said := w.acts([]string{`{"name":"Read","input":{"file_path":` + quoted(w.path("../home/.ssh/id")) + `}}`, bash("cat ~/.ssh/id")},
			"-p", "go", "--trust", "--allowedTools", "Read", "--allowedTools", "Bash", "--add-dir", w.path("../home"))
		return strings.Contains(said, "KEY-TEXT")
	}}
	return map[string]promise{
		"permissions.deny Bash(git push *)": {attempts: append(everybody("did-push", push, "Bash(git push *)"), bypass("did-push", push))},
		"permissions.deny Read(~/.ssh/**)": {attempts: []attempt{
			{"flags", key.got},
			{"the person's settings", key.under(person(`{"permissions":{"allow":["Read(~/.ssh/**)"]}}`)).got},
		}},
		"permissions.deny Edit(.github/**)": {attempts: []attempt{
			{"flags", func(w *world) bool {
				w.acts([]string{write(w)}, "-p", "go", "--trust", "--allowedTools", "Edit")
				return w.exists(".github/ci.yml")
			}},
			does("a shell line", ".github/ci.yml", bash("mkdir -p .github && echo x > .github/ci.yml"), "--allowedTools", "Edit", "--allowedTools", "Bash"),
		}},
		"permissions.deny Skill(commit)": {attempts: []attempt{
			{"a person who types it", func(w *world) bool { return w.run("render", "commit").code == 0 }},
			{"the person's settings", func(w *world) bool {
				person(`{"permissions":{"allow":["Skill(commit)"]}}`)(w)
				results, _ := w.acts([]string{skillCall("commit", "")}, "-p", "go")
				return len(results) == 1 && !strings.Contains(results[0], "managed-settings")
			}},
			{"its other name", func(w *world) bool { return w.run("render", "bundled:commit").code == 0 }},
		}},
		"permissions.ask Bash(npm publish *)": {attempts: append(everybody("did-npm-publish", bash("npm publish ."), "Bash(npm publish *)"), bypass("did-npm-publish", bash("npm publish .")))},
		"permissions.allow Bash(npm test)": {attempts: []attempt{
			{"nobody is asked, and it is refused", func(w *world) bool {
				_, said := w.acts([]string{bash("npm test")}, "-p", "go")
				return !w.exists("did-npm-test") && strings.Contains(said, "needs approval")
			}},
		}},
		"permissions.allow Skill(release-notes)": {
			set: func(w *world) { w.skill("release-notes", granting("Bash(git log *)", "Notes.")) },
			attempts: []attempt{{"nobody is asked, and it is refused", func(w *world) bool {
				return w.run("render", "release-notes", "--by", "model", "--trust").code != 0
			}}},
		},
		"permissions.defaultMode default": {attempts: []attempt{
			does("the person's settings", "new", writes("new")).under(person(`{"permissions":{"defaultMode":"acceptEdits"}}`)),
			does("the project", "new", writes("new")).under(project(`{"permissions":{"defaultMode":"acceptEdits"}}`)),
			does("--settings", "new", writes("new"), "--settings", `{"permissions":{"defaultMode":"acceptEdits"}}`),
		}},
		"allowManagedPermissionRulesOnly true": {attempts: everybody("did-npm-run", bash("npm run build"), "Bash(npm run *)")[:6]},
		"disableBypassPermissionsMode disable": {attempts: []attempt{
			bypass("did-npm-publish", publish),
			does("the person's settings", "did-npm-publish", publish).under(person(`{"permissions":{"defaultMode":"bypassPermissions"}}`)),
			does("--settings", "did-npm-publish", publish, "--settings", `{"permissions":{"defaultMode":"bypassPermissions"}}`),
			does("an agent type", "did-npm-publish", publish, "--agent", "lift").under(func(w *world) {
				w.file("../home/.claude/agents/lift.md", "---\nname: lift\ndescription: d\npermissionMode: bypassPermissions\n---\nGo.\n")
			}),
		}},
	}
}

// writes is a call that makes a file; a relative name is one of the workspace.
func writes(name string) string {
	return `{"name":"Write","input":{"file_path":` + quoted(name) + `,"content":"x"}}`
}

func readText(w *world, name string) string {
	data, err := os.ReadFile(w.path(name))
	if err != nil {
		return ""
	}
	return string(data)
}
