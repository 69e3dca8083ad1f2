package main

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/skilltool"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/scripted"
	"github.com/knack-skills/knack/session"
)

// maxMessages is how long the script is; half an hour takes a part of it.
const maxMessages = 200_000

// A talk is a conversation whose model remembers what it was told of skills.
type talk struct {
	c     *agent.Conversation
	model *listener
	n     int
}

func newTalk(e *knack.Engine) *talk {
	s := &scripted.Script{}
	for i := range maxMessages {
		call := fmt.Appendf(nil, `{"skill": "s%02d"}`, i%names)
		s.Steps = append(s.Steps, scripted.Step{Calls: []scripted.Call{{Name: "Skill", Input: call}}}, scripted.Step{Text: "done"})
	}
	m := &listener{Model: scripted.New(s), told: map[string]string{}}
	return &talk{model: m, c: agent.New(agent.Options{
		Model: m, Window: 1 << 40, System: "You are tested.", Session: e.Session(), Env: e.Env,
		Tools: []agent.Tool{skilltool.Skill{}, skilltool.Search{Finder: e}},
		Announce: func(_ context.Context, id session.AgentID, _ string) string {
			m, _ := e.Announce(id)
			return m.Text
		},
	})}
}

// say sends a message.
func (t *talk) say(ctx context.Context) error {
	t.n++
	if _, err := t.c.Submit(ctx, agent.Input{Text: fmt.Sprint("message ", t.n)}); err != nil {
		return err
	}
	return t.model.err
}

// A listener is a model that folds the reminders it gets: what it was told of
// each skill, by id.
type listener struct {
	llm.Model
	heard int // messages
	told  map[string]string
	diffs int
	err   error
}

// Stream notes what is new, then answers.
func (l *listener) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	for _, m := range r.Messages[min(l.heard, len(r.Messages)):] {
		for _, b := range m.Content {
			if m.Role == llm.User && b.Type == llm.Text && strings.HasPrefix(b.Text, "<system-reminder>") && strings.Contains(b.Text, "available through the Skill tool") {
				l.fold(b.Text)
			}
		}
	}
	l.heard = len(r.Messages)
	return l.Model.Stream(ctx, r)
}

// fold takes one listing or delta. Whatever is told twice, or was not known, is
// an error.
func (l *listener) fold(text string) {
	section := "New"
	if len(l.told) == 0 {
		section = "First"
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		for _, s := range []string{"New", "Changed", "Removed"} {
			if strings.HasPrefix(line, s) && strings.HasSuffix(line, ":") {
				section = s
			}
		}
		entry, ok := strings.CutPrefix(line, "- ")
		if !ok {
			continue
		}
		l.diffs++
		id, _, _ := strings.Cut(entry, ": ")
		before, known := l.told[id]
		switch {
		case section == "Removed" && known:
			delete(l.told, id)
			continue
		case section == "Removed":
			l.fail("%s is removed, and was never there", id)
		case section == "Changed" && !known:
			l.fail("%s is changed, and was never there", id)
		case section == "New" && known:
			l.fail("%s is new, and was there", id)
		case known && before == entry:
			l.fail("%s is told twice: %s", id, entry)
		}
		l.told[id] = entry
	}
}

func (l *listener) fail(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf("the model is told wrong: "+format, args...)
	}
}

// differs says how what the model was told differs from what a new session would
// be told; empty if not.
func (l *listener) differs(fresh *knack.Engine) string {
	want := map[string]string{}
	for _, line := range fresh.Listing().Lines {
		entry := strings.TrimSuffix(strings.TrimPrefix(line.Line, "- "), "\n")
		want[line.ID] = entry
	}
	if maps.Equal(want, l.told) {
		return ""
	}
	var out []string
	for id, line := range want {
		if l.told[id] != line {
			out = append(out, fmt.Sprintf("  %s is %q, told %q", id, line, l.told[id]))
		}
	}
	for id, line := range l.told {
		if _, there := want[id]; !there {
			out = append(out, fmt.Sprintf("  %s is gone, told %q", id, line))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}
