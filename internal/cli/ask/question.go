package ask

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/knack-skills/knack/agent/tool/question"
)

// Questions answers for the tool AskUserQuestion.
type Questions struct{ *Terminal }

var _ question.Asker = Questions{}

// Ask implements [question.Asker]. The person types the number of an option,
// several with commas between them where that is allowed, or an answer in their
// own words. An empty line is no answer to this one; the end of input ends all.
func (t Questions) Ask(ctx context.Context, questions []question.Question) (answers []question.Answer, ok bool, err error) {
	release, err := t.hold(ctx)
	if err != nil {
		return nil, false, err
	}
	defer release()
	for _, q := range questions {
		if _, err := io.WriteString(t.out, t.ask(q)); err != nil {
			return nil, false, fmt.Errorf("asking on the terminal: %w", err)
		}
		line, err := t.prompt(ctx, t.style.Bold("> "))
		switch {
		case errors.Is(err, errEnd):
			return nil, false, nil
		case err != nil:
			return nil, false, err
		}
		answers = append(answers, chosen(line, q))
	}
	return answers, true, nil
}

// ask is how a question looks.
func (t Questions) ask(q question.Question) string {
	var b strings.Builder
	b.WriteString("\n")
	if q.Header != "" {
		t.block(&b, "", []string{q.Header}, maxText)
	}
	t.block(&b, "", strings.Split(q.Text, "\n"), maxDetails)
	for i, o := range q.Options {
		label := o.Label
		if o.Description != "" {
			label += ": " + o.Description
		}
		t.block(&b, fmt.Sprintf("  %d  ", i+1), []string{label}, maxText)
	}
	how := "A number, or your own words."
	if q.Multiple {
		how = "Numbers with commas between them, or your own words."
	}
	b.WriteString(t.style.Dim(how) + "\n")
	return b.String()
}

// chosen reads an answer. What is not a choice is the person's own words.
func chosen(line string, q question.Question) question.Answer {
	fields := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' })
	var picked []int
	for _, f := range fields {
		n, err := strconv.Atoi(f)
		if err != nil || n < 1 || n > len(q.Options) {
			return named(line, q)
		}
		if !slices.Contains(picked, n-1) {
			picked = append(picked, n-1)
		}
	}
	if len(picked) > 1 && !q.Multiple {
		return question.Answer{Text: line}
	}
	slices.Sort(picked)
	var a question.Answer
	for _, i := range picked {
		a.Chosen = append(a.Chosen, q.Options[i].Label)
	}
	return a
}

// named takes an option by its label.
func named(line string, q question.Question) question.Answer {
	for _, o := range q.Options {
		if strings.EqualFold(line, o.Label) {
			return question.Answer{Chosen: []string{o.Label}}
		}
	}
	return question.Answer{Text: line}
}
