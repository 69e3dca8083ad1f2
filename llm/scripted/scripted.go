// Package scripted is a model that replays a file, for tests and demos (spec
// K-12). Each agent goes through its own copy of the steps: the main agent
// through "steps", a subagent through the entry of "subagents" that is named
// like its skill or its type, or through "*".
package scripted

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/knack-skills/knack/llm"
)

// Any is the key of the steps for subagents that have none of their own.
const Any = "*"

// A Script is what a file says.
type Script struct {
	Steps     []Step
	Subagents map[string][]Step // by skill id, agent type or [Any]
}

// A Step is one answer of the model.
type Step struct {
	LastUserContains string // what the user's last message must contain; empty is no demand
	Text             string
	Calls            []Call
	Usage            llm.Usage
	Error            *llm.APIError // ends the answer, after Text
	Line             int           // where the step begins in its file
}

// A Call is a tool call.
type Call struct {
	Name  string
	Input []byte // JSON
}

// An ExpectError says that the conversation was not what the script expects. It
// fails the run: the model answers nothing any more.
type ExpectError struct {
	Agent string // agent id
	Line  int    // of the step in its file
	Want  string // what the last user message should contain
	Got   string // the last user message
}

// Error shows what was expected and what came.
func (e *ExpectError) Error() string {
	return fmt.Sprintf("scripted model: the step on line %d expects the last user message of agent %q to contain %q, but it is %q",
		e.Line, e.Agent, e.Want, brief(e.Got))
}

// brief keeps both ends of a long text.
func brief(s string) string {
	const end = 400
	r := []rune(s)
	if len(r) <= 2*end {
		return s
	}
	return string(r[:end]) + " … " + string(r[len(r)-end:])
}

// Model implements [llm.Model]. It is safe for concurrent use.
type Model struct {
	script *Script

	mu     sync.Mutex
	taken  map[string]int // steps by agent id
	failed error          // the first ExpectError
}

// New returns a model at the beginning of a script, which it does not change.
func New(s *Script) *Model {
	return &Model{script: s, taken: map[string]int{}}
}

// Err is the expectation that failed, if any: it fails the run even when the
// agent that ran into it was a subagent.
func (m *Model) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failed
}

// Stream implements [llm.Model]: every call takes the next step of its agent,
// and after the last one the answer is empty.
func (m *Model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		step, n, err := m.take(r)
		if err != nil {
			yield(nil, err)
			return
		}
		if step.Text != "" && !yield(llm.TextDelta{Text: step.Text}, nil) {
			return
		}
		if step.Error != nil {
			e := *step.Error
			yield(nil, &e)
			return
		}
		stop := llm.EndTurn
		for i, c := range step.Calls {
			stop = llm.ToolCalls
			// Unique in the conversation, also when it goes on in another process.
			id := fmt.Sprintf("call_%d_%d_%d", len(r.Messages), n, i+1)
			if !yield(llm.ToolCall{ID: id, Name: c.Name, Input: c.Input}, nil) {
				return
			}
		}
		yield(llm.Done{Stop: stop, Usage: step.Usage, Model: r.Model}, nil)
	}
}

// take returns the next step for a request and its number.
func (m *Model) take(r llm.Request) (Step, int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failed != nil {
		return Step{}, 0, m.failed
	}
	agent := r.AgentID
	if agent == "" {
		agent = "main"
	}
	steps := m.script.steps(agent, r)
	n := m.taken[agent]
	if n >= len(steps) {
		return Step{}, n + 1, nil
	}
	step := steps[n]
	if got := lastUser(r.Messages); !strings.Contains(got, step.LastUserContains) {
		m.failed = &ExpectError{Agent: agent, Line: step.Line, Want: step.LastUserContains, Got: got}
		return Step{}, 0, m.failed
	}
	m.taken[agent] = n + 1
	return step, n + 1, nil
}

// steps finds those of an agent; the skill that it runs says more than its type.
func (s *Script) steps(agent string, r llm.Request) []Step {
	if agent == "main" {
		return s.Steps
	}
	for _, key := range []string{r.Skill, r.AgentType} {
		if steps, ok := s.Subagents[key]; ok && key != "" {
			return steps
		}
	}
	return s.Subagents[Any]
}

// lastUser is the text since the model's last answer. It may be several
// messages: the results of tools, a skill's text, what a person typed.
func lastUser(ms []llm.Message) string {
	begin := len(ms)
	for begin > 0 && ms[begin-1].Role == llm.User {
		begin--
	}
	var texts []string
	for _, m := range ms[begin:] {
		for _, b := range m.Content {
			if b.Text != "" {
				texts = append(texts, b.Text)
			}
		}
	}
	return strings.Join(texts, "\n")
}
