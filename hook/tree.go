package hook

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Map is a mapping in the order in which it was written. [Decode] takes it,
// []any, string, [Plain], bool, nil, and what encoding/json makes of JSON
// (map[string]any, float64, [json.Number]).
type Map []Pair

// A Pair is one entry of a [Map].
type Pair struct {
	Key   string
	Value any
}

// Plain is a scalar without quotes, as in YAML: where text is wanted it is
// text, elsewhere it is what its spelling says (true, 5, null).
type Plain string

// mapOf returns v as a mapping; the keys of a Go map are sorted.
func mapOf(v any) (Map, bool) {
	switch v := v.(type) {
	case Map:
		return v, true
	case map[string]any:
		m := make(Map, 0, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			m = append(m, Pair{k, v[k]})
		}
		return m, true
	}
	return nil, false
}

// textOf returns a scalar as text.
func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case Plain:
		return string(v), true
	case json.Number:
		return v.String(), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// boolOf returns a declared boolean in the spellings of spec F-5.
func boolOf(v any) (b, ok bool) {
	s, ok := textOf(v)
	if !ok {
		return false, false
	}
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0":
		return false, true
	}
	return false, false
}

// valueOf is v for an input of a tool: maps, lists and typed scalars.
func valueOf(v any) any {
	switch v := v.(type) {
	case Map:
		m := make(map[string]any, len(v))
		for _, p := range v {
			m[p.Key] = valueOf(p.Value)
		}
		return m
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, item := range v {
			m[k] = valueOf(item)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = valueOf(item)
		}
		return list
	case Plain:
		return v.typed()
	}
	return v
}

// typed reads the spelling of p like JSON does; other text stays text.
func (p Plain) typed() any {
	var v any
	d := json.NewDecoder(strings.NewReader(string(p)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil || d.InputOffset() != int64(len(p)) {
		return string(p)
	}
	switch v.(type) {
	case nil, bool, json.Number:
		return v
	}
	return string(p)
}

// describe names the kind of v for messages.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case Map, map[string]any:
		return "a map"
	case []any:
		return "a list"
	default:
		if s, ok := textOf(v); ok {
			return fmt.Sprintf("%.40q", s)
		}
		return "something else"
	}
}
