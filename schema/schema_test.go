package schema_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/schema"
)

// TestParse: what cannot be obeyed is refused, with its place.
func TestParse(t *testing.T) {
	deep := strings.Repeat(`{"items":`, 150) + "{}" + strings.Repeat("}", 150)
	for _, tt := range []struct{ in, want string }{
		{``, "the schema is empty and not JSON"},
		{"{\n \"type\": \"object\",\n}", "the schema is not JSON: line 3, column 1: invalid character '}' looking for beginning of object key string"},
		{`{} {}`, "the schema is not JSON: line 1, column 4: invalid character '{' after top-level value"},
		{`5`, "the schema is 5; a schema is an object, true or false"},
		{`null`, "the schema is null; a schema is an object, true or false"},
		{`{"type":"int"}`, `at /type: "int" is no type; the types are array, boolean, integer, null, number, object, string`},
		{`{"properties":{"a/b":{"type":["string",7]}}}`, "at /properties/a~1b/type: 7 is no type; the types are array, boolean, integer, null, number, object, string"},
		{`{"type":[]}`, "at /type: it names no type"},
		{`{"$defs":{"unused":{"minLength":-1}}}`, "at /$defs/unused/minLength: it has to be a whole number from 0, and not -1"},
		{`{"properties":{"a":{"required":true}}}`, "at /properties/a/required: it has to be a list of names, and not true"},
		{`{"properties":[]}`, "at /properties: it has to be an object of schemas, and not []"},
		{`{"anyOf":{}}`, "at /anyOf: it has to be a list of schemas"},
		{`{"enum":{}}`, "at /enum: it has to be a list of values"},
		{`{"pattern":"(?=x)"}`, "at /pattern: \"(?=x)\" is no regular expression that is known here (the syntax is RE2, without look-around and back references): error parsing regexp: invalid or unsupported Perl syntax: `(?=`"},
		{`{"maximum":1e999999999}`, "at /maximum: is a number with too many digits"},
		{`{"a":1,"a":2}`, "at /a: stands twice"},
		{`{"$ref":"#"}`, "the schema applies the whole schema to the same value without end"},
		{`{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"if":{"$ref":"#/$defs/a"}}}}`,
			"at /$defs/b/if: applies /$defs/a to the same value without end"},
		{`{"items":{"$ref":"https://example.com/s.json"}}`, `at /items/$ref: "https://example.com/s.json" is not in this schema, and nothing is fetched; copy it below $defs`},
		{`{"$ref":"file:///etc/passwd"}`, `at /$ref: "file:///etc/passwd" is not in this schema, and nothing is fetched; copy it below $defs`},
		{`{"$ref":"other.json"}`, `at /$ref: "other.json" is not in this schema, and nothing is fetched; copy it below $defs`},
		{`{"$ref":"#/$defs/none"}`, `at /$ref: "#/$defs/none" leads to nothing: there is no /$defs`},
		{`{"$ref":"#none"}`, `at /$ref: "#none": there is no $anchor of that name`},
		{`{"$ref":"%zz"}`, `at /$ref: "%zz" is no reference`},
		{`{"$ref":"#/%zz"}`, `at /$ref: "#/%zz" is no reference`},
		{`{"$ref":7}`, "at /$ref: it has to be a text, and not 7"},
		{`{"$dynamicRef":"#a"}`, "at /$dynamicRef: it is not supported; use $ref"},
		{`{"$schema":"http://json-schema.org/draft-04/schema#"}`, `at /$schema: "http://json-schema.org/draft-04/schema#" is no dialect that is known; leave it out, or write https://json-schema.org/draft/2020-12/schema`},
		{deep, "the schema is nested too deeply"},
		{`{"items":` + strings.Repeat(" ", schema.MaxSize) + `{}}`, "the schema has 1048588 bytes and may have 1048576"},
		{`{"anyOf":[` + strings.Repeat(`{},`, 10000) + `{}]}`, "the schema holds more than 10000 schemas"},
	} {
		_, err := schema.Parse([]byte(tt.in))
		var e *schema.Error
		if !errors.As(err, &e) || err.Error() != tt.want {
			t.Errorf("%.80s:\n got %v\nwant %s", tt.in, err, tt.want)
		}
	}
}

// TestCheck: every place that does not fit is named, in an order of its own.
func TestCheck(t *testing.T) {
	const person = `{"type":"object","properties":{"name":{"type":"string","minLength":2},"age":{"type":"integer","minimum":0},
		"tags":{"type":"array","items":{"enum":["a","b"]},"uniqueItems":true}},"required":["name","age"],"additionalProperties":false}`
	for _, tt := range []struct {
		schema, value string
		want          []string
	}{
		{person, `{"name":"Ann","age":3.0,"tags":["a"]}`, nil},
		{"\ufeff" + person, "\ufeff" + `{"name":"Ann","age":3}`, nil},
		{person, `{"name":"A","age":"3","tags":["a","x"],"z~/":1}`, []string{
			"/age is a string and has to be an integer", "/name has 1 characters and needs 2",
			`/tags/1 is "x" and has to be one of "a", "b"`, "/z~0~1 is not allowed here"}},
		{person, `{}`, []string{"/name is missing", "/age is missing"}},
		{person, `[]`, []string{"the value is an array and has to be an object"}},
		{person, `{"name":"Ann",`, []string{"the value is not JSON: line 1, column 14: unexpected end of JSON input"}},
		{person, ``, []string{"the value is empty and not JSON"}},
		{person, `{"name":"Ann","age":1,"age":"x"}`, []string{"/age stands twice"}},
		{`{"type":"number"}`, `1e999999999`, []string{"the value is a number with too many digits"}},
		{`{"anyOf":[{"type":"string"},{"type":"object","required":["a"]}]}`, `{}`, []string{"the value fits none of 2 alternatives; nearest: the value is an object and has to be a string"}},
		{`{"oneOf":[{"minimum":1},{"minimum":2}]}`, `3`, []string{"the value fits 2 of 2 alternatives and has to fit one"}},
		{`{"type":["string","null"]}`, `1`, []string{"the value is an integer and has to be a string or null"}},
		{`{"const":{"b":[1,2],"a":null}}`, `{"a":null,"b":[1.0,2]}`, nil},
		{`false`, `1`, []string{"the value is not allowed here"}},
		{`{"format":"email","type":"string"}`, `"x"`, nil}, // formats are notes
		{`{"properties":{"next":{"$ref":"#"}},"required":["v"]}`, `{"v":1,"next":{"v":2,"next":{}}}`, []string{"/next/next/v is missing"}},
		{`{"$id":"https://example.com/s.json","$defs":{"a":{"type":"null"}},"$ref":"https://example.com/s.json#/$defs/a"}`, `1`, []string{"the value is an integer and has to be null"}},
	} {
		s, err := schema.Parse([]byte(tt.schema))
		if err != nil {
			t.Fatalf("%s: %v", tt.schema, err)
		}
		found, err := s.Check([]byte(tt.value))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range found {
			got = append(got, m.String())
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.value, d)
		}
	}
}

// TestLimits: neither a schema that multiplies nor a value that is wrong
// everywhere costs more than it may.
func TestLimits(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	s, err := schema.Parse([]byte(`{"$ref":"#/$defs/d0","$defs":{` + b.String() + `"d40":{"not":{}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Check([]byte(`1`)); !errors.Is(err, schema.ErrTooMuch) {
		t.Errorf("got %v", err)
	}
	if s, err = schema.Parse([]byte(`{"items":{"type":"string"}}`)); err != nil {
		t.Fatal(err)
	}
	found, err := s.Check([]byte("[" + strings.Repeat("1,", 1000) + "1]"))
	if err != nil || len(found) != 20 {
		t.Errorf("%d, %v", len(found), err)
	}
	found, err = s.Check([]byte(strings.Repeat("[", 5000) + strings.Repeat("]", 5000)))
	if err != nil || len(found) != 1 || found[0].Message != "is nested too deeply" {
		t.Errorf("%v, %v", found, err)
	}
}

func TestConcurrent(t *testing.T) {
	s, err := schema.Parse([]byte(`{"unevaluatedProperties":false,"anyOf":[{"properties":{"a":{}}},{"properties":{"b":{"type":"null"}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if found, err := s.Check([]byte(`{"a":1,"b":null,"c":2}`)); err != nil || len(found) != 1 || found[0].At != "/c" {
				t.Errorf("%v, %v", found, err)
			}
		})
	}
	wg.Wait()
}

// FuzzSchema: nothing makes a schema or a value end the program, a schema that
// was taken gives the same answer twice, and what is said can be read as JSON.
func FuzzSchema(f *testing.F) {
	for _, seed := range []string{`{"$ref":"#"}`, `{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"items":[{}],"additionalItems":false}`,
		`{"$id":"a/b","$defs":{"x":{"$id":"c","$anchor":"y"}},"$ref":"c#y"}`, `{"if":true,"then":{"enum":[1]}}`,
		`{"unevaluatedItems":false,"prefixItems":[true]}`, `{"patternProperties":{"^a":{"maxLength":1e2}}}`, `{"contains":{},"minContains":0}`} {
		f.Add([]byte(seed), []byte(`{"a":[1,"x",null]}`))
	}
	f.Fuzz(func(t *testing.T, in, value []byte) {
		s, err := schema.Parse(in)
		if err != nil {
			return
		}
		one, err1 := s.Check(value)
		two, err2 := s.Check(value)
		if !cmp.Equal(one, two) || err1 != err2 {
			t.Errorf("%v, %v; then %v, %v", one, err1, two, err2)
		}
		if err1 == nil && len(one) == 0 && !json.Valid([]byte(strings.TrimPrefix(string(value), "\ufeff"))) {
			t.Errorf("%q fits and is no JSON", value)
		}
	})
}
