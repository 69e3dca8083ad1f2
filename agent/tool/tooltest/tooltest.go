// Package tooltest holds the contract that every [agent.Tool] must keep (spec
//
package tooltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/knack-skills/knack/agent"
)

// Run runs the suite against a tool. valid are inputs that the tool must accept;
// with none, nothing can be said about accepting.
func Run(t *testing.T, tool agent.Tool, valid ...string) {
	t.Run("spec", func(t *testing.T) { spec(t, tool) })
	t.Run("valid", func(t *testing.T) { accepts(t, tool, valid) })
	t.Run("garbage", func(t *testing.T) { garbage(t, tool) })
	t.Run("wrong", func(t *testing.T) { wrong(t, tool, valid) })
	t.Run("pure", func(t *testing.T) { pure(t, tool, valid) })
}

// Plan is the plan of a call that the tool must accept; in is anything that
// becomes the input as JSON.
func Plan(t testing.TB, tool agent.Tool, in any) agent.Plan {
	t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	p, err := tool.Plan(raw)
	if err != nil {
		t.Fatalf("%s(%s): %v", tool.Spec().Name, raw, err)
	}
	return p
}

// Call calls a tool with an input as [Plan] takes it and returns its text; errors
// begin with "! ".
func Call(t testing.TB, tool agent.Tool, env agent.CallEnv, in any) string {
	t.Helper()
	r, err := Plan(t, tool, in).Run(t.Context(), env)
	if err != nil {
		t.Fatalf("%s: %v", tool.Spec().Name, err)
	}
	if r.IsError {
		return "! " + r.Text
	}
	return r.Text
}

// spec: the description is constant, and its schema is one.
func spec(t *testing.T, tool agent.Tool) {
	s := tool.Spec()
	if again := tool.Spec(); !reflect.DeepEqual(s, again) {
		t.Errorf("two descriptions differ: %+v, then %+v (spec L-1)", s, again)
	}
	if s.Name == "" || strings.ContainsFunc(s.Name, func(r rune) bool { return r > 'z' || r < '0' }) || len(s.Name) > 64 {
		t.Errorf("name %q: providers want letters and digits", s.Name)
	}
	if strings.TrimSpace(s.Description) == "" {
		t.Error("there is no description")
	}
	compiled(t, tool)
	m := properties(t, tool)
	if m.AdditionalProperties == nil || *m.AdditionalProperties {
		t.Error("the schema lets unknown keys pass: the model would not learn that they do nothing")
	}
	for name, p := range m.Properties {
		if strings.TrimSpace(p.Description) == "" {
			t.Errorf("the key %q is not described", name)
		}
	}
	for _, r := range m.Required {
		if _, ok := m.Properties[r]; !ok {
			t.Errorf("the key %q is required and does not exist", r)
		}
	}
}

func compiled(t *testing.T, tool agent.Tool) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(tool.Spec().InputSchema))
	if err != nil {
		t.Fatalf("the schema is no JSON: %v", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:///input.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:///input.json")
	if err != nil {
		t.Fatalf("the schema is no JSON Schema: %v", err)
	}
	return s
}

// A schema is what the suite needs to know of one.
type schema struct {
	Type       string `json:"type"`
	Properties map[string]struct {
		Type        string   `json:"type"`
		Description string   `json:"description"`
		Enum        []string `json:"enum"`
	} `json:"properties"`
	Required             []string `json:"required"`
	AdditionalProperties *bool    `json:"additionalProperties"`
}

func properties(t *testing.T, tool agent.Tool) schema {
	t.Helper()
	var m schema
	if err := json.Unmarshal(tool.Spec().InputSchema, &m); err != nil {
		t.Fatal(err)
	}
	if m.Type != "object" {
		t.Errorf("the schema is for %q, and inputs are objects", m.Type)
	}
	return m
}

// accepts: what is valid is accepted, by the schema as well.
func accepts(t *testing.T, tool agent.Tool, valid []string) {
	s := compiled(t, tool)
	for _, in := range valid {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(in))
		if err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		if err := s.Validate(doc); err != nil {
			t.Errorf("the schema refuses %s: %v", in, err)
		}
		plan, err := tool.Plan(json.RawMessage(in))
		if err != nil {
			t.Errorf("Plan(%s): %v", in, err)
		} else if plan.Run == nil {
			t.Errorf("Plan(%s) has no Run", in)
		}
	}
}

// garbage: what is no input at all gives an error with words in it.
func garbage(t *testing.T, tool agent.Tool) {
	for _, in := range []string{
		"null", "true", "3", `"text"`, "[]", "[{}]", "{", `{"a":`, "{}{}", "nonsense", "\xff\xfe", `{"\ud800":1}`, "{\"\x00\":1}",
		`{"no such key":1}`, `{"":""}`, strings.Repeat("[", 20_000), `{"a":` + strings.Repeat("{\"a\":", 5000) + "1" + strings.Repeat("}", 5001),
	} {
		helpful(t, tool, in, "")
	}
}

// helpful checks that an input is refused with an error that helps.
func helpful(t *testing.T, tool agent.Tool, in, about string) {
	t.Helper()
	plan, err := tool.Plan(json.RawMessage(in))
	switch {
	case err == nil:
		t.Errorf("Plan(%.80q) accepts it", in)
	case plan.Run != nil:
		t.Errorf("Plan(%.80q) gives an error and a plan", in)
	case len(strings.Fields(err.Error())) < 4 || len(err.Error()) > 4000:
		t.Errorf("Plan(%.80q): the error says too little or too much: %.200q", in, err)
	case !strings.Contains(err.Error(), about):
		t.Errorf("Plan(%.80q): the error does not name %q: %s", in, about, err)
	case strings.Contains(err.Error(), "Go value") || strings.Contains(err.Error(), "Go struct"):
		t.Errorf("Plan(%.80q): the error is for programmers: %s", in, err)
	}
}

// wrong: one mistake in what is otherwise valid is named.
func wrong(t *testing.T, tool agent.Tool, valid []string) {
	m := properties(t, tool)
	for _, in := range valid {
		var good map[string]json.RawMessage
		if err := json.Unmarshal([]byte(in), &good); err != nil {
			t.Fatal(err)
		}
		with := func(key, value string) string {
			bad := maps.Clone(good)
			bad[key] = json.RawMessage(value)
			return encode(t, bad)
		}
		helpful(t, tool, with("unknown_key", `"x"`), "unknown_key")
		for name, p := range m.Properties {
			for typ, value := range map[string]string{"string": `"text"`, "integer": "3", "boolean": "true", "array": "[]", "object": "{}"} {
				if typ != p.Type {
					helpful(t, tool, with(name, value), name)
				}
			}
			if p.Type == "integer" {
				helpful(t, tool, with(name, "1.5"), name)
				helpful(t, tool, with(name, "-1"), name)
				helpful(t, tool, with(name, "1e300"), name)
			}
			if p.Enum != nil {
				helpful(t, tool, with(name, `"no such choice"`), name)
			}
		}
		for _, name := range m.Required {
			bad := maps.Clone(good)
			delete(bad, name)
			helpful(t, tool, encode(t, bad), name)
		}
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// sameAsk compares requests; functions can only be there or not.
func sameAsk(p, q agent.Plan) bool {
	a, b := p.Ask, q.Ask
	links := (a.Links == nil) == (b.Links == nil)
	a.Links, b.Links = nil, nil
	return links && reflect.DeepEqual(a, b)
}

// pure: planning changes no file, may be done by many at once, and asks for the
// same each time.
func pure(t *testing.T, tool agent.Tool, valid []string) {
	for _, in := range valid {
		first, err := tool.Plan(json.RawMessage(in))
		if err != nil {
			continue // said before
		}
		before := tree(t, first.Ask.WorkDir)
		input := []byte(in)
		plans := make([]agent.Plan, 8)
		errs := make([]error, len(plans))
		var wg sync.WaitGroup
		for i := range plans {
			wg.Go(func() { plans[i], errs[i] = tool.Plan(input) })
		}
		wg.Wait()
		for i, p := range plans {
			if errs[i] != nil || !sameAsk(p, first) || p.ReadOnly != first.ReadOnly || p.Person != first.Person || !slices.Equal(p.Touches, first.Touches) {
				t.Errorf("Plan(%s) differs from the first: %+v, %v", in, p.Ask, errs[i])
			}
		}
		if string(input) != in {
			t.Errorf("Plan changes its input to %s", input)
		}
		if after := tree(t, first.Ask.WorkDir); after != before {
			t.Errorf("Plan(%s) changes files:\n%s\nbecomes\n%s", in, before, after)
		}
		for _, path := range first.Touches {
			if !filepath.IsAbs(path) {
				t.Errorf("Plan(%s) touches %q, which is not absolute", in, path)
			}
		}
	}
}

// tree lists what is below a directory.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	if dir == "" {
		return ""
	}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintln(&b, path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
