package permission

// Covers reports whether a rule, as it is written, speaks of a call or of any
// part of a shell line, for the "if" of hooks (spec H-3). A line that nobody can
// read may hold anything, so a rule about its tool covers it.
func Covers(rule string, call Request) bool {
	r, err := ParseRule(rule)
	if err != nil {
		return false
	}
	r.Scope = "hook"
	if (Rules{Deny: []Rule{r}}).Decide(call).Verdict == Deny {
		return true
	}
	return call.Input.Command != "" && r.Tool == call.Tool && !Readable(call.Input.Command)
}
