package hook

import "encoding/json"

// An Input is what a hook is told, as JSON on its standard input (spec H-5).
// Fields that an event has no use for are empty and left out.
type Input struct {
	SessionID      string `json:"session_id"`
	TranscriptPath string `json:"transcript_path,omitempty"`
	CWD            string `json:"cwd"`
	PermissionMode string `json:"permission_mode,omitempty"`
	Event          Event  `json:"hook_event_name"`
	AgentID        string `json:"agent_id,omitempty"`
	AgentType      string `json:"agent_type,omitempty"`

	ToolName     string          `json:"tool_name,omitempty"`
	ToolInput    json.RawMessage `json:"tool_input,omitempty"`
	ToolResponse json.RawMessage `json:"tool_response,omitempty"` // PostToolUse: {"text": …}; PostToolUseFailure: {"error": …}
	ToolUseID    string          `json:"tool_use_id,omitempty"`

	Prompt      string `json:"prompt,omitempty"`       // UserPromptSubmit, UserPromptExpansion; what a subagent began with
	CommandName string `json:"command_name,omitempty"` // UserPromptExpansion, SkillInvoked: the skill's id
	CommandArgs string `json:"command_args,omitempty"`
	SkillPath   string `json:"skill_path,omitempty"`   // SKILL.md of a skill that is called; empty if it has none
	SkillSource string `json:"skill_source,omitempty"` // bundled, user, project, …
	By          string `json:"by,omitempty"`           // SkillInvoked: user, model, …

	// Source says what set the event off. SessionStart: startup, resume or
	// compact. SessionEnd: why. PreCompact and PostCompact: manual or auto.
	// ConfigChange: user_settings, project_settings, local_settings,
	// policy_settings or skills.
	Source   string `json:"source,omitempty"`
	FilePath string `json:"file_path,omitempty"` // FileChanged, ConfigChange
	OldCWD   string `json:"old_cwd,omitempty"`   // CwdChanged
	Message  string `json:"message,omitempty"`   // Notification; Stop and SubagentStop: the last answer
	// StopHookActive says that the agent goes on already because a Stop hook
	// blocked, so that a hook can end what would be endless.
	StopHookActive bool `json:"stop_hook_active,omitempty"`

	// Covers reports whether a permission rule covers the call, for "if" (spec
	// H-3); nil covers nothing.
	Covers func(rule string) bool `json:"-"`
}

// An Opinion is what hooks say of a tool call, weakest first: of several the
// strongest counts (spec H-7).
type Opinion int

// The opinions.
const (
	NoOpinion Opinion = iota
	Allow
	Ask
	Deny
)

// An Outcome is what all hooks of one event said together (spec H-6, H-7). The
// zero Outcome says nothing.
type Outcome struct {
	Opinion Opinion // on a tool call; Deny also when a hook blocked
	Block   bool    // exit status 2, or decision "block"
	Reason  string  // for Opinion and Block, with the name of the hook's owner
	// Stop ends the agent's work after this event (continue: false).
	Stop       bool
	StopReason string
	// UpdatedInput replaces the tool's input; nil leaves it.
	UpdatedInput json.RawMessage
	// Context is for the model, each text capped and unable to open or close a
	// reminder tag (spec H-6).
	Context []string
	// Notices are for the person: system messages, and hooks that failed.
	Notices []string
}
