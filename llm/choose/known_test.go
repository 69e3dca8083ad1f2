package choose

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
)

// TestAliasesAreKnown: what an alias and the default mean are ids that the
// official SDK has a name for.
func TestAliasesAreKnown(t *testing.T) { // spec F-3, A-2
	known := []string{anthropic.ModelClaudeSonnet5_5, anthropic.ModelClaudeOpus5_5, anthropic.ModelClaudeHaiku5_5, anthropic.ModelClaudeFable5_2}
	for name, id := range maps.All(aliases) {
		if id, ok := strings.CutPrefix(id, "anthropic/"); !ok || !slices.Contains(known, id) {
			t.Errorf("%s means %s", name, id)
		}
	}
	for _, d := range defaults {
		if d.provider == Anthropic && !slices.Contains(known, d.id) {
			t.Errorf("the default is %s", d.id)
		}
	}
}
