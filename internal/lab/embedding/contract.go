package embedding

import (
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/llm"
)

// Contract runs all of it.
func Contract(t *testing.T, x Example) {
	for name, test := range map[string]func(*testing.T, Example){
		"Listing": listed, "Call": called, "Several": several, "Refused": refused, "Search": searched,
		"Typed": typed, "Unknown": unknown, "Fork": forked,
	} {
		t.Run(name, func(t *testing.T) { test(t, x) })
	}
}

// contains checks that each text has the piece at its place; a piece may be
// empty.
func contains(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d texts, want %d: %q", len(got), len(want), got)
	}
	for i, w := range want {
		if !strings.Contains(got[i], w) {
			t.Errorf("text %d is %q, want %q in it", i, got[i], w)
		}
	}
}

// listed: the model has both tools, and is told of the skills once, before the
// person's first message.
func listed(t *testing.T, x Example) {
	k := x.Run(t, []string{"hello", "thanks"}, Say("Hello!"), Say("Bye."))
	for _, name := range []string{"Skill", "SkillSearch"} {
		if !slices.Contains(k.Tools, name) {
			t.Errorf("the tools are %q", k.Tools)
		}
	}
	contains(t, texts(k.After(t, 0)), "- release-notes: Writes release notes.", "hello")
	if listing := k.Requests[0][0].Text; strings.Contains(listing, "deploy") {
		t.Errorf("a skill for people alone is listed: %s", listing)
	}
	contains(t, texts(k.After(t, 1)), "Hello!", "thanks")
	if !strings.Contains(k.Out, "Hello!") || !strings.Contains(k.Out, "Bye.") {
		t.Errorf("the person saw %q", k.Out)
	}
}

// called: the result of the tool is short; what the skill says follows it, and
// so does what it changes.
func called(t *testing.T, x Example) {
	k := x.Run(t, []string{"write the notes for 2.0"},
		Use("Skill", `{"skill": "release-notes", "args": "2.0"}`), Say("Done."))
	blocks := slices.DeleteFunc(k.After(t, 1), func(b llm.Block) bool { return b.Type == llm.ToolUse })
	if len(blocks) == 0 || blocks[0].Type != llm.ToolResult {
		t.Fatalf("the result is not first: %+v", blocks)
	}
	contains(t, texts(blocks), "Launching skill: release-notes", "<command-name>/release-notes</command-name>",
		"Write the notes of version 2.0. Read notes.txt.", "allowed without asking: Read")
}

// several: the results of one answer stand together, and what follows from them
// behind all.
func several(t *testing.T, x Example) {
	k := x.Run(t, []string{"tidy, then write the notes"},
		Use("Skill", `{"skill": "tidy", "args": "a.go"}`, "Skill", `{"skill": "release-notes", "args": "2.0"}`), Say("Done."))
	contains(t, texts(k.After(t, 1)), "Launching skill: tidy", "Launching skill: release-notes",
		"/tidy", "Tidy a.go, and nothing else.", "/release-notes", "Write the notes of version 2.0.", "allowed without asking")
}

// refused: each mistake of a model has an answer in words, and nothing more.
func refused(t *testing.T, x Example) {
	for _, tt := range []struct{ tool, input, want string }{
		{"Skill", `{"skill": "tidi"}`, "tidy"},
		{"Skill", `{"skill": "deploy"}`, "only the person can run it"},
		{"Skill", `{"name": "tidy"}`, `unknown key "name"`},
		{"Skill", `{"skill": "audit", "args": "a.go"}`, "subagent"},
		{"Nothing", `{}`, `There is no tool "Nothing".`},
	} {
		if x.Forks && strings.Contains(tt.input, "audit") {
			continue
		}
		k := x.Run(t, []string{"go"}, Use(tt.tool, tt.input), Say("I see."))
		contains(t, texts(k.After(t, 1)), tt.want)
	}
}

// searched: the second tool finds skills by words.
func searched(t *testing.T, x Example) {
	k := x.Run(t, []string{"go"}, Use("SkillSearch", `{"query": "release notes"}`), Say("Found."))
	contains(t, texts(k.After(t, 1)), "- release-notes: ")
}

// typed: a person calls a skill by its name, and the model begins with it.
func typed(t *testing.T, x Example) {
	k := x.Run(t, []string{"/release-notes 2.0", "/tidy /release-notes x", "/var/log is full"},
		Say("Written."), Say("Both."), Say("A path."))
	contains(t, texts(k.After(t, 0)), "- release-notes", "<command-args>2.0</command-args>",
		"Write the notes of version 2.0.", "allowed without asking: Read")
	contains(t, texts(k.After(t, 1)), "Written.", "/tidy", "Tidy x", "/release-notes", "version x", "allowed without asking")
	contains(t, texts(k.After(t, 2)), "Both.", "/var/log is full")
}

// unknown: a mistyped name goes to no model.
func unknown(t *testing.T, x Example) {
	k := x.Run(t, []string{"/relaese-notes 2.0"})
	if !strings.Contains(k.Out, "no skill relaese-notes") {
		t.Errorf("the person saw %q", k.Out)
	}
}

// forked: a skill with context: fork runs beside the conversation, or is refused
// in words.
func forked(t *testing.T, x Example) {
	if !x.Forks {
		k := x.Run(t, []string{"/audit a.go"})
		if !strings.Contains(k.Out, "subagent") {
			t.Errorf("the person saw %q", k.Out)
		}
		return
	}
	k := x.Run(t, []string{"/audit a.go", "audit b.go"},
		Say("Typed: clean."), Use("Skill", `{"skill": "audit", "args": "b.go"}`), Say("Called: clean."), Say("All is well."))
	contains(t, texts(k.Requests[0]), "- tidy", "Audit a.go.")
	contains(t, texts(k.Requests[1]), "- tidy", "audit b.go")
	contains(t, texts(k.Requests[2]), "- tidy", "Audit b.go.")
	last := texts(k.Requests[3])
	contains(t, last[len(last)-1:], "Called: clean.")
	if !strings.Contains(k.Out, "Typed: clean.") || !strings.Contains(k.Out, "All is well.") {
		t.Errorf("the person saw %q", k.Out)
	}
}
