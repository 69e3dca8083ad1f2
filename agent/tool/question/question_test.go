package question_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool/question"
	"github.com/knack-skills/knack/agent/tool/tooltest"
)

const two = `{"questions":[
	{"question":"Which one?","header":"Choice","options":[{"label":"A","description":"first"},{"label":"B"}]},
	{"question":"What else?","multiSelect":true,"options":[{"label":"X"},{"label":"Y"},{"label":"Z"}]}]}`

// A person answers as the test says.
type person struct {
	asked   []question.Question
	answers []question.Answer
	refuses bool
	err     error
}

func (p *person) Ask(_ context.Context, q []question.Question) ([]question.Answer, bool, error) {
	p.asked = q
	return p.answers, !p.refuses, p.err
}

func TestContract(t *testing.T) {
	tooltest.Run(t, question.New(nil), two)
}

func run(t *testing.T, a question.Asker, in string) (agent.Result, error) {
	t.Helper()
	p, err := question.New(a).Plan(json.RawMessage(in))
	if err != nil {
		t.Fatal(err)
	}
	if !p.Person || p.Ask.Tool != "" { // spec I-10
		t.Errorf("%+v", p)
	}
	return p.Run(t.Context(), agent.CallEnv{Progress: func(string) {}})
}

func TestAnswers(t *testing.T) {
	who := &person{answers: []question.Answer{{Chosen: []string{"A"}}, {Chosen: []string{"X", "Z"}, Text: "and W"}}}
	r, err := run(t, who, two)
	want := "Which one?\n- A\nWhat else?\n- X\n- Z\n- and in their own words: and W"
	if err != nil || r.IsError || r.Text != want {
		t.Errorf("%+v, %v", r, err)
	}
	asked := []question.Question{
		{Text: "Which one?", Header: "Choice", Options: []question.Option{{Label: "A", Description: "first"}, {Label: "B"}}},
		{Text: "What else?", Multiple: true, Options: []question.Option{{Label: "X"}, {Label: "Y"}, {Label: "Z"}}},
	}
	if d := cmp.Diff(asked, who.asked); d != "" {
		t.Error(d)
	}
	who.answers = []question.Answer{{Text: "neither"}, {}}
	if r, err = run(t, who, two); err != nil || r.Text != "Which one?\n- in their own words: neither\nWhat else?\n- no answer" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestNoAnswer(t *testing.T) {
	if r, err := run(t, &person{refuses: true}, two); err != nil || !r.IsError || !strings.Contains(r.Text, "would not answer") {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := run(t, nil, two); err != nil || !r.IsError || !strings.Contains(r.Text, "nobody to ask") {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := run(t, &person{err: context.Canceled}, two); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := run(t, &person{answers: []question.Answer{{}}}, two); err == nil {
		t.Error("one answer is enough for two questions")
	}
}

func TestBadInput(t *testing.T) {
	for in, want := range map[string]string{
		`{"questions":[]}`: `"questions" needs at least 1`,
		`{"questions":[{"question":"x?","options":[{"label":"A"}]}]}`:               `"questions[0].options" needs at least 2`,
		`{"questions":[{"question":"x?","options":[{"label":"A"},{"label":"A"}]}]}`: `questions[0] offers "A" twice`,
		`{"questions":[{"question":"x?","options":[{"label":"A"},"B"]}]}`:           `"questions[0].options[1]" must be an object`,
		`{"questions":[{"question":"x?"}]}`:                                         `"questions[0].options" is missing`,
	} {
		if _, err := question.New(nil).Plan(json.RawMessage(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func FuzzPlan(f *testing.F) {
	f.Add([]byte(two))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if p, err := question.New(nil).Plan(raw); err == nil && !p.Person {
			t.Errorf("%q needs no person", raw)
		}
	})
}
