package prompt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/knack-skills/knack/shell"
	"github.com/knack-skills/knack/skill"
)

// Commands run for real (spec P-8 to P-12).
func TestCommands(t *testing.T) {
	for _, tt := range []struct {
		name, body, args, want string
		names                  []string
		base                   int
	}{
		{name: "output", body: "a !`echo run` b", want: "a run b"},
		{name: "one newline is trimmed", body: "[!`x`] !`printf 'a\\n\\n'`|", want: "[!`x`] a\n|"},
		{name: "no output", body: "a !`:` b", want: "a  b"},
		{name: "script", body: "x\n```!\nv=1\nif true; then\n  echo $((v + 1))\nfi\n```\ny", want: "x\n2\ny"},
		{name: "CRLF script", body: "```!\r\necho a\r\necho b\r\n```\r\n", want: "a\nb\r\n"},
		{name: "only these run", body: "a !`echo run`\nKEY=!`echo no` assert!`x` (`#REF!`, `y`)\n`` !`echo span` ``\n```md\n!`echo fenced`\n```\n```!\necho block\n```\n!`two\nlines`",
			want: "a run\nKEY=!`echo no` assert!`x` (`#REF!`, `y`)\n`` !`echo span` ``\n```md\n!`echo fenced`\n```\nblock\n!`two\nlines`"},
		{name: "escaped", body: "\\!`echo no` !`echo yes`", want: "!`echo no` yes"},
		{name: "output is not syntax", body: "!`printf '!\\140id\\140 $0 $%s\\n' '{CLAUDE_EFFORT}'` $0", args: "x", want: "!`id` $0 ${CLAUDE_EFFORT} x"},
		{name: "by position", body: "!`sleep 0.2; echo a` !`echo b`", want: "a b"},
		{name: "stderr", body: "!`echo out; echo err >&2`|", want: "out\n[stderr]\nerr|"},
		{name: "only stderr", body: "!`echo err >&2`|", want: "[stderr]\nerr|"},
		{name: "not UTF-8", body: "!`printf 'a\\377b'`", want: "a\uFFFDb"},
		{name: "no input, no terminal", body: "!`cat; tty || true`", want: "not a tty"},

		{name: "whole arguments are words", body: "!`printf '<%s>' $ARGUMENTS`", args: "Test prompt --max 1", want: "<Test><prompt><--max><1>"},
		{name: "apostrophe", body: "!`echo $ARGUMENTS`", args: "don't try this", want: "don't try this"},
		{name: "semicolon", body: "!`echo $ARGUMENTS`", args: "x; touch pwned", want: "x; touch pwned"},
		{name: "substitution", body: "!`echo $ARGUMENTS`", args: "$(touch pwned)", want: "$(touch pwned)"},
		{name: "quotes are kept", body: "!`echo \"$ARGUMENTS\"`", args: `a "b  c"`, want: `a "b  c"`},
		{name: "positional", body: "!`echo \"$0|$1|$2\"`", args: `main "two words"`, want: "main|two words|"},
		{name: "positional from one", base: 1, body: "!`echo \"$0|$1|$#\"`", args: "a b", want: "demo|a|2"},
		{name: "positional, auto", base: -1, body: "!`echo \"$1\"` $2", args: "a b", want: "a b"},
		{name: "auto sees single quotes", base: -1, body: "!`echo a b | awk '{print $1}'` $0", args: "x", want: "a x"},
		{name: "no argument zero", body: "!`echo \"[$0]\"`", want: "[]"},
		{name: "all", body: "!`printf '<%s>' \"$0\" \"$@\"`", args: "a 'b c'", want: "<a><b c>"},
		{name: "by list", body: "!`printf '<%s>' $ARGUMENTS[0] \"$ARGUMENTS[1]\" $ARGUMENTS[2] '$ARGUMENTS[0]'`", args: "'a b' c",
			want: "<a b><c><><$ARGUMENTS[0]>"},
		{name: "by list in a function", body: "```!\nf() { echo $ARGUMENTS[0] $1; }\nf inner\n```", args: "outer", want: "outer inner"},
		{name: "names", names: []string{"issue", "issue-number"}, body: "!`printf '<%s>' \"$issue\" $issue-number ${issue-number} \"${issue}x\"`",
			args: "7 '4 2'", want: "<7><4 2><4 2><7x>"},
		{name: "names in the environment", names: []string{"file"}, body: "!`printenv file ARGUMENTS`", args: "a.txt b", want: "a.txt\na.txt b\n\nARGUMENTS: a.txt b"},
		{name: "a script's own variable", names: []string{"file"}, body: "!`file=mine; echo $file`", args: "a", want: "mine"},
		{name: "missing name", names: []string{"a", "b"}, body: "!`echo \"[$b]\"`", args: "x", want: "[]"},
		{name: "names that programs read", names: []string{"PATH", "BASH_ENV", "GIT_EXTERNAL_DIFF"},
			body: "!`echo \"$PATH|${BASH_ENV}|$GIT_EXTERNAL_DIFF\"; printenv GIT_EXTERNAL_DIFF || true`", args: "'$(touch pwned)' '$(touch pwned)' x",
			want: "$(touch pwned)|$(touch pwned)|x"},
		{name: "NUL", body: "!`echo \"$0\"` $0", args: "a\x00b", want: "ab a\x00b"},
		{name: "dash line", body: "!`-x || echo no`", args: "'touch pwned'", want: "no\n[stderr]\ntouch pwned: line 1: -x: command not found\n\nARGUMENTS: 'touch pwned'"},

		{name: "consumed by index", body: "!`echo $0`", args: "a b", want: "a"},
		{name: "consumed by name", names: []string{"n"}, body: "!`echo ${n:-none}`", args: "a", want: "a"},
		{name: "not consumed in single quotes", body: "!`echo x | awk '{print $0}'`", args: "a", want: "x\n\nARGUMENTS: a"},
		{name: "not consumed when missing", body: "!`echo \"[$1]\"`", args: "a", want: "[]\n\nARGUMENTS: a"},
		{name: "not consumed in a comment", body: "!`echo x # $ARGUMENTS`", args: "a", want: "x\n\nARGUMENTS: a"},
	} {
		env := realShell(t)
		env.Base = tt.base
		if got := text(t, project(tt.names...), tt.body, tt.args, env); got != tt.want {
			t.Errorf("%s: %q with %q\n got %q\nwant %q", tt.name, tt.body, tt.args, got, tt.want)
		}
		if left, err := os.ReadDir(env.WorkDir); err != nil || len(left) > 0 {
			t.Errorf("%s: an argument ran as a program: %v %v", tt.name, left, err)
		}
	}
}

// Variables in a line expand as if quoted, whatever stands around them and
// whatever they contain (spec P-9).
func TestVariablesInCommands(t *testing.T) {
	for _, dir := range []string{"/plain/dir", "/a b/c", "/it's", `/q"q`, "/$(touch pwned)", "/`touch pwned`", "/a; touch pwned;", "/a) touch pwned #", `/back\slash`, "/glob*?[x]", "/x;y&z|w", "/日本 語", "/#hash !"} {
		for _, tt := range []struct{ line, want string }{
			{"printf '<%s>' ${CLAUDE_SKILL_DIR}", "<DIR>"},
			{"printf '<%s>' ${KNACK_SKILL_DIR}/run.sh x", "<DIR/run.sh><x>"},
			{`printf '<%s>' "${CLAUDE_SKILL_DIR}/a b" "x ${CLAUDE_SKILL_DIR}"`, "<DIR/a b><x DIR>"},
			{`printf '<%s>' 'x ${CLAUDE_SKILL_DIR}' 'y'`, "<x DIR><y>"},
			{`printf '<%s>' $'x\t${CLAUDE_SKILL_DIR}'`, "<x\tDIR>"},
			{`printf '<%s>' "$(printf '(%s)' ${CLAUDE_SKILL_DIR} "${CLAUDE_SKILL_DIR}")"`, "<(DIR)(DIR)>"},
			{`printf '<%s>' "${unset:-${CLAUDE_SKILL_DIR}}" ${unset:-"${CLAUDE_SKILL_DIR}"}`, "<DIR><DIR>"},
			{"x=${CLAUDE_SKILL_DIR}; printf '<%s>' \"$x\" $((1 + 1))", "<DIR><2>"},
			{"cat <<< ${CLAUDE_SKILL_DIR}", "DIR"},
			{"echo done # ${CLAUDE_SKILL_DIR}", "done"},
			{`printf '<%s>' a\ b \${CLAUDE_SKILL_DIR}`, "<a b><${CLAUDE_SKILL_DIR}>"},
			{"cat <<E\n${CLAUDE_SKILL_DIR} $((1+1)) \\$x\nE\necho ${CLAUDE_SKILL_DIR} | cat", "DIR 2 $x\nDIR"},
			{"cat <<'E' | tr -d ,\n${CLAUDE_SKILL_DIR}\nE", "DIR"},
			{"cat <<-E\n\t${CLAUDE_SKILL_DIR}\n\tE\nprintf '<%s>' ${CLAUDE_SKILL_DIR}", "DIR\n<DIR>"},
			{"printf '<%s>' \"`printf '(%s)' ${CLAUDE_SKILL_DIR} \"${CLAUDE_SKILL_DIR}\"`\"", "<(DIR)(DIR)>"},
			{"case x in\nx) printf '<%s>' ${CLAUDE_SKILL_DIR};;\nesac", "<DIR>"},
			{`printf '%s' "$CLAUDE_SKILL_DIR" "$KNACK_SKILL_DIR"`, "DIRDIR"},
			{"cat <<E\n$(printf '(%s)' ${CLAUDE_SKILL_DIR} \"${CLAUDE_SKILL_DIR}\")`printf '(%s)' \"${CLAUDE_SKILL_DIR}\"`\nE", "(DIR)(DIR)(DIR)"},
			{"cat <<E\n\"${unset:-${CLAUDE_SKILL_DIR}}\" $(cat <<F\n${CLAUDE_SKILL_DIR}\nF\n)\nE", "\"DIR\" DIR"},
			{"cat <<\"E F\" >&2\nit's\nE F\nprintf '<%s>' ${CLAUDE_SKILL_DIR}", "<DIR>\n[stderr]\nit's"},
			{"((x = 1<<2))\nprintf '<%s>' ${CLAUDE_SKILL_DIR}", "<DIR>"},
			{"x[1<<2]=a; y=$[1<<2]; printf '<%s>' ${CLAUDE_SKILL_DIR}", "<DIR>"},
			{`printf '<%s>' "$(case x in y) ;; x) printf '(%s)' "${CLAUDE_SKILL_DIR}";; esac)" ${CLAUDE_SKILL_DIR}`, "<(DIR)><DIR>"},
			{"printf '<%s>' \"`echo a # b`\" \"${CLAUDE_SKILL_DIR}\"", "<a><DIR>"},
		} {
			env := realShell(t)
			env.Vars.SkillDir = dir
			want := strings.ReplaceAll(tt.want, "DIR", dir)
			if strings.HasSuffix(tt.line, `\${CLAUDE_SKILL_DIR}`) {
				want = tt.want
			}
			if got := text(t, project(), "```!\n"+tt.line+"\n```", "", env); got != want {
				t.Errorf("%q with %s\n got %q\nwant %q", tt.line, dir, got, want)
			}
			if left, err := os.ReadDir(env.WorkDir); err != nil || len(left) > 0 {
				t.Errorf("%q with %s: a value ran as a program: %v %v", tt.line, dir, left, err)
			}
		}
	}
}

// Which variables commands see (spec P-7, P-9).
func TestCommandEnvironment(t *testing.T) {
	env := realShell(t)
	env.Environ = []string{"PATH=" + os.Getenv("PATH"), "CLAUDE_PLUGIN_ROOT=/foreign", "ARGUMENTS=old", "KNACK_ARGUMENT_0=old", "OTHER=kept"}
	env.Vars = Vars{SkillDir: "/s", SessionID: "sid", ProjectDir: "/p", Effort: "high", PluginRoot: "/root", UserConfig: map[string]string{"api": "a b", "not-a-name": "x"}}
	const line = "!`env | grep -E '^(CLAUDE|KNACK|ARG|OTHER)' | sort`"
	s := project()
	want := "ARGUMENTS=\nCLAUDE_EFFORT=high\nCLAUDE_PROJECT_DIR=/p\nCLAUDE_SESSION_ID=sid\nCLAUDE_SKILL_DIR=/s\n" +
		"KNACK_EFFORT=high\nKNACK_PROJECT_DIR=/p\nKNACK_SESSION_ID=sid\nKNACK_SKILL_DIR=/s\nOTHER=kept"
	if got := text(t, s, line, "", env); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	s.Origin.Source = skill.Plugin
	got := text(t, s, line+" !`printf '<%s>' ${user_config.api} ${user_config.not-a-name}`", "", env)
	for _, part := range []string{"CLAUDE_PLUGIN_ROOT=/root", "KNACK_PLUGIN_OPTION_api=a b", "<a b><x>"} {
		if !strings.Contains(got, part) {
			t.Errorf("plugin: no %q in\n%s", part, got)
		}
	}
}

// Failing commands (spec P-12).
func TestCommandFailure(t *testing.T) {
	for _, tt := range []struct {
		line string
		exit int
		want string // part of the message
	}{
		{"echo why >&2; exit 3", 3, "failed with exit code 3: echo why >&2; exit 3\n[stderr]\nwhy\n"},
		{"false", 1, `add "|| true"`},
		{"no-such-program-here", 127, "command not found"},
		{"kill -9 $$", 137, "killed by signal 9"},
		{"grep x /no/such/file", 2, "No such file"},
		{"echo 'unbalanced", 2, "unexpected EOF"},
	} {
		_, err := Compile(t.Context(), project(), skill.Instructions{Text: "a\n\n!`" + tt.line + "`", Line: 4}, "", realShell(t))
		var failed *CommandError
		if !errors.As(err, &failed) {
			t.Errorf("%q: error %v, want a CommandError", tt.line, err)
			continue
		}
		if failed.ExitCode != tt.exit || failed.Line != tt.line || failed.Source != 6 {
			t.Errorf("%q: %+v", tt.line, failed)
		}
		if msg := err.Error(); !strings.Contains(msg, tt.want) || !strings.Contains(msg, "line 6") || strings.Contains(msg, "!`") {
			t.Errorf("%q: message\n%s\nlacks %q", tt.line, msg, tt.want)
		}
	}
	env := realShell(t)
	env.WorkDir = filepath.Join(env.WorkDir, "gone")
	_, err := Compile(t.Context(), project(), skill.Instructions{Text: "!`echo a`"}, "", env)
	var failed *CommandError
	if !errors.As(err, &failed) || failed.ExitCode != 126 || !strings.Contains(err.Error(), env.WorkDir) {
		t.Errorf("missing directory: %v", err)
	}
}

// Exit status 1 that is an answer (spec P-12).
func TestResultStatus(t *testing.T) {
	for line, want := range map[string]bool{
		"grep x f": true, "rg x": true, "egrep x f": true, "fgrep x f": true, "find . -name x": true, "diff a b": true,
		"test -f x": true, "[ -f x ]": true, "git diff --exit-code": true, "git grep x": true,
		"git -C /tmp --no-pager diff --quiet": true, "git -c a=b grep x": true, "/usr/bin/grep x f": true, `\grep x f`: true,
		`"grep" x`: true, "LC_ALL=C grep x f": true, "command grep x": true, "timeout 5 grep x f": true, "timeout -k 1 5 grep x": true,
		"git log | grep x": true, "echo a; grep x f": true, "echo a\ngrep x f\n": true, "make || grep x f": true,
		"grep x f > out 2>&1": true, ">out grep x f": true, "> out grep x f": true, "grep x f # no": true, "[ -f x ] && grep y x": true,
		"cd src && grep x f": true, "grep 'a|b;c' f": true, "grep \"$(false; x)\" f": true, "grep x f |& grep y": true,
		"! grep x f": false, "grep x f | head": false, "grep x f && make": false, "make && grep x f": false, "grep x f; make": false,
		"git log": false, "git": false, "ls": false, "(grep x f)": false, "if grep x f; then exit 1; fi": false, "exit 1": false,
		"set -e\nmake\ngrep x f": false, "set -o pipefail; make | grep x": false, "set -euo pipefail; grep x f": false,
		"echo grep": false, "'grep x'": false, "cd nowhere": false, "": false, "env": false, "timeout": false,
	} {
		if got := resultStatus(line, dialectOf("bash"), nil); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
	if resultStatus("cd nowhere && grep x f", dialectOf("bash"), []byte("cd: nowhere: No such file")) {
		t.Error("a failing cd was taken for an answer")
	}
	if resultStatus("find x", dialectOf("powershell"), nil) || !resultStatus("rg x", dialectOf("powershell"), nil) {
		t.Error("PowerShell has another table")
	}
	if got := text(t, project(), "[ !`echo a | grep b` ]", "", realShell(t)); got != "[  ]" {
		t.Errorf("grep without a match gave %q", got)
	}
	r, err := Compile(t.Context(), project(), skill.Instructions{Text: "!`test -f nothing`"}, "", realShell(t))
	if err != nil || r.Commands[0].ExitCode != 1 || r.Trace[0].ExitCode != 1 {
		t.Errorf("exit status of an answer: %+v, %v", r, err)
	}
}

// Time limit, cancelling, and what a failure does to the others (spec P-11).
func TestCommandTimes(t *testing.T) {
	env := realShell(t)
	env.Timeout = 200 * time.Millisecond
	_, err := Compile(t.Context(), project(), skill.Instructions{Text: "!`(sleep 99 & sleep 99)`", Line: 2}, "", env)
	var failed *CommandError
	if !errors.As(err, &failed) || !failed.TimedOut || failed.Timeout != env.Timeout {
		t.Fatalf("error %v", err)
	}
	if msg := err.Error(); !strings.Contains(msg, "timed out after 200ms") || !strings.Contains(msg, "sleep 99") {
		t.Errorf("message %s", msg)
	}

	env.Timeout = time.Hour // longer than a test may run
	_, err = Compile(t.Context(), project(), skill.Instructions{Text: "!`sleep 9999` !`exit 4` !`sleep 9999`"}, "", env)
	if !errors.As(err, &failed) || failed.ExitCode != 4 {
		t.Errorf("error %v, want that of the command that failed", err)
	}

	ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	if _, err = Compile(ctx, project(), skill.Instructions{Text: "!`sleep 99`"}, "", env); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled: %v", err)
	}
}

// A meeting lets commands start only when all of them are there.
type meeting struct {
	shell.Exec
	all sync.WaitGroup
}

func (m *meeting) Run(ctx context.Context, c shell.Command) (shell.Output, error) {
	m.all.Done()
	m.all.Wait()
	return m.Exec.Run(ctx, c)
}

// Commands run at the same time, and all of a large number run (spec P-11).
func TestCommandsParallel(t *testing.T) {
	env := realShell(t)
	m := &meeting{}
	m.all.Add(maxParallel)
	env.Shell = m
	var body, want strings.Builder
	for i := range maxParallel {
		fmt.Fprintf(&body, "!`echo %d` ", i)
		fmt.Fprintf(&want, "%d ", i)
	}
	if got := text(t, project(), body.String(), "", env); got != want.String() {
		t.Errorf("got %q", got)
	}
	env.Shell = shell.Exec{}
	if got := text(t, project(), strings.Repeat("!`echo x` ", 3*maxParallel), "", env); got != strings.Repeat("x ", 3*maxParallel) {
		t.Errorf("got %q", got)
	}
}

// Long output (spec P-11) and the same bytes for the same output (spec P-16).
func TestLongOutput(t *testing.T) {
	env := realShell(t)
	for name, tt := range map[string]struct {
		line string
		full string
	}{
		"in memory": {"printf 'é%.0s' {1..30001}; echo", strings.Repeat("é", 30001) + "\n"},
		"in a file": {"printf 'x%.0s' {1..200000}", strings.Repeat("x", 200000)},
	} {
		got := text(t, project(), "!`"+tt.line+"`|", "", env)
		head, note, ok := strings.Cut(got, "\n[output cut after 30000 characters; all ")
		if !ok || head != string([]rune(tt.full)[:30000]) {
			t.Errorf("%s: %d bytes before the note %.200q", name, len(head), note)
			continue
		}
		_, file, _ := strings.Cut(note, "bytes: ")
		file = strings.TrimSuffix(file, "]|")
		full, err := os.ReadFile(file)
		if err != nil || string(full) != tt.full {
			t.Errorf("%s: file %s holds %d bytes, %v", name, file, len(full), err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 || filepath.Dir(file) != env.SpillDir {
			t.Errorf("%s: file %s: %v %v", name, file, info, err)
		}
		if again := text(t, project(), "!`"+tt.line+"`|", "", env); again != got {
			t.Errorf("%s: the second text differs", name)
		}
	}
	if left, err := os.ReadDir(env.SpillDir); err != nil || len(left) != 2 {
		t.Errorf("files left: %v, %v", left, err)
	}
	if got := text(t, project(), "!`printf 'é%.0s' {1..30000}`", "", env); got != strings.Repeat("é", 30000) {
		t.Errorf("exactly the limit: %d bytes", len(got))
	}
	env.SpillDir = filepath.Join(env.SpillDir, "file")
	if err := os.WriteFile(env.SpillDir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{30001, 200000} {
		if got := text(t, project(), fmt.Sprintf("!`printf 'x%%.0s' {1..%d}`", n), "", env); !strings.HasSuffix(got, "the rest could not be saved]") {
			t.Errorf("%d without a directory: …%s", n, got[max(0, len(got)-80):])
		}
	}
}

// The clock of the environment measures commands.
func TestCommandRecord(t *testing.T) {
	env := realShell(t)
	var ticks int64
	env.Now = func() time.Time { ticks++; return time.UnixMilli(ticks * 40) }
	r, err := Compile(t.Context(), project(), skill.Instructions{Text: "x !`echo a`"}, "", env)
	if err != nil {
		t.Fatal(err)
	}
	want := Ran{Line: "echo a", MS: 40, Decision: "allow", Rule: "Bash(*)"}
	if len(r.Commands) != 1 || r.Commands[0] != want || r.Trace[1].MS != 40 {
		t.Errorf("commands %+v, trace %+v", r.Commands, r.Trace)
	}
}

// A long text behind a command does not stop commands that do not ask for it.
func TestLongArguments(t *testing.T) {
	args := strings.Repeat("long ", 100_000)
	if got := text(t, project(), "!`echo \"[$#]\"; env | grep -c ^ARGUMENTS=`", args, realShell(t)); got != "[0]\n0\n\nARGUMENTS: "+args {
		t.Errorf("got %.200q", got)
	}
	args = strings.Repeat("long ", 5_000)
	if got := text(t, project(), "!`printf %s \"$ARGUMENTS\" | wc -c`", args, realShell(t)); strings.TrimSpace(got) != "25000" {
		t.Errorf("got %.200q", got)
	}
}
