package permission

import (
	"reflect"

	"github.com/knack-skills/knack/skill"
)

// safeProperties lists what a skill may set without needing approval (spec
// S-4), by struct and field. A field that is not here is unsafe as soon as it
// is not zero: somebody must think about it first.
var safeProperties = map[string]bool{
	"Trigger.HiddenFromUser":  true,
	"Trigger.HiddenFromModel": true,
	"Trigger.Conditional":     true,
	"Trigger.Paths":           true,
	"Trigger.Enabled":         true, // code of the program itself, never of a file
	"Run.Mode":                true,
	"Run.Agent":               true,
	"Run.Model":               true,
	"Run.Effort":              true,
	"Run.Background":          true,
	"Run.DisallowedTools":     true, // takes away, gives nothing
}

// safeValues lists values of other fields that change nothing.
var safeValues = map[string]string{
	"Run.Shell": "bash",
}

// frontmatterNames spells the unsafe fields as authors do.
var frontmatterNames = map[string]string{
	"Run.AllowedTools": "allowed-tools",
	"Run.Shell":        "shell",
	"Run.Hooks":        "hooks",
	"Run.Requires":     "requires",
}

// UnsafeProperties returns the names of the properties of s that keep it from
// being allowed without asking (spec S-4), in the spelling of frontmatter. A
// property that nobody listed as safe is unsafe.
//
// Inline commands are text, not a property: the caller decides each of them
// with the rules in force, without the skill's own grants.
func UnsafeProperties(s *skill.Skill) []string {
	return append(unsafeFields("Trigger", s.Trigger), unsafeFields("Run", s.Run)...)
}

func unsafeFields(name string, v any) []string {
	var out []string
	for f, value := range reflect.ValueOf(v).Fields() {
		key := name + "." + f.Name
		if safeProperties[key] || value.IsZero() {
			continue
		}
		if value.Kind() == reflect.String && value.String() == safeValues[key] {
			continue
		}
		if value.Kind() == reflect.Slice && value.Len() == 0 {
			continue // "allowed-tools: []" grants nothing
		}
		if known, ok := frontmatterNames[key]; ok {
			key = known
		}
		out = append(out, key)
	}
	return out
}
