package permission

import "testing"

// A directory with blanks is one word of a rule, as it is one of a command
// (spec P-7, P-10), however either quotes it.
func TestQuotedWordsInRules(t *testing.T) {
	for _, tt := range []struct {
		rule, line string
		want       Verdict
	}{
		{`Bash(touch '/a b'/*)`, `touch '/a b'/x`, Allow},
		{`Bash(touch '/a b'/*)`, `touch "/a b/x"`, Allow},
		{`Bash(touch '/a b'/*)`, `touch /a\ b/x`, Allow},
		{`Bash(touch "/a b/"*)`, `touch '/a b/x' '/a b/y z'`, Allow},
		{`Bash(touch '/a b'/*)`, `touch /a b/x`, Ask}, // two words
		{`Bash(touch '/a b'/*)`, `touch '/a b/../x'`, Ask},
		{`Bash(touch '/a b'/*)`, `touch '/a c'/x`, Ask},
		{`Bash(touch '/a*b'/*)`, `touch /axb/x`, Ask}, // no pattern in quotes
		{`Bash(touch /a b/*)`, `touch '/a b/x'`, Ask},
		{`Bash('/a b'/run.sh:*)`, `"/a b/run.sh" one two`, Allow},
		{`Bash('/a b'/run.sh)`, `"/a b/run.sh" one`, Ask},
		{`Bash(bash '/it'\''s'/run.sh *)`, `bash "/it's/run.sh" "$0"`, Allow},
	} {
		checkBash(t, bashTest{line: tt.line, want: tt.want}, "allow "+tt.rule)
	}
	checkBash(t, bashTest{line: `touch "/a b/x"`, want: Deny}, `deny Bash(touch '/a b'/*)`, "allow Bash(touch:*)")
}
