package chat

import (
	"encoding/json"
	"slices"

	"github.com/knack-skills/knack/agent/tool/todo"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/session/transcript"
	"github.com/knack-skills/knack/skill"
)

// restoreTodos puts the list of the session back that goes on (spec M-4).
func (h *Host) restoreTodos() {
	if h.saved == nil {
		return
	}
	if err := h.tools.todos.Restore(session.Main, h.saved); err != nil {
		h.problem = append(h.problem, skill.Problem{Code: "transcript-damaged", Severity: skill.Warning,
			Message: "the list of tasks of this session is lost: " + err.Error(), Fix: "none is needed: the agent makes a new one"})
	}
	h.todos = h.tools.todos.Of(session.Main)
}

// keepTodos writes the list of the main agent down when it has changed. It is
// called after each message, by one goroutine at a time.
func (h *Host) keepTodos() {
	now := h.tools.todos.Of(session.Main)
	if slices.Equal(now, h.todos) {
		return
	}
	h.todos = now
	data, err := json.Marshal(append([]todo.Task{}, now...)) // never null
	if err == nil {
		err = h.write(session.Main, transcript.Todos{Todos: data})
	}
	h.failed(err)
}
