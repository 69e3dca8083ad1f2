// Package turn holds what passes between a host and its model within one turn:
// messages and the settings that hold until the turn ends. Everything here is a
// plain value, so an override cannot outlive the turn it was made for (spec I-6).
package turn

import "slices"

// A Role says whose message it is.
type Role string

// The roles of the conversation.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// A Message is one entry of a conversation. Meta messages are meant for the
// model and hidden from the person by default (spec I-5).
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text"`
	Meta bool   `json:"meta"`
}

// An Override changes a turn's settings until the turn ends (spec I-5). The
// zero value changes nothing.
type Override struct {
	AllowedTools    []string // rules that are allowed without asking
	DisallowedTools []string // rules that are refused
	Model           string   // empty keeps the model
	Effort          string   // empty keeps the effort
}

// And returns o followed by later: grants and refusals add up, the later model
// and effort win. Neither operand is changed.
func (o Override) And(later Override) Override {
	o.AllowedTools = slices.Concat(o.AllowedTools, later.AllowedTools)
	o.DisallowedTools = slices.Concat(o.DisallowedTools, later.DisallowedTools)
	if later.Model != "" {
		o.Model = later.Model
	}
	if later.Effort != "" {
		o.Effort = later.Effort
	}
	return o
}
