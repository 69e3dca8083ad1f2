// Package audit keeps the audit log: one JSON line for each decision, command,
// invocation and hook (spec S-12). It decides nothing and asks nobody.
//
// [Log] writes it, for any number of goroutines and processes at once. [Read],
// [Last] and [Follow] read it, in constant memory; a damaged line is a value
// with its number, and never hides the others. The package removes nothing and
// rotates nothing: a file that somebody else has moved away is written and
// followed under its name again (docs/design/018-audit-log.md).
package audit

import (
	"encoding/json"
	"time"
)

// A Kind says what a record is about.
type Kind string

// The kinds.
const (
	Decision   Kind = "decision"   // whether a call, a command or a skill was let through
	Command    Kind = "command"    // a command that ran: inline, or of the tool Bash
	Invocation Kind = "invocation" // a skill that was invoked, or could not be (spec I-13)
	Hook       Kind = "hook"       // a hook that ran, or was held back
)

// A Record is one line of the log (spec S-12). What a kind has no use for is
// left out.
type Record struct {
	Time      time.Time `json:"time"` // filled in when it is zero
	SessionID string    `json:"session_id"`
	AgentID   string    `json:"agent_id,omitempty"`
	Kind      Kind      `json:"kind"`
	Tool      string    `json:"tool,omitempty"`
	Skill     string    `json:"skill,omitempty"`      // catalog id
	SkillHash string    `json:"skill_hash,omitempty"` // spec S-14
	Rule      string    `json:"rule,omitempty"`       // the rule that decided, as it is written
	Source    string    `json:"source,omitempty"`     // where the rule, the skill or the hook comes from
	// Outcome is allow, ask, deny, approved or declined for a decision; ok,
	// error, timeout or blocked for what ran.
	Outcome string `json:"outcome"`
	// Detail depends on the kind: the command, the reason, exit status, tokens,
	// duration in milliseconds.
	Detail json.RawMessage `json:"detail,omitempty"`
}

// A Sink takes records. Write is safe for concurrent use, and does not wait
// for anything but the disk. Its error means that the record is lost.
type Sink interface {
	Write(Record) error
}
