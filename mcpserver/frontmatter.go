package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/knack-skills/knack/frontmatter"
)

// frontmatterOf returns the frontmatter of a SKILL.md as JSON, every field as
// strict YAML reads it, and the name in it. Others will read the same file, so
// what only a lenient reader understands is an error.
func frontmatterOf(source string) (front json.RawMessage, name string, err error) {
	doc, problems := frontmatter.Parse(mainFile, []byte(source))
	if doc.Refused != "" || len(doc.Fields()) == 0 {
		return nil, "", errors.New("it has no frontmatter")
	}
	for _, p := range problems {
		if p.Code == "yaml-recovered" {
			return nil, "", errors.New("its frontmatter is not valid YAML: " + p.Message)
		}
	}
	head := strings.TrimSuffix(strings.TrimPrefix(source, "\ufeff"), doc.Body)
	_, head, _ = strings.Cut(head, "\n") // the opening fence
	head = strings.TrimRight(head, "\r\n\t ")
	head = strings.TrimRight(head[:strings.LastIndexByte(head, '\n')+1], "\r\n") // the closing one
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(head), &node); err != nil {
		return nil, "", fmt.Errorf("its frontmatter is not valid YAML: %w", err)
	}
	if node.Kind != yaml.DocumentNode || len(node.Content) != 1 || node.Content[0].Kind != yaml.MappingNode {
		return nil, "", errors.New("its frontmatter is no list of fields")
	}
	var b bytes.Buffer
	if err := writeJSON(&b, node.Content[0]); err != nil {
		return nil, "", err
	}
	var known struct{ Name any }
	if err := json.Unmarshal(b.Bytes(), &known); err != nil {
		return nil, "", err
	}
	name, _ = known.Name.(string)
	return b.Bytes(), name, nil
}

// writeJSON writes a YAML value as JSON, in the order of its keys.
func writeJSON(b *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteByte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(quoted(n.Content[i].Value))
			b.WriteByte(':')
			if err := writeJSON(b, n.Content[i+1]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, item); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case yaml.ScalarNode:
		return writeScalar(b, n)
	default:
		return fmt.Errorf("its frontmatter has an alias in line %d", n.Line)
	}
	return nil
}

// writeScalar writes what YAML 1.2 makes of a scalar; dates are text there.
func writeScalar(b *bytes.Buffer, n *yaml.Node) error {
	var v any = n.Value
	var err error
	switch n.ShortTag() {
	case "!!null":
		v = nil
	case "!!bool":
		var on bool
		err = n.Decode(&on)
		v = on
	case "!!int":
		var i int64
		if err = n.Decode(&i); err == nil {
			v = i
		}
	case "!!float":
		var f float64
		if err = n.Decode(&f); err == nil {
			v = f
		}
	}
	if err != nil {
		return fmt.Errorf("its frontmatter has %q in line %d: %w", n.Value, n.Line, err)
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("its frontmatter has %q in line %d: %w", n.Value, n.Line, err)
	}
	b.Write(data)
	return nil
}

func quoted(s string) []byte {
	data, err := json.Marshal(s)
	if err != nil {
		return []byte(`""`) // strings always encode
	}
	return data
}
