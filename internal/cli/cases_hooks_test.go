//go:build unix

package cli_test

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// heard returns the lines that hooks have written to a file of the repository.
func (w *world) heard(name string) []string {
	w.t.Helper()
	data, err := os.ReadFile(w.path(name))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	_ = os.Remove(w.path(name))
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// TestCasesSkillHooks: what a skill of any source declares runs on both
// triggers, each at its event, as often as it says, with its own directories.
func TestCasesSkillHooks(t *testing.T) {
	w := newWorld(t)
	one := func(matcher, command, more string) string {
		return "    - matcher: \"" + matcher + "\"\n      hooks: [{type: command, command: " + quoted(command) + more + "}]\n"
	}
	hooks := "---\nname: shown\ndescription: d\nhooks:\n  PreToolUse:\n" + one("Bash", "echo once >> heard", ", once: true") + one("Bash", "echo every >> heard", "") +
		one("Bash", `test -f \"${CLAUDE_SKILL_DIR}/SKILL.md\" && test -n \"$CLAUDE_PROJECT_DIR\" && echo dirs >> heard`, ", once: true") +
		"  PostToolUse:\n" + one("Bash", "echo after >> heard", "") + "  SessionStart:\n" + one("", "echo never >> heard", "") +
		"  Stop:\n    - hooks: [{type: command, command: \"echo stop >> heard\"}]\n---\nGo.\n"
	hooks = strings.ReplaceAll(hooks, `\\\"`, `\"`)
	w.skill("guard", hooks)
	w.file("../home/.claude/skills/mine/SKILL.md", hooks)
	w.file("../plug/.claude-plugin/plugin.json", `{"name":"plug"}`)
	w.file("../plug/skills/guard/SKILL.md", hooks)
	w.file("../home/.claude/settings.json", hookFile("PostToolUse", "Bash", "echo after >> heard"))
	want := []string{"after", "after", "after", "after", "dirs", "every", "every", "once", "stop"}
	flags := []string{"--trust", "--plugin-dir", w.path("../plug"), "--allowedTools", "Skill"}
	for _, id := range []string{"guard", "mine", "plug:guard"} {
		_, said := w.acts([]string{bash("ls"), bash("pwd")}, append([]string{"-p", "/" + id}, flags...)...)
		got := w.heard("heard")
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("/%s: %q, want %q: %s", id, got, want, said)
		}
		_, said = w.acts([]string{skillCall(id, ""), bash("ls"), bash("pwd")}, append([]string{"-p", "go"}, flags...)...)
		got = w.heard("heard")
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("Skill(%s): %q, want %q: %s", id, got, want, said)
		}
	}
	if out := w.run("check", w.path(".claude/skills/guard")); !strings.Contains(out.stdout, "SessionStart") {
		t.Errorf("nobody is told that SessionStart is no event of a skill: %+v", out)
	}
}

// TestCasesOnce: a hook that blocks or fails was not spent; calls side by side
// spend it once.
func TestCasesOnce(t *testing.T) {
	w := newWorld(t)
	w.skill("guard", "---\ndescription: d\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks: [{type: command, command: \"echo x >> heard; test -f passed || { touch passed; exit 2; }\", once: true}]\n---\nGo.\n")
	results, said := w.acts([]string{bash("ls"), bash("ls"), bash("ls")}, "-p", "/guard", "--trust")
	if got := w.heard("heard"); len(got) != 2 || len(results) != 3 || !strings.Contains(results[0], "hook") || strings.Contains(results[1], "hook") {
		t.Errorf("%q %q %s", got, results, said)
	}
	w.skill("guard", "---\ndescription: d\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks: [{type: command, command: \"echo x >> heard\", once: true}]\n---\nGo.\n")
	w.requests(`{"steps":[`+steps(calls(bash("ls"), bash("pwd"), bash("ls -a"), bash("date")), `{"text":"end"}`)+`]}`, "-p", "/guard", "--trust")
	if got := w.heard("heard"); len(got) != 1 {
		t.Errorf("parallel calls: %q", got)
	}
}

// TestCasesHookPayload: hooks learn of a skill whoever starts it, with where it
// lies; what is missing is said loudly, and only status 2 refuses.
func TestCasesHookPayload(t *testing.T) {
	w := newWorld(t)
	w.skill("a-dir", "---\nname: another name\ndescription: d\n---\nGo.\n")
	w.file("../home/.claude/settings.json", `{"hooks":{"SkillInvoked":[{"hooks":[{"type":"command","command":"cat >> heard"}]}],"PreToolUse":[{"matcher":"Skill","hooks":[{"type":"command","command":"cat >> heard"}]}]}}`)
	w.acts(nil, "-p", "/a-dir x")
	typed := w.heard("heard")
	w.acts([]string{skillCall("a-dir", "x")}, "-p", "go")
	called := w.heard("heard")
	for _, tt := range []struct {
		line string
		want []string
	}{
		{strings.Join(typed, "\n"), []string{`"SkillInvoked"`, `"by":"user"`, `"command_name":"a-dir"`, w.path(".claude/skills/a-dir/SKILL.md")}},
		{strings.Join(called, "\n"), []string{`"PreToolUse"`, `"SkillInvoked"`, `"by":"model"`, w.path(".claude/skills/a-dir/SKILL.md")}},
	} {
		for _, part := range tt.want {
			if !strings.Contains(tt.line, part) {
				t.Errorf("no %s in %s", part, tt.line)
			}
		}
	}
	for command, refused := range map[string]bool{"bash /../bin/none.sh": false, "no-such-program": false, "exit 1": false, "exit 2": true, "echo no >&2; exit 2": true} {
		w.skill("guard", "---\ndescription: d\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks: [{type: command, command: "+quoted(command)+"}]\n---\nGo.\n")
		results, said := w.acts([]string{bash("printf one"), bash("printf two")}, "-p", "/guard", "--trust")
		if len(results) != 2 || (results[0] != "one") != refused || refused && !strings.Contains(results[0], "guard") {
			t.Errorf("%s: %q", command, results)
		}
		if n := strings.Count(said, "notice: PreToolUse hook of the skill guard"); !refused && n != 1 {
			t.Errorf("%s: told %d times: %s", command, n, said)
		}
	}
}

// TestCasesGrants: what a skill grants holds for its whole turn and not for the
// next; a skill that it may call needs no question; nothing of it lifts a rule.
func TestCasesGrants(t *testing.T) {
	w := newWorld(t)
	w.skill("parent", "---\ndescription: d\nallowed-tools: Bash(touch:*), Skill(child)\n---\nGo.\n")
	w.skill("child", "---\ndescription: d\nallowed-tools: Bash(mkdir:*)\n---\nGo.\n")
	list := []string{bash("touch a"), skillCall("child", ""), bash("mkdir b"), bash("touch c"), bash("mkdir -p d && rm -rf b"), bash("mkdir -p d && cd d")}
	results, said := w.acts(list, "-p", "/parent", "--trust")
	if !w.exists("a") || !w.exists("b") || !w.exists("c") || w.exists("d") {
		t.Errorf("%q %s", results, said)
	}
	results, said = w.acts([]string{skillCall("child", ""), bash("mkdir e")}, "-p", "go", "--trust")
	if w.exists("e") || len(results) != 2 || !strings.Contains(results[0], "Skill(child)") {
		t.Errorf("a grant of an earlier turn: %q %s", results, said)
	}
	if _, asked := w.requests(`{"steps":[{"text":"end"}]}`, "-p", "go", "--settings", `{"permissions":{"deny":["Skill"]}}`); len(asked) != 1 || slices.Contains(names(asked[0].Tools), "Skill") {
		t.Errorf("every skill is denied, and the tool is offered: %v", asked)
	}
}
