package transcript_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/session/transcript"
)

// A session is written down as it runs, and goes on in another process.
func Example() {
	dir, err := os.MkdirTemp("", "state")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	p, err := transcript.At(dir, ".")
	if err != nil {
		fmt.Println(err)
		return
	}
	t, err := p.Create("first")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, entry := range []transcript.Payload{
		transcript.Prompt{Text: "/deploy staging"},
		transcript.Message{Message: json.RawMessage(`{"role":"user","content":"Deploy to staging."}`)},
		transcript.InvocationOf(session.Invoked{ID: "deploy", Args: "staging", Text: "Deploy to staging."}),
	} {
		if err := t.Append(session.Main, entry); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(t.Close()) // the end of the first process

	latest, _, err := p.List(context.Background(), 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	t, c, err := p.Resume(latest[0].ID)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	fmt.Printf("%s: %q, %d message\n", latest[0].ID, latest[0].Prompt, len(c.Messages))
	fmt.Println("held:", c.Session.Record(session.Main, session.Invoked{ID: "deploy", Text: "Deploy to staging."}))
	// Output:
	// <nil>
	// first: "/deploy staging", 1 message
	// held: true
}
