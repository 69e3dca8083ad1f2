package file

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/permission"
)

//go:embed multiedit.md
var multiEditDoc string

// maxEdits is how many replacements one call makes.
const maxEdits = 200

// A MultiEdit makes several replacements in one file, all or none.
type MultiEdit struct {
	base tool.Base
	seen *Seen
}

// NewMultiEdit returns the tool. It changes what is noted in seen.
func NewMultiEdit(base tool.Base, seen *Seen) *MultiEdit { return &MultiEdit{base, seen} }

func multiEditInput() tool.Input {
	return tool.Input{Tool: "MultiEdit", Fields: []tool.Field{
		{Name: "file_path", Type: tool.String, Required: true, Filled: true, Doc: "the file to change, best as an absolute path"},
		{Name: "edits", Type: tool.Array, Required: true, Min: 1, Max: maxEdits, Items: changeFields(), Doc: "the replacements, in the order in which they are made"},
	}}
}

// Spec implements [agent.Tool].
func (t *MultiEdit) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: "MultiEdit", Description: multiEditDoc, InputSchema: multiEditInput().Schema()}
}

// Plan implements [agent.Tool].
func (t *MultiEdit) Plan(input json.RawMessage) (agent.Plan, error) {
	var in struct {
		Path  string   `json:"file_path"`
		Edits []change `json:"edits"`
	}
	if err := multiEditInput().Decode(input, &in); err != nil {
		return agent.Plan{}, err
	}
	for i, c := range in.Edits {
		if err := c.check(); err != nil {
			return agent.Plan{}, fmt.Errorf("MultiEdit: edits[%d]: %w", i, err)
		}
	}
	return plan(t.base, "MultiEdit", in.Path, func(env agent.CallEnv, req permission.Request) (text string, err error) {
		err = t.seen.change(env, req, func(d *document) error {
			shown, err := applyAll(d, in.Edits)
			text = fmt.Sprintf("Changed %s (%s). What has changed now reads:\n%s", req.Input.Path, count(len(in.Edits), "edit"), shown)
			return err
		})
		return text, err
	})
}

// applyAll makes the changes in order and returns a snippet of the lines from
// the first to the last changed one.
func applyAll(d *document, edits []change) (shown string, err error) {
	before := d.text
	for i, c := range edits {
		if _, _, _, err := c.apply(d); err != nil {
			return "", fmt.Errorf("edits[%d]: %w", i, err)
		}
	}
	if d.text == before {
		return "", errors.New("the edits undo each other, so nothing would change")
	}
	start := sameStart(before, d.text)
	end := len(d.text) - sameEnd(before[start:], d.text[start:])
	return snippet(d.text, start, end), nil
}

func sameStart(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func sameEnd(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}
