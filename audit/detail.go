package audit

import (
	"bytes"
	"time"
)

// With returns r with v, encoded as JSON, as its detail: one of the types below,
// or what else a kind needs.
func (r Record) With(v any) Record {
	out, err := marshal(v)
	if err != nil {
		out = quote(err.Error()) // a record without its detail is better than none
	}
	r.Detail = bytes.TrimSpace(out)
	return r
}

// A Decided is the detail of a [Decision].
type Decided struct {
	Subject string `json:"subject,omitempty"` // what the call is about: a command, a path, an address
	Reason  string `json:"reason,omitempty"`
}

// A Ran is the detail of a [Command].
type Ran struct {
	Command    string `json:"command"`
	DurationMS int64  `json:"duration_ms"`
	Exit       int    `json:"exit,omitempty"` // zero also where nobody can tell
	Error      string `json:"error,omitempty"`
}

// An Invoked is the detail of an [Invocation] (spec I-13).
type Invoked struct {
	By   string `json:"by"`
	Name string `json:"name,omitempty"` // as it was called, where that is not the id
	Mode string `json:"mode,omitempty"` // inline or fork; empty when it did not come to that
	// DurationMS is how long it took, with inline commands, questions and, for a
	// fork, everything that the subagent did.
	DurationMS int64 `json:"duration_ms"`
	// Tokens are those of the text that joined the conversation, estimated; of
	// a fork those that its model calls took.
	Tokens int    `json:"tokens,omitempty"`
	Error  string `json:"error,omitempty"`
}

// MS is a duration as details state it.
func MS(d time.Duration) int64 { return d.Milliseconds() }
