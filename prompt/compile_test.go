package prompt

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/knack-skills/knack/shell"
	"github.com/knack-skills/knack/skill"
)

// allowAll allows every command.
func allowAll(context.Context, string) (Permission, error) {
	return Permission{Decision: "allow", Rule: "Bash(*)"}, nil
}

// realShell runs commands for real, all of them allowed.
func realShell(t testing.TB) Env {
	return Env{Shell: shell.Exec{}, Decide: allowAll, WorkDir: t.TempDir(), SpillDir: t.TempDir()}
}

func project(arguments ...string) *skill.Skill {
	return &skill.Skill{
		Summary: skill.Summary{ID: "demo"},
		Origin:  skill.Origin{Source: skill.Project},
		Content: skill.Content{Arguments: arguments, Positional: len(arguments) > 0},
	}
}

// text compiles body and returns the text.
func text(t testing.TB, s *skill.Skill, body, args string, env Env) string {
	t.Helper()
	r, err := Compile(t.Context(), s, skill.Instructions{Text: body, Line: 1}, args, env)
	if err != nil {
		t.Fatalf("Compile(%q, %q): %v", body, args, err)
	}
	checkTrace(t, r)
	return r.Text
}

// checkTrace: the spans cover the text, in order and without a gap (spec P-14).
func checkTrace(t testing.TB, r *Result) {
	t.Helper()
	end := 0
	for _, s := range r.Trace {
		if s.Start != end || s.End < s.Start || s.Kind == "body" && s.Start == s.End {
			t.Fatalf("span %+v does not follow offset %d in %q", s, end, r.Text)
		}
		end = s.End
	}
	if end != len(r.Text) {
		t.Fatalf("trace ends at %d of %d in %q", end, len(r.Text), r.Text)
	}
}

// Placeholders in text (spec P-4, P-5, P-6).
func TestPlaceholdersInText(t *testing.T) {
	const appended = "\n\nARGUMENTS: "
	for _, tt := range []struct {
		name, body, args, want string
		names                  []string
		positional             bool
		base                   int
	}{
		{name: "whole", body: "do $ARGUMENTS now", args: `a "b c"  d`, want: `do a "b c"  d now`},
		{name: "whole without arguments", body: "<q>$ARGUMENTS</q>", want: "<q></q>"},
		{name: "dollar signs in arguments", body: "<q>$ARGUMENTS</q>", args: "cost $& and $1 and $$", want: "<q>cost $& and $1 and $$</q>"},
		{name: "by index", body: "$0|$1|$ARGUMENTS[1]|$ARGUMENTS[2]", args: "a b", want: "a|b|b|$ARGUMENTS[2]"},
		{name: "partial", body: "from $ARGUMENTS[0] to $ARGUMENTS[1] in $ARGUMENTS[2].", args: "x y", want: "from x to y in $ARGUMENTS[2]."},
		{name: "index without arguments", body: "$0 $ARGUMENTS[0]", want: "$0 $ARGUMENTS[0]"},
		{name: "greedy digits", body: "$10 $1", args: "a b", want: "$10 b"},
		{name: "eleventh", body: "$10", args: "0 1 2 3 4 5 6 7 8 9 ten", want: "ten"},
		{name: "huge index", body: "$99999999999999999999 $0", args: "a", want: "$99999999999999999999 a"},
		{name: "no second pass", body: "A=$0 B=$1 ALL=$ARGUMENTS", args: `"$1" second`, want: `A=$1 B=second ALL="$1" second`},
		{name: "lines", body: "Task: $ARGUMENTS / $2", args: "first line\nsecond", want: "Task: first line\nsecond / second"},
		{name: "braces are not ours", body: "${ARGUMENTS} ${0} ${x}", args: "a", want: "${ARGUMENTS} ${0} ${x}" + appended + "a"},
		{name: "longer word", body: "$ARGUMENTS_X $ARGUMENTSa", args: "a", want: "$ARGUMENTS_X $ARGUMENTSa" + appended + "a"},
		{name: "hyphen after it", body: "plan-$ARGUMENTS-v2.md", args: "a", want: "plan-a-v2.md"},
		{name: "not an index", body: "$ARGUMENTS[x] $ARGUMENTS[]", args: "a", want: "a[x] a[]"},

		{name: "names", names: []string{"issue", "issue-number", "File"}, body: "$issue $issue-number $File ${issue} $issues",
			args: "7 42 a.txt", want: "7 42 a.txt 7 $issues"},
		{name: "name before a hyphen", names: []string{"issue"}, body: "$issue-number $issue.", args: "7", want: "$issue-number 7."},
		{name: "missing name is empty", names: []string{"directory", "file"}, body: "D=$directory F=$file N=$5 U=$other",
			args: "src", want: "D=src F= N=$5 U=$other"},
		{name: "missing name consumes", names: []string{"a", "b"}, body: "[$b]", args: "x", want: "[]"},
		{name: "odd name", names: []string{"a.b+"}, body: "$a.b+ ${a.b+} $a.bc", args: "x", want: "x x $a.bc"},
		{name: "names in code", names: []string{"f"}, body: "`$f` $0", args: "x", want: "`x` x"},
		{name: "first of equal names", names: []string{"n", "n"}, body: "$n", args: "x y", want: "x"},

		{name: "money", body: "cost $0.01/call, $1.2M, $1,000, $0k, US$1, $200K", args: "zero one",
			want: "cost $0.01/call, $1.2M, $1,000, $0k, US$1, $200K" + appended + "zero one"},
		{name: "cells", body: "=B5*(1+$B$1) ; ='S'!$A$0", args: "zero one", want: "=B5*(1+$B$1) ; ='S'!$A$0" + appended + "zero one"},
		{name: "process id", body: "/tmp/$$0", args: "a", want: "/tmp/$$0" + appended + "a"},
		{name: "full stop, comma", body: "see $0. Then $1, or $0,$1", args: "a b", want: "see a. Then b, or a,b"},
		{name: "lower-case letter before", body: "v$0 é$0", args: "a", want: "va éa"},
		{name: "capital beyond ASCII", body: "É$0", args: "a", want: "É$0" + appended + "a"},
		{name: "script without capitals", body: "分析$0的内容", args: "a", want: "分析a的内容"},
		{name: "word characters after", body: "$0_backup $0-1 $0/x", args: "a", want: "a_backup a-1 a/x"},

		{name: "code", body: "`awk '{print $1}'` and $0", args: "a b", want: "`awk '{print $1}'` and a"},
		{name: "fence", body: "```awk\n!seen[$0]++\n```\n$0", args: "a", want: "```awk\n!seen[$0]++\n```\na"},
		{name: "unclosed fence", body: "$0\n```bash\necho $0", args: "a", want: "a\n```bash\necho $0"},
		{name: "code with intent", positional: true, body: "`print $1` $0", args: "a b", want: "`print b` a"},
		{name: "code beside $ARGUMENTS", body: "`print $1`\n$ARGUMENTS", args: "a b", want: "`print b`\na b"},
		{name: "code beside $ARGUMENTS[0]", body: "`print $1`\n$ARGUMENTS[0]", args: "a b", want: "`print b`\na"},
		{name: "code beside \\$ARGUMENTS", body: "`print $1`\n\\$ARGUMENTS", args: "a b", want: "`print $1`\n$ARGUMENTS" + appended + "a b"},
		{name: "$ARGUMENTS in code", body: "```\nrun $ARGUMENTS\n```", args: "a b", want: "```\nrun a b\n```"},

		{name: "escapes", names: []string{"n"}, body: `\$0 \$ARGUMENTS \$n \${n} \$ARGUMENTS[0] $0`, args: "a",
			want: "$0 $ARGUMENTS $n ${n} $ARGUMENTS[0] a"},
		{name: "escape without arguments", body: `\$0`, want: "$0"},
		{name: "escaped money", body: `\$0.01 and US\$1`, args: "a b", want: "$0.01 and US$1" + appended + "a b"},
		{name: "two backslashes", body: `\\$0`, args: "a", want: `\\a`},
		{name: "three backslashes", body: `\\\$0`, args: "a", want: `\\$0` + appended + "a"},
		{name: "other backslashes", body: `\$x \${y} \n \$`, args: "a", want: `\$x \${y} \n \$` + appended + "a"},
		{name: "escape in code without intent", body: "`\"\\$1\"`", args: "a b", want: "`\"\\$1\"`" + appended + "a b"},
		{name: "escape in code with intent", positional: true, body: "`\"\\$1\"` $0", args: "a b", want: "`\"$1\"` a"},

		{name: "nothing consumed", body: "Body.", args: "a  b", want: "Body." + appended + "a  b"},
		{name: "after a newline", body: "Body.\n", args: "a", want: "Body.\n\nARGUMENTS: a"},
		{name: "after a blank line", body: "Body.\n\n", args: "a", want: "Body.\n\nARGUMENTS: a"},
		{name: "empty body", body: "", args: "a", want: "ARGUMENTS: a"},
		{name: "missing index does not consume", body: "$5", args: "a", want: "$5" + appended + "a"},
		{name: "blanks are no arguments", body: "Body.", args: " \n", want: "Body."},
		{name: "index beside another word", body: "$0 x", args: `"" b`, want: " x"},

		{name: "base one", base: 1, body: "$1 $2 $0", args: "a b", want: "a b $0"},
		{name: "base one by list", base: 1, body: "$ARGUMENTS[1]", args: "a b", want: "a"},
		{name: "auto from one", base: -1, body: "$1 $2 $3", args: "a b", want: "a b $3"},
		{name: "auto from zero", base: -1, body: "$0 $1", args: "a b", want: "a b"},
		{name: "auto sees money as text", base: -1, body: "$1 costs $0.50", args: "a b", want: "a costs $0.50"},
		{name: "auto ignores escapes", base: -1, body: `$1 \$0`, args: "a b", want: "a $0"},
	} {
		s := project(tt.names...)
		s.Content.Positional = s.Content.Positional || tt.positional
		if got := text(t, s, tt.body, tt.args, Env{Base: tt.base}); got != tt.want {
			t.Errorf("%s: %q with %q\n got %q\nwant %q", tt.name, tt.body, tt.args, got, tt.want)
		}
	}
}

// Variables (spec P-7).
func TestVariablesInText(t *testing.T) {
	vars := Vars{
		SkillDir: "/s d", SessionID: "sid", ProjectDir: "/p", Effort: "high",
		PluginRoot: "/root", PluginData: "/data", UserConfig: map[string]string{"api": "https://x", "$0": "odd"},
	}
	const all = "${CLAUDE_SKILL_DIR} ${KNACK_SKILL_DIR} ${CLAUDE_SESSION_ID} ${KNACK_PROJECT_DIR} ${CLAUDE_EFFORT} " +
		"${CLAUDE_PLUGIN_ROOT} ${KNACK_PLUGIN_DATA} ${user_config.api} ${user_config.none} ${CLAUDE_OTHER} $CLAUDE_SKILL_DIR"
	for _, tt := range []struct {
		name, body, args, want string
		source                 skill.Source
		vars                   Vars
	}{
		{"project", all, "", "/s d /s d sid /p high ${CLAUDE_PLUGIN_ROOT} ${KNACK_PLUGIN_DATA} " +
			"${user_config.api} ${user_config.none} ${CLAUDE_OTHER} $CLAUDE_SKILL_DIR", skill.Project, vars},
		{"plugin", all, "", "/s d /s d sid /p high /root /data https://x ${user_config.none} ${CLAUDE_OTHER} $CLAUDE_SKILL_DIR", skill.Plugin, vars},
		{"remote", all, "", "${CLAUDE_SKILL_DIR} ${KNACK_SKILL_DIR} sid ${KNACK_PROJECT_DIR} ${CLAUDE_EFFORT} " +
			"${CLAUDE_PLUGIN_ROOT} ${KNACK_PLUGIN_DATA} ${user_config.api} ${user_config.none} ${CLAUDE_OTHER} $CLAUDE_SKILL_DIR", skill.MCP, vars},
		{"without values", "${CLAUDE_SKILL_DIR}|${CLAUDE_PROJECT_DIR}|${CLAUDE_SESSION_ID}|${CLAUDE_EFFORT}", "",
			"${CLAUDE_SKILL_DIR}|${CLAUDE_PROJECT_DIR}||", skill.Project, Vars{}},
		{"in code", "`${CLAUDE_SESSION_ID}`\n```\n${CLAUDE_EFFORT}\n```", "", "`sid`\n```\nhigh\n```", skill.Project, vars},
		{"backslash", `\${CLAUDE_SESSION_ID}`, "", `\sid`, skill.Project, vars},
		{"from arguments", "$ARGUMENTS", "${CLAUDE_SKILL_DIR}", "${CLAUDE_SKILL_DIR}", skill.Project, vars},
		{"into placeholders", "${user_config.$0}", "x", "odd\n\nARGUMENTS: x", skill.Plugin, vars},
		{"does not consume", "${CLAUDE_SESSION_ID}", "x", "sid\n\nARGUMENTS: x", skill.Project, vars},
	} {
		s := project()
		s.Origin.Source = tt.source
		if got := text(t, s, tt.body, tt.args, Env{Vars: tt.vars}); got != tt.want {
			t.Errorf("%s: got\n%q, want\n%q", tt.name, got, tt.want)
		}
	}
}

// The base directory (spec P-2, C-13).
func TestBaseDirectory(t *testing.T) {
	in := skill.Instructions{Text: "Read ${CLAUDE_SKILL_DIR}/a.md", Line: 7, Dir: "/skills/x y"}
	r, err := Compile(t.Context(), project(), in, "", Env{})
	if err != nil {
		t.Fatal(err)
	}
	if want := "Base directory for this skill: /skills/x y\n\nRead /skills/x y/a.md"; r.Text != want {
		t.Errorf("got %q, want %q", r.Text, want)
	}
	checkTrace(t, r)
	if s := r.Trace[0]; s.Kind != "base_dir" || s.Line != 0 {
		t.Errorf("first span %+v", s)
	}
	if s := r.Trace[1]; s.Kind != "body" || s.Line != 7 || s.Column != 1 {
		t.Errorf("second span %+v", s)
	}
	remote := project()
	remote.Origin.Source = skill.MCP
	r, err = Compile(t.Context(), remote, in, "", Env{})
	if err != nil || r.Text != in.Text {
		t.Errorf("remote: %q, %v", r.Text, err)
	}
}

// The trace names every origin (spec P-14, K-3).
func TestTrace(t *testing.T) {
	body := "é $0 \\$1\r\n${CLAUDE_EFFORT}: !`echo hi; exit 0`.\n\\!`x`\n```!\necho $name\n```\n"
	s := project("name")
	env := realShell(t)
	env.Vars.Effort = "low"
	r, err := Compile(t.Context(), s, skill.Instructions{Text: body, Line: 5}, "arg", env)
	if err != nil {
		t.Fatal(err)
	}
	checkTrace(t, r)
	var got []string
	for _, s := range r.Trace {
		got = append(got, strings.Join([]string{s.Kind, s.Name, r.Text[s.Start:s.End], itoa(s.Line) + ":" + itoa(s.Column)}, "|"))
	}
	want := []string{
		"body||é |5:1", "argument|0|arg|5:3", "body|| |5:5", "body||$1\r\n|5:7",
		"variable|CLAUDE_EFFORT|low|6:1", "body||: |6:17", "command|echo hi; exit 0|hi|6:19", "body||.\n|6:37",
		"body||!`x`\n|7:2", "command|echo $name|arg|8:1", "body||\n|10:4",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func itoa(n int) string {
	return strings.TrimLeft(string([]byte{'0' + byte(n/10), '0' + byte(n%10)}), "0")
}

func TestPlaceholders(t *testing.T) {
	s := project("name", "two-part")
	body := "$ARGUMENTS \\$1 $name\n`$2` $0.50 ${CLAUDE_SKILL_ROOT} ${KNACK_EFFORT} ${x}\n" +
		"!`echo $1 '$3' ${name} $two-part ${CLAUDE_PLUGIN_ROOT} \"$@\"`\n  ```!\n  # $4\n  echo $ARGUMENTS[5]\n  ```\n"
	var got []string
	for _, p := range Placeholders(s, body) {
		flags := ""
		if p.InCode {
			flags += " code"
		}
		if p.InCommand {
			flags += " command"
		}
		got = append(got, p.Kind+" "+p.Name+" "+p.Raw+" "+itoa(p.Line)+":"+itoa(p.Column)+flags)
	}
	want := []string{
		"arguments ARGUMENTS $ARGUMENTS 1:1", "name name $name 1:16", "index 2 $2 2:2 code",
		"unknown-variable CLAUDE_SKILL_ROOT ${CLAUDE_SKILL_ROOT} 2:12", "variable KNACK_EFFORT ${KNACK_EFFORT} 2:33",
		"index 1 $1 3:8 command", "name name ${name} 3:16 command", "name two-part $two-part 3:24 command",
		"unknown-variable CLAUDE_PLUGIN_ROOT ${CLAUDE_PLUGIN_ROOT} 3:34 command", "arguments @ $@ 3:57 command",
		"index 5 $ARGUMENTS[5] 6:8 command",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestExpandRules(t *testing.T) {
	rules := []string{"Bash(${CLAUDE_SKILL_DIR}/run.sh:*)", "Read(${KNACK_PROJECT_DIR}/**)", "Bash(x ${CLAUDE_SESSION_ID}*)", "Bash(${CLAUDE_EFFORT})", "Bash($ARGUMENTS)"}
	got := ExpandRules(rules, Vars{SkillDir: "/s/${KNACK_PROJECT_DIR}", ProjectDir: "/p", Effort: "high"})
	want := []string{"Bash('/s/${KNACK_PROJECT_DIR}'/run.sh:*)", "Read(/p/**)", "Bash(x ${CLAUDE_SESSION_ID}*)", "Bash(${CLAUDE_EFFORT})", "Bash($ARGUMENTS)"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
	got = ExpandRules([]string{
		"Bash(bash ${CLAUDE_SKILL_DIR}/run.sh:*)", `Bash("${CLAUDE_SKILL_DIR}/run.sh" *)`, "Read(${CLAUDE_SKILL_DIR}/**)", " Bash ( ${KNACK_SKILL_DIR}/* )", "${CLAUDE_SKILL_DIR}",
	}, Vars{SkillDir: "/it's a dir"})
	want = []string{
		`Bash(bash '/it'\''s a dir'/run.sh:*)`, `Bash("/it's a dir/run.sh" *)`, "Read(/it's a dir/**)", ` Bash ( '/it'\''s a dir'/* )`, "/it's a dir",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("with blanks: got %q, want %q", got, want)
	}
	if got := ExpandRules([]string{"Bash(${CLAUDE_PLUGIN_ROOT}/a)"}, Vars{PluginRoot: "/r"}); got[0] != "Bash(/r/a)" {
		t.Errorf("plugin rule %q", got)
	}
	if rules[0] != "Bash(${CLAUDE_SKILL_DIR}/run.sh:*)" {
		t.Error("the rules of the skill were changed")
	}
}

func TestCompileCancelled(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Compile(ctx, project(), skill.Instructions{Text: "x"}, "", Env{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
