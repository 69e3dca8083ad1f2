package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/servers"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/internal/otlp"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/telemetry"
	"github.com/knack-skills/knack/text"
	"github.com/knack-skills/knack/turn"
)

// A writer prints a run in one of the three formats (spec K-11).
type writer struct {
	format string
	w      io.Writer
	stderr io.Writer // notices of the formats that are not a stream
	e      *knack.Engine
	flags  *workspace.Flags

	mu  sync.Mutex // notices come from several goroutines
	err error      // the first failed write; guarded by mu

	collector *otlp.Exporter      // where telemetry goes; nil is nowhere
	telemetry *telemetry.Recorder // of a run with the offline model

	// ended says of each subagent that has ended whether it failed.
	ended map[session.AgentID]error
}

func newWriter(format string, w, stderr io.Writer, e *knack.Engine) *writer {
	return &writer{format: format, w: w, stderr: stderr, e: e}
}

func (w *writer) notice(n string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.flags != nil && w.flags.Told(n, w.format == "stream-json") {
		return
	}
	if w.format == "stream-json" {
		w.write(map[string]any{"type": "system", "subtype": "notice", "text": n, "session_id": w.e.Session().ID})
		return
	}
	fmt.Fprintln(w.stderr, "notice: "+text.Terminal(n))
}

func (w *writer) line(v any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.write(v)
}

func (w *writer) write(v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if err == nil {
		_, err = w.w.Write(b.Bytes())
	}
	if w.err == nil {
		w.err = err
	}
}

// start writes the first line of a stream: what this session has.
func (w *writer) start(model string, tools []string, mcp []servers.Status) {
	if w.format != "stream-json" {
		return
	}
	skills, commands, plugins := []string{}, []string{}, []string{}
	for e := range w.e.Snapshot().ModelView(w.e.Session().Active) {
		skills = append(skills, e.ID)
	}
	for e := range w.e.Snapshot().UserView() {
		commands = append(commands, e.ID)
	}
	for e := range w.e.Snapshot().All() {
		if e.Origin.Source == skill.Plugin && !slices.Contains(plugins, e.Origin.Owner) {
			plugins = append(plugins, e.Origin.Owner)
		}
	}
	w.line(map[string]any{"type": "system", "subtype": "init", "session_id": w.e.Session().ID, "cwd": w.e.Dir(),
		"model": model, "tools": tools, "skills": skills, "slash_commands": commands,
		"mcp_servers": mcp, "plugins": plugins})
}

// invoked writes what one skill put into the conversation.
func (w *writer) invoked(r *invoke.Result, by invoke.Caller, withMessages bool) {
	if w.format != "stream-json" {
		return
	}
	w.line(map[string]any{"type": "system", "subtype": "skill_invoked", "session_id": w.e.Session().ID,
		"skill": r.Entry.ID, "by": by, "mode": r.Mode, "source": r.Entry.Origin.Source})
	if r.Mode == skill.Fork || !withMessages {
		return // its text opened another conversation; the result joins this one
	}
	for _, m := range r.Messages {
		w.message(m)
	}
}

func (w *writer) message(m turn.Message) {
	w.line(map[string]any{"type": m.Role, "session_id": w.e.Session().ID, "meta": m.Meta,
		"message": map[string]any{"role": m.Role, "content": []map[string]string{{"type": "text", "text": m.Text}}}})
}

// added writes what would join the conversation besides, in a stream.
func (w *writer) added(m turn.Message) {
	if w.format == "stream-json" {
		w.message(m)
	}
}

type result struct {
	Type              string    `json:"type"`
	Result            string    `json:"result"`
	SessionID         string    `json:"session_id"`
	IsError           bool      `json:"is_error"`
	NumTurns          int       `json:"num_turns"`
	Usage             llm.Usage `json:"usage"`
	StructuredOutput  any       `json:"structured_output"`
	PermissionDenials []denial  `json:"permission_denials"`
}

// result writes the end of the run. A failed run leaves standard output empty
// in text format; the caller reports the error.
func (w *writer) result(o outcome, failed error) error {
	if w.format == "text" {
		if failed != nil {
			return nil
		}
		text := o.text
		if o.structured != nil {
			text = string(o.structured)
		}
		_, err := fmt.Fprintln(w.w, strings.TrimRight(text, "\n"))
		return err
	}
	r := result{Type: "result", Result: o.text, SessionID: w.e.Session().ID, IsError: failed != nil,
		NumTurns: o.turns, Usage: o.usage, PermissionDenials: o.denials}
	if failed != nil {
		r.Result = failed.Error()
	} else if o.structured != nil {
		r.StructuredOutput = o.structured
	}
	if r.PermissionDenials == nil {
		r.PermissionDenials = []denial{}
	}
	if w.format == "json" {
		return output.JSON(w.w, r)
	}
	if failed == nil && !o.spoken {
		w.message(turn.Message{Role: turn.Assistant, Text: o.text})
	}
	w.line(r)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
