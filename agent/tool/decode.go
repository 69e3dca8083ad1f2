package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxFaults is how many mistakes one message lists.
const maxFaults = 8

// Decode reads the input of a call into a struct with json tags. It refuses what
// the schema does not allow, and its error tells the model every mistake and how
// to mend it. A null for a field that need not be there counts as not there,
// which is how some providers write it.
func (in Input) Decode(raw json.RawMessage, into any) error {
	d := decoder{}
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}") // how some providers write a call without arguments
	}
	switch {
	case !utf8.Valid(raw):
		d.fault("the input is not valid UTF-8")
	case !json.Valid(raw):
		d.fault("the input is not valid JSON (%s): send one JSON object", syntaxOf(raw))
	}
	var clean json.RawMessage
	if len(d.faults) == 0 {
		clean = d.object("", in.Fields, raw)
	}
	if len(d.faults) == 0 {
		if err := json.Unmarshal(clean, into); err != nil {
			d.fault("%v", err)
		}
	}
	if len(d.faults) == 0 {
		return nil
	}
	if n := len(d.faults) - maxFaults; n > 0 {
		d.faults = append(d.faults[:maxFaults], fmt.Sprintf("and %d more", n))
	}
	return errors.New(in.Tool + ": " + strings.Join(d.faults, "; "))
}

func syntaxOf(raw json.RawMessage) string {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err.Error()
	}
	return "unknown fault"
}

// A decoder checks one input and writes it in the plainest form.
type decoder struct{ faults []string }

func (d *decoder) fault(format string, args ...any) {
	d.faults = append(d.faults, fmt.Sprintf(format, args...))
}

// object checks an object; at is where it stands, as "todos[2]." or nothing.
func (d *decoder) object(at string, fields []Field, raw json.RawMessage) json.RawMessage {
	if kindOf(raw) != "an object" {
		where := "the input"
		if at != "" {
			where = strconv.Quote(strings.TrimSuffix(at, "."))
		}
		d.fault("%s must be an object with %s, not %s", where, names(fields), kindOf(raw))
		return nil
	}
	values := d.values(at, fields, raw)
	var out bytes.Buffer
	out.WriteByte('{')
	for _, f := range fields {
		v, there := values[f.Name]
		if there && kindOf(v) == "null" && !f.Required {
			there = false
		}
		if !there {
			if f.Required {
				d.fault("%q is missing: %s", at+f.Name, firstClause(f.Doc))
			}
			continue
		}
		if v = d.value(at+f.Name, f, v); v == nil {
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		out.WriteString(quoted(f.Name) + ":")
		out.Write(v)
	}
	out.WriteByte('}')
	return out.Bytes()
}

// values reads the keys of an object one by one: a key that stands there twice
// would show one value to whoever approves the call and another to the tool.
func (d *decoder) values(at string, fields []Field, raw json.RawMessage) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil { // the opening brace
		d.fault("%v", err)
		return out
	}
	for dec.More() {
		t, err := dec.Token()
		key, _ := t.(string)
		var v json.RawMessage
		if err == nil {
			err = dec.Decode(&v)
		}
		if err != nil {
			d.fault("%v", err)
			return out
		}
		_, twice := out[key]
		switch known := slices.ContainsFunc(fields, func(f Field) bool { return f.Name == key }); {
		case !known:
			d.fault("unknown key %q%s; the keys are %s", at+cut(key), suggest(key, fields), names(fields))
		case twice:
			d.fault("the key %q is there twice: send it once", at+key)
		default:
			out[key] = v
		}
	}
	return out
}

// value checks one value and returns it in plain form, or nil after a fault.
func (d *decoder) value(at string, f Field, raw json.RawMessage) json.RawMessage {
	want := map[Type]string{String: "a string", Integer: "a number", Boolean: "a boolean", Array: "an array"}[f.Type]
	if kind := kindOf(raw); kind != want {
		d.fault("%q must be %s, not %s", at, wanted[f.Type], shown(kind, raw))
		return nil
	}
	switch f.Type {
	case String:
		return d.text(at, f, raw)
	case Integer:
		n, err := wholeNumber(raw)
		switch {
		case err != nil:
			d.fault("%q must be a whole number, not %s", at, cut(string(raw)))
			return nil
		case n < f.Min:
			d.fault("%q must be at least %d, not %d", at, f.Min, n)
			return nil
		case f.Max > 0 && n > f.Max:
			d.fault("%q must be at most %d, not %d", at, f.Max, n)
			return nil
		}
		return json.RawMessage(number(n))
	case Array:
		return d.list(at, f, raw)
	}
	return raw
}

var wanted = map[Type]string{
	String:  "a string",
	Integer: "a whole number without quotes",
	Boolean: "true or false without quotes",
	Array:   "an array of objects",
}

func (d *decoder) text(at string, f Field, raw json.RawMessage) json.RawMessage {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		d.fault("%q: %v", at, err)
		return nil
	}
	switch {
	case f.Filled && s == "":
		d.fault("%q is empty: %s", at, firstClause(f.Doc))
		return nil
	case f.Enum != nil && !slices.Contains(f.Enum, s):
		d.fault("%q must be one of %s, not %q", at, strings.Join(f.Enum, ", "), cut(s))
		return nil
	}
	return raw
}

func (d *decoder) list(at string, f Field, raw json.RawMessage) json.RawMessage {
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		d.fault("%q: %v", at, err)
		return nil
	}
	switch {
	case len(all) < f.Min:
		d.fault("%q needs at least %d, not %d", at, f.Min, len(all))
		return nil
	case f.Max > 0 && len(all) > f.Max:
		d.fault("%q may hold %d at most, not %d", at, f.Max, len(all))
		return nil
	}
	var out bytes.Buffer
	out.WriteByte('[')
	for i, one := range all {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(d.object(fmt.Sprintf("%s[%d].", at, i), f.Items, one))
	}
	out.WriteByte(']')
	return out.Bytes()
}

// wholeNumber reads 3, 3.0 and 3e0 alike: JSON makes no difference.
func wholeNumber(raw json.RawMessage) (int, error) {
	if n, err := strconv.Atoi(string(raw)); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	const exact = 1 << 53
	if err != nil || f != math.Trunc(f) || math.Abs(f) > exact {
		return 0, errors.New("not a whole number")
	}
	return int(f), nil
}

// kindOf names what a JSON value is.
func kindOf(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// shown is a kind with the value, where that is short.
func shown(kind string, raw json.RawMessage) string {
	if kind == "an object" || kind == "an array" || kind == "null" {
		return kind
	}
	return kind + " (" + cut(string(raw)) + ")"
}

// cut shortens what is quoted from the input.
func cut(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

func names(fields []Field) string {
	if len(fields) == 0 {
		return "no keys"
	}
	var all []string
	for _, f := range fields {
		all = append(all, f.Name)
	}
	return strings.Join(all, ", ")
}

// firstClause is the part of a description that explains a field by itself.
func firstClause(doc string) string {
	for _, end := range []string{". ", "; ", " ("} {
		doc, _, _ = strings.Cut(doc, end)
	}
	return strings.TrimSuffix(doc, ".")
}
