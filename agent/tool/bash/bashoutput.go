package bash

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/llm"
)

//go:embed bashoutput.md
var bashOutputDoc string

// A BashOutput reads what a background command has written.
type BashOutput struct{ s *Shells }

func bashOutputInput() tool.Input {
	return tool.Input{Tool: "BashOutput", Fields: []tool.Field{
		{Name: "bash_id", Type: tool.String, Required: true, Filled: true, Doc: "the id of the background command, as Bash returned it"},
		{Name: "filter", Type: tool.String, Doc: "a regular expression that lines must match to be returned"},
	}}
}

// Spec implements [agent.Tool].
func (t *BashOutput) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: "BashOutput", Description: bashOutputDoc, InputSchema: bashOutputInput().Schema()}
}

// Plan implements [agent.Tool].
func (t *BashOutput) Plan(input json.RawMessage) (agent.Plan, error) {
	var in struct {
		ID     string `json:"bash_id"`
		Filter string `json:"filter"`
	}
	if err := bashOutputInput().Decode(input, &in); err != nil {
		return agent.Plan{}, err
	}
	var filter *regexp.Regexp
	if in.Filter != "" {
		var err error
		if filter, err = regexp.Compile(in.Filter); err != nil {
			return agent.Plan{}, fmt.Errorf(`BashOutput: "filter" is no regular expression: %s`, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	}
	return agent.Plan{
		ReadOnly: true,
		Run: func(_ context.Context, env agent.CallEnv) (agent.Result, error) {
			j, err := t.s.find(env.Agent, in.ID)
			if err != nil {
				return failed(err)
			}
			return agent.Result{Text: j.report(filter)}, nil
		},
	}, nil
}

// report is the state and what is new. The state comes first: what is written
// between the two is then not lost, but there next time.
func (j *job) report(filter *regexp.Regexp) string {
	state := j.state()
	text := j.log.take(filter != nil)
	if filter != nil {
		var b strings.Builder
		for line := range strings.Lines(text) {
			if filter.MatchString(strings.TrimRight(line, "\r\n")) {
				b.WriteString(line)
			}
		}
		text = b.String()
	}
	if text = strings.TrimRight(text, "\r\n"); text == "" {
		text = "(no new output)"
	}
	return fmt.Sprintf("[%s: %s]\n%s", j.id, state, text)
}
