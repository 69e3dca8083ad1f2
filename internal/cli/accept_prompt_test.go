package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knack-skills/knack/internal/cli"
)

// A lab is a trusted workspace of its own, driven through the command line.
type lab struct {
	t    *testing.T
	root string // holds everything
	dir  string // the workspace
}

// newLab makes the workspace in a directory of the given name.
func newLab(t *testing.T, name string) *lab {
	t.Helper()
	l := &lab{t: t, root: t.TempDir()}
	l.dir = filepath.Join(l.root, name)
	for _, kv := range isolated(l.root) {
		key, value, _ := strings.Cut(kv, "=")
		t.Setenv(key, value)
	}
	l.write("../home/.keep", "")
	l.write(".claude/.keep", "")
	return l
}

func (l *lab) write(name, content string) string {
	l.t.Helper()
	path := filepath.Join(l.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		l.t.Fatal(err)
	}
	return path
}

// skill writes a project skill; fields are lines of its header.
func (l *lab) skill(id, fields, body string) {
	l.t.Helper()
	l.write(".claude/skills/"+id+"/SKILL.md", "---\ndescription: d\n"+fields+"---\n"+body)
}

// run runs the command line in the trusted workspace.
func (l *lab) run(args ...string) (code int, stdout, stderr string) {
	var out, errw bytes.Buffer
	code = cli.Main(append([]string{"-C", l.dir, "--trust"}, args...), strings.NewReader(""), &out, &errw)
	return code, out.String(), errw.String()
}

// left names what commands have left in the workspace.
func (l *lab) left() string {
	l.t.Helper()
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		l.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != ".claude" {
			names = append(names, e.Name())
		}
	}
	return strings.Join(names, " ")
}

// rendered is the JSON of `knack render`, as far as it is looked at here.
type rendered struct {
	Text  string
	Trace []struct {
		Start, End, Line, Column int
		Kind, Name               string
	}
	Commands []struct {
		Line, Decision, Rule string
		ExitCode             int `json:"exit_code"`
	}
	body string // Text without the base directory
}

// render compiles a skill. The trace covers the text, in order (P-14).
func (l *lab) render(id, args string, flags ...string) (r rendered, code int, stderr string) {
	l.t.Helper()
	code, stdout, stderr := l.run(append([]string{"render", id, "--json", "--trace", "--args", args}, flags...)...)
	if code != 0 {
		if stdout != "" {
			l.t.Errorf("%s: exit %d with output %q", id, code, stdout)
		}
		return r, code, stderr
	}
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		l.t.Fatalf("%s: %v in %q", id, err, stdout)
	}
	end := 0
	for _, s := range r.Trace {
		if s.Start != end || s.End < s.Start {
			l.t.Errorf("%s: span %+v does not follow offset %d", id, s, end)
		}
		end = s.End
	}
	if end != len(r.Text) {
		l.t.Errorf("%s: the trace ends at %d of %d", id, end, len(r.Text))
	}
	base := "Base directory for this skill: " + filepath.Join(l.dir, ".claude", "skills", id) + "\n\n" // P-2
	body, ok := strings.CutPrefix(r.Text, base)
	if !ok || r.Trace[0].Kind != "base_dir" || r.Trace[0].End != len(base) {
		l.t.Errorf("%s: text %q does not begin with the base directory", id, r.Text)
	}
	r.body = body
	return r, code, stderr
}

// What the reported faults of arguments have in common: one pass, exact bytes,
// and what looks like money, cells or code stays (P-3 to P-6).
func TestAcceptArguments(t *testing.T) {
	const awk = "A: `awk '{print $1}'`\nC: price is $0.10 per GB"
	const cells = "=B5*(1+$B$6) ; ='Sheet'!$B$2"
	const lib = `bash -c '. "$1" && f "$2"' _ "<lib>" "<v>"`
	l := newLab(t, "ws")
	for _, tt := range []struct{ fields, body, args, want string }{
		{"", awk, "alpha bravo charlie", awk + "\n\nARGUMENTS: alpha bravo charlie"},
		{"", awk, "", awk},
		{"", "cost $0.01/call, $1.2M, $200K; $10\n```awk\n!seen[$0]++\n```\n", "zero one",
			"cost $0.01/call, $1.2M, $200K; $10\n```awk\n!seen[$0]++\n```\n\nARGUMENTS: zero one"},
		{"", cells, "budget.xlsx", cells + "\n\nARGUMENTS: budget.xlsx"},
		{"", cells, "fix formulas in budget.xlsx", cells + "\n\nARGUMENTS: fix formulas in budget.xlsx"},
		{"", cells, "1 2 3 4 5 6 7 8 9", cells + "\n\nARGUMENTS: 1 2 3 4 5 6 7 8 9"},
		{"", "A=$0 B=$1 ALL=$ARGUMENTS", `"$1" second`, `A=$1 B=second ALL="$1" second`},
		{"", "$0 $1", "${CLAUDE_SKILL_DIR} !`id`", "${CLAUDE_SKILL_DIR} !`id`"},
		{"", "Task: $ARGUMENTS ($3)", "first line\nsecond \"quoted\" line", "Task: first line\nsecond \"quoted\" line (quoted)"},
		{"arguments: [issue, issue-number, File]\n", "$issue $issue-number $File ${issue} $issues", "7 42 a.txt", "7 42 a.txt 7 $issues"},
		{"", "<req>$ARGUMENTS</req>", "", "<req></req>"},
		{"", "<req>$ARGUMENTS</req>", "cost $& and $1 and $$", "<req>cost $& and $1 and $$</req>"},
		{"arguments: [directory, file]\n", "D=$directory F=$file N=$5 U=$other", "src", "D=src F= N=$5 U=$other"},
		{"", "Migrate $ARGUMENTS[0] from $ARGUMENTS[1] to $ARGUMENTS[2].", "SearchBar React", "Migrate SearchBar from React to $ARGUMENTS[2]."},
		{"", lib, "タイトル: chore(tests): a b", `bash -c '. "chore(tests):" && f "a"' _ "<lib>" "<v>"`},
		{"", "[$0|$1]", "全角　空白 b", "[全角　空白|b]"},
		{"", "$0|$1", `don't stop "now`, `dont stop "now|$1`},
		{"", "$0", "", "$0"},
		{"", "text\n", "  as   typed ", "text\n\nARGUMENTS:   as   typed "},
		{"", "$9", "a", "$9\n\nARGUMENTS: a"},
		{"arguments: [a, b]\n", "[$b]", "x", "[]"},
		{"", "!`echo hi` $7", "x", "hi $7\n\nARGUMENTS: x"},
		{"", "!`echo \"$0\"`", "x", "x"},
		{"", "!`echo '$0'`", "x", "$0\n\nARGUMENTS: x"},
		{"argument-hint: \"[file]\"\n", "`print $1` $0", "a b", "`print b` a"},
	} {
		l.skill("args", tt.fields, tt.body)
		if r, code, stderr := l.render("args", tt.args); code != 0 || r.body != tt.want {
			t.Errorf("%q with %q: exit %d %s\n got %q\nwant %q", tt.body, tt.args, code, stderr, r.body, tt.want)
		}
	}
}

// Where a command begins and ends (P-8), and what stays text.
func TestAcceptCommandSyntax(t *testing.T) {
	const spans = "bang types: `feat!`, `fix!` | `chore!` are breaking"
	const template = "```ts\nconst s = `Hello ${name}!`\nrun()\nconst t = `x`\n```"
	l := newLab(t, "ws")
	for body, want := range map[string]string{
		spans: spans, template: template,
		"KEY=!`echo a` f!`echo a` `format!`":  "KEY=!`echo a` f!`echo a` `format!`",
		"a !`echo run`, - !`echo two`":        "a run, - two",
		"\\!`echo a` \\!`echo b` !`echo c`":   "!`echo a` !`echo b` c",
		"```!\necho a\necho b\n```\nend":      "a\nb\nend",
		"````md\n```!\necho a\n```\n````\n":   "````md\n```!\necho a\n```\n````\n",
		"```!\necho never closed":             "```!\necho never closed",
		"`` !`echo a` `` ~~~\n":               "`` !`echo a` `` ~~~\n",
		"!`echo one\necho two`":               "!`echo one\necho two`",
		"!`echo '$ARGUMENTS ${CLAUDE_X}'`":    "$ARGUMENTS ${CLAUDE_X}",
		"!`printf '%s%sid%s' '!' '\\140' x`":  "!\\140idx",
		"!`printf a; printf 'b\\n' >&2` end":  "a\n[stderr]\nb end",
		"[x] !`printf 'a\\n\\n'`|":            "[x] a\n|",
		"```!\r\necho a\r\necho b\r\n```\r\n": "a\nb\r\n",
	} {
		l.skill("syntax", "", body)
		if r, code, stderr := l.render("syntax", ""); code != 0 || r.body != want {
			t.Errorf("%q: exit %d %s\n got %q\nwant %q", body, code, stderr, r.body, want)
		}
	}
}

// Arguments in commands are data, in every place and by every name (P-1, P-9).
// Each attack would leave a file if any part of it became program text.
func TestAcceptArgumentsAreData(t *testing.T) {
	l := newLab(t, "ws")
	places := []string{
		"printf '<%s>' X", `printf '<%s>' "X"`, `printf '<%s>' "$(printf '%s' "X")"`, "printf '<%s>' $(printf '%s' X)", "v=X; printf '<%s>' \"$v\"",
		"cat <<E\nX\nE", "cat <<'E'\nX\nE", "cat <<E\n$(printf '%s' \"X\")\nE", "cat <<< \"X\"", "printf '<%s>' \"`printf '%s' \"X\"`\"",
		"case X in *) printf ok;; esac", "for i in X; do printf '<%s>' \"$i\"; done", "f() { printf '<%s>' \"X\"; }; f", `printf '<%s>' "${unset:-X}"`,
		"a=(X); printf '<%s>' \"${a[0]}\"", "printf '<%s>' 'X' # X", "[[ X == x ]] || printf no", `printf "%s" $"X" $'X'`,
	}
	var body strings.Builder
	for _, name := range []string{"$ARGUMENTS", "$0", "${1}", "$ARGUMENTS[0]", "$word", "${two-part}", "$GIT_DIR", "$*"} {
		for _, place := range places {
			body.WriteString("```!\n" + strings.ReplaceAll(place, "X", name) + "\n```\n\n")
		}
	}
	l.skill("data", "arguments: [word, two-part, GIT_DIR]\n", body.String())
	for _, args := range []string{
		"don't try this", "x; touch p", "$(touch p)", "`touch p`", "'; touch p; '", `"; touch p; "`, "a\ntouch p\n", "E\ntouch p\nE",
		`"$(touch p)" '$(touch p)' \$(touch p)`, "${x:-$(touch p)} ${CLAUDE_SKILL_DIR}", "x) touch p ;; y", "|touch p &touch p& >p", "-n --help -e", "!`touch p`",
	} {
		r, code, stderr := l.render("data", args, "--yes")
		if code != 0 || len(r.Commands) != 8*len(places) {
			t.Errorf("%q: exit %d, %d commands: %s", args, code, len(r.Commands), stderr)
			continue
		}
		if left := l.left(); left != "" {
			t.Fatalf("%q became program text: left %s", args, left)
		}
		for _, c := range r.Commands {
			if strings.Contains(c.Line, "touch") {
				t.Errorf("%q is part of the line %q", args, c.Line)
			}
		}
	}
	l.skill("say", "", "!`echo $ARGUMENTS`")
	for _, args := range []string{"don't try this", "x; touch p", "$(touch p2)"} {
		if r, _, _ := l.render("say", args); r.body != args {
			t.Errorf("echo of %q gives %q", args, r.body)
		}
	}
}

// The directory of a skill may have any name; in a command it is one word, in
// every kind of quoting, and never program text (P-7, P-9).
func TestAcceptDirectoryNames(t *testing.T) {
	lines := []string{
		"printf '%s' ${CLAUDE_SKILL_DIR}", `printf '%s' "${CLAUDE_SKILL_DIR}"`, "printf '%s' '${KNACK_SKILL_DIR}'", "printf '%s' \"$CLAUDE_SKILL_DIR\"",
		`printf '%s' "$(printf '%s' "${CLAUDE_SKILL_DIR}")"`, "printf '%s' \"`printf '%s' \"${CLAUDE_SKILL_DIR}\"`\"", "cat <<E\n${CLAUDE_SKILL_DIR}\nE",
		"cat <<E\n$(printf '%s' \"${CLAUDE_SKILL_DIR}\")\nE", "cat <<E\n`printf '%s' \"${CLAUDE_SKILL_DIR}\"`\nE", "cd ${CLAUDE_SKILL_DIR} && printf '%s' \"$PWD\"",
		`printf '%s' "$(case x in x) printf '%s' "${CLAUDE_SKILL_DIR}";; esac)"`, "bash ${CLAUDE_SKILL_DIR}/run.sh",
		`printf '%s' "${unset:-${CLAUDE_SKILL_DIR}}"`, "((1<<2))\nprintf '%s' ${CLAUDE_SKILL_DIR}", "cat <<< ${CLAUDE_SKILL_DIR}",
	}
	body := "```!\n" + strings.Join(lines, "\n```\n--\n```!\n") + "\n```"
	for _, name := range []string{"a b", "it's", `q"q`, "$(touch p)", "`touch p`", "a; touch p;", "a) touch p #", `back\slash`, "${HOME}", "*", "日本 語", "-n", "a & touch p &"} {
		l := newLab(t, name)
		l.skill("s", "", body)
		l.write(".claude/skills/s/run.sh", `printf '%s' "$(dirname "$0")"`)
		r, code, stderr := l.render("s", "", "--yes")
		if code != 0 {
			t.Errorf("%q: exit %d: %s", name, code, stderr)
			continue
		}
		dir := filepath.Join(l.dir, ".claude", "skills", "s")
		for i, got := range strings.Split(r.body, "\n--\n") {
			if got != dir {
				t.Errorf("%q: %q\n got %q\nwant %q", name, lines[i], got, dir)
			}
		}
		if left := l.left(); left != "" {
			t.Errorf("%q ran as a program: left %s", name, left)
		}
	}
}
