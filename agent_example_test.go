package knack_test

import (
	"context"
	"fmt"
	"log"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/skilltool"
	"github.com/knack-skills/knack/llm/scripted"
	"github.com/knack-skills/knack/session"
)

// The loop of package agent around an engine: the model calls a skill, reads
// what it says, and answers.
func Example_agent() {
	ctx := context.Background()
	engine, err := knack.New(ctx, knack.Options{Dir: "docs/example", SettingSources: []string{"project"}, NoBundled: true})
	if err != nil {
		log.Fatal(err)
	}
	script, err := scripted.Parse("demo", []byte(`{"steps": [
		{"calls": [{"name": "Skill", "input": {"skill": "db:migrate", "args": "orders discount"}}]},
		{"expect": {"last_user_contains": "the next migration of the table"}, "text": "The column is there."}
	]}`))
	if err != nil {
		log.Fatal(err)
	}
	conversation := agent.New(agent.Options{
		Model:   scripted.New(script), // or that of llm/anthropic, llm/openai, llm/gemini
		System:  "You look after a shop.",
		Tools:   []agent.Tool{skilltool.Skill{}, skilltool.Search{Finder: engine}},
		Session: engine.Session(),
		Env:     engine.Env,
		Announce: func(_ context.Context, id session.AgentID, _ string) string {
			m, _ := engine.Announce(id)
			return m.Text
		},
	})
	defer conversation.Close()
	answer, err := conversation.Submit(ctx, agent.Input{Text: "orders need a discount"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s (%d calls of the model)\n", answer.Text, answer.Turns)
	// Output: The column is there. (2 calls of the model)
}
