package file

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/permission"
)

//go:embed edit.md
var editDoc string

// An Edit replaces text in a file.
type Edit struct {
	base tool.Base
	seen *Seen
}

// NewEdit returns the tool. It changes what is noted in seen.
func NewEdit(base tool.Base, seen *Seen) *Edit { return &Edit{base, seen} }

func editInput() tool.Input {
	fields := []tool.Field{{Name: "file_path", Type: tool.String, Required: true, Filled: true, Doc: "the file to change, best as an absolute path"}}
	return tool.Input{Tool: "Edit", Fields: append(fields, changeFields()...)}
}

// Spec implements [agent.Tool].
func (t *Edit) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: "Edit", Description: editDoc, InputSchema: editInput().Schema()}
}

// Plan implements [agent.Tool].
func (t *Edit) Plan(input json.RawMessage) (agent.Plan, error) {
	var in struct {
		Path string `json:"file_path"`
		change
	}
	if err := editInput().Decode(input, &in); err != nil {
		return agent.Plan{}, err
	}
	if err := in.check(); err != nil {
		return agent.Plan{}, fmt.Errorf("Edit: %w", err)
	}
	return plan(t.base, "Edit", in.Path, func(env agent.CallEnv, req permission.Request) (text string, err error) {
		err = t.seen.change(env, req, func(d *document) error {
			start, end, n, err := in.apply(d)
			if err != nil {
				return err
			}
			where := ""
			if n > 1 {
				where = ", the first one"
			}
			text = fmt.Sprintf("Changed %s (%s)%s. Around it the file now reads:\n%s",
				req.Input.Path, count(n, "replacement"), where, snippet(d.text, start, end))
			return nil
		})
		return text, err
	})
}
