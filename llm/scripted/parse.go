package scripted

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/llm"
)

// A SyntaxError says what is wrong with a file and where.
type SyntaxError struct {
	Path         string
	Line, Column int // from 1; the column counts characters
	Message      string
}

// Error has the form that editors jump to.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.Path, e.Line, e.Column, e.Message)
}

// Load reads a script.
func Load(path string) (*Script, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("scripted model: %w", err)
	}
	return Parse(path, data)
}

// Parse reads a script from the text of a file; path is for messages. Its error
// is a [SyntaxError].
func Parse(path string, data []byte) (*Script, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	p := &parser{path: path, data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	p.dec.UseNumber()
	if err := p.wellFormed(); err != nil {
		return nil, err
	}
	s := &Script{Subagents: map[string][]Step{}}
	err := p.object("the script", fields{
		"steps":     func() (err error) { s.Steps, err = p.steps("steps"); return },
		"subagents": func() error { return p.subagents(s) },
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// A parser goes through tokens, since only they have places. Its text is well
// formed JSON.
type parser struct {
	path string
	data []byte
	dec  *json.Decoder
}

// fields are the keys of an object, each with what reads its value.
type fields map[string]func() error

func (p *parser) wellFormed() error {
	var any json.RawMessage
	err := json.Unmarshal(p.data, &any)
	var syntax *json.SyntaxError
	switch {
	case err == nil && utf8.Valid(p.data):
		return nil
	case errors.As(err, &syntax):
		// The offset is behind the character that is at fault, or at the end.
		at := int(syntax.Offset)
		if at > 0 && !strings.Contains(syntax.Error(), "unexpected end") {
			at--
		}
		return p.fail(at, "%s", syntax)
	}
	at := 0
	for at < len(p.data) {
		r, n := utf8.DecodeRune(p.data[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return p.fail(at, "the file is not UTF-8")
}

// next is the offset of the next token.
func (p *parser) next() int {
	at := int(p.dec.InputOffset())
	for at < len(p.data) && strings.IndexByte(" \t\r\n,:", p.data[at]) >= 0 {
		at++
	}
	return at
}

func (p *parser) fail(at int, format string, args ...any) error {
	before := p.data[:min(at, len(p.data))]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return &SyntaxError{
		Path: p.path, Message: fmt.Sprintf(format, args...),
		Line: p.line(at), Column: utf8.RuneCount(line) + 1,
	}
}

func (p *parser) line(at int) int {
	return bytes.Count(p.data[:min(at, len(p.data))], []byte("\n")) + 1
}

// open reads the token that begins an object or a list.
func (p *parser) open(what, kind string, want json.Delim) error {
	at := p.next()
	tok, err := p.dec.Token()
	if err != nil {
		return p.fail(at, "%v", err)
	}
	if tok != want {
		return p.fail(at, "%s must be %s", what, kind)
	}
	return nil
}

// shut reads the token that ends one.
func (p *parser) shut() error {
	if _, err := p.dec.Token(); err != nil {
		return p.fail(p.next(), "%v", err)
	}
	return nil
}

func (p *parser) object(what string, f fields) error {
	seen := map[string]bool{}
	return p.members(what, func(at int, key string) error {
		read, known := f[key]
		switch {
		case !known:
			return p.fail(at, "%s has no key %q; the keys are %s", what, key, strings.Join(slices.Sorted(maps.Keys(f)), ", "))
		case seen[key]:
			return p.fail(at, "%s has the key %q twice", what, key)
		}
		seen[key] = true
		return read()
	})
}

// members calls read for each key; it reads the value.
func (p *parser) members(what string, read func(at int, key string) error) error {
	if err := p.open(what, "an object {…}", '{'); err != nil {
		return err
	}
	for p.dec.More() {
		at := p.next()
		tok, err := p.dec.Token()
		if err != nil {
			return p.fail(at, "%v", err)
		}
		key, _ := tok.(string) // keys of well formed JSON are strings
		if err := read(at, key); err != nil {
			return err
		}
	}
	return p.shut()
}

func (p *parser) list(what string, read func() error) error {
	if err := p.open(what, "a list […]", '['); err != nil {
		return err
	}
	for p.dec.More() {
		if err := read(); err != nil {
			return err
		}
	}
	return p.shut()
}

// text reads a string into to.
func (p *parser) text(what string, to *string) func() error {
	return func() error {
		at := p.next()
		tok, err := p.dec.Token()
		if err != nil {
			return p.fail(at, "%v", err)
		}
		s, ok := tok.(string)
		if !ok {
			return p.fail(at, "%s must be a string", what)
		}
		*to = s
		return nil
	}
}

// count reads a whole number of at least least into to.
func (p *parser) count(what string, least int, to *int) func() error {
	return func() error {
		at := p.next()
		tok, err := p.dec.Token()
		if err != nil {
			return p.fail(at, "%v", err)
		}
		num, _ := tok.(json.Number)
		n, err := strconv.Atoi(num.String())
		if err != nil || n < least {
			return p.fail(at, "%s must be a whole number from %d", what, least)
		}
		*to = n
		return nil
	}
}

func (p *parser) subagents(s *Script) error {
	return p.members("subagents", func(at int, key string) error {
		if _, twice := s.Subagents[key]; twice {
			return p.fail(at, "subagents has the key %q twice", key)
		}
		steps, err := p.steps(fmt.Sprintf("subagents.%q", key))
		s.Subagents[key] = steps
		return err
	})
}

func (p *parser) steps(what string) ([]Step, error) {
	steps := []Step{}
	err := p.list(what, func() error {
		step, err := p.step()
		steps = append(steps, step)
		return err
	})
	return steps, err
}

func (p *parser) step() (Step, error) {
	at := p.next()
	s := Step{Line: p.line(at)}
	err := p.object("a step", fields{
		"expect": func() error {
			return p.object("expect", fields{"last_user_contains": p.text("last_user_contains", &s.LastUserContains)})
		},
		"text":  p.text("text", &s.Text),
		"calls": func() error { return p.list("calls", func() error { return p.call(&s) }) },
		"usage": func() error { return p.usage(&s.Usage) },
		"error": func() error { s.Error = &llm.APIError{}; return p.apiError(s.Error) },
	})
	if err == nil && s.Error != nil && len(s.Calls) > 0 {
		err = p.fail(at, "a step with an error has no calls")
	}
	return s, err
}

func (p *parser) call(s *Step) error {
	at := p.next()
	c := Call{Input: []byte("{}")}
	err := p.object("a call", fields{
		"name": p.text("name", &c.Name),
		"input": func() error {
			var raw json.RawMessage
			at := p.next()
			if err := p.dec.Decode(&raw); err != nil {
				return p.fail(at, "%v", err)
			}
			c.Input = raw
			return nil
		},
	})
	if err == nil && c.Name == "" {
		err = p.fail(at, "a call needs a name")
	}
	s.Calls = append(s.Calls, c)
	return err
}

func (p *parser) usage(u *llm.Usage) error {
	return p.object("usage", fields{
		"input_tokens":                p.count("input_tokens", 0, &u.InputTokens),
		"output_tokens":               p.count("output_tokens", 0, &u.OutputTokens),
		"cache_read_input_tokens":     p.count("cache_read_input_tokens", 0, &u.CacheReadInputTokens),
		"cache_creation_input_tokens": p.count("cache_creation_input_tokens", 0, &u.CacheCreationInputTokens),
	})
}

func (p *parser) apiError(e *llm.APIError) error {
	at := p.next()
	err := p.object("error", fields{
		"status":  p.count("status", 100, &e.Status),
		"type":    p.text("type", &e.Type),
		"message": p.text("message", &e.Message),
	})
	if err == nil && e.Status == 0 {
		err = p.fail(at, "an error needs a status")
	}
	return err
}
