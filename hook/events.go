package hook

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// The events (spec H-2).
const (
	SessionStart        Event = "SessionStart"
	SessionEnd          Event = "SessionEnd"
	UserPromptSubmit    Event = "UserPromptSubmit"
	UserPromptExpansion Event = "UserPromptExpansion"
	PreToolUse          Event = "PreToolUse"
	PostToolUse         Event = "PostToolUse"
	PostToolUseFailure  Event = "PostToolUseFailure"
	PermissionRequest   Event = "PermissionRequest"
	SubagentStart       Event = "SubagentStart"
	SubagentStop        Event = "SubagentStop"
	Stop                Event = "Stop"
	PreCompact          Event = "PreCompact"
	PostCompact         Event = "PostCompact"
	ConfigChange        Event = "ConfigChange"
	FileChanged         Event = "FileChanged"
	CwdChanged          Event = "CwdChanged"
	Notification        Event = "Notification"
	SkillInvoked        Event = "SkillInvoked"
)

// events are the known ones with every accepted spelling.
var events = map[string]Event{
	"SessionStart":        SessionStart,
	"SessionEnd":          SessionEnd,
	"UserPromptSubmit":    UserPromptSubmit,
	"UserPromptExpansion": UserPromptExpansion,
	"PreToolUse":          PreToolUse,
	"PostToolUse":         PostToolUse,
	"PostToolUseFailure":  PostToolUseFailure,
	"PermissionRequest":   PermissionRequest,
	"SubagentStart":       SubagentStart,
	"SubagentStop":        SubagentStop,
	"Stop":                Stop,
	"PreCompact":          PreCompact,
	"PostCompact":         PostCompact,
	"ConfigChange":        ConfigChange,
	"FileChanged":         FileChanged,
	"onFileChange":        FileChanged,
	"CwdChanged":          CwdChanged,
	"Notification":        Notification,
	"SkillInvoked":        SkillInvoked,
}

// Events returns the known events, sorted by name.
func Events() []Event { return slices.Compact(slices.Sorted(maps.Values(events))) }

// plainEvents are the events by their names without case and punctuation.
var plainEvents = func() map[string]Event {
	m := make(map[string]Event, len(events))
	for _, e := range events {
		m[plainName(string(e))] = e
	}
	return m
}()

// plainName is a name without case and punctuation.
func plainName(s string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, s))
}

// eventNames is a list of all events for messages.
var eventNames = func() string {
	var names []string
	for _, e := range Events() {
		names = append(names, string(e))
	}
	return strings.Join(names, ", ")
}()

// The types of handlers (spec H-4).
const (
	Command = "command"
	HTTP    = "http"
	Prompt  = "prompt"
	Agent   = "agent"
	MCPTool = "mcp_tool"
)

// defaultTimeouts by handler type (spec H-4).
var defaultTimeouts = map[string]time.Duration{
	Command: 600 * time.Second,
	HTTP:    600 * time.Second,
	Prompt:  30 * time.Second,
	Agent:   60 * time.Second,
	MCPTool: 600 * time.Second,
}

// Limit returns how long h may run: its Timeout, or the default of its type.
func (h Handler) Limit() time.Duration {
	if h.Timeout > 0 {
		return h.Timeout
	}
	return defaultTimeouts[h.Type]
}
