//go:build unix

package cli_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The tests named TestAttack... are the attack suite: each plays somebody who
// wants more than they were given, against the real program and a model that
// does what the attacker wants, and says which promise of SECURITY.md it proves.

// attacked fails the test when the attacker has left their mark.
func (w *world) attacked(who string) {
	w.t.Helper()
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), "pwned") {
			w.t.Errorf("%s: %s was made", who, path)
			return os.Remove(path)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// acts runs a model that makes these calls, one after the other, and returns
// what came of them.
func (w *world) acts(list []string, args ...string) (results []string, said string) {
	w.t.Helper()
	var all []string
	for _, c := range list {
		all = append(all, calls(c))
	}
	out, asked := w.requests(`{"steps":[`+steps(append(all, `{"text":"end"}`)...)+`],"subagents":{"*":[{"text":"sub"}]}}`, args...)
	for _, b := range resultsOf(asked) {
		results = append(results, b.Text)
	}
	data, err := json.Marshal(asked)
	if err != nil {
		w.t.Fatal(err)
	}
	return results, string(data) + out.stdout + out.stderr
}

// payloads are arguments that would run something as a program text.
var payloads = []string{
	"; touch pwned", "&& touch pwned", "| touch pwned", "& touch pwned", "> pwned", "$(touch pwned)", "`touch pwned`", "a\ntouch pwned",
	"' ; touch pwned ; '", `" ; touch pwned ; "`, `\" ; touch pwned #`, `\`, "'", "x' $(touch pwned) 'y", "<(touch pwned)", "!`touch pwned`",
	"```!\ntouch pwned\n```", "E\ntouch pwned\nE", "$ARGUMENTS $0 $(touch pwned)", "${x:-$(touch pwned)}", "$'\\x3btouch pwned'", "{touch,pwned}",
}

// TestAttackArguments proves: what a person or a model gives as an argument
// never becomes program text, whatever placeholder and quotes it lands in, in
// an inline command and in a block, and an inserted text is not read for
// commands of its own. The skill may run any command, so quoting alone protects.
func TestAttackArguments(t *testing.T) {
	w := newWorld(t)
	w.skill("demo", "---\ndescription: d\nargument-hint: x\narguments: [target, rest]\nallowed-tools: Bash\n---\n"+
		"Say $ARGUMENTS, $0, $ARGUMENTS[0], $target.\n!`echo $ARGUMENTS`\n!`echo \"$ARGUMENTS\" '$ARGUMENTS'`\n!`echo $0 \"$0\" '$0' x$0`\n"+
		"!`echo $ARGUMENTS[0] \"$ARGUMENTS[1]\"`\n!`echo $target \"$target\" $rest`\n!`cat <<'E'\n$ARGUMENTS\nE`\n!`cat <<E\n$ARGUMENTS\nE`\n"+
		"```!\necho $ARGUMENTS # $ARGUMENTS\necho \"$target\"\n```\n")
	w.skill("plain", "---\ndescription: d\nallowed-tools: Bash\n---\nSay this.\n") // arguments are appended
	for _, p := range payloads {
		for _, name := range []string{"demo", "plain"} {
			w.acts(nil, "-p", "/"+name+" "+p, "--trust")
			w.attacked("typed: " + p)
			w.acts([]string{skillCall(name, p)}, "-p", "go", "--trust", "--allowedTools", "Skill")
			w.attacked("called: " + p)
		}
	}
}

// TestAttackDirectoryNames proves: the names of directories are data, in
// variables of skills and of hooks.
func TestAttackDirectoryNames(t *testing.T) {
	w := newWorld(t)
	w.repo = w.path("../a';touch pwned;'$(touch pwned)`touch pwned`")
	w.mkdir(".git")
	w.skill("demo", "---\ndescription: d\nallowed-tools: Bash\nhooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: echo ${CLAUDE_SKILL_DIR} ${CLAUDE_PROJECT_DIR} > seen\n---\n"+
		"!`echo ${CLAUDE_SKILL_DIR} \"${CLAUDE_SKILL_DIR}\" '${CLAUDE_SKILL_DIR}'`\n!`cd ${CLAUDE_PROJECT_DIR} && pwd > here`\n")
	w.file(".claude/settings.json", `{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"echo ${CLAUDE_PROJECT_DIR} > prompt"}]}]}}`)
	_, said := w.acts([]string{bash("ls")}, "-p", "/demo", "--trust")
	w.attacked("the directory")
	for _, name := range []string{"prompt", "seen", "here"} {
		if !w.exists(name) {
			t.Errorf("%s was not written: %s", name, said)
		}
	}
}

// TestAttackHookInput proves: what a hook is told is JSON on its input, and
// nothing of it is program text.
func TestAttackHookInput(t *testing.T) {
	w := newWorld(t)
	hook := `[{"matcher":"*","hooks":[{"type":"command","command":"cat >> heard; echo >> heard"}]}]`
	w.file("../home/.claude/settings.json", `{"hooks":{"PreToolUse":`+hook+`,"UserPromptSubmit":`+hook+`,"PostToolUseFailure":`+hook+`,"SkillInvoked":`+hook+`}}`)
	for _, p := range payloads {
		w.acts([]string{bash("false " + p), skillCall("aaa", p)}, "-p", p)
		w.attacked(p)
	}
	data, err := os.ReadFile(w.path("heard"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if line != "\n" && !json.Valid([]byte(line)) {
			t.Errorf("a hook heard %q", line)
		}
	}
}

// TestAttackLinks proves: nothing outside the repository is read for a project
// by a link or by climbing: no skill, no resource, no @path, no memory file; a
// link is judged where it leads, by every tool.
func TestAttackLinks(t *testing.T) {
	w := newWorld(t)
	secret := w.file("../outside/secret", "OUTSIDE-TEXT")
	w.skill("refers", "---\ndescription: d\n---\nRead @link and @"+secret+" and @../outside/secret and [this](link).\n")
	for name, target := range map[string]string{
		".claude/skills/linked/SKILL.md": secret, ".claude/skills/refers/link": secret, "link": secret, "CLAUDE.md": secret, "dir": filepath.Dir(secret), "own": "inside",
	} {
		w.mkdir(filepath.Dir(name))
		if err := os.Symlink(target, w.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	w.file("inside", "INSIDE-TEXT")
	w.file("../home/.claude/settings.json", `{"permissions":{"deny":["Read(inside)"],"allow":["Edit(dir/**)"]}}`)
	read := func(name string) string { return `{"name":"Read","input":{"file_path":` + quoted(w.path(name)) + `}}` }
	_, said := w.acts([]string{read("link"), read("dir/secret"), read("own"), bash("cat own"), bash("cat < own"), bash("cd . && head own"), bash("grep -r INSIDE own"),
		`{"name":"Grep","input":{"pattern":"TEXT","path":` + quoted(w.repo) + `,"output_mode":"content"}}`,
		`{"name":"Write","input":{"file_path":` + quoted(w.path("dir/pwned")) + `,"content":"x"}}`, skillCall("refers", ""), skillCall("linked", ""),
	}, "-p", "/refers", "--trust")
	for _, text := range []string{"OUTSIDE-TEXT", "INSIDE-TEXT"} {
		if strings.Contains(said, text) {
			t.Errorf("%s was read: %s", text, said)
		}
	}
	w.attacked("a link")
}
