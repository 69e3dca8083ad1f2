package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/internal/cli/chat"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/schema"
	"github.com/knack-skills/knack/turn"
)

// A shape is what --json-schema asks of the last message of each answer (spec
// A-7; docs/design/017-answers-as-json).
type shape struct {
	schema *schema.Schema
	text   string // for the model
}

const (
	maxRepairs = 3         // times that the model is told what does not fit
	maxShape   = 128 << 10 // bytes of a schema, since the model reads it with every message
)

// readShape reads the value of --json-schema: an object, or the name of a file.
func readShape(value string) (*shape, error) {
	data, from := []byte(value), ""
	if s := strings.TrimSpace(value); !strings.HasPrefix(s, "{") && s != "true" && s != "false" {
		if s == "" {
			return nil, output.Usagef("--json-schema: it is empty; give a JSON Schema, or the name of a file that holds one")
		}
		var err error
		if data, err = readSome(value); err != nil {
			return nil, output.Usagef("--json-schema takes a file or a JSON object: %v", err)
		}
		from = " " + value + ":"
	}
	s, err := schema.Parse(data)
	if err != nil {
		return nil, output.Usagef("--json-schema:%s %v", from, err)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, bytes.TrimPrefix(data, []byte("\ufeff"))); err != nil {
		return nil, output.Usagef("--json-schema:%s %v", from, err)
	}
	if b.Len() > maxShape {
		return nil, output.Usagef("--json-schema:%s the schema has %d bytes and may have %d, because the model reads it with every message", from, b.Len(), maxShape)
	}
	// "</" can only stand in texts, where "<\/" means the same and closes no tag.
	return &shape{schema: s, text: strings.ReplaceAll(b.String(), "</", `<\/`)}, nil
}

// readSome reads a file, and of one that does not end as much as tells that it
// is too large.
func readSome(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, schema.MaxSize+1))
}

// tell is what the model is told with each message.
func (s *shape) tell() turn.Message {
	return reminder("A program reads your answer. Your last message has to be one JSON value that fits this JSON Schema, " +
		"without any text or fence around it. Before it, work and use tools as usual.\n\n" + s.text)
}

func reminder(text string) turn.Message {
	return turn.Message{Role: turn.User, Meta: true, Text: "<system-reminder>\n" + text + "\n</system-reminder>"}
}

// A misfitError says that the model's answer does not fit the schema.
type misfitError struct {
	repairs int
	why     string // why there was no further try; may be empty
	found   []schema.Mismatch
}

// Error names what does not fit.
func (e *misfitError) Error() string {
	s := fmt.Sprintf("the answer does not fit --json-schema after %d repairs%s:", e.repairs, e.why)
	for _, m := range e.found {
		s += "\n- " + m.String()
	}
	return s
}

// settle makes the answer of a turn fit: the model is told what does not, and
// tries again.
func (o *Options) settle(ctx context.Context, h *chat.Host, a outcome) (outcome, error) {
	for tries := 0; ; tries++ {
		value, found, err := o.shape.read(a.text)
		if err != nil {
			return a, err
		}
		if found == nil {
			a.structured = value
			return a, nil
		}
		switch {
		case tries == maxRepairs:
			return a, &misfitError{repairs: tries, found: found}
		case o.MaxTurns > 0 && a.turns >= o.MaxTurns:
			return a, &misfitError{repairs: tries, found: found, why: fmt.Sprintf(", and --max-turns allows no more than %d", o.MaxTurns)}
		}
		if err := o.submit(ctx, h, agent.Input{Messages: []turn.Message{o.shape.repair(found)}}, &a); err != nil {
			return a, err
		}
	}
}

// repair tells the model what does not fit. The schema is told again: the
// answer may be a subagent's, which was not asked for it.
func (s *shape) repair(found []schema.Mismatch) turn.Message {
	var b strings.Builder
	b.WriteString("Your last message does not fit the JSON Schema of this run:\n")
	for _, m := range found {
		b.WriteString("- " + strings.ReplaceAll(m.String(), "</", `<\/`) + "\n")
	}
	b.WriteString("\nAnswer again with the whole JSON value, without any text or fence around it. The schema is:\n\n" + s.text)
	return reminder(b.String())
}

// read takes the value out of an answer, on one line, or says what is wrong.
func (s *shape) read(text string) (json.RawMessage, []schema.Mismatch, error) {
	value := valueIn(text)
	found, err := s.schema.Check([]byte(value))
	switch {
	case errors.Is(err, schema.ErrTooMuch):
		return nil, nil, fmt.Errorf("--json-schema: %w; say it with fewer alternatives", err)
	case err != nil || len(found) > 0:
		return nil, found, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(strings.TrimPrefix(value, "\ufeff"))); err != nil {
		return nil, nil, err
	}
	return b.Bytes(), nil, nil
}

// valueIn is the JSON of an answer: all of it, or what stands in its last fence
// that holds any, because models are fond of fences.
func valueIn(text string) string {
	text = strings.TrimSpace(text)
	if json.Valid([]byte(text)) {
		return text
	}
	const fence = "```"
	inner, last := []string(nil), ""
	open := false
	for line := range strings.Lines(text) {
		switch {
		case !strings.HasPrefix(strings.TrimSpace(line), fence):
			inner = append(inner, line)
		case open:
			if block := strings.TrimSpace(strings.Join(inner, "")); json.Valid([]byte(block)) {
				last = block
			}
			open = false
		default:
			inner, open = nil, true
		}
	}
	if last != "" {
		return last
	}
	return text
}
