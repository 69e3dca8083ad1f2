package settings

import (
	"slices"
	"testing"
)

// TestKeys: each key of the schema is described, and nothing else is.
func TestKeys(t *testing.T) {
	var all []string
	for _, k := range Keys() {
		all = append(all, k.Name)
		if k.Meaning == "" || k.Type == "" || k.Who == "" {
			t.Errorf("%s: incomplete %+v", k.Name, k)
		}
	}
	for key := range keyMeanings {
		if !slices.Contains(all, key) {
			t.Errorf("%s is described and does not exist", key)
		}
	}
	for _, key := range notYet {
		if !slices.Contains(all, key) {
			t.Errorf("%s is no key", key)
		}
	}
}
