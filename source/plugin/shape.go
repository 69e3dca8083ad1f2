package plugin

import (
	"encoding/json"
	"strings"
)

// A shape is a kind of JSON value.
type shape string

const (
	text    shape = "a string"
	boolean shape = "true or false"
	list    shape = "an array"
	texts   shape = "an array of strings"
	object  shape = "an object"
)

// fits reports whether data, which is valid JSON, has the shape.
func (s shape) fits(data json.RawMessage) bool {
	var v any
	switch s {
	case text:
		v = new(string)
	case boolean:
		v = new(bool)
	case list:
		v = new([]json.RawMessage)
	case texts:
		v = new([]string)
	case object:
		v = new(map[string]json.RawMessage)
	}
	return json.Unmarshal(data, v) == nil
}

func either(shapes []shape) string {
	var names []string
	for _, s := range shapes {
		names = append(names, string(s))
	}
	return strings.Join(names, " or ")
}

// textOf returns a string, or "".
func textOf(data json.RawMessage) string {
	var s string
	_ = json.Unmarshal(data, &s) // its shape was checked
	return s
}

// textsOf returns the strings of a value that is one or an array of them.
func textsOf(data json.RawMessage) []string {
	var one string
	if json.Unmarshal(data, &one) == nil {
		return []string{one}
	}
	var many []string
	_ = json.Unmarshal(data, &many) // its shape was checked
	return many
}
