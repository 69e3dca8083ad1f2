package gemini

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/knack-skills/knack/llm/wire"
)

// maxDepth is how deep a schema may be nested; what is deeper allows anything.
const maxDepth = 32

// words are the keywords of JSON Schema that the API understands, and what their
// values are. It refuses a request with any other.
var words = map[string]kind{
	"$anchor": asIs, "$ref": asIs, "$defs": namedSchemas, "type": asIs, "format": asIs, "title": asIs,
	"description": asIs, "enum": asIs, "default": asIs, "required": asIs,
	"properties": namedSchemas, "additionalProperties": oneSchema, "minProperties": asIs, "maxProperties": asIs,
	"items": oneSchema, "prefixItems": schemas, "minItems": asIs, "maxItems": asIs,
	"minimum": asIs, "maximum": asIs, "minLength": asIs, "maxLength": asIs, "pattern": asIs,
	"anyOf": schemas, "oneOf": schemas, "nullable": asIs, "propertyOrdering": asIs,
}

// plainWords are those of the older form, a part of OpenAPI.
var plainWords = []string{"type", "format", "title", "description", "enum", "default", "required", "properties",
	"minProperties", "maxProperties", "items", "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength",
	"pattern", "anyOf", "nullable"}

type kind int

const (
	asIs         kind = iota
	oneSchema         // or true, or false
	schemas           // a list
	namedSchemas      // an object
)

// A member of an object. The order is kept: models fill properties in it.
type member struct {
	key   string
	value json.RawMessage
}

// clean leaves out of a schema what the API does not understand. What a tool
// demands beyond that, it says itself when it is called wrongly.
func clean(schema json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(schema)) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return cleanAt(schema, 0)
}

func cleanAt(schema json.RawMessage, depth int) json.RawMessage {
	members, ok := membersOf(schema)
	if !ok {
		return schema // true and false are schemas too; nonsense is the server's to refuse
	}
	if depth > maxDepth {
		return json.RawMessage("{}")
	}
	var out []member
	for _, m := range members {
		if m.key == "const" {
			out = append(out, member{"enum", slices.Concat(json.RawMessage("["), m.value, json.RawMessage("]"))})
			continue
		}
		if m.key == "definitions" {
			m.key = "$defs"
		}
		if m.key == "$ref" {
			m.value = bytes.Replace(m.value, []byte("#/definitions/"), []byte("#/$defs/"), 1)
		}
		k, known := words[m.key]
		if known {
			out = append(out, member{m.key, each(m.value, k, func(s json.RawMessage) json.RawMessage { return cleanAt(s, depth+1) })})
		}
	}
	return objectOf(out)
}

// each applies f to the schemas in the value of a keyword.
func each(value json.RawMessage, k kind, f func(json.RawMessage) json.RawMessage) json.RawMessage {
	switch k {
	case oneSchema:
		return f(value)
	case schemas:
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil {
			return value
		}
		for i := range list {
			list[i] = f(list[i])
		}
		return array(list)
	case namedSchemas:
		members, ok := membersOf(value)
		if !ok {
			return value
		}
		for i := range members {
			members[i].value = f(members[i].value)
		}
		return objectOf(members)
	}
	return value
}

// plain turns a cleaned schema into the older form: types in capitals, no
// references, no lists of types.
func plain(schema json.RawMessage) json.RawMessage {
	defs := map[string]json.RawMessage{}
	members, _ := membersOf(schema)
	for _, m := range members {
		if m.key == "$defs" {
			named, _ := membersOf(m.value)
			for _, d := range named {
				defs[d.key] = d.value
			}
		}
	}
	budget := 2000 // schemas in all, since references can multiply
	return plainAt(schema, defs, 0, &budget)
}

func plainAt(schema json.RawMessage, defs map[string]json.RawMessage, depth int, budget *int) json.RawMessage {
	*budget--
	members, ok := membersOf(schema)
	if !ok || depth > maxDepth || *budget < 0 {
		return json.RawMessage(`{"type":"OBJECT"}`)
	}
	if target, ok := referred(members, defs); ok {
		return plainAt(target, defs, depth+1, budget)
	}
	var out []member
	for _, m := range members {
		if m.key == "oneOf" {
			m.key = "anyOf"
		}
		switch {
		case m.key == "type":
			out = append(out, plainType(m.value)...)
		case m.key == "enum":
			out = append(out, plainEnum(m.value)...)
		case m.key == "format" && string(m.value) != `"date-time"` && string(m.value) != `"enum"`:
		case slices.Contains(plainWords, m.key):
			out = append(out, member{m.key, each(m.value, words[m.key],
				func(s json.RawMessage) json.RawMessage { return plainAt(s, defs, depth+1, budget) })})
		}
	}
	return objectOf(out)
}

// referred finds the schema that a reference names.
func referred(members []member, defs map[string]json.RawMessage) (json.RawMessage, bool) {
	for _, m := range members {
		var ref string
		if m.key != "$ref" || json.Unmarshal(m.value, &ref) != nil {
			continue
		}
		name, ok := strings.CutPrefix(ref, "#/$defs/")
		if target := defs[name]; ok && target != nil {
			return target, true
		}
	}
	return nil, false
}

func plainType(value json.RawMessage) []member {
	var one string
	if json.Unmarshal(value, &one) == nil {
		return []member{{"type", quote(strings.ToUpper(one))}}
	}
	var list []string
	if json.Unmarshal(value, &list) != nil {
		return nil
	}
	var out []member
	if i := slices.Index(list, "null"); i >= 0 {
		list = slices.Delete(list, i, i+1)
		out = append(out, member{"nullable", json.RawMessage("true")})
	}
	switch len(list) {
	case 0:
		return nil
	case 1:
		return append(out, member{"type", quote(strings.ToUpper(list[0]))})
	}
	choices := make([]json.RawMessage, len(list))
	for i, t := range list {
		choices[i] = objectOf([]member{{"type", quote(strings.ToUpper(t))}})
	}
	return append(out, member{"anyOf", array(choices)})
}

// plainEnum keeps what the older form knows: strings.
func plainEnum(value json.RawMessage) []member {
	var list []string
	if json.Unmarshal(value, &list) != nil {
		return nil
	}
	return []member{{"enum", value}}
}

// membersOf reads an object in the order of its members.
func membersOf(raw json.RawMessage) ([]member, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var out []member
	for d.More() {
		t, err := d.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return nil, false
		}
		var m = member{key: key}
		if d.Decode(&m.value) != nil {
			return nil, false
		}
		out = append(out, m)
	}
	_, err := d.Token()
	return out, err == nil
}

func objectOf(members []member) json.RawMessage {
	b := []byte{'{'}
	seen := map[string]bool{}
	for _, m := range members {
		if seen[m.key] {
			continue
		}
		seen[m.key] = true
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, quote(m.key)...), ':'), m.value...)
	}
	return append(b, '}')
}

func array(list []json.RawMessage) json.RawMessage {
	return slices.Concat([]byte{'['}, bytes.Join(toBytes(list), []byte{','}), []byte{']'})
}

func toBytes(list []json.RawMessage) [][]byte {
	out := make([][]byte, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

func quote(s string) json.RawMessage {
	b, err := wire.Encode(s)
	if err != nil { // a string always marshals
		return json.RawMessage(`""`)
	}
	return b
}
