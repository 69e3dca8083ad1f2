package hookexec

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/shell"
)

// hostile are names of directories that somebody may choose.
var hostile = []string{
	"plain", "with space", "$(touch pwned)", "`touch pwned`", `a"; touch pwned; "`, "a'; touch pwned; '", "a; touch pwned #",
	"-rf", "*", "a\ntouch pwned", `back\slash`, "${HOME}", "~", "é 日", "a&&touch pwned", "x|touch pwned",
	"\"'\"'$(touch pwned)", "EOF", "(1)",
}

// forms are ways to write a path to script.sh into a command.
var forms = map[string]string{
	"bare":               `bash ${CLAUDE_SKILL_DIR}/script.sh`,
	"bare short":         `bash $CLAUDE_SKILL_DIR/script.sh`,
	"as the program":     `${CLAUDE_SKILL_DIR}/script.sh`,
	"twin":               `bash ${KNACK_SKILL_DIR}/script.sh`,
	"double quotes":      `bash "${CLAUDE_SKILL_DIR}/script.sh"`,
	"quoted variable":    `bash "${CLAUDE_SKILL_DIR}"/script.sh`,
	"single quotes":      `bash '${CLAUDE_SKILL_DIR}/script.sh'`,
	"assignment":         `d=${CLAUDE_SKILL_DIR}; bash "$d/script.sh"`,
	"environment":        `D=${CLAUDE_SKILL_DIR} bash -c 'bash "$D/script.sh"'`,
	"loop":               `for f in ${CLAUDE_SKILL_DIR}/scr*.sh; do bash "$f"; done`,
	"substitution":       `echo "$(bash ${CLAUDE_SKILL_DIR}/script.sh)"`,
	"backquotes":         "echo `bash ${CLAUDE_SKILL_DIR}/script.sh`",
	"test":               `[ -f ${CLAUDE_SKILL_DIR}/script.sh ] && bash ${CLAUDE_SKILL_DIR}/script.sh`,
	"double test":        `[[ -f ${CLAUDE_SKILL_DIR}/script.sh ]] && bash ${CLAUDE_SKILL_DIR}/script.sh`,
	"input":              `bash < ${CLAUDE_SKILL_DIR}/script.sh`,
	"here-document":      "f=$(cat <<END\n${CLAUDE_SKILL_DIR}/script.sh\nEND\n); bash \"$f\"",
	"inner single":       `bash -c 'bash ${CLAUDE_SKILL_DIR}/script.sh'`,
	"inner double":       `bash -c "bash ${CLAUDE_SKILL_DIR}/script.sh"`,
	"inner quoted":       `bash -c "bash '${CLAUDE_SKILL_DIR}/script.sh'"`,
	"inner escaped":      `bash -c "bash \"${CLAUDE_SKILL_DIR}/script.sh\""`,
	"inner program":      `sh -ec ${CLAUDE_SKILL_DIR}/script.sh`,
	"inner with a hole":  `x=bash; bash -c "$x ${CLAUDE_SKILL_DIR}/script.sh"`,
	"inner and more":     `bash -c 'bash ${CLAUDE_SKILL_DIR}/$0' script.sh`,
	"inner twice":        `bash -c "bash -c 'bash ${CLAUDE_SKILL_DIR}/script.sh'"`,
	"inner here-doc":     "bash <<'END'\nbash \"${CLAUDE_SKILL_DIR}/script.sh\"\nEND",
	"eval":               `eval "bash ${CLAUDE_SKILL_DIR}/script.sh"`,
	"env":                `env A=b bash -c "bash ${CLAUDE_SKILL_DIR}/script.sh"`,
	"option of a script": `bash ${CLAUDE_SKILL_DIR}/script.sh -c ${CLAUDE_SKILL_DIR}/x`,
	"function":           `f() { bash ${CLAUDE_SKILL_DIR}/script.sh; }; f`,
	"case":               `case ${CLAUDE_SKILL_DIR}/x in ${CLAUDE_SKILL_DIR}/*) bash ${CLAUDE_SKILL_DIR}/script.sh;; esac`,
}

// TestDirectoriesAreData: however a command names its directory, and whatever
// the directory is called, the script in it runs and the name does not (H-5).
func TestDirectoriesAreData(t *testing.T) {
	for _, name := range hostile {
		work := t.TempDir()
		dir := filepath.Join(work, name)
		write(t, filepath.Join(dir, "script.sh"), "#!/bin/bash\necho ran\n")
		r := New(Options{WorkDir: work, ProjectDir: work})
		var entries []Entry
		for _, command := range forms {
			entries = append(entries, Entry{Level: Skill, Owner: "s", Event: hook.PreToolUse, Dirs: Dirs{Skill: dir}, Handler: hook.Handler{Type: hook.Command, Command: command}})
		}
		_, results := r.Trace(t.Context(), [][]Entry{entries}, hook.Input{Event: hook.PreToolUse, CWD: work, ToolName: "Bash"})
		if len(results) != len(forms) {
			t.Fatalf("%d of %d ran", len(results), len(forms))
		}
		for _, got := range results {
			if got.Stdout != "ran\n" {
				t.Errorf("%s in %q: %q, %q, %s", got.Entry.Handler.Command, name, got.Stdout, got.Stderr, got.Err)
			}
		}
		e := Entry{Dirs: Dirs{Skill: dir}, Event: hook.PreToolUse, Handler: hook.Handler{Type: hook.Command, Command: "bash", Args: []string{"${CLAUDE_SKILL_DIR}/script.sh"}}}
		if _, results := r.Trace(t.Context(), [][]Entry{{e}}, hook.Input{Event: hook.PreToolUse, CWD: work}); results[0].Stdout != "ran\n" {
			t.Errorf("exec form in %q: %+v", name, results[0])
		}
		for _, where := range []string{work, dir} {
			if _, err := os.Stat(filepath.Join(where, "pwned")); err == nil {
				t.Errorf("%q ran", name)
			}
		}
	}
}

// TestProgramsOfOthers: where a program would read the name as program text, a
// harmless name is fine and any other keeps the hook from running.
func TestProgramsOfOthers(t *testing.T) {
	for _, command := range []string{
		`awk "BEGIN { print \"${CLAUDE_SKILL_DIR}\" }"`,
		`env awk "BEGIN { print \"$CLAUDE_SKILL_DIR\" }"`,
		"bash <<END\necho \"${CLAUDE_SKILL_DIR}\"\nEND",
		"bash <<<\"echo ${CLAUDE_SKILL_DIR}\"",
		`echo "echo ${CLAUDE_SKILL_DIR}" | sh`,
		`bash -c "echo ${CLAUDE_SKILL_DIR%/}"`,
		`bash -c "awk 'BEGIN { print \"'${CLAUDE_SKILL_DIR}'\" }'"`,
	} {
		for dir, runs := range map[string]bool{"/opt/skill": true, "/opt/my skill-1.0": true, "/$(id)": false, `/a"b`: false, "/a'b": false, "/a`b": false, "/a;b": false} {
			r := New(Options{Env: func() []string { return []string{"PATH=" + os.Getenv("PATH")} }})
			c, err := r.prepare(Entry{Dirs: Dirs{Skill: dir}, Handler: hook.Handler{Type: hook.Command, Command: command}}, hook.Input{})
			if (err == nil) != runs {
				t.Errorf("%s in %s: %v", command, dir, err)
			}
			if err != nil {
				continue
			}
			out, err := shell.Exec{}.Run(context.Background(), c)
			if err != nil || strings.TrimSpace(string(out.Stdout)) != dir {
				t.Errorf("%s in %s: %q %q %v", command, dir, out.Stdout, out.Stderr, err)
			}
		}
	}
}

// TestQuote shows what becomes of a line, and what it needs.
func TestQuote(t *testing.T) {
	for _, tt := range []struct{ in, want, used string }{
		{`bash ${CLAUDE_SKILL_DIR}/a`, `bash "${CLAUDE_SKILL_DIR}"/a`, "CLAUDE_SKILL_DIR"},
		{`echo $HOME "$HOME" '${HOME}'`, `echo $HOME "$HOME" '${HOME}'`, ""},
		{`a ${CLAUDE_PROJECT_DIR:-.}/b`, `a ${CLAUDE_PROJECT_DIR:-.}/b`, ""},
		{`a "${CLAUDE_PROJECT_DIR%/}"`, `a "${CLAUDE_PROJECT_DIR%/}"`, "CLAUDE_PROJECT_DIR"},
		{`CLAUDE_PLUGIN_ROOT=x; echo $CLAUDE_PLUGIN_ROOT`, `CLAUDE_PLUGIN_ROOT=x; echo "${CLAUDE_PLUGIN_ROOT}"`, ""},
		{"# ${CLAUDE_SKILL_DIR}\necho", "# ${CLAUDE_SKILL_DIR}\necho", ""},
		{`python3 -c 'open("${CLAUDE_SKILL_DIR}")'`, `python3 -c 'open("${CLAUDE_SKILL_DIR}")'`, "CLAUDE_SKILL_DIR"},
		{`grep bash -c "${CLAUDE_SKILL_DIR}/x"`, `grep bash -c "${CLAUDE_SKILL_DIR}/x"`, "CLAUDE_SKILL_DIR"},
		{`echo $(( CLAUDE_SKILL_DIR + $CLAUDE_SKILL_DIR ))`, `echo $(( CLAUDE_SKILL_DIR + $CLAUDE_SKILL_DIR ))`, "CLAUDE_SKILL_DIR"},
		{`bash -c "x ${CLAUDE_SKILL_DIR}"`, `bash -c 'x "${CLAUDE_SKILL_DIR}"'`, "CLAUDE_SKILL_DIR"},
		{`echo 'unclosed ${CLAUDE_SKILL_DIR}`, `echo 'unclosed ${CLAUDE_SKILL_DIR}`, "CLAUDE_SKILL_DIR"},
		{`echo ${CLAUDE_SKILL_DIRX} ${XCLAUDE_SKILL_DIR}`, `echo ${CLAUDE_SKILL_DIRX} ${XCLAUDE_SKILL_DIR}`, ""},
	} {
		q := quote(tt.in)
		if used := strings.Join(q.used, " "); q.line != tt.want || used != tt.used {
			t.Errorf("%s:\n got %s (needs %q)\nwant %s (needs %q)", tt.in, q.line, used, tt.want, tt.used)
		}
	}
}

// FuzzQuote: a line never gets longer by more than quotes and never holds what
// it did not, and a line that was made safe stays as it is.
func FuzzQuote(f *testing.F) {
	for _, command := range forms {
		f.Add(command)
	}
	f.Fuzz(func(t *testing.T, line string) {
		q := quote(line)
		if _, err := parse(line); err != nil {
			if q.line != line {
				t.Errorf("%q became %q", line, q.line)
			}
			return
		}
		if _, err := parse(q.line); err != nil {
			t.Errorf("%q became %q: %v", line, q.line, err)
		}
	})
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
		t.Fatal(err)
	}
}
