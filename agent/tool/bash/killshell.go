package bash

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/llm"
)

//go:embed killshell.md
var killShellDoc string

// A KillShell ends a background command.
type KillShell struct{ s *Shells }

func killShellInput() tool.Input {
	return tool.Input{Tool: "KillShell", Fields: []tool.Field{
		{Name: "shell_id", Type: tool.String, Required: true, Filled: true, Doc: "the id of the background command, as Bash returned it"},
	}}
}

// Spec implements [agent.Tool].
func (t *KillShell) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: "KillShell", Description: killShellDoc, InputSchema: killShellInput().Schema()}
}

// Plan implements [agent.Tool].
func (t *KillShell) Plan(input json.RawMessage) (agent.Plan, error) {
	var in struct {
		ID string `json:"shell_id"`
	}
	if err := killShellInput().Decode(input, &in); err != nil {
		return agent.Plan{}, err
	}
	return agent.Plan{
		Run: func(ctx context.Context, env agent.CallEnv) (agent.Result, error) {
			j, err := t.s.find(env.Agent, in.ID)
			if err != nil {
				return failed(err)
			}
			if j.ended() {
				return agent.Result{Text: fmt.Sprintf("%s had already ended: %s.", j.id, j.how)}, nil
			}
			j.stop()
			select {
			case <-j.done:
			case <-ctx.Done():
				return agent.Result{}, ctx.Err()
			}
			return agent.Result{Text: fmt.Sprintf("%s: %s.", j.id, j.how)}, nil
		},
	}, nil
}
