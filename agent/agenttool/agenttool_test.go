package agenttool_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/agenttool"
	"github.com/knack-skills/knack/agent/tool/tooltest"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/session"
)

func TestContract(t *testing.T) {
	tooltest.Run(t, agenttool.Agent{Types: "- Explore: looks"}, `{"description":"look","prompt":"Look."}`,
		`{"description":"look","prompt":"Look.","subagent_type":"Explore","run_in_background":true}`)
}

// TestRun: what is asked of the loop, and what the model hears.
func TestRun(t *testing.T) { // spec
	for _, tt := range []struct {
		input  string
		result invoke.ForkResult
		err    error
		want   agent.Result
		asked  invoke.ForkRequest
		rule   string // what permission rules compare
	}{
		{`{"description":"d","prompt":"Look."}`, invoke.ForkResult{Text: "seen"}, nil, agent.Result{Text: "seen"},
			invoke.ForkRequest{Parent: "a", Prompt: "Look."}, "general-purpose"},
		{`{"description":"d","prompt":"Look.","subagent_type":"Explore","run_in_background":true}`, invoke.ForkResult{Task: "agent-1"}, nil,
			agent.Result{Text: "Started in the background as task agent-1; its result will follow."},
			invoke.ForkRequest{Parent: "a", Agent: "Explore", Prompt: "Look.", Background: true}, "Explore"},
		{`{"description":"d","prompt":"Look."}`, invoke.ForkResult{Text: " \n"}, nil, agent.Result{Text: "The subagent ended without a report."},
			invoke.ForkRequest{Parent: "a", Prompt: "Look."}, "general-purpose"},
		{`{"description":"d","prompt":"Look."}`, invoke.ForkResult{}, errors.New("too deep"), agent.Result{Text: "too deep", IsError: true},
			invoke.ForkRequest{Parent: "a", Prompt: "Look."}, "general-purpose"},
	} {
		p, err := agenttool.Agent{}.Plan(json.RawMessage(tt.input))
		if err != nil {
			t.Fatal(err)
		}
		if p.Ask.Tool != "Agent" || p.Ask.Input.Agent != tt.rule || !p.Free || !p.ReadOnly {
			t.Errorf("%s: %+v", tt.input, p)
		}
		var asked invoke.ForkRequest
		got, err := p.Run(t.Context(), agent.CallEnv{Agent: session.AgentID("a"),
			Spawn: func(_ context.Context, r invoke.ForkRequest) (invoke.ForkResult, error) {
				asked = r
				return tt.result, tt.err
			}})
		if err != nil {
			t.Error(err)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(tt.asked, asked); d != "" {
			t.Error(d)
		}
	}
	for _, input := range []string{`{}`, `{"description":"d","prompt":" "}`, `{"prompt":"x","type":"Explore"}`, `[]`} {
		if _, err := (agenttool.Agent{}).Plan(json.RawMessage(input)); err == nil {
			t.Errorf("%s is accepted", input)
		}
	}
}
