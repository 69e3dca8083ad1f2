package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/search"
)

// A Finder searches the skills that a model may use, best first.
type Finder interface {
	Search(ctx context.Context, query string, limit int) ([]search.Hit, error)
}

// A Model answers without a language model (spec A-2). To a person's words it
// answers by calling the Skill tool with the best search result; once a skill's
// instructions are in the conversation it answers with them. It is safe for
// concurrent use.
type Model struct{ Finder Finder }

var _ llm.Model = Model{}

// Stream answers a request.
func (m Model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		call, text, err := m.answer(ctx, r)
		switch {
		case err != nil:
			yield(nil, err)
			return
		case call != nil:
			if yield(*call, nil) {
				yield(llm.Done{Stop: llm.ToolCalls, Model: Name}, nil)
			}
			return
		case text != "" && !yield(llm.TextDelta{Text: text}, nil):
			return
		}
		yield(llm.Done{Stop: llm.EndTurn, Model: Name}, nil)
	}
}

func (m Model) answer(ctx context.Context, r llm.Request) (*llm.ToolCall, string, error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	if r.Purpose == llm.Summary {
		return nil, "[offline: no language model is attached, so nothing was summarised.]", nil
	}
	words, last := recent(r.Messages)
	if r.AgentType != "" {
		return nil, strings.Join(last.texts, "\n\n"), nil // a subagent: its prompt is its answer
	}
	switch {
	case last.failed != "":
		return nil, fmt.Sprintf("[offline: no language model is attached, and the skill chosen for %q was not run:]\n\n%s", brief(words), last.failed), nil
	case len(last.skills) > 0:
		return nil, instructions(words, last.skills), nil
	case last.result != "":
		return nil, "[offline: no language model is attached.]\n\n" + last.result, nil
	}
	hits, err := m.Finder.Search(ctx, words, 1)
	if err != nil {
		return nil, "", err
	}
	id, ok := Choose(hits)
	if !ok || !offers(r.Tools, "Skill") {
		return nil, NoMatch(words), nil
	}
	input, err := json.Marshal(map[string]string{"skill": id})
	return &llm.ToolCall{ID: fmt.Sprintf("call_%d", len(r.Messages)), Name: "Skill", Input: input}, "", err
}

func offers(tools []llm.ToolSpec, name string) bool {
	for _, t := range tools {
		if t.Name == name {
			return true
		}
	}
	return false
}

// A loaded skill stands in the conversation with its instructions.
type loaded struct {
	id, text string
}

// An end is what stands after the last answer of the model.
type end struct {
	texts  []string
	skills []loaded
	result string // text of a tool result that brought no instructions
	failed string // text of a failed one
	called bool   // the model called the skill; otherwise a person named it
}

// recent reads the messages after the last text of the model, and what the
// person said in them.
func recent(messages []llm.Message) (words string, last end) {
	from := len(messages)
	for from > 0 && (messages[from-1].Role == llm.User || hasCall(messages[from-1])) {
		from--
	}
	for _, m := range messages[from:] {
		if m.Role != llm.User {
			last = end{called: true}
			continue
		}
		read(m.Content, &last)
		if !last.called && words == "" {
			words = plain(m.Content)
		}
	}
	return words, last
}

func hasCall(m llm.Message) bool {
	for _, b := range m.Content {
		if b.Type == llm.ToolUse {
			return true
		}
	}
	return false
}

// plain is the first text of a message that is no tag of ours.
func plain(blocks []llm.Block) string {
	for _, b := range blocks {
		if b.Type == llm.Text && !strings.HasPrefix(b.Text, "<") {
			return b.Text
		}
	}
	return ""
}

func read(blocks []llm.Block, last *end) {
	for i, b := range blocks {
		switch {
		case b.Type == llm.ToolResult && b.IsError:
			last.failed = b.Text
		case b.Type == llm.ToolResult:
			last.result = b.Text
		case b.Type != llm.Text:
		case strings.HasPrefix(b.Text, "<command-message>") && i+1 < len(blocks):
			last.skills = append(last.skills, loaded{name(b.Text), blocks[i+1].Text})
		case !strings.HasPrefix(b.Text, "<system-reminder>"):
			last.texts = append(last.texts, b.Text)
		}
	}
}

// name is the id in the message that shows a call.
func name(visible string) string {
	_, rest, _ := strings.Cut(visible, "<command-name>/")
	id, _, _ := strings.Cut(rest, "</command-name>")
	return id
}

// instructions is the answer once skills are loaded.
func instructions(words string, skills []loaded) string {
	how := "you named it"
	if words != "" {
		how = fmt.Sprintf("chosen by search for %q", brief(words))
	}
	var b strings.Builder
	for i, s := range skills {
		if i > 0 {
			b.WriteString("\n\n")
		}
		fmt.Fprintf(&b, "[offline: no language model is attached. Skill %q (%s) gives a model these instructions:]\n\n%s",
			s.id, how, strings.TrimRight(s.text, "\n"))
	}
	return b.String()
}
