// Package agenttool holds the Agent tool: a model starts a subagent for a task
// (spec ).
package agenttool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/permission"
)

// Agent is the tool. Types describes the agent types to the model, one line
// each; it is fixed for the session.
type Agent struct{ Types string }

var _ agent.Tool = Agent{}

// general is the agent type that runs when none is named (spec I-8).
const general = "general-purpose"

// Spec describes the tool.
func (a Agent) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: "Agent",
		Description: "Start a subagent for a task that stands on its own: a search through many files, a review, one of several independent changes. " +
			"It sees nothing of this conversation, so the prompt must say everything it needs and what to report. " +
			"Its last message comes back as the result. Call it several times in one message to work in parallel.\n\nAgent types:\n" + a.Types,
		InputSchema: input().Schema()}
}

func input() tool.Input {
	return tool.Input{Tool: "Agent", Fields: []tool.Field{
		{Name: "description", Type: tool.String, Required: true, Doc: "three to five words for the person who watches"},
		{Name: "prompt", Type: tool.String, Required: true, Filled: true, Doc: "the whole task"},
		{Name: "subagent_type", Type: tool.String, Doc: "the agent type; general-purpose when left out"},
		{Name: "run_in_background", Type: tool.Boolean, Doc: "do not wait; the result arrives as a message"},
	}}
}

// Plan reads a call.
func (Agent) Plan(raw json.RawMessage) (agent.Plan, error) {
	var in struct {
		Description string `json:"description"`
		Prompt      string `json:"prompt"`
		Type        string `json:"subagent_type"`
		Background  bool   `json:"run_in_background"`
	}
	if err := input().Decode(raw, &in); err != nil {
		return agent.Plan{}, err
	}
	if strings.TrimSpace(in.Prompt) == "" {
		return agent.Plan{}, errors.New(`"prompt" is blank: say the whole task`)
	}
	return agent.Plan{
		Ask:      permission.Request{Tool: "Agent", Input: permission.Input{Agent: cmp.Or(in.Type, general)}},
		Free:     true, // what the subagent does is judged call by call
		ReadOnly: true, // so that several run at once
		Run: func(ctx context.Context, env agent.CallEnv) (agent.Result, error) {
			out, err := env.Spawn(ctx, invoke.ForkRequest{Parent: env.Agent, Agent: in.Type, Prompt: in.Prompt, Background: in.Background})
			switch {
			case err != nil && ctx.Err() != nil:
				return agent.Result{}, ctx.Err()
			case err != nil:
				return agent.Result{Text: err.Error(), IsError: true}, nil
			case out.Task != "":
				return agent.Result{Text: "Started in the background as task " + out.Task + "; its result will follow."}, nil
			case strings.TrimSpace(out.Text) == "":
				return agent.Result{Text: "The subagent ended without a report."}, nil
			}
			return agent.Result{Text: out.Text}, nil
		},
	}, nil
}
