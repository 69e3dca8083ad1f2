package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/knack-skills/knack/internal/lab/anthropicserver"
	"github.com/knack-skills/knack/internal/lab/embedding"
	"github.com/knack-skills/knack/llm/llmtest"
)

var example = embedding.Example{Forks: true, Start: func(t *testing.T, replies ...llmtest.Reply) (embedding.Program, embedding.Server) {
	s := anthropicserver.Start(t, replies...)
	return func(ctx context.Context, dir string, in io.Reader, out io.Writer) error {
		return run(ctx, dir, in, out, option.WithBaseURL(s.URL), option.WithAPIKey(anthropicserver.Key), option.WithMaxRetries(0))
	}, s
}}

func TestContract(t *testing.T) { embedding.Contract(t, example) } // spec A-10

// lastText is the text of the last block of request n.
func lastText(k embedding.Talk, n int) string {
	blocks := k.Requests[n]
	return blocks[len(blocks)-1].Text
}

// TestOwnTool: what a skill grants holds for a tool of the program, until the
// turn ends.
func TestOwnTool(t *testing.T) { // spec I-6
	inside := []string{"Read", `{"file_path": "notes.txt"}`}
	read := []string{"Read", `{"file_path": "../price-list.txt"}`}
	k := example.Run(t, []string{"read it", "/release-notes 2.0", "again"},
		embedding.Use(read...), embedding.Say("No."),
		embedding.Use(read...), embedding.Say("Yes."),
		embedding.Use(read...), embedding.Use(inside...), embedding.Say("No more."))
	for n, want := range map[int]string{1: "Not allowed: ", 3: "a pear costs 3", 5: "Not allowed: ", 6: "prices are rounded once"} {
		if got := lastText(k, n); !strings.Contains(got, want) {
			t.Errorf("request %d ends with %q, want %q in it", n, got, want)
		}
	}
}

// TestAsk: the person decides on what the rules leave open.
func TestAsk(t *testing.T) { // spec S-5
	for answer, want := range map[string]string{"y": "Migrate.", "n": "the person declined"} {
		k := example.Run(t, []string{"migrate", answer},
			embedding.Use("Skill", `{"skill": "price-migration"}`), embedding.Say("Done."))
		found := false
		for _, b := range k.After(t, 1) {
			found = found || strings.Contains(b.Text, want)
		}
		if !found || !strings.Contains(k.Out, "Skill price-migration: ") {
			t.Errorf("%q: the model was told %+v; the person saw %q", answer, k.After(t, 1), k.Out)
		}
	}
}
