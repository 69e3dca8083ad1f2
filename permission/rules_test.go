package permission

import (
	"strings"
	"testing"
)

// rules builds lists from lines such as "deny Bash(rm:*)".
func rules(t testing.TB, lines ...string) Rules {
	t.Helper()
	var out Rules
	for _, l := range lines {
		which, text, _ := strings.Cut(l, " ")
		r, err := ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		r.From, r.Scope = "/home/u/.claude/settings.json", "user"
		switch which {
		case "deny":
			out.Deny = append(out.Deny, r)
		case "ask":
			out.Ask = append(out.Ask, r)
		case "allow":
			out.Allow = append(out.Allow, r)
		default:
			t.Fatalf("no list in %q", l)
		}
	}
	return out
}

func bashRequest(line string) Request {
	return Request{Tool: "Bash", Input: Input{Command: line}, WorkDir: "/w/p", Home: "/home/u"}
}
