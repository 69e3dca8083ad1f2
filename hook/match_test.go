package hook

import (
	"regexp"
	"strings"
	"testing"
)

// TestMatches is the table of H-3.
func TestMatches(t *testing.T) {
	tool := func(name string) Input { return Input{ToolName: name} }
	for _, tt := range []struct {
		event   Event
		matcher string
		in      Input
		want    bool
	}{
		{PreToolUse, "", tool("Bash"), true},
		{PreToolUse, "*", tool("Bash"), true},
		{PreToolUse, " * ", tool("Bash"), true},
		{PreToolUse, "Bash", tool("Bash"), true},
		{PreToolUse, "Bash", tool("BashOutput"), false},
		{PreToolUse, "bash", tool("Bash"), false},
		{PreToolUse, "Edit|Write", tool("Write"), true},
		{PreToolUse, "Edit, Write", tool("Write"), true},
		{PreToolUse, "Edit|Write", tool("NotebookEdit"), false},
		{PreToolUse, "|", tool("Bash"), false},
		{PreToolUse, "|", tool(""), false},
		{PreToolUse, "Edit.*", tool("NotebookEdit"), true}, // unanchored
		{PreToolUse, "^Edit.*", tool("NotebookEdit"), false},
		{PreToolUse, "mcp__memory__.*", tool("mcp__memory__add"), true},
		{PreToolUse, "mcp__memory", tool("mcp__memory__add"), false}, // an exact name
		{PreToolUse, "mcp__my-server__a", tool("mcp__my-server__a"), true},
		{PreToolUse, "a(", tool("a("), false}, // no regular expression
		{PreToolUse, "Bash(git *)", tool("Bash"), false},
		{PostToolUse, "Bash", tool("Bash"), true},
		{PostToolUseFailure, "Bash", tool("Read"), false},
		{PermissionRequest, "Bash", tool("Bash"), true},
		{SubagentStart, "Explore", Input{AgentType: "Explore"}, true},
		{SubagentStop, "Explore", Input{AgentType: "Plan", ToolName: "Explore"}, false},
		{SessionStart, "startup|resume", Input{Source: "resume"}, true},
		{SessionStart, "startup", Input{Source: "compact"}, false},
		{PreCompact, "auto", Input{Source: "manual"}, false},
		{ConfigChange, "skills", Input{Source: "skills"}, true},
		{SkillInvoked, "commit", Input{CommandName: "commit"}, true},
		{UserPromptExpansion, "commit", Input{CommandName: "other"}, false},
		{Stop, "anything", Input{}, true}, // has nothing to match
		{UserPromptSubmit, "anything", Input{Prompt: "x"}, true},
		{FileChanged, "*.go", Input{FilePath: "a.go"}, true},
		{FileChanged, "*.md", Input{FilePath: "a.go"}, false},
		{FileChanged, "*", Input{FilePath: "a.go"}, true},
	} {
		files := func(pattern, path string) bool { return strings.HasSuffix(path, strings.TrimPrefix(pattern, "*")) }
		if got := Matches(tt.event, tt.matcher, tt.in, files); got != tt.want {
			t.Errorf("%s: %q on %+v: %v", tt.event, tt.matcher, tt.in, got)
		}
	}
	if Matches(FileChanged, "*.go", Input{FilePath: "a.go"}, nil) {
		t.Error("a pattern matched without anybody to match it")
	}
}

// FuzzMatcher: a matcher that Decode keeps for a tool is a list of names or a
// regular expression, and one that it drops can never match.
func FuzzMatcher(f *testing.F) {
	for _, s := range []string{"", "*", "Bash", "Edit|Write", "a(", "Bash(*)", "mcp__.*", "[", "a, b", "\xff", "(?i)bash", "a{1000}"} {
		f.Add(s, "Bash")
	}
	f.Fuzz(func(t *testing.T, matcher, tool string) {
		config, faults := Decode(map[string]any{"PreToolUse": []any{map[string]any{"matcher": matcher, "command": "x"}}})
		in := Input{ToolName: tool}
		if len(config) == 0 {
			if len(faults) == 0 || Matches(PreToolUse, matcher, in, nil) {
				t.Errorf("%q was dropped: faults %v", matcher, faults)
			}
			return
		}
		kept := config[0].Matcher
		if !namesOnly(kept) && kept != "*" {
			if _, err := regexp.Compile(kept); err != nil {
				t.Errorf("%q was kept as %q: %v", matcher, kept, err)
			}
		}
		if Matches(PreToolUse, kept, in, nil) && namesOnly(kept) && kept != "" && !strings.Contains(kept, strings.TrimSpace(tool)) {
			t.Errorf("%q matches %q", kept, tool)
		}
	})
}

// TestForSkill: one event that cannot be leaves the others alone.
func TestForSkill(t *testing.T) {
	config, faults := Decode(tree(t, `{"SessionStart":[{"hooks":[{"command":"a"}]},{"hooks":[{"command":"b"}]}],"Stop":[{"hooks":[{"command":"c"}]}]}`))
	if len(config) != 3 || len(faults) != 0 {
		t.Fatalf("%+v, %v", config, faults)
	}
	config, faults = ForSkill(config)
	if len(config) != 1 || config[0].Event != Stop {
		t.Errorf("kept %+v", config)
	}
	if len(faults) != 1 || faults[0].Code != "hook-unavailable-event" || faults[0].Lint || faults[0].Where() != "SessionStart" ||
		!strings.Contains(faults[0].Message, "event not available for skill hooks") {
		t.Errorf("%+v", faults)
	}
}

// TestFiresFor: Stop of a skill or an agent is the end of a subagent too.
func TestFiresFor(t *testing.T) {
	for _, tt := range []struct {
		declared, at Event
		own, want    bool
	}{
		{Stop, Stop, false, true}, {Stop, SubagentStop, true, true}, {Stop, SubagentStop, false, false},
		{SubagentStop, Stop, true, false}, {PreToolUse, PostToolUse, true, false},
	} {
		if got := FiresFor(tt.declared, tt.at, tt.own); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}
