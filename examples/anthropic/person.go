package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/knack-skills/knack/invoke"
)

// greet says what a person should know before the first message.
func (c *chat) greet() {
	c.skills.Notice = func(text string) { fmt.Fprintln(c.out, "notice:", text) }
	for _, p := range c.engine.Problems() {
		fmt.Fprintln(c.out, p) // a broken file costs only itself
	}
	if !c.engine.Trusted() {
		fmt.Fprintln(c.out, "This project is not trusted: its skills get no tools and run no commands.")
		if c.yes("Do you trust the files in " + c.engine.ProjectDir() + "?") {
			if err := c.engine.TrustStore().Store(c.engine.ProjectDir(), true); err != nil {
				fmt.Fprintln(c.out, err)
			}
			fmt.Fprintln(c.out, "Start the program again to use them.")
		}
	}
}

// Ask puts a question to the person: may this skill start, may it run this
// command? It implements invoke.Asker.
func (c *chat) Ask(ctx context.Context, q invoke.Question) (invoke.Answer, error) {
	what := "Skill " + q.Skill
	if q.Command != "" {
		what = fmt.Sprintf("Skill %s runs %q", q.Skill, q.Command) // as it is, not shortened
	}
	return invoke.Answer{Allow: c.yes(what + ": " + q.Reason + ". Allow it?")}, ctx.Err()
}

func (c *chat) yes(question string) bool {
	fmt.Fprint(c.out, question, " [y/N] ")
	return c.in.Scan() && strings.EqualFold(strings.TrimSpace(c.in.Text()), "y")
}
