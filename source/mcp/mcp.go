// Package mcp turns the prompts and skills of one MCP server into catalog
// entries, through a port that a client implements (spec C-1, C-13, X-6, X-7).
// It speaks no protocol itself.
//
// Everything a server sends is text of strangers. It becomes descriptions and
// instructions and nothing else: it is never read as frontmatter, so it cannot
// ask for hooks, tools or a model (spec C-13). Making it harmless inside a
// prompt or a listing is the business of those who build these (spec L-9, P-13),
// which they decide by skill.Origin.Remote.
package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/skill"
)

// The limits of what a server may send.
const (
	MaxText        = 1 << 20 // bytes of one prompt (spec X-7)
	maxPrompts     = 1_000
	maxDescription = 2_048 // characters
	maxArguments   = 100
)

// A Prompt is what a server offers.
type Prompt struct {
	Name        string
	Title       string // for display; never part of an id
	Description string
	Arguments   []string // names, in order
}

// A Client lists and fetches prompts of one server. It is called from several
// goroutines.
type Client interface {
	Prompts(ctx context.Context) ([]Prompt, error)
	// Get returns the text of the prompt with this exact name. Where the value
	// of an argument belongs the text has $ and the argument's name: arguments
	// are filled in later, as for every skill (spec P-4).
	Get(ctx context.Context, name string) (string, error)
}

// A Source is one server. It implements catalog.Source.
type Source struct {
	Server string
	Client Client
}

// Load lists the prompts; ids are "server:name". Nothing of the text is
// trusted: no hooks, no grants, no inline shell, no local paths.
//
// The error says that the server could not be asked; it wraps that of the
// client or of ctx.
func (s Source) Load(ctx context.Context) ([]*skill.Skill, []skill.Problem, error) {
	prompts, err := s.Client.Prompts(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("list prompts of MCP server %s: %w", s.Server, err)
	}
	path := "mcp:" + s.Server
	// Servers give no order that could be relied on (spec C-11).
	prompts = slices.SortedFunc(slices.Values(prompts), func(a, b Prompt) int { return strings.Compare(a.Name, b.Name) })
	var problems []skill.Problem
	if len(prompts) > maxPrompts {
		problems = append(problems, problem("too-many-prompts", skill.Error, path,
			fmt.Sprintf("the server offers %d prompts; only the first %d are used", len(prompts), maxPrompts), "ask for fewer prompts in the server's configuration"))
		prompts = prompts[:maxPrompts]
	}
	ids := identities(prompts)
	var skills []*skill.Skill
	for i, p := range prompts {
		if i > 0 && p.Name == prompts[i-1].Name {
			problems = append(problems, problem("duplicate-prompt", skill.Warning, path,
				fmt.Sprintf("the server offers the prompt %q more than once; the first is used", p.Name), "tell the server's author"))
			continue
		}
		if ids[i] != p.Name {
			problems = append(problems, problem("prompt-renamed", skill.Info, path,
				fmt.Sprintf("the prompt %q is called %s here, because its name cannot be typed or is taken", p.Name, ids[i]), "nothing needs to be done"))
		}
		skills = append(skills, s.skill(p, ids[i]))
	}
	return skills, problems, nil
}

// skill makes the entry of one prompt.
func (s Source) skill(p Prompt, id string) *skill.Skill {
	sk := &skill.Skill{
		Summary: skill.Summary{
			ID:          serverName(s.Server) + ":" + id,
			Name:        shorten(p.Title),
			Description: shorten(p.Description), // no fallback: see spec C-10
		},
		Run:    skill.Run{Mode: skill.Fork}, // spec I-12
		Origin: skill.Origin{Source: skill.MCP, Owner: s.Server},
	}
	for _, a := range p.Arguments[:min(len(p.Arguments), maxArguments)] {
		if a != "" {
			sk.Content.Arguments = append(sk.Content.Arguments, shorten(a))
		}
	}
	if len(sk.Content.Arguments) > 0 {
		sk.Content.Positional = true
		sk.ArgumentHint = "[" + strings.Join(sk.Content.Arguments, "] [") + "]"
	}
	sk.Content.Body = &body{s, p.Name}
	return sk
}

// A body fetches one prompt. Nothing is kept between calls (spec F-9, X-7).
type body struct {
	source Source
	name   string // as the server knows it
}

// Load asks the server. Longer text is cut, and a note says so.
func (b *body) Load(ctx context.Context) (skill.Instructions, error) {
	text, err := b.source.Client.Get(ctx, b.name)
	if err != nil {
		return skill.Instructions{}, fmt.Errorf("get prompt %q of MCP server %s: %w", b.name, b.source.Server, err)
	}
	in := skill.Instructions{Line: 1}
	if size := len(text); size > MaxText {
		text = cut(text, MaxText)
		in.Note = fmt.Sprintf("the prompt %q of MCP server %s has %d bytes; only the first %d are used", b.name, b.source.Server, size, len(text))
	}
	in.Text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	return frontmatter.Visible(in), nil
}

// shorten keeps what a server says about itself to a reasonable length.
func shorten(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	n := 0
	for i := range s {
		if n == maxDescription {
			return strings.Clone(s[:i]) // do not keep the rest in memory
		}
		n++
	}
	return s
}

// cut returns at most max bytes of s, not ending inside a character.
func cut(s string, max int) string {
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max]
}

func problem(code string, severity skill.Severity, path, message, fix string) skill.Problem {
	return skill.Problem{Code: code, Severity: severity, Path: path, Message: message, Fix: fix}
}
