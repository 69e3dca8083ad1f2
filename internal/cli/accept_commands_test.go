package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// One command that is not allowed keeps all from running, and nothing is
// printed (P-10, P-12).
func TestAcceptPermissionFirst(t *testing.T) {
	l := newLab(t, "ws")
	l.write(".claude/settings.json", `{"permissions": {"allow": ["Bash(touch:*)", "Bash(echo:*)"], "deny": ["Bash(rm:*)"], "ask": ["Bash(ls:*)"]}}`)
	for _, tt := range []struct {
		name, fields, line string
		flags              []string
		want               string // of standard error; empty: it runs
	}{
		{"no rule", "", "mkfifo x", nil, `no rule allows "mkfifo x"`},
		{"ask", "", "ls", nil, "needs approval by Bash(ls:*)"},
		{"ask, although granted", "allowed-tools: Bash(ls:*)\n", "ls", nil, "needs approval by Bash(ls:*)"},
		{"deny", "", "rm x", nil, "denied by Bash(rm:*)"},
		{"deny, although granted and approved", "allowed-tools: Bash\n", "rm x", []string{"--yes"}, "denied by Bash(rm:*)"},
		{"part of a line", "", "echo a | rm x", nil, "denied by Bash(rm:*)"},
		{"granted", "allowed-tools: Bash(mkfifo:*)\n", "mkfifo x; rmdir none 2>/dev/null || :", []string{"--yes"}, ""},
		{"approved", "", "ls", []string{"--yes"}, ""},
	} {
		l.skill("first", tt.fields, "!`touch before`\n!`"+tt.line+"`\n!`touch after`")
		_, code, stderr := l.render("first", "", tt.flags...)
		if tt.want == "" {
			if code != 0 || !strings.Contains(l.left(), "after") {
				t.Errorf("%s: exit %d: %s", tt.name, code, stderr)
			}
		} else if code != 3 || !strings.Contains(stderr, tt.want) || !strings.Contains(stderr, "nothing was run") || l.left() != "" {
			t.Errorf("%s: exit %d, left %q, %s", tt.name, code, l.left(), stderr)
		}
		for _, name := range strings.Fields(l.left()) {
			if err := os.Remove(filepath.Join(l.dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A rule is compared with the command alone: quotes resolved, without fence or
// marks, with the skill's directory written out (P-7, P-10).
func TestAcceptRulesSeeTheCommand(t *testing.T) {
	l := newLab(t, "my ws")
	script := l.write("setup.sh", `printf '(%s)' "$@"`)
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	l.skill("fence", "allowed-tools: Bash(./setup.sh:*)\n", "```!\n\"./setup.sh\" \"test task\" --max 3\n```")
	if r, code, stderr := l.render("fence", ""); code != 0 || r.body != "(test task)(--max)(3)" || r.Commands[0].Decision != "allow" || r.Commands[0].Rule != "Bash(./setup.sh:*)" {
		t.Errorf("exit %d, %+v, %s", code, r, stderr)
	}
	// Unquoted, the shell splits $ARGUMENTS, as it does any variable.
	l.skill("split", "allowed-tools: Bash(./setup.sh:*)\n", "```!\n\"./setup.sh\" $ARGUMENTS\n```")
	for _, by := range []string{"user", "model"} {
		r, code, stderr := l.render("split", "Test prompt --max 1", "--by", by, "--settings", `{"permissions": {"allow": ["Skill"]}}`)
		if code != 0 || r.body != "(Test)(prompt)(--max)(1)" {
			t.Errorf("by %s: exit %d, %q, %s", by, code, r.body, stderr)
		}
	}
	l.skill("own", "allowed-tools: Bash(bash ${CLAUDE_SKILL_DIR}/run.sh:*)\n", "!`bash ${CLAUDE_SKILL_DIR}/run.sh \"$0\"`")
	l.write(".claude/skills/own/run.sh", `printf '[%s]' "$1"`)
	if r, code, stderr := l.render("own", `"a b"`); code != 0 || r.body != "[a b]" {
		t.Errorf("exit %d, %q, %s", code, r.body, stderr)
	}
	l.skill("pipe", "allowed-tools: Bash(echo:*)\n", "!`echo \"$0\" | grep -E \"^(dev|prod)$\" || echo INVALID`")
	for args, want := range map[string]string{"dev": "dev", "x": "INVALID", "$(touch p)": "INVALID"} {
		if r, code, stderr := l.render("pipe", args); code != 0 || r.body != want {
			t.Errorf("%q: exit %d, %q, %s", args, code, r.body, stderr)
		}
	}
}

// Commands run at the same time, whichever stands first; their output is put
// in its place and is never syntax (P-1, P-11).
func TestAcceptParallel(t *testing.T) {
	if _, err := exec.LookPath("mkfifo"); err != nil {
		t.Skip("mkfifo is not here")
	}
	l := newLab(t, "ws")
	if out, err := exec.Command("mkfifo", filepath.Join(l.dir, "fifo")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const output = "!\\140id\\140 \\044ARGUMENTS \\044{CLAUDE_SKILL_DIR}"
	for body, want := range map[string]string{
		"1 !`cat fifo` 2 !`printf '" + output + "' > fifo` 3": "1 !`id` $ARGUMENTS ${CLAUDE_SKILL_DIR} 2  3",
		"1 !`printf '" + output + "' > fifo` 2 !`cat fifo` 3": "1  2 !`id` $ARGUMENTS ${CLAUDE_SKILL_DIR} 3",
	} {
		l.skill("parallel", "", body)
		if r, code, stderr := l.render("parallel", "", "--yes"); code != 0 || r.body != want {
			t.Errorf("exit %d, %q, want %q, %s", code, r.body, want, stderr)
		}
	}
	l.skill("input", "", "[!`cat`] !`cat` !`tty || :` !`pwd`")
	if r, code, stderr := l.render("input", "", "--yes"); code != 0 || r.body != "[!`cat`]  not a tty "+l.dir {
		t.Errorf("exit %d, %q, %s", code, r.body, stderr)
	}
}

// Long output is cut after 30,000 characters, and all of it is in a file that
// only its owner reads (P-11); the same output gives the same text (P-16).
func TestAcceptLongOutput(t *testing.T) {
	l := newLab(t, "ws")
	l.skill("long", "", "!`seq 1 20000`|")
	l.skill("fits", "", "!`printf '%030000d\\n' 7`|")
	r, code, stderr := l.render("long", "", "--yes")
	head, note, cut := strings.Cut(r.body, "\n[output cut after 30000 characters; all 108894 bytes: ")
	if code != 0 || !cut || len(head) != 30_000 {
		t.Fatalf("exit %d, %d characters, %s", code, len(head), stderr)
	}
	file := strings.TrimSuffix(note, "]|")
	var want strings.Builder
	for i := range 20_000 {
		want.WriteString(strconv.Itoa(i+1) + "\n")
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want.String() {
		t.Errorf("%s: %d bytes, %v", file, len(got), err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 || filepath.Dir(file) != filepath.Join(l.root, "state", "output") {
		t.Errorf("%s: %v, %v", file, info, err)
	}
	if again, _, _ := l.render("long", "", "--yes"); again.Text != r.Text {
		t.Error("the same output gives another text")
	}
	if r, code, _ := l.render("fits", "", "--yes"); code != 0 || len(r.body) != 30_001 {
		t.Errorf("exit %d, %d characters", code, len(r.body))
	}
}

// Which exit statuses are failures (P-12), and that one ends the call without
// a trace in the output.
func TestAcceptFailures(t *testing.T) {
	l := newLab(t, "ws")
	l.write("file", "content\n")
	for line, status := range map[string]int{
		"grep none file": 0, "egrep none file": 0, "fgrep none file": 0, "find file": 0, "diff file /dev/null >/dev/null": 0, "test -f none": 0, "[ -f none ]": 0,
		"git diff --no-index --quiet file /dev/null": 0, "cat file | grep none": 0, "grep none file || grep nothing file": 0,
		"grep none missing": 2, "false": 1, "diff file missing": 2, "grep none file; false": 1, "no-such-program": 127, "exit 4": 4, "grep none file | false": 1,
	} {
		l.skill("fail", "", "before !`"+line+"` after")
		r, code, stderr := l.render("fail", "", "--yes")
		if status == 0 {
			if code != 0 || !strings.HasPrefix(r.body, "before ") {
				t.Errorf("%q: exit %d: %s", line, code, stderr)
			}
			continue
		}
		if code != 1 || !strings.Contains(stderr, "exit code "+strconv.Itoa(status)) || !strings.Contains(stderr, line) {
			t.Errorf("%q: exit %d: %s", line, code, stderr)
		}
		if status == 127 && !strings.Contains(stderr, "command not found") || status == 2 && !strings.Contains(stderr, "[stderr]\n") {
			t.Errorf("%q: message %s", line, stderr)
		}
		if code, stdout, _ := l.run("-p", "/fail"); code == 0 || strings.Contains(stdout, "before") {
			t.Errorf("%q typed: exit %d, %q", line, code, stdout)
		}
	}
}

// Every switch that keeps commands from running (P-13, S-9).
func TestAcceptSwitches(t *testing.T) {
	const off = "[shell command execution disabled by policy]"
	const body = "a !`touch p` b\n```!\ntouch p\n```"
	l := newLab(t, "ws")
	l.skill("s", "allowed-tools: Bash\n", body)
	l.write("../managed/.claude/skills/m/SKILL.md", "---\ndescription: d\nallowed-tools: Bash\n---\n!`echo $0`")
	l.write("../home/.claude/skills/u/SKILL.md", "---\ndescription: d\nallowed-tools: Bash\n---\n!`touch p`")
	const disable = `{"disableSkillShellExecution": true}`
	if r, code, stderr := l.render("s", "x", "--settings", disable); code != 0 || r.body != "a "+off+" b\n"+off+"\n\nARGUMENTS: x" || len(r.Commands) != 0 {
		t.Errorf("exit %d, %+v, %s", code, r, stderr)
	}
	if r, code, stderr := l.render("s", "", "--no-shell"); code != 0 || r.body != body {
		t.Errorf("--no-shell: exit %d, %q, %s", code, r.body, stderr)
	}
	for id, want := range map[string]string{"m": `\nran\n$`, "u": regexp.QuoteMeta(off) + `\n$`} {
		code, stdout, stderr := l.run("render", id, "ran", "--settings", disable)
		if id == "u" {
			want = regexp.QuoteMeta(off) + `\n\nARGUMENTS: ran\n$`
		}
		if code != 0 || !regexp.MustCompile(want).MatchString(stdout) {
			t.Errorf("%s: exit %d, %q, %s", id, code, stdout, stderr)
		}
	}
	t.Setenv("PATH", t.TempDir())
	for fields, program := range map[string]string{"allowed-tools: PowerShell\nshell: powershell\n": "pwsh", "allowed-tools: Bash\nshell: bash\n": "bash"} {
		l.skill("s", fields, body)
		if _, code, stderr := l.render("s", ""); code != 1 || !strings.Contains(stderr, program+" was not found") {
			t.Errorf("%s: exit %d, %s", fields, code, stderr)
		}
		l.skill("s", fields, "no commands")
		if r, code, stderr := l.render("s", ""); code != 0 || r.body != "no commands" {
			t.Errorf("%s without commands: exit %d, %s", fields, code, stderr)
		}
	}
	if left := l.left(); left != "" {
		t.Errorf("something ran: left %s", left)
	}
}
