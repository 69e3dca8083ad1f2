package openai

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/knack-skills/knack/llm"
)

// cacheKey names what the requests of a session begin with, so that they reach
// the server that has it in its cache.
func cacheKey(r llm.Request) string {
	h := sha256.New()
	add := func(b []byte) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:]) // the length keeps neighbours apart
		h.Write(b)
	}
	add([]byte(r.System))
	for _, t := range r.Tools {
		add([]byte(t.Name))
		add([]byte(t.Description))
		add(t.InputSchema)
	}
	return "knack-" + hex.EncodeToString(h.Sum(nil)[:16])
}

// arguments is the input of a call as the API takes it: JSON in a string.
func arguments(input json.RawMessage) string {
	if len(bytes.TrimSpace(input)) == 0 {
		return "{}"
	}
	return string(input)
}

// result is the text of a tool result. The API has no mark for a failed one.
func result(b llm.Block) string {
	if b.IsError && !strings.HasPrefix(strings.ToLower(b.Text), "error") {
		return "Error: " + b.Text
	}
	return b.Text
}

// parameters is the schema of a tool's input. OpenAI refuses an object schema
// that does not say which properties it has.
func parameters(schema json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(schema)) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(schema, &fields) != nil || fields["properties"] != nil || string(fields["type"]) != `"object"` {
		return schema
	}
	fields["properties"] = json.RawMessage("{}")
	if full, err := json.Marshal(fields); err == nil {
		return full
	}
	return schema
}

// strict reports whether a schema keeps the rules under which OpenAI holds a
// model to it by force: each object lists all its properties as required and
// allows no others, and only some keywords occur.
func strict(schema json.RawMessage) bool {
	var v any
	if json.Unmarshal(schema, &v) != nil {
		return false
	}
	root, ok := v.(map[string]any)
	return ok && root["type"] == "object" && root["anyOf"] == nil && strictSchema(root)
}

// strictWords are the keywords that may occur in a strict schema.
var strictWords = []string{"type", "properties", "required", "additionalProperties", "description", "title",
	"enum", "const", "items", "anyOf", "$ref", "$defs", "minimum", "maximum", "minItems", "maxItems", "pattern"}

func strictSchema(v any) bool {
	s, ok := v.(map[string]any)
	if !ok {
		return false
	}
	for word := range s {
		if !slices.Contains(strictWords, word) {
			return false
		}
	}
	props, _ := s["properties"].(map[string]any)
	if s["type"] == "object" || props != nil {
		required, _ := s["required"].([]any)
		if s["additionalProperties"] != false || len(required) != len(props) {
			return false
		}
		for name := range props {
			if !slices.Contains(required, any(name)) {
				return false
			}
		}
	}
	defs, _ := s["$defs"].(map[string]any)
	list, _ := s["anyOf"].([]any)
	inner := slices.Concat(slices.Collect(maps.Values(props)), slices.Collect(maps.Values(defs)), list)
	if items, has := s["items"]; has {
		inner = append(inner, items)
	}
	return !slices.ContainsFunc(inner, func(v any) bool { return !strictSchema(v) })
}
