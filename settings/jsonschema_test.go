package settings

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/knack-skills/knack/skill"
)

// TestSchemaAgrees: a file has errors for the reader exactly when the schema
// refuses it.
func TestSchemaAgrees(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(Schema(map[string]json.RawMessage{"hooks": []byte(`{"propertyNames":{"const":"Stop"}}`)}))))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("settings.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("settings.json")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		`{}`:                                    true,
		`{"$schema": "x", "notOurs": {"a": 1}}`: true,
		`{"permissions": {"allow": ["Read"], "ask": [], "deny": ["Bash(rm:*)"], "defaultMode": "plan"}}`: true,
		`{"skillOverrides": {"a": "off"}, "enabledPlugins": {"p": true}, "env": {"A": "b"}}`:             true,
		`{"skillListingBudget": 0, "skillListingBudgetFraction": 1, "skillListingMaxDescChars": 1}`:      true,
		`{"argumentBase": 0}`:      true,
		`{"argumentBase": "auto"}`: true,
		`{"skillPrecedence": ["user", "bundled"], "disableBundledSkills": false, "model": "m"}`: true,
		`{"hooks": {"Stop": []}, "strictKnownMarketplaces": [1, "x"]}`:                          true,
		`[]`:                                   false,
		`{"permissions": []}`:                  false,
		`{"permissions": {"allow": "Read"}}`:   false,
		`{"permissions": {"allow": [1]}}`:      false,
		`{"permissions": {"defaultMode": ""}}`: false,
		`{"skillOverrides": {"a": "hidden"}}`:  false,
		`{"enabledPlugins": {"p": "yes"}}`:     false,
		`{"skillListing": "best"}`:             false,
		`{"skillListingBudget": -1}`:           false,
		`{"skillListingBudget": 1.5}`:          false,
		`{"skillListingBudgetFraction": 0}`:    false,
		`{"skillListingBudgetFraction": 1.1}`:  false,
		`{"skillListingMaxDescChars": 0}`:      false,
		`{"argumentBase": 2}`:                  false,
		`{"skillPrecedence": ["me"]}`:          false,
		`{"disableBundledSkills": "true"}`:     false,
		`{"env": {"A": 1}}`:                    false,
		`{"hooks": []}`:                        false,
	} {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(text, err)
		}
		if err := s.Validate(v); (err == nil) != want {
			t.Errorf("%s: schema says %v", text, err)
		}
		found := Load(Sources{Flag: text}).Problems
		if bad := slices.ContainsFunc(found, func(p skill.Problem) bool { return p.Severity == skill.Error }); bad == want {
			t.Errorf("%s: the reader says %v", text, found)
		}
	}
	if s.Validate(map[string]any{"hooks": map[string]any{"Other": nil}}) == nil {
		t.Error("the part for hooks is not part of it")
	}
}

// TestSchemaIsWhole: each key is described, with what keeps it from counting.
func TestSchemaIsWhole(t *testing.T) {
	var root struct{ Properties map[string]*schema }
	if err := json.Unmarshal(Schema(nil), &root); err != nil {
		t.Fatal(err)
	}
	for _, k := range Keys() {
		at := &schema{Properties: root.Properties}
		for part := range strings.SplitSeq(k.Name, ".") {
			if at = at.Properties[part]; at == nil {
				t.Fatalf("%s is not in the schema", k.Name)
			}
		}
		if !strings.HasPrefix(at.Description, k.Meaning) || strings.Contains(at.Description, "no effect") != k.Later ||
			strings.Contains(at.Description, "trusted") != k.Trusted {
			t.Errorf("%s: %q", k.Name, at.Description)
		}
	}
}
