package settings

import (
	"encoding/json"
	"reflect"
	"slices"
)

// A Policy is one restriction that is in force, and who says so.
type Policy struct {
	Key   string
	Value string // JSON
	Level Level
	File  string // where it stands
}

// Policies returns what of the merged values restricts skills, people or
// projects, in the order of the keys (spec S-11): what only an administrator may
// say, and what makes things stricter whoever says it. Rules are not among them;
// see [Settings.Rules].
func (s *Settings) Policies() []Policy {
	var out []Policy
	v := reflect.ValueOf(&s.Values).Elem()
	for i, key := range names(v.Type()) {
		if !slices.Contains(restricting, key) || v.Field(i).IsZero() {
			continue
		}
		value, err := json.Marshal(v.Field(i).Interface())
		if err != nil {
			continue // what was decoded can be encoded
		}
		out = append(out, Policy{Key: key, Value: string(value), Level: s.levelOf(key), File: s.From(key)})
	}
	return out
}
