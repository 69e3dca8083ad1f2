package permission

import "testing"

// A rule about a builtin does not cover names that are only known when the
// line runs, because the shell evaluates their subscripts (spec P-9, S-7).
func TestUnknownNamesNeedTheWholeLine(t *testing.T) {
	lists := []string{"allow Bash(test:*)", "allow Bash([:*)", "allow Bash(printf:*)", "allow Bash(read:*)", "allow Bash(unset:*)", "allow Bash(wait:*)"}
	for _, tt := range []bashTest{
		{line: `test -v "$0"`, want: Ask},
		{line: `[ -v "$0" ]`, want: Ask},
		{line: `[ $0 ]`, want: Ask}, // may become several words, the first of them -v
		{line: `printf -v "$0" x`, want: Ask},
		{line: `printf "$0" "$1"`, want: Ask},
		{line: `read -r "$0"`, want: Ask},
		{line: `unset "$0"`, want: Ask},
		{line: `wait -p "$0"`, want: Ask},

		{line: `test -f "$0"`, want: Allow},
		{line: `[ "$0" = "$1" ]`, want: Allow},
		{line: `test -v name`, want: Allow},
		{line: `printf "%s\n" "$0"`, want: Allow},
		{line: `printf -v name %s "$0"`, want: Allow},
		{line: `printf "$0"`, want: Allow},
		{line: `read -r name`, want: Allow},
		{line: `wait $!`, want: Allow},
	} {
		checkBash(t, tt, lists...)
	}
	for _, line := range []string{`test -v "$0"`, `printf -v "$0" x`} {
		checkBash(t, bashTest{line: line, want: Allow}, "allow Bash("+line+")")
		checkBash(t, bashTest{line: line, want: Allow}, "allow Bash")
	}
}
