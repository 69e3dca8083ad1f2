package main

import (
	"context"

	"github.com/knack-skills/knack/invoke"
)

// Fork runs a skill with context: fork as a subagent: the same model and tools,
// an empty history, and an id of its own, whose records end with it. It
// implements invoke.Forker. The tools here only read; a program with others
// gives a subagent those that agentdef.PoolOf leaves it.
func (c *chat) Fork(ctx context.Context, r invoke.ForkRequest) (invoke.ForkResult, error) {
	skills, err := c.skills.Sub(r)
	if err != nil {
		return invoke.ForkResult{}, err
	}
	defer c.engine.Session().EndAgent(skills.Agent)
	child := &chat{client: c.client, model: c.model, out: c.out, engine: c.engine, skills: skills}
	text, err := child.loop(ctx)
	return invoke.ForkResult{Text: text}, err
}
