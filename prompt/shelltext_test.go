package prompt

import (
	"strings"
	"testing"
	"time"
)

// How bash reads each byte: b bare, d double, s single, a ANSI, c comment,
// h here-document, r raw here-document; capital inside of a list of its own;
// \ escaped.
func TestScanShell(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{`a "b" 'c'`, `bbdddbsss`},
		{`"a'b" 'c"d'`, `dddddbsssss`},
		{`\"a \'`, `\\bb\\`},
		{`"\"" x`, `d\\dbb`},
		{`$'a\'b' c`, `aaaaaaabb`},
		{`"$(a "b")" c`, `dDDBBDDDBdbb`},
		{"`a 'b'` c", "BBBSSSBbb"},
		{`(a) b`, `BBBbb`},
		{`${x#a} #b`, `bbBBBBbcc`},
		{`a#b #c`, `bbbbcc`},
		{`$((1<<2)) 'a'`, `BBBBBBBBBbsss`},
		{"cat <<E\na $x\nE\nb", "bbbbbbbbhhhhhrrb"},
		{"cat <<'E'\n$x\nE\n", "bbbbbbbbbbrrrrr"},
		{"<<-E\n\ta\n\tE\nb", "bbbbbhhhrrrb"},
		{"<<A <<B\nx\nA\ny\nB\nz", "bbbbbbbbhhrrhhrrb"},
		{"<<E\n\\$x\nE", "bbbb\\\\hhr"},
		{"<<E\n'$(a \"b\" 'c')\"`d`\nE", "bbbbhHHBBDDDBSSSBhBBBhr"},
		{"<<\"E F\"\n$x\nE F\nb", "bbbbbbbbrrrrrrrb"},
		{"((1<<2))\n'a'", "BBBBBBBBbsss"},
		{"${x:1<<2}\n'a'", "bbBBBBBBBbsss"},
		{`<<<'a' b`, `bbbsssbb`},
		{`'open`, `sssss`},
		{`"open`, `ddddd`},
		{`\`, `\`},
		{`$`, `b`},
	} {
		var got strings.Builder
		for _, b := range scanShell(tt.line) {
			c := "bdsachr"[b.quoting()]
			switch {
			case b&escapedByte != 0:
				c = '\\'
			case b&insideOfList != 0:
				c -= 'a' - 'A'
			}
			got.WriteByte(c)
		}
		if want := tt.want; len(want) != len(tt.line) {
			t.Errorf("%q: the table has %d labels for %d bytes: got %s", tt.line, len(want), len(tt.line), got.String())
		} else if got.String() != want {
			t.Errorf("%q\n got %s\nwant %s", tt.line, got.String(), want)
		}
	}
}

func FuzzScanShell(f *testing.F) {
	for _, line := range []string{"a \"$(b `c` 'd')\" <<E\nx\nE\n", "${a:-\"b\"} $'c' # d", "$((1<<2))", "<<-\n)}`\"'\\"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if got := len(scanShell(line)); got != len(line) {
			t.Fatalf("%d labels for %d bytes", got, len(line))
		}
		if got := len(scanPowershell(line)); got != len(line) {
			t.Fatalf("PowerShell: %d labels for %d bytes", got, len(line))
		}
		resultStatus(line, dialectOf("bash"), nil)
	})
}

// Names that would reach programs as settings are not exported (spec P-9).
func TestExportable(t *testing.T) {
	exported := exportable([]string{"TAKEN=1", "odd"})
	for name, want := range map[string]bool{
		"file": true, "FILE": true, "issue_number": true, "GOAL": true, "TERMS": true, "lesson": true, "BRANCH": true,
		"PATH": false, "LD_PRELOAD": false, "BASH_ENV": false, "ENV": false, "IFS": false, "GIT_SSH_COMMAND": false,
		"NODE_OPTIONS": false, "PYTHONPATH": false, "http_proxy": false, "npm_config_script_shell": false, "PAGER": false,
		"CLAUDE_SKILL_DIR": false, "KNACK_ARGUMENT_0": false, "ARGUMENTS": false, "CLASSPATH": false, "MAKEFLAGS": false,
		"TAKEN": false, "two-part": false, "1st": false, "": false, "a.b": false,
	} {
		if got := exported(name); got != want {
			t.Errorf("exportable(%q) = %v, want %v", name, got, want)
		}
	}
}

// Messages are for people: what, where, why, and what to do.
func TestErrorTexts(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&DeniedError{Line: "git push", Source: 3, Permission: Permission{Decision: "deny", Rule: "Bash(git push:*)"}},
			"inline command on line 3 is not allowed: git push\ndenied by rule Bash(git push:*)\nnothing was run"},
		{&DeniedError{Line: "make", Source: 3, Permission: Permission{Decision: "ask", Reason: "no rule allows make"}},
			"inline command on line 3 is not allowed: make\nneeds approval: no rule allows make\nnobody can be asked here: " +
				"allow it with a Bash(…) rule in the skill's allowed-tools or in the settings\nnothing was run"},
		{&DeniedError{Line: "ls", Source: 3, Permission: Permission{Decision: "ask", Rule: "Bash(ls)", Reason: "needs approval by Bash(ls) in s.json"}},
			"inline command on line 3 is not allowed: ls\nneeds approval by Bash(ls) in s.json\nnobody can be asked here: " +
				"remove that rule, or start the skill where somebody can answer\nnothing was run"},
		{&DeniedError{Line: "ls", Source: 3, Permission: Permission{Decision: "deny", Rule: "Bash(ls)", Reason: "policy"}},
			"inline command on line 3 is not allowed: ls\ndenied by rule Bash(ls): policy\nnothing was run"},
		{&DeniedError{Line: "a\nb\nc", Source: 1}, "inline command on line 1 is not allowed: a … (2 more lines)\nnothing was run"},
		{&CommandError{Line: "x", Source: 2, ExitCode: 127, Stderr: "x: not there\n"},
			"inline command on line 2 failed with exit code 127: command not found: x\n[stderr]\nx: not there\n" +
				"install the program, or correct its name or PATH"},
		{&CommandError{Line: "x", Source: 2, ExitCode: 137, TimedOut: true, Timeout: 2 * time.Minute},
			"inline command on line 2 timed out after 2m0s and was killed: x\nmake it faster, or let the model run it"},
		{&CommandError{Line: "x", Source: 2, ExitCode: 143},
			"inline command on line 2 failed with exit code 143: killed by signal 15: x\n" +
				`correct it, or add "|| true" if its failure does not matter`},
		{&CommandError{Line: strings.Repeat("é", 400), Source: 2, ExitCode: 2},
			"inline command on line 2 failed with exit code 2: " + strings.Repeat("é", 300) + "…\n" +
				`correct it, or add "|| true" if its failure does not matter`},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got\n%s\nwant\n%s", got, tt.want)
		}
	}
}
