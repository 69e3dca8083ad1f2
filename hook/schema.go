package hook

import (
	"encoding/json"
	"maps"
	"slices"
)

// fieldSchemas has the JSON Schema of each field of a handler but its type.
var fieldSchemas = map[string]string{
	"if":             `{"type":"string","description":"A permission rule such as Bash(git *): the hook runs only for tool calls that it covers."}`,
	"timeout":        `{"type":"number","exclusiveMinimum":0,"description":"Seconds."}`,
	"once":           `{"type":"boolean","description":"Remove the hook after its first success."}`,
	"statusMessage":  `{"type":"string","description":"Shown while the hook runs."}`,
	"command":        `{"type":"string","minLength":1,"description":"A shell line; with args, the program to start. Reads the event as JSON on standard input; exit code 2 blocks, and standard error is the reason."}`,
	"args":           `{"type":"array","items":{"type":"string"},"description":"Arguments; the program starts without a shell."}`,
	"shell":          `{"enum":["bash","powershell"]}`,
	"async":          `{"type":"boolean","description":"Run in the background, without a say."}`,
	"url":            `{"type":"string","minLength":1,"description":"The event is sent there as JSON by POST."}`,
	"headers":        `{"type":"object","additionalProperties":{"type":"string"},"description":"Values may hold $NAME of a variable in allowedEnvVars."}`,
	"allowedEnvVars": `{"type":"array","items":{"type":"string"},"description":"Variables that may be put into headers."}`,
	"prompt":         `{"type":"string","minLength":1,"description":"What the model decides; it answers ok or not, with a reason."}`,
	"model":          `{"type":"string","description":"Model that decides; a small one without it."}`,
	"server":         `{"type":"string","minLength":1,"description":"MCP server."}`,
	"tool":           `{"type":"string","minLength":1,"description":"Tool of the MCP server."}`,
	"input":          `{"type":"object","description":"Input of the tool."}`,
}

const matcherSchema = `{"type":"string","description":"Empty or * is all. Only letters, digits, _ - space , |: exact names, such as Edit|Write. Anything else is a regular expression, unanchored. For FileChanged it is a gitignore pattern."}`

// Schema returns the JSON Schema of a hooks section in the form that people
// should write: [Decode] also reads some others (spec H-1). It is made from the
// tables that Decode holds declarations against.
func Schema() json.RawMessage {
	common := fieldsOf(forAll)
	common["type"] = jsonObject{"enum": slices.Sorted(maps.Keys(handlerTypes))}
	var kinds []jsonObject
	for _, name := range slices.Sorted(maps.Keys(handlerTypes)) {
		t := handlerTypes[name]
		fields := fieldsOf(slices.Concat(t.required, t.optional))
		fields["type"] = jsonObject{"const": name}
		kinds = append(kinds, jsonObject{"properties": fields, "required": t.required})
	}
	handler := jsonObject{
		"type": "object", "properties": common, "required": []string{"type"},
		"oneOf": kinds, "unevaluatedProperties": false,
	}
	group := jsonObject{
		"type": "object", "required": []string{"hooks"}, "additionalProperties": false,
		"properties": jsonObject{
			"matcher": json.RawMessage(matcherSchema),
			"hooks":   jsonObject{"type": "array", "minItems": 1, "items": handler},
		},
	}
	out, err := json.Marshal(jsonObject{
		"type": "object", "propertyNames": jsonObject{"enum": Events()},
		"additionalProperties": jsonObject{"type": "array", "items": group},
	})
	if err != nil {
		panic(err) // a schema of the tables above is no JSON
	}
	return out
}

// A jsonObject is a JSON object; its keys are written in alphabetical order.
type jsonObject map[string]any

// fieldsOf returns the schemas of handler fields by name.
func fieldsOf(names []string) jsonObject {
	out := jsonObject{}
	for _, n := range names {
		if s, ok := fieldSchemas[n]; ok {
			out[n] = json.RawMessage(s)
		}
	}
	return out
}
