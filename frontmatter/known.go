package frontmatter

import (
	"slices"
	"strings"
)

// A KnownField describes one field for people. The reference page is made of
// it, so that the page and the reader cannot disagree on what exists.
type KnownField struct {
	Name      string   // canonical spelling
	Spellings []string // all that are accepted, the canonical one first
	Value     string   // what it takes
	Default   string   // what holds without it; empty means nothing
	Meaning   string   // what it does
	// Security fields restrict or grant: one that cannot be read hides the
	// skill from models (spec F-3).
	Security bool
}

// KnownFields lists every field that the program knows, in the order of the
// table of spec chapter 1. Callers own the result.
func KnownFields() []KnownField {
	out := make([]KnownField, 0, len(table))
	for _, f := range table {
		m := meanings[f.name]
		kebab := strings.ReplaceAll(f.name, "_", "-")
		k := KnownField{Name: f.name, Spellings: []string{f.name}, Value: m.value, Default: m.unset, Meaning: m.meaning, Security: f.security}
		for _, s := range []string{kebab, strings.ReplaceAll(kebab, "-", "_"), camel(kebab)} {
			if !slices.Contains(k.Spellings, s) {
				k.Spellings = append(k.Spellings, s)
			}
		}
		out = append(out, k)
	}
	return out
}

type meaning struct{ value, unset, meaning string }

const later = " Kept and shown; nothing uses it in this release."

// meanings says of each field in table what people need to know.
var meanings = map[string]meaning{
	"name":                     {"text", "the directory's name", "Display name. A skill is called by its directory; the display name also works while no other skill owns it. Ignored in command files."},
	"description":              {"text", "first paragraph of the body, else its first heading", "What a model reads when it chooses a skill. The first 250 characters count."},
	"when_to_use":              {"text", "", "Appended to the description in the listing, so it is the first thing that is cut."},
	"argument-hint":            {"text, taken from the source", "", "Shown to people in menus. It also tells that numbered placeholders are meant as arguments."},
	"arguments":                {"list, or names separated by blanks or commas", "", "Names for `$name` placeholders, in the order of the arguments."},
	"allowed-tools":            {"list, or rules separated by commas or blanks", "", "Permission rules that hold as allow rules while the skill's turn lasts. They never lift a deny or an ask."},
	"disallowed-tools":         {"as allowed-tools", "", "Tools that are taken away while the skill is active."},
	"model":                    {"model id or alias, or `inherit`", "inherit", "Model for the skill's turn. Reported to the host; the offline model has no other to change to."},
	"effort":                   {"`low`, `medium`, `high`, `xhigh`, `max`, `quick` (= low), `standard` (= medium), or a number of thinking tokens", "inherit", "Effort for the skill's turn, also `${CLAUDE_EFFORT}`."},
	"context":                  {"`inline` or `fork`", "inline", "Where the text goes: into the conversation, or to a subagent of its own."},
	"agent":                    {"agent type", "general-purpose", "Type of the subagent of a fork."},
	"background":               {"true or false", "false", "A fork whose result is not waited for; passed on to the host."},
	"paths":                    {"list, or gitignore patterns separated by commas; braces expand", "no condition", "The skill is offered to models only after a matching file was touched. Ignored in command files."},
	"user-invocable":           {"true or false", "true", "false: `/name` refuses, and menus leave it out."},
	"disable-model-invocation": {"true or false", "false", "true: models are not told of it and cannot start it."},
	"hooks":                    {"map of events", "", "Hooks to register when the skill is invoked."},
	"shell":                    {"`bash` or `powershell`", "bash", "Interpreter of inline commands."},
	"version":                  {"text", "", "Version of the skill." + later},
	"license":                  {"text", "", "Kept and shown."},
	"compatibility":            {"text", "", "Kept and shown."},
	"metadata":                 {"map", "", "Kept and shown."},
	"requires":                 {"list", "", "Other skills that this one needs. A model then needs approval to start it. Missing ones, and rings, are problems."},
	"composes":                 {"list or map", "", "Other skills that this one is made of." + later},
	"output_schema":            {"JSON Schema", "", "Shape of the result." + later},
	"max_attempts":             {"number", "", "How often a result may be tried again." + later},
}
