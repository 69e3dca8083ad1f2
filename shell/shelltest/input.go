package shelltest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/knack-skills/knack/shell"
)

// input: all of it arrives, and a command that does not read it, or only some,
// ends as it would without.
func input(t *testing.T, r shell.Runner) {
	large := []byte(strings.Repeat("0123456789abcdef", 1<<17)) // 2 MiB: no pipe holds that
	for line, want := range map[string]string{
		"cat":                           "{\"a\":\"é\"}\n\x00\xff",
		"cat; cat; echo end":            "{\"a\":\"é\"}\n\x00\xffend\n",
		"read -r first; echo $first":    "{\"a\":\"é\"}\n",
		"test -t 0 || echo none":        "none\n",
		"(: </dev/tty) 2>&- || echo no": "no\n",
	} {
		out := must(t, r, shell.Command{Line: line, Stdin: []byte("{\"a\":\"é\"}\n\x00\xff")})
		if got := string(out.Stdout); got != want || out.Exit != 0 {
			t.Errorf("%q printed %q, want %q (exit %d)", line, got, want, out.Exit)
		}
	}
	for line, want := range map[string]string{
		"wc -c | tr -d ' '":     fmt.Sprintln(len(large)),
		"echo unread":           "unread\n",
		"head -c 4; echo":       "0123\n",
		"exec <&-; echo closed": "closed\n",
		"sleep 300 & echo held": "held\n", // the child has the input open
	} {
		out := must(t, r, shell.Command{Line: line, Stdin: large, Timeout: patience})
		if got := string(out.Stdout); got != want || out.Exit != 0 || out.TimedOut {
			t.Errorf("%q printed %q, want %q (exit %d, timed out %v)", line, got, want, out.Exit, out.TimedOut)
		}
	}
	l := newLifeline(t, r)
	out := must(t, r, shell.Command{Line: `exec 3>"$0"; sleep 300`, Args: []string{l.path}, Stdin: large, Timeout: 300 * time.Millisecond})
	if !out.TimedOut {
		t.Errorf("an unread input and a command that hangs: exit %d", out.Exit)
	}
	l.ended(t)
}
