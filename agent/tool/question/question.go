// Package question holds AskUserQuestion, by which a model asks the person (spec
// How a question is put is the business of an [Asker].
package question

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/llm"
)

//go:embed question.md
var doc string

// A Question is put to the person.
type Question struct {
	Text     string   `json:"question"`
	Header   string   `json:"header"`
	Options  []Option `json:"options"`
	Multiple bool     `json:"multiSelect"` // several options may be chosen
}

// An Option is one answer to choose.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// An Answer is what the person said to one question.
type Answer struct {
	Chosen []string // labels, in the order of the options
	Text   string   // their own words; empty when they only chose
}

// An Asker puts questions to the person and waits for the answers, one for each
// question. ok is false when the person would not answer. An error means that
// asking failed, or that ctx has ended.
type Asker interface {
	Ask(ctx context.Context, questions []Question) (answers []Answer, ok bool, err error)
}

// An AskUserQuestion asks the person.
type AskUserQuestion struct{ asker Asker }

// New returns the tool. A nil asker is for hosts without a person: the loop
// refuses the calls there, and so does the tool.
func New(asker Asker) *AskUserQuestion { return &AskUserQuestion{asker} }

func input() tool.Input {
	return tool.Input{Tool: "AskUserQuestion", Fields: []tool.Field{
		{Name: "questions", Type: tool.Array, Required: true, Min: 1, Max: 4, Doc: "what to ask, one to four questions", Items: []tool.Field{
			{Name: "question", Type: tool.String, Required: true, Filled: true, Doc: "the whole question, with a question mark"},
			{Name: "header", Type: tool.String, Doc: "a word or two that stand above it"},
			{Name: "multiSelect", Type: tool.Boolean, Doc: "whether several options may be chosen; false when left out"},
			{Name: "options", Type: tool.Array, Required: true, Min: 2, Max: 4, Doc: "the answers to choose from, two to four", Items: []tool.Field{
				{Name: "label", Type: tool.String, Required: true, Filled: true, Doc: "the answer in one to five words"},
				{Name: "description", Type: tool.String, Doc: "what follows from it"},
			}},
		}},
	}}
}

// Spec implements [agent.Tool].
func (t *AskUserQuestion) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: "AskUserQuestion", Description: doc, InputSchema: input().Schema()}
}

// Plan implements [agent.Tool].
func (t *AskUserQuestion) Plan(raw json.RawMessage) (agent.Plan, error) {
	var in struct {
		Questions []Question `json:"questions"`
	}
	if err := input().Decode(raw, &in); err != nil {
		return agent.Plan{}, err
	}
	for i, q := range in.Questions {
		for j, o := range q.Options {
			if slices.ContainsFunc(q.Options[:j], func(p Option) bool { return p.Label == o.Label }) {
				return agent.Plan{}, fmt.Errorf("AskUserQuestion: questions[%d] offers %q twice: give each option its own label", i, o.Label)
			}
		}
	}
	return agent.Plan{
		ReadOnly: true,
		Person:   true,
		Run: func(ctx context.Context, _ agent.CallEnv) (agent.Result, error) {
			return t.run(ctx, in.Questions)
		},
	}, nil
}

func (t *AskUserQuestion) run(ctx context.Context, questions []Question) (agent.Result, error) {
	if t.asker == nil {
		return agent.Result{Text: "There is nobody to ask here: decide yourself and say what you have assumed.", IsError: true}, nil
	}
	answers, ok, err := t.asker.Ask(ctx, questions)
	switch {
	case err != nil:
		return agent.Result{}, err
	case !ok:
		return agent.Result{Text: "The person would not answer. Do not ask the same again; go on without it, or stop and say what you need.", IsError: true}, nil
	case len(answers) != len(questions):
		return agent.Result{}, fmt.Errorf("asked %d questions, got %d answers", len(questions), len(answers))
	}
	var b strings.Builder
	for i, q := range questions {
		fmt.Fprintf(&b, "%s\n%s\n", q.Text, answers[i].show())
	}
	return agent.Result{Text: strings.TrimSuffix(b.String(), "\n")}, nil
}

// show writes an answer as the model reads it.
func (a Answer) show() string {
	switch {
	case len(a.Chosen) == 0 && a.Text == "":
		return "- no answer"
	case len(a.Chosen) == 0:
		return "- in their own words: " + a.Text
	case a.Text == "":
		return "- " + strings.Join(a.Chosen, "\n- ")
	}
	return "- " + strings.Join(a.Chosen, "\n- ") + "\n- and in their own words: " + a.Text
}
