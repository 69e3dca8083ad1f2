package knack_test

import (
	"context"
	"fmt"
	"log"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/source/bundled"
	"github.com/knack-skills/knack/turn"
)

// A program loads the skills of a directory, shows what a model is told of
// them, and compiles one.
func Example() {
	ctx := context.Background()
	engine, err := knack.New(ctx, knack.Options{
		Dir:            "docs/example",
		SettingSources: []string{"project"}, // leave this machine's own skills out
		NoBundled:      true,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range engine.Listing().Lines {
		fmt.Printf("%.60s…\n", l.Line)
	}
	r, err := engine.Render(ctx, invoke.Request{Name: "db:migrate", Args: `orders "add a note"`, By: invoke.ByUser})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(r.Text)
	// Output:
	// - price-audit: Looks for rounding mistakes in the price code…
	// - release-notes: Writes release notes from the commits since…
	// - db:migrate: Writes the next database migration.…
	//
	// Write the next migration of the table `orders`: add a note.
}

// One turn of a host's loop: the person speaks, the model calls a skill, and
// what the skill changes holds until the turn ends.
func Example_inline() {
	ctx := context.Background()
	engine, err := knack.New(ctx, knack.Options{Dir: "docs/example", SettingSources: []string{"project"},
		Bundled: []bundled.Skill{{ID: "tidy", File: "---\ndescription: Tidies code.\neffort: high\n---\nTidy $0, nothing else."}}})
	if err != nil {
		log.Fatal(err)
	}
	var history []turn.Message
	var override turn.Override // of this turn; the next one starts with a new one
	if m, ok := engine.Announce(session.Main); ok {
		history = append(history, m)
	}
	history = append(history, turn.Message{Role: turn.User, Text: "please tidy main.go"})
	// The model, given history and the Skill tool, answers with a call.
	r, err := engine.Invoke(ctx, invoke.Request{Name: "tidy", Args: "main.go", By: invoke.ByModel})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("tool result:", r.ToolResult())
	history = append(history, r.Messages...)
	override = override.And(r.Override)
	for _, m := range history[1:] {
		fmt.Printf("%s (meta %v): %s\n", m.Role, m.Meta, m.Text)
	}
	fmt.Println("effort:", override.Effort)
	// Output:
	// tool result: Launching skill: tidy
	// user (meta false): please tidy main.go
	// user (meta false): <command-message>tidy is running</command-message>
	// <command-name>/tidy</command-name>
	// <command-args>main.go</command-args>
	// user (meta true): Tidy main.go, nothing else.
	// user (meta true): <system-reminder>
	// While skill "tidy" is active, until the end of this turn:
	// - effort: high
	// </system-reminder>
	// effort: high
}
