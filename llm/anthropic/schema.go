package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
)

// schema adapts a schema to what the API takes: it wants every object closed
// and refuses many keywords, which the SDK turns into descriptions. The SDK does
// not read all schemas, such as a list of types; of those, objects are closed
// and the rest is left to the API.
func schema(raw json.RawMessage) (any, error) {
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("schema of the answer: %w", err)
	}
	if m == nil {
		return nil, errors.New("schema of the answer: it must be an object")
	}
	if adapted, ok := sdk.BetaJSONSchemaOutputFormat(m).Schema.(map[string]any); ok && adapted != nil {
		return adapted, nil
	}
	closeObjects(m)
	return m, nil
}

// Where the schemas in a schema are.
var (
	schemaMaps  = []string{"properties", "$defs", "definitions"}
	schemaLists = []string{"anyOf", "allOf", "oneOf"}
	schemaOnes  = []string{"items", "additionalProperties"}
)

func closeObjects(v any) {
	s, ok := v.(map[string]any)
	if !ok {
		return
	}
	for _, k := range schemaOnes {
		closeObjects(s[k])
	}
	for _, k := range schemaLists {
		list, _ := s[k].([]any)
		for _, e := range list {
			closeObjects(e)
		}
	}
	for _, k := range schemaMaps {
		m, _ := s[k].(map[string]any)
		for _, e := range m {
			closeObjects(e)
		}
	}
	if s["properties"] != nil {
		s["additionalProperties"] = false
	}
}
