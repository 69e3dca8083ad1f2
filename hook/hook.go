// Package hook defines lifecycle hooks: what may be declared in frontmatter or
// settings (spec H-1 to H-4). It runs nothing and reads no file: callers hand
// over a neutral tree, so that YAML and JSON declarations obey one decoder.
//
// Values are immutable after [Decode] and safe to share.
package hook

import "time"

// An Event names a point in the agent's life at which hooks run (spec H-2).
type Event string

// A Config is the hooks section of a SKILL.md or a settings file, in the order
// in which it was written.
type Config []Group

// A Group is one matcher of one event with its handlers.
type Group struct {
	Event    Event
	Matcher  string // empty or "*" matches everything (spec H-3)
	Handlers []Handler
}

// A Handler is one hook action (spec H-4). Only the fields of its Type are set.
type Handler struct {
	Type          string            // command, http, prompt, agent or mcp_tool
	Command       string            // command: shell form
	Args          []string          // command: exec form
	URL           string            // http
	Headers       map[string]string // http
	AllowedEnv    []string          // http: names that may expand in Headers
	Prompt        string            // prompt and agent
	Model         string            // prompt and agent; empty means the small default
	Server        string            // mcp_tool
	Tool          string            // mcp_tool
	Input         map[string]any    // mcp_tool
	If            string            // a permission rule that must cover the call as well
	Shell         string            // interpreter of Command; empty means bash
	Timeout       time.Duration     // zero means the default of the type
	Once          bool              // remove after the first success
	Async         bool              // run in the background without a say
	StatusMessage string
}
