package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// A schema is one JSON Schema of draft 2020-12, as far as settings need it.
type schema struct {
	Dialect     string             `json:"$schema,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Type        string             `json:"type,omitempty"`
	Enum        []any              `json:"enum,omitempty"`
	Minimum     *float64           `json:"minimum,omitempty"`
	Above       *float64           `json:"exclusiveMinimum,omitempty"`
	Maximum     *float64           `json:"maximum,omitempty"`
	Items       *schema            `json:"items,omitempty"`
	Properties  map[string]*schema `json:"properties,omitempty"`
	Others      *schema            `json:"additionalProperties,omitempty"`
	AllOf       []json.RawMessage  `json:"allOf,omitempty"`
}

// Schema returns the JSON Schema of a settings file, made from the type
// [Values] and the tables that files are held against, so that editors and
// models are told what is read. Keys that are not listed are allowed, because
// other programs keep theirs in the same files.
//
// Parts holds the schemas of keys whose values other packages read, by name;
// without one such a key only has its type.
func Schema(parts map[string]json.RawMessage) []byte {
	root := schemaOf(reflect.TypeFor[Values](), "", parts)
	root.Dialect = "https://json-schema.org/draft/2020-12/schema"
	root.Title = "Settings"
	root.Description = "A settings.json, settings.local.json or managed-settings.json file. Keys that are not listed here are left alone."
	root.Properties["$schema"] = &schema{Type: "string", Description: "Where this schema is, for editors."}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(root); err != nil {
		panic(err) // only a part that is no JSON
	}
	return b.Bytes()
}

// schemaOf describes a key; "" is the whole file.
func schemaOf(t reflect.Type, key string, parts map[string]json.RawMessage) *schema {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s := &schema{Description: describe(key), Type: typeName(wanted(t, key))}
	if part, ok := parts[key]; ok {
		s.AllOf = []json.RawMessage{part}
	}
	for _, c := range choices[key] {
		s.Enum = append(s.Enum, c)
	}
	switch {
	case key == keyArgBase:
		s.Enum = []any{0, 1, "auto"}
	case t == rawType:
	case t.Kind() == reflect.Struct:
		s.Properties = map[string]*schema{}
		for i, name := range names(t) {
			s.Properties[name] = schemaOf(t.Field(i).Type, strings.TrimPrefix(key+"."+name, "."), parts)
		}
	case t.Kind() == reflect.Map:
		s.Others = schemaOf(t.Elem(), key+".*", parts)
	case t.Kind() == reflect.Slice:
		s.Items = schemaOf(t.Elem(), key+".*", parts)
	case t.Kind() == reflect.Int:
		s.Type = "integer"
	}
	if l, ok := limits[key]; ok {
		s.Minimum, s.Maximum = &l.min, &l.max
		if l.above {
			s.Minimum, s.Above = nil, &l.min
		}
	}
	return s
}

// typeName is the word of JSON Schema for a kind in the words of kindOf; "" for
// any.
func typeName(kind string) string {
	switch kind {
	case kindOf('{'):
		return "object"
	case kindOf('['):
		return "array"
	case kindOf('"'):
		return "string"
	case kindOf('t'):
		return "boolean"
	case kindOf('0'):
		return "number"
	}
	return ""
}

// describe is what a key means, who may set it, and what keeps it from having
// an effect.
func describe(key string) string {
	var b strings.Builder
	for _, k := range Keys() {
		if k.Name != key {
			continue
		}
		b.WriteString(k.Meaning)
		if k.Who != "anybody" {
			fmt.Fprintf(&b, " May be set by: %s.", k.Who)
		}
		if k.Trusted {
			b.WriteString(" In the files of a project it waits until the workspace is trusted.")
		}
		if k.Later {
			b.WriteString(" Checked only: it has no effect in this release.")
		}
	}
	return b.String()
}
