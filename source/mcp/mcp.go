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
	words "github.com/knack-skills/knack/text"
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
	Arguments   []Argument // in order
}

// An Argument is what a prompt is called with.
type Argument struct {
	Name        string
	Description string
	Required    bool
}

// A Client lists and fetches prompts of one server. It is called from several
// goroutines.
type Client interface {
	Prompts(ctx context.Context) ([]Prompt, error)
	// Get returns the text of the prompt with this exact name. The server fills
	// in the values of the arguments.
	Get(ctx context.Context, name string, args map[string]string) (string, error)
}

// A Source is one server. It implements catalog.Source.
type Source struct {
	Server string
	Client Client
	Skills SkillClient // of the Skills extension; nil for a server without it
	Inline bool        // the setting mcpInline: no forks (spec I-12)
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
	more, bad, err := s.offered(ctx, ids, skills)
	if err != nil {
		return nil, nil, fmt.Errorf("list skills of MCP server %s: %w", s.Server, err)
	}
	return append(skills, more...), append(problems, bad...), nil
}

// mode is where remote text runs (spec I-12).
func (s Source) mode() skill.Mode {
	if s.Inline {
		return skill.Inline
	}
	return skill.Fork
}

// skill makes the entry of one prompt.
func (s Source) skill(p Prompt, id string) *skill.Skill {
	sk := &skill.Skill{
		Summary: skill.Summary{
			ID:          ServerName(s.Server) + ":" + id,
			Name:        shorten(p.Title),
			Description: shorten(p.Description), // no fallback: see spec C-10
		},
		Run:    skill.Run{Mode: s.mode()},
		Origin: skill.Origin{Source: skill.MCP, Owner: s.Server},
	}
	hints := make([]string, 0, len(p.Arguments))
	p.Arguments = p.Arguments[:min(len(p.Arguments), maxArguments)]
	for _, a := range p.Arguments {
		if a.Name == "" {
			continue
		}
		hint := shorten(a.Name)
		sk.Content.Arguments = append(sk.Content.Arguments, hint)
		hints = append(hints, "["+hint+"]")
	}
	if len(hints) > 0 {
		sk.Content.Positional = true
		sk.ArgumentHint = strings.Join(hints, " ")
	}
	sk.Content.Body = &body{source: s, prompt: p}
	return sk
}

// A body fetches one prompt. Nothing is kept between calls (spec F-9, X-7).
type body struct {
	source Source
	prompt Prompt
}

// Load asks the server for the text as it is without values: where one belongs
// it has $ and the name of the argument.
func (b *body) Load(ctx context.Context) (skill.Instructions, error) {
	values := map[string]string{}
	for _, a := range b.prompt.Arguments {
		if a.Name != "" {
			values[a.Name] = "$" + a.Name
		}
	}
	return b.get(ctx, values)
}

// LoadFor asks the server with values: one word each, in order, and the last
// argument gets all that is left. A prompt without arguments is a text like any
// other, whose placeholders are filled in later.
func (b *body) LoadFor(ctx context.Context, words []string) (skill.Instructions, error) {
	var declared []Argument
	for _, a := range b.prompt.Arguments {
		if a.Name != "" {
			declared = append(declared, a)
		}
	}
	if len(declared) == 0 {
		return b.get(ctx, nil)
	}
	values := map[string]string{}
	for i, a := range declared {
		switch {
		case i < len(words) && i == len(declared)-1:
			values[a.Name] = strings.Join(words[i:], " ")
		case i < len(words):
			values[a.Name] = words[i]
		case a.Required:
			return skill.Instructions{}, fmt.Errorf("the prompt %q of MCP server %s needs the argument %q; write it behind the name", b.prompt.Name, b.source.Server, a.Name)
		}
	}
	in, err := b.get(ctx, values)
	in.Filled = true
	return in, err
}

// get asks the server. Longer text is cut, and a note says so.
func (b *body) get(ctx context.Context, values map[string]string) (skill.Instructions, error) {
	text, err := b.source.Client.Get(ctx, b.prompt.Name, values)
	if err != nil {
		return skill.Instructions{}, fmt.Errorf("get prompt %q of MCP server %s: %w", b.prompt.Name, b.source.Server, err)
	}
	return instructions(text, fmt.Sprintf("the prompt %q of MCP server %s", b.prompt.Name, b.source.Server)), nil
}

// instructions makes text of a server usable (spec X-7).
func instructions(text, what string) skill.Instructions {
	in := skill.Instructions{Line: 1}
	if size := len(text); size > MaxText {
		text = cut(text, MaxText)
		in.Note = fmt.Sprintf("%s has %d bytes; only the first %d are used", what, size, len(text))
	}
	in.Text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	in = frontmatter.Visible(in)
	in.Text = words.Block(in.Text) // it closes and opens no reminder (spec L-9)
	return in
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
