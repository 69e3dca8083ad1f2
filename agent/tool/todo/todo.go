// Package todo holds TodoWrite, the list of what an agent is doing (spec A-3).
package todo

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/session"
)

//go:embed todowrite.md
var doc string

// A Status says how far a task is.
type Status string

// The statuses.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
)

// A Task is one entry of a list.
type Task struct {
	Content string `json:"content"`    // what to do
	Status  Status `json:"status"`     // how far it is
	Active  string `json:"activeForm"` // what is being done; may be empty
}

// maxTasks is how long a list may be.
const maxTasks = 200

// Lists are the lists of a session, one for each agent. They are safe for
// concurrent use.
type Lists struct {
	mu    sync.Mutex // guards what follows
	tasks map[session.AgentID][]Task
}

// NewLists returns the lists of a new session, which are empty.
func NewLists() *Lists { return &Lists{tasks: map[session.AgentID][]Task{}} }

// Of returns a copy of the list of an agent.
func (l *Lists) Of(a session.AgentID) []Task {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.tasks[a])
}

// EndAgent forgets the list of an agent (spec I-10).
func (l *Lists) EndAgent(a session.AgentID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.tasks, a)
}

// Restore puts the list of an agent back, as the JSON of what Of returned. The
// error says what is wrong with it; the list is then as it was.
func (l *Lists) Restore(a session.AgentID, list json.RawMessage) error {
	tasks, err := read(slices.Concat([]byte(`{"todos":`), list, []byte("}")))
	if err == nil {
		l.set(a, tasks)
	}
	return err
}

func (l *Lists) set(a session.AgentID, tasks []Task) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tasks[a] = tasks
}

// A TodoWrite replaces the list of the agent that calls it.
type TodoWrite struct{ lists *Lists }

// New returns the tool.
func New(lists *Lists) *TodoWrite { return &TodoWrite{lists} }

func input() tool.Input {
	return tool.Input{Tool: "TodoWrite", Fields: []tool.Field{
		{Name: "todos", Type: tool.Array, Required: true, Max: maxTasks, Doc: "the whole list, which takes the place of the one before", Items: []tool.Field{
			{Name: "content", Type: tool.String, Required: true, Filled: true, Doc: "what to do, such as Run the tests"},
			{Name: "status", Type: tool.String, Required: true, Enum: []string{string(Pending), string(InProgress), string(Completed)}, Doc: "how far the task is"},
			{Name: "activeForm", Type: tool.String, Doc: "what is being done, such as Running the tests"},
		}},
	}}
}

// Spec implements [agent.Tool].
func (t *TodoWrite) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: "TodoWrite", Description: doc, InputSchema: input().Schema()}
}

// Plan implements [agent.Tool]. The call needs no permission, but it is not read
// only: of two in one answer the second must win.
func (t *TodoWrite) Plan(raw json.RawMessage) (agent.Plan, error) {
	todos, err := read(raw)
	if err != nil {
		return agent.Plan{}, err
	}
	return agent.Plan{
		Run: func(_ context.Context, env agent.CallEnv) (agent.Result, error) {
			t.lists.set(env.Agent, slices.Clone(todos))
			return agent.Result{Text: Show(todos)}, nil
		},
	}, nil
}

func read(raw json.RawMessage) ([]Task, error) {
	var in struct {
		Todos []Task `json:"todos"`
	}
	err := input().Decode(raw, &in)
	return in.Todos, err
}

// marks are how statuses are drawn.
var marks = map[Status]string{Pending: "[ ]", InProgress: "[>]", Completed: "[x]"}

// Show writes a list for the model: a line for each task, and how many are done.
func Show(tasks []Task) string {
	if len(tasks) == 0 {
		return "The list is empty."
	}
	var b strings.Builder
	done, active := 0, 0
	for i, t := range tasks {
		fmt.Fprintf(&b, "%d. %s %s\n", i+1, marks[t.Status], strings.Join(strings.Fields(t.Content), " "))
		switch t.Status {
		case Completed:
			done++
		case InProgress:
			active++
		}
	}
	fmt.Fprintf(&b, "%d of %d completed.", done, len(tasks))
	if active > 1 {
		fmt.Fprintf(&b, " %d are in progress: do one at a time.", active)
	}
	return b.String()
}
