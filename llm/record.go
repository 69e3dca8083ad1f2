package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"
)

// Record returns a model that first writes every request into dir, as
// 0001.json, 0002.json, … (spec K-12). Put it around [Retry], so that one file
// is one request, however often it is sent. Numbers go on where dir leaves off,
// and are never given twice, by whichever agent or process. A request that
// cannot be written is not sent.
func Record(m Model, dir string) Model {
	return &recorder{model: m, dir: dir, next: 1}
}

type recorder struct {
	model Model
	dir   string

	mu   sync.Mutex
	next int
}

// Stream implements [Model].
func (c *recorder) Stream(ctx context.Context, r Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := c.write(r); err != nil {
			yield(nil, fmt.Errorf("recording the model's requests: %w", err))
			return
		}
		c.model.Stream(ctx, r)(yield)
	}
}

func (c *recorder) write(r Request) (err error) {
	text, err := recordJSON(r)
	if err != nil {
		return err
	}
	f, err := c.create()
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// create makes the file of the next number.
func (c *recorder) create() (*os.File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil, err
	}
	for ; ; c.next++ {
		f, err := os.OpenFile(filepath.Join(c.dir, fmt.Sprintf("%04d.json", c.next)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			c.next++
			return f, err
		}
	}
}

// The shape of a record is a promise to scripts, so it is spelt out here and
// does not follow the types of this package.
type (
	recordedRequest struct {
		AgentID  string            `json:"agent_id"`
		Purpose  Purpose           `json:"purpose"`
		Model    string            `json:"model"`
		Effort   string            `json:"effort"`
		System   string            `json:"system"`
		Messages []recordedMessage `json:"messages"`
		Tools    []ToolSpec        `json:"tools"`
	}
	recordedMessage struct {
		Role    Role            `json:"role"`
		Content []recordedBlock `json:"content"`
	}
	recordedBlock struct {
		Type      BlockType       `json:"type"`
		Text      *string         `json:"text,omitempty"`
		Name      string          `json:"name,omitempty"`
		Input     json.RawMessage `json:"input,omitempty"`
		ToolUseID string          `json:"tool_use_id,omitempty"`
		IsError   *bool           `json:"is_error,omitempty"`
	}
)

func recordJSON(r Request) ([]byte, error) {
	rec := recordedRequest{
		AgentID: r.AgentID, Purpose: r.Purpose, Model: r.Model, Effort: r.Effort, System: r.System,
		Messages: []recordedMessage{}, Tools: append([]ToolSpec{}, r.Tools...),
	}
	if rec.Purpose == "" {
		rec.Purpose = Turn
	}
	if rec.AgentID == "" {
		rec.AgentID = "main"
	}
	for _, m := range r.Messages {
		content := []recordedBlock{}
		for _, b := range m.Content {
			if b, ok := recorded(b); ok {
				content = append(content, b)
			}
		}
		rec.Messages = append(rec.Messages, recordedMessage{m.Role, content})
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(rec)
	return b.Bytes(), err
}

// recorded leaves thinking out: only the provider can read it.
func recorded(b Block) (recordedBlock, bool) {
	switch b.Type {
	case Text:
		return recordedBlock{Type: b.Type, Text: &b.Text}, true
	case ToolUse:
		return recordedBlock{Type: b.Type, Name: b.Name, Input: Object(b.Input), ToolUseID: b.ToolUseID}, true
	case ToolResult:
		return recordedBlock{Type: b.Type, Text: &b.Text, ToolUseID: b.ToolUseID, IsError: &b.IsError}, true
	}
	return recordedBlock{}, false
}
