package turn_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/turn"
)

func TestAnd(t *testing.T) { // spec I-6
	first := turn.Override{AllowedTools: []string{"Read"}, DisallowedTools: []string{"Write"}, Model: "opus", Effort: "high"}
	for _, tt := range []struct {
		name       string
		a, b, want turn.Override
	}{
		{"nothing", turn.Override{}, turn.Override{}, turn.Override{}},
		{"zero after", first, turn.Override{}, first},
		{"zero before", turn.Override{}, first, first},
		{"both", first, turn.Override{AllowedTools: []string{"Bash"}, DisallowedTools: []string{"WebFetch"}, Model: "sonnet", Effort: "low"},
			turn.Override{AllowedTools: []string{"Read", "Bash"}, DisallowedTools: []string{"Write", "WebFetch"}, Model: "sonnet", Effort: "low"}},
		{"model alone", first, turn.Override{Model: "sonnet"},
			turn.Override{AllowedTools: []string{"Read"}, DisallowedTools: []string{"Write"}, Model: "sonnet", Effort: "high"}},
		{"effort alone", first, turn.Override{Effort: "low"},
			turn.Override{AllowedTools: []string{"Read"}, DisallowedTools: []string{"Write"}, Model: "opus", Effort: "low"}},
	} {
		if d := cmp.Diff(tt.want, tt.a.And(tt.b)); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

// An override is a value: adding to one never shows in another, even when
// their lists have room to grow.
func TestAndCopies(t *testing.T) {
	list := append(make([]string, 0, 8), "Read")
	base := turn.Override{AllowedTools: list, DisallowedTools: list}
	a := base.And(turn.Override{AllowedTools: []string{"A"}, DisallowedTools: []string{"A"}})
	b := base.And(turn.Override{AllowedTools: []string{"B"}, DisallowedTools: []string{"B"}})
	alone := base.And(turn.Override{})
	alone.AllowedTools[0] = "changed"
	want := []string{"Read", "A"}
	if !cmp.Equal(a.AllowedTools, want) || !cmp.Equal(a.DisallowedTools, want) {
		t.Errorf("a = %+v", a)
	}
	if !cmp.Equal(b.AllowedTools, []string{"Read", "B"}) || !cmp.Equal(base.AllowedTools, []string{"Read"}) {
		t.Errorf("b = %+v, base = %+v", b, base)
	}
}

func TestMessageJSON(t *testing.T) { // spec K-3
	text, err := json.Marshal(turn.Message{Role: turn.User, Text: "x", Meta: true})
	if want := `{"role":"user","text":"x","meta":true}`; err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}
