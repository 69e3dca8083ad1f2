package approval

import (
	"encoding/json"
	"reflect"

	"github.com/knack-skills/knack/skill"
)

// termsOf hashes everything that the frontmatter says about how a skill runs. A
// property that is added later is part of it by itself, and changes nothing for
// skills that do not set it.
func termsOf(run skill.Run) string {
	set := map[string]any{}
	for f, value := range reflect.ValueOf(run).Fields() {
		if !value.IsZero() {
			set[f.Name] = value.Interface()
		}
	}
	text, err := json.Marshal(set)
	if err != nil {
		return "" // a record has to have terms, so nothing is bound to this
	}
	return sum(text)
}
