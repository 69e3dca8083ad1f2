package agentdef

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/skill"
)

const givenPath = "--agents"

// Parse reads the JSON of --agents: an object that maps names to definitions
// with the fields of a file, and the body as "prompt". The error is about the
// JSON as a whole; what is wrong with one definition is a problem and costs
// only that one.
func Parse(text string) ([]*Definition, []skill.Problem, error) {
	names, values, err := members([]byte(text))
	if err != nil {
		return nil, nil, fmt.Errorf(`%s: %w; write {"reviewer": {"description": "…", "prompt": "…"}}`, givenPath, err)
	}
	var defs []*Definition
	var problems []skill.Problem
	for i, name := range names {
		d, p := given(name, values[i])
		problems = append(problems, p...)
		if d != nil {
			defs = append(defs, d)
		}
	}
	return defs, problems, nil
}

// given makes a definition of one member. Its fields are written as
// frontmatter, of which JSON values are a part, so that one reader with one set
// of rules reads both forms.
func given(name string, value json.RawMessage) (*Definition, []skill.Problem) {
	bad := func(message, fix string) (*Definition, []skill.Problem) {
		return nil, []skill.Problem{problem(skill.Error, "agents-flag", givenPath, fmt.Sprintf("agent %q: %s", name, message), fix)}
	}
	keys, values, err := members(value)
	if err != nil {
		return bad(err.Error()+"; it is not loaded", `write {"description": "…", "prompt": "…"}`)
	}
	var b strings.Builder
	b.WriteString("---\n")
	fmt.Fprintf(&b, "name: %s\n", oneLine(name))
	prompt := ""
	for i, key := range keys {
		switch key {
		case "prompt":
			if json.Unmarshal(values[i], &prompt) != nil {
				return bad("prompt has to be a text; it is not loaded", "put it in double quotes")
			}
		case "name": // the member has one
		default:
			fmt.Fprintf(&b, "%s: %s\n", oneLine(key), oneLine(values[i]))
		}
	}
	b.WriteString("---\n")
	doc, parsed := frontmatter.Parse(givenPath, []byte(b.String()))
	doc.Body = prompt
	d, problems := read(doc, parsed, Origin{Source: CommandLine}, name, true)
	for i := range problems { // of text that nobody wrote
		problems[i].Line, problems[i].Column = 0, 0
		problems[i].Message = fmt.Sprintf("agent %q: %s", name, problems[i].Message)
	}
	return d, problems
}

// oneLine is v as JSON without line ends.
func oneLine(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if raw, ok := v.(json.RawMessage); ok {
		var any any
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber() // as written
		if d.Decode(&any) == nil {
			v = any
		}
	}
	if e.Encode(v) != nil {
		return "null"
	}
	return strings.TrimSpace(b.String())
}

// members returns the keys and values of a JSON object in order.
func members(data []byte) (keys []string, values []json.RawMessage, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	open, err := d.Token()
	if err != nil {
		return nil, nil, fmt.Errorf("not valid JSON: %w", err)
	}
	if open != json.Delim('{') {
		return nil, nil, fmt.Errorf("it has to be a JSON object")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, nil, fmt.Errorf("not valid JSON: %w", err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, nil, fmt.Errorf("not valid JSON: %w", err)
		}
		keys, values = append(keys, key.(string)), append(values, value)
	}
	if _, err := d.Token(); err != nil {
		return nil, nil, fmt.Errorf("not valid JSON: %w", err)
	}
	if d.More() {
		return nil, nil, fmt.Errorf("not valid JSON: more text after the object")
	}
	return keys, values, nil
}
