package hook

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// compiled returns the schema, ready to judge values.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(Schema())))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("hooks.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("hooks.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// treeOf turns decoded JSON into the neutral tree of Decode.
func treeOf(v any) any {
	switch v := v.(type) {
	case map[string]any:
		var m Map
		for k, item := range v {
			m = append(m, Pair{k, treeOf(item)})
		}
		return m
	case []any:
		var list []any
		for _, item := range v {
			list = append(list, treeOf(item))
		}
		return list
	}
	return v
}

// TestSchemaAgrees: what the schema accepts is read without a fault, and what
// it refuses is a fault.
func TestSchemaAgrees(t *testing.T) { // spec H-1 to H-4
	s := compiled(t)
	handler := func(h string) string { return `{"PreToolUse":[{"matcher":"Edit|Write","hooks":[` + h + `]}]}` }
	for text, want := range map[string]bool{
		`{}`: true,
		handler(`{"type":"command","command":"make lint","timeout":5,"once":true,"async":false,"shell":"bash","if":"Bash(git *)","statusMessage":"…"}`): true,
		handler(`{"type":"command","command":"make","args":["lint"]}`):                                                                                  true,
		handler(`{"type":"http","url":"http://localhost/","headers":{"A":"$T"},"allowedEnvVars":["T"]}`):                                                true,
		handler(`{"type":"prompt","prompt":"Is it safe?","model":"haiku"}`):                                                                             true,
		handler(`{"type":"agent","prompt":"Run the tests"}`):                                                                                            true,
		handler(`{"type":"mcp_tool","server":"s","tool":"t","input":{"a":1}}`):                                                                          true,
		`{"Stop":[{"hooks":[{"type":"command","command":"x"}]},{"matcher":"*","hooks":[{"type":"prompt","prompt":"p"}]}]}`:                              true,
		handler(`{"type":"command"}`):                                false,
		handler(`{"type":"command","command":""}`):                   false,
		handler(`{"type":"command","command":"x","url":"y"}`):        false,
		handler(`{"type":"command","command":"x","shell":"zsh"}`):    false,
		handler(`{"type":"command","command":"x","timeout":0}`):      false,
		handler(`{"type":"command","command":"x","once":"perhaps"}`): false,
		handler(`{"type":"http","url":"u","headers":["A"]}`):         false,
		handler(`{"type":"magic","command":"x"}`):                    false,
		`{"PreTool":[{"hooks":[{"type":"command","command":"x"}]}]}`: false,
		`{"Stop":{"hooks":[{"type":"command","command":"x"}]}}`:      false,
		`{"Stop":[{"type":"command","command":"x"}]}`:                false,
		`{"Stop":[{"matcher":"*"}]}`:                                 false,
		`[]`:                                                         false,
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(text, err)
		}
		if err := s.Validate(v); (err == nil) != want {
			t.Errorf("%s: schema says %v", text, err)
		}
		if _, faults := Decode(treeOf(v)); (len(faults) == 0) != want {
			t.Errorf("%s: Decode says %v", text, faults)
		}
	}
}

// TestSchemaIsWhole: each field of each type is described, and no other.
func TestSchemaIsWhole(t *testing.T) {
	known := slices.Clone(forAll)
	for name, kind := range handlerTypes {
		for _, f := range slices.Concat(kind.required, kind.optional) {
			known = append(known, f)
			if fieldSchemas[f] == "" {
				t.Errorf("%s of %s has no schema", f, name)
			}
		}
	}
	for f := range fieldSchemas {
		if !slices.Contains(known, f) {
			t.Errorf("%s is a field of no handler", f)
		}
	}
}
