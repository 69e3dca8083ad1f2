// Package offline is the model that needs nothing: no key, no network, no
// account (spec A-2). It chooses a skill by the name a person typed or by
// search, and answers with the instructions that a language model would have
// been given. It says so in every answer.
package offline

import (
	"context"
	"fmt"
	"strings"

	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/search"
	"github.com/knack-skills/knack/skill"
)

// Name is how the model is chosen on the command line.
const Name = "offline"

// Choose picks the skill that fits a message best, from search results for it.
// A word such as "what" that a skill shares with a message is no reason.
func Choose(hits []search.Hit) (id string, ok bool) {
	if len(hits) == 0 || hits[0].Weak {
		return "", false
	}
	return hits[0].ID, true
}

// Answer is the model's text for skills that were invoked. message is the
// person's words when search chose the skill, and empty when they named it.
func Answer(message string, results ...*invoke.Result) string {
	var b strings.Builder
	for i, r := range results {
		if i > 0 {
			b.WriteString("\n\n")
		}
		how := "you named it"
		if message != "" {
			how = fmt.Sprintf("chosen by search for %q", brief(message))
		}
		where := ""
		if r.Mode == skill.Fork {
			where = "; it would run in a subagent"
		}
		fmt.Fprintf(&b, "[offline: no language model is attached. Skill %q (%s%s) gives a model these instructions:]\n\n%s",
			r.Entry.ID, how, where, strings.TrimRight(r.Text, "\n"))
	}
	return b.String()
}

// brief is the first line of a message, at most 80 characters of it.
func brief(message string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	if r := []rune(line); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return line
}

// NoMatch is the model's text when no skill fits a message.
func NoMatch(message string) string {
	return fmt.Sprintf("[offline: no language model is attached, and no skill matches %q. `knack list` shows the skills; `/name` starts one.]", brief(message))
}

// Forker answers for a subagent with the instructions it would have got.
type Forker struct{}

// Fork returns the prompt of r as the result.
func (Forker) Fork(_ context.Context, r invoke.ForkRequest) (invoke.ForkResult, error) {
	return invoke.ForkResult{Text: r.Prompt}, nil
}
