// Package tool holds what the tools of the agent share: the table that a tool's
// input is described and read by, and where the files that it names really are.
// The tools themselves live below it, one package per family (spec A-3).
//
// Everything here is a value or pure, and safe for concurrent use.
package tool

import (
	"bytes"
	"encoding/json"
	"strings"
)

// A Type is what JSON makes of a field.
type Type string

// The types. An Array is a list of objects.
const (
	String  Type = "string"
	Integer Type = "integer"
	Boolean Type = "boolean"
	Array   Type = "array"
)

// A Field is one key of a tool's input. The schema that the model is shown and
// the reading of what it sends both follow from it, so they cannot disagree.
type Field struct {
	Name     string
	Type     Type
	Doc      string // for the model; its first clause explains a missing field
	Required bool
	Filled   bool     // String: must not be empty
	Enum     []string // String: what it may be; nil is anything
	Min, Max int      // Integer: its bounds, Array: its length; Max zero is none
	Items    []Field  // Array: the keys of its objects
}

// An Input describes what a tool is called with.
type Input struct {
	Tool   string // name of the tool, for messages
	Fields []Field
}

// Schema returns the JSON Schema of the input. It is the same text every time
// (spec L-1).
func (in Input) Schema() json.RawMessage {
	var b bytes.Buffer
	writeObject(&b, in.Fields)
	return b.Bytes()
}

func writeObject(b *bytes.Buffer, fields []Field) {
	b.WriteString(`{"type":"object","properties":{`)
	var required []string
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoted(f.Name))
		b.WriteString(`:{`)
		f.write(b)
		b.WriteByte('}')
		if f.Required {
			required = append(required, quoted(f.Name))
		}
	}
	b.WriteByte('}')
	if len(required) > 0 {
		b.WriteString(`,"required":[` + strings.Join(required, ",") + `]`)
	}
	b.WriteString(`,"additionalProperties":false}`)
}

func (f Field) write(b *bytes.Buffer) {
	b.WriteString(`"type":` + quoted(string(f.Type)))
	b.WriteString(`,"description":` + quoted(f.Doc))
	least, most := "minimum", "maximum"
	if f.Type == Array {
		least, most = "minItems", "maxItems"
	}
	if f.Type == Integer || f.Type == Array {
		b.WriteString(`,"` + least + `":` + number(f.Min))
	}
	if f.Max > 0 {
		b.WriteString(`,"` + most + `":` + number(f.Max))
	}
	if f.Filled {
		b.WriteString(`,"minLength":1`)
	}
	if f.Enum != nil {
		all := make([]string, len(f.Enum))
		for i, e := range f.Enum {
			all[i] = quoted(e)
		}
		b.WriteString(`,"enum":[` + strings.Join(all, ",") + `]`)
	}
	if f.Type == Array {
		b.WriteString(`,"items":`)
		writeObject(b, f.Items)
	}
}

func number(n int) string { return string(must(json.Marshal(n))) }

// quoted writes s as JSON, with < and > left readable.
func quoted(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	must(0, enc.Encode(s))
	return strings.TrimSuffix(b.String(), "\n")
}

// must is for strings and numbers, which always have a JSON form.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
