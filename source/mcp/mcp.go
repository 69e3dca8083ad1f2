// Package mcp turns the prompts and skills of one MCP server into catalog
// entries, through a port that a client implements (spec C-1, C-13, X-6, X-7).
package mcp

import (
	"context"

	"github.com/knack-skills/knack/skill"
)

// A Prompt is what a server offers.
type Prompt struct {
	Name        string
	Title       string
	Description string
	Arguments   []string
}

// A Client lists and fetches prompts of one server.
type Client interface {
	Prompts(ctx context.Context) ([]Prompt, error)
	Get(ctx context.Context, name string) (string, error)
}

// A Source is one server. It implements catalog.Source.
type Source struct {
	Server string
	Client Client
}

// Load lists the prompts; ids are "server:name". Nothing of the text is
// trusted: no hooks, no grants, no inline shell, no local paths.
func (s Source) Load(ctx context.Context) ([]*skill.Skill, []skill.Problem, error) {
	panic("to be written")
}
