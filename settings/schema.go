package settings

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/knack-skills/knack/text"
)

var (
	rawType  = reflect.TypeFor[json.RawMessage]()
	listType = reflect.TypeFor[[]string]()
)

// names returns the JSON names of the fields of the struct t.
func names(t reflect.Type) []string {
	list := make([]string, t.NumField())
	for i := range list {
		list[i] = t.Field(i).Tag.Get("json")
	}
	return list
}

// fieldOf returns the field of the struct v with that JSON name, or the zero
// Value. Names are compared exactly: two spellings of one key would be two
// places to look at.
func fieldOf(v reflect.Value, name string) reflect.Value {
	i := slices.Index(names(v.Type()), name)
	if i < 0 {
		return reflect.Value{}
	}
	return v.Field(i)
}

// wanted names the kind of JSON value, in the words of kindOf, that a field of
// type t needs; empty means any.
func wanted(t reflect.Type, rule string) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == rawType && rule == keyHooks:
		return kindOf('{')
	case t == rawType && (rule == keyMarkets || rule == keyNoMarkets):
		return kindOf('[')
	case t == rawType:
		return ""
	case t.Kind() == reflect.Struct, t.Kind() == reflect.Map:
		return kindOf('{')
	case t.Kind() == reflect.Slice:
		return kindOf('[')
	case t.Kind() == reflect.String:
		return kindOf('"')
	case t.Kind() == reflect.Bool:
		return kindOf('t')
	}
	return kindOf('0')
}

// setJSON decodes text into v and reports whether it fits.
func setJSON(v reflect.Value, text string) bool {
	fresh := reflect.New(v.Type())
	if json.Unmarshal([]byte(text), fresh.Interface()) != nil {
		return false
	}
	v.Set(fresh.Elem())
	return true
}

// allowed holds a value against the tables; wrong says what to write instead,
// and is empty when the value is fine.
func allowed(v reflect.Value, n id, raw json.RawMessage) (wrong string) {
	rule := n.rule
	if rule == keyEnv+".*" && !variable(strings.TrimPrefix(n.key, keyEnv+"."), v.String()) {
		return "an environment holds names without = and texts without NUL"
	}
	if set, ok := choices[rule]; ok && !slices.Contains(set, v.String()) {
		wrong = "write one of " + strings.Join(set, ", ")
		if near := nearest(v.String(), set); near != "" {
			wrong += fmt.Sprintf(" (did you mean %q?)", near)
		}
		return wrong
	}
	if rule == keyArgBase && !slices.Contains([]string{"0", "1", `"auto"`}, string(raw)) {
		return `write 0, 1 or "auto"`
	}
	if rule == keyPluginOnly && !pluginOnlyValue(raw) {
		return "write true, false or a list of " + strings.Join(customizations, ", ")
	}
	if l, ok := limits[rule]; ok && v.Kind() == reflect.Pointer {
		if f := v.Elem(); f.CanInt() && !l.allows(float64(f.Int())) || f.CanFloat() && !l.allows(f.Float()) {
			return "write " + l.say
		}
	}
	return ""
}

// example shows how a value is written.
func example(rule string, t reflect.Type) string {
	value := "an object: {…}"
	switch wanted(t, rule) {
	case kindOf('['):
		value = `a list: ["…"]`
	case kindOf('"'):
		value = `a text in double quotes`
		if set, ok := choices[rule]; ok {
			value += ", one of " + strings.Join(set, ", ")
		}
	case kindOf('t'):
		value = "true or false, without quotes"
	case kindOf('0'):
		value = "a number, without quotes"
		if t == reflect.TypeFor[*int]() {
			value = "a whole number, without quotes"
		}
	}
	return value
}

// quoted is a key in a message; it may hold anything, and is cut.
func quoted(key string) string { return cut(fmt.Sprintf("%q", key)) }

func short(raw json.RawMessage) string { return cut(string(raw)) }

func cut(s string) string {
	const most = 60
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most-1]) + "…"
}

// nearest returns the candidate that name is a likely misspelling of, or "".
func nearest(name string, candidates []string) string {
	return strings.Join(text.Near(name, candidates, 1), "")
}
