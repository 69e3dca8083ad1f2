package settings

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
)

// mergeFiles merges the values of files, strongest first (spec S-1): single
// values come from the strongest file that has one, objects are merged by key,
// lists are joined, strongest first, without doubles.
func mergeFiles(files []File, trusted bool) Values {
	var out Values
	only := onlyManaged(files)
	for i := range files {
		f := &files[i]
		merge(reflect.ValueOf(&out).Elem(), reflect.ValueOf(&f.Values).Elem(), "", skips(f, trusted, only))
	}
	raiseSandbox(&out, files)
	noShell(&out, files)
	return out
}

// merge adds to strong what weak has; skip leaves keys out.
func merge(strong, weak reflect.Value, prefix string, skip func(key string) bool) {
	for i, name := range names(strong.Type()) {
		key := prefix + name
		to, from := strong.Field(i), weak.Field(i)
		switch {
		case skip(key) || from.IsZero():
		case to.Kind() == reflect.Struct:
			merge(to, from, key+".", skip)
		case to.Type() == rawType:
			to.SetBytes(mergeRaw(to.Bytes(), from.Bytes()))
		case to.Kind() == reflect.Map:
			mergeMap(to, from)
		case to.Type() == listType && key != keyPrecedence:
			to.Set(reflect.ValueOf(union(to.Interface().([]string), from.Interface().([]string))))
		case to.IsZero(): // an order, too, is one value
			to.Set(from)
		}
	}
}

func mergeMap(to, from reflect.Value) {
	if to.IsNil() {
		to.Set(reflect.MakeMap(to.Type()))
	}
	for it := from.MapRange(); it.Next(); {
		if !to.MapIndex(it.Key()).IsValid() {
			to.SetMapIndex(it.Key(), it.Value())
		}
	}
}

// union is a and what of b is not in it, in a slice of its own.
func union(a, b []string) []string {
	out := slices.Clone(a)
	seen := map[string]bool{}
	for _, s := range a {
		seen[s] = true
	}
	for _, s := range b {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// mergeRaw merges JSON that is read elsewhere by the same rules: two objects by
// key, two lists joined, else the stronger.
func mergeRaw(strong, weak json.RawMessage) json.RawMessage {
	strong, weak = bytes.TrimSpace(strong), bytes.TrimSpace(weak)
	switch {
	case len(strong) == 0:
		return slices.Clone(weak)
	case len(weak) == 0 || strong[0] != weak[0]:
		return strong
	case strong[0] == '{':
		var a, b map[string]json.RawMessage
		if json.Unmarshal(strong, &a) != nil || json.Unmarshal(weak, &b) != nil {
			return strong
		}
		for key, value := range b {
			a[key] = mergeRaw(a[key], value)
		}
		return encoded(a, strong)
	case strong[0] == '[':
		var a, b []json.RawMessage
		if json.Unmarshal(strong, &a) != nil || json.Unmarshal(weak, &b) != nil {
			return strong
		}
		seen := map[string]bool{}
		joined := slices.DeleteFunc(slices.Concat(a, b), func(item json.RawMessage) bool {
			text := compact(item)
			again := seen[text]
			seen[text] = true
			return again
		})
		return encoded(joined, strong)
	}
	return strong
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

func encoded(v any, otherwise json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // hooks hold shell lines
	if e.Encode(v) != nil {
		return otherwise
	}
	return bytes.TrimSpace(b.Bytes())
}

// raiseSandbox: the strongest of managed, command line and user settings
// decides, and files of the workspace can only ask for more (spec S-13).
func raiseSandbox(out *Values, files []File) {
	out.Sandbox = ""
	for _, f := range files {
		if !f.Level.fromWorkspace() && out.Sandbox == "" {
			out.Sandbox = f.Values.Sandbox
		}
	}
	for _, f := range files {
		if f.Level.fromWorkspace() && slices.Index(sandboxOrder, f.Values.Sandbox) > slices.Index(sandboxOrder, out.Sandbox) {
			out.Sandbox = f.Values.Sandbox
		}
	}
}

// noShell: a level that switches inline commands off cannot be overruled by a
// weaker or a stronger one (spec P-13, S-11).
func noShell(out *Values, files []File) {
	for _, f := range files {
		if v := f.Values.DisableSkillShellExecution; v != nil && *v {
			out.DisableSkillShellExecution = v
			return
		}
	}
}
