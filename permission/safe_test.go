package permission

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/skill"
)

func TestUnsafeProperties(t *testing.T) {
	tests := []struct {
		name string
		s    skill.Skill
		want []string
	}{
		{"nothing", skill.Skill{}, nil},
		{"all that is safe", skill.Skill{
			Summary: skill.Summary{ID: "a", Name: "A", Description: "d", WhenToUse: "w", ArgumentHint: "h", Version: "1"},
			Trigger: skill.Trigger{HiddenFromUser: true, HiddenFromModel: true, Conditional: true, Paths: []string{"*.go"}, Enabled: func() bool { return true }},
			Run: skill.Run{Mode: skill.Fork, Agent: "Plan", Model: "m", Effort: "high", Background: true,
				DisallowedTools: []string{"Bash"}, Shell: "bash"},
			Origin:  skill.Origin{Source: skill.MCP, Owner: "x"},
			Content: skill.Content{Arguments: []string{"x"}, Extra: []skill.Field{{Key: "license", Value: "MIT"}}},
		}, nil},
		{"tools", skill.Skill{Run: skill.Run{AllowedTools: []string{"Read"}}}, []string{"allowed-tools"}},
		{"no tools", skill.Skill{Run: skill.Run{AllowedTools: []string{}}}, nil},
		{"hooks", skill.Skill{Run: skill.Run{Hooks: hook.Config{{Event: "Stop"}}}}, []string{"hooks"}},
		{"shell", skill.Skill{Run: skill.Run{Shell: "powershell"}}, []string{"shell"}},
		{"requires", skill.Skill{Run: skill.Run{Requires: []string{"b"}}}, []string{"requires"}},
		{"several", skill.Skill{Run: skill.Run{Requires: []string{"b"}, AllowedTools: []string{"Bash"}}}, []string{"allowed-tools", "requires"}},
	}
	for _, tt := range tests {
		if got := UnsafeProperties(&tt.s); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A field that is added to Run or Trigger is unsafe until somebody lists it
// (spec S-4): every field is set by turns, and only the listed ones pass.
func TestNewFieldsAreUnsafe(t *testing.T) {
	type grown struct {
		Model string
		Fresh string
	}
	if got := unsafeFields("Run", grown{Model: "m", Fresh: "x"}); !slices.Equal(got, []string{"Run.Fresh"}) {
		t.Errorf("a new field gives %q", got)
	}
	var s skill.Skill
	known := map[string]bool{}
	for _, part := range []struct {
		name  string
		value reflect.Value
	}{{"Trigger", reflect.ValueOf(&s.Trigger).Elem()}, {"Run", reflect.ValueOf(&s.Run).Elem()}} {
		for f, v := range part.value.Fields() {
			key := part.name + "." + f.Name
			known[key] = true
			fill(t, v)
			got := UnsafeProperties(&s)
			if safe := len(got) == 0; safe != safeProperties[key] {
				t.Errorf("%s set to %v: unsafe %q, listed as safe: %v", key, v, got, safeProperties[key])
			}
			v.SetZero()
		}
	}
	for key := range safeProperties {
		if !known[key] {
			t.Errorf("%s is listed as safe and does not exist", key)
		}
	}
	for key, name := range frontmatterNames {
		if !known[key] || name != strings.ToLower(name) {
			t.Errorf("%s is called %q and does not exist", key, name)
		}
	}
	for key := range safeValues {
		if !known[key] {
			t.Errorf("%s has a safe value and does not exist", key)
		}
	}
}

// fill sets v to something that is not zero.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Func:
		v.Set(reflect.MakeFunc(v.Type(), func([]reflect.Value) []reflect.Value {
			out := make([]reflect.Value, v.Type().NumOut())
			for i := range out {
				out[i] = reflect.Zero(v.Type().Out(i))
			}
			return out
		}))
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	default:
		t.Fatalf("a field of kind %s: teach this test to fill it", v.Kind())
	}
}
