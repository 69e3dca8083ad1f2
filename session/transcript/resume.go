package transcript

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/skill"
)

// A Conversation is what a transcript says of a session.
type Conversation struct {
	// Session remembers what the main agent invoked, was told and was allowed,
	// and which conditional skills are active. Its subagents have ended. The
	// hooks of invoked skills are registered again by the caller, from the
	// skills as they are now.
	Session  *session.Session
	Messages []json.RawMessage // of the main agent, since its last compaction
	Summary  string            // of that compaction; empty if there was none
	Meta     Meta              // as it was last
	Prompts  []string          // what the person typed, oldest first
	Todos    json.RawMessage   // nil if there never were any
	// Schedules are the tasks that were not removed, in the order in which they
	// were made.
	Schedules  []Schedule
	ForkedFrom string
	Problems   []skill.Problem // what was lost
}

// Resume opens a session again (spec M-4). A damaged last line, which a crash
// left, is cut off; what was lost is told in the problems. The error is
// [ErrNotFound], a [*HeldError], or what kept the file from being read.
func (p Project) Resume(id string) (*Transcript, *Conversation, error) {
	t, err := p.open(id, os.O_RDWR)
	if err != nil {
		return nil, nil, err
	}
	c, err := t.resume(p)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("session %s: %w", id, err), t.Close())
	}
	return t, c, nil
}

func (t *Transcript) resume(p Project) (*Conversation, error) {
	r := replay{path: t.Path, c: &Conversation{Session: session.New(t.ID)}}
	var last line
	for l, err := range scan(t.file) {
		if err != nil {
			return nil, err
		}
		if last.err != nil {
			r.damaged(last.number, last.err)
		}
		last = l
		if l.err == nil {
			r.take(l)
		}
	}
	if r.version > version {
		return nil, fmt.Errorf("%s was written by a newer version of this program", t.Path)
	}
	if err := t.mend(last, &r); err != nil {
		return nil, err
	}
	if r.version == 0 {
		if err := t.Append(session.Main, Begin{Version: version, ID: t.ID, Project: p.Path}); err != nil {
			return nil, err
		}
	}
	r.finish()
	return r.c, nil
}

// mend makes the file end with a complete entry.
func (t *Transcript) mend(last line, r *replay) error {
	t.size = last.end
	switch {
	case last.err != nil:
		t.size, t.synced = last.start, false
		r.problem("transcript-cut", last.number,
			fmt.Sprintf("the last entry was not written to its end; its %d bytes were cut off", last.end-last.start))
		return t.file.Truncate(t.size)
	case !last.complete && last.end > 0: // only the newline is missing
		_, err := t.file.WriteAt([]byte("\n"), t.size)
		t.size, t.synced = t.size+1, false
		return err
	}
	return nil
}

// replay makes a conversation of entries: the calls by which the session came
// about are made again.
type replay struct {
	path    string
	c       *Conversation
	version int
	unknown map[string]int
	lost    int // damaged lines
}

const maxReported = 10 // damaged lines that are reported one by one

func (r *replay) problem(code string, number int, message string) {
	r.c.Problems = append(r.c.Problems, skill.Problem{
		Code: code, Severity: skill.Warning, Path: r.path, Line: number, Message: message,
	})
}

func (r *replay) damaged(number int, err error) {
	if r.lost++; r.lost <= maxReported {
		r.problem("transcript-damaged", number, fmt.Sprintf("the entry cannot be read and is left out: %v", err))
	}
}

func (r *replay) finish() {
	if more := r.lost - maxReported; more > 0 {
		r.problem("transcript-damaged", 0, fmt.Sprintf("%d more entries cannot be read and are left out", more))
	}
	for _, word := range sortedKeys(r.unknown) {
		r.problem("transcript-unknown-entry", 0, fmt.Sprintf("%d entries of the unknown type %.40q are left out", r.unknown[word], word))
	}
}

func sortedKeys(m map[string]int) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// take replays one entry.
func (r *replay) take(l line) {
	take, known := takers[l.entry.Type]
	if !known {
		if r.unknown == nil {
			r.unknown = map[string]int{}
		}
		r.unknown[l.entry.Type]++
		return
	}
	// Subagents ended with the process that ran them, and so did all that was
	// theirs; what the whole session remembers is another thing.
	if l.entry.Agent != session.Main && !shared[l.entry.Type] {
		return
	}
	if err := take(r, l.entry.Data); err != nil {
		r.damaged(l.number, err)
	}
}

// shared are the entries that matter whichever agent they are from.
var shared = map[string]bool{
	typeBegin: true, typeMeta: true, typePrompt: true, typeActivated: true, typeSchedule: true,
}

// takers replay the payload of each type.
var takers = map[string]func(*replay, json.RawMessage) error{
	typeBegin:      taker((*replay).begin),
	typeMeta:       taker((*replay).meta),
	typePrompt:     taker(func(r *replay, p Prompt) error { r.c.Prompts = append(r.c.Prompts, p.Text); return nil }),
	typeMessage:    taker((*replay).message),
	typeInvocation: taker((*replay).invocation),
	typeAnnounced:  taker((*replay).announced),
	typeActivated:  taker((*replay).activated),
	typeApproval:   taker((*replay).approval),
	typeCompacted:  taker((*replay).compacted),
	typeTodos:      taker(func(r *replay, t Todos) error { r.c.Todos = t.Todos; return nil }),
	typeSchedule:   taker((*replay).schedule),
	typeSubagent:   taker(func(*replay, Subagent) error { return nil }),
}

func taker[P Payload](take func(*replay, P) error) func(*replay, json.RawMessage) error {
	return func(r *replay, data json.RawMessage) error {
		var p P
		if err := json.Unmarshal(data, &p); err != nil {
			return err
		}
		return take(r, p)
	}
}

func (r *replay) activated(a Activated) error {
	r.c.Session.Activate(a.IDs...)
	r.c.Session.FoundBelow(a.Below...)
	return nil
}

func (r *replay) begin(b Begin) error {
	r.version = max(r.version, b.Version, 1)
	r.c.ForkedFrom = b.ForkedFrom
	return nil
}

func (r *replay) meta(m Meta) error {
	now := &r.c.Meta
	*now = Meta{
		CWD: cmp.Or(m.CWD, now.CWD), Model: cmp.Or(m.Model, now.Model), Effort: cmp.Or(m.Effort, now.Effort),
		Mode: cmp.Or(m.Mode, now.Mode), Title: cmp.Or(m.Title, now.Title),
	}
	return nil
}

func (r *replay) message(m Message) error {
	if len(m.Message) == 0 {
		return errors.New("it holds no message")
	}
	r.c.Messages = append(r.c.Messages, m.Message)
	return nil
}

func (r *replay) invocation(i Invocation) error {
	r.c.Session.Record(session.Main, i.invoked())
	return nil
}

func (r *replay) announced(a Announced) error {
	if a.Anew {
		r.c.Session.Untell(session.Main)
	}
	r.c.Session.Tell(session.Main, a.known(), a.Removed...)
	return nil
}

func (r *replay) approval(a Approval) error {
	rule, err := permission.ParseRule(a.Rule)
	if err != nil {
		return err
	}
	rule.From, rule.Scope, rule.Root = a.From, "session", a.Root
	var rules permission.Rules
	switch a.List {
	case permission.Deny.String():
		rules.Deny = []permission.Rule{rule}
	case permission.Ask.String():
		rules.Ask = []permission.Rule{rule}
	case permission.Allow.String():
		rules.Allow = []permission.Rule{rule}
	default:
		return fmt.Errorf("there is no list %.40q of rules", a.List)
	}
	r.c.Session.Keep(session.Main, rules)
	return nil
}

func (r *replay) compacted(c Compacted) error {
	r.c.Messages, r.c.Summary = nil, c.Summary
	var whole []session.Copy
	for _, w := range c.Whole {
		whole = append(whole, session.Copy(w))
	}
	r.c.Session.Compacted(session.Main, whole...)
	return nil
}

func (r *replay) schedule(s Schedule) error {
	r.c.Schedules = slices.DeleteFunc(r.c.Schedules, func(o Schedule) bool { return o.ID == s.ID })
	if len(s.Task) > 0 {
		r.c.Schedules = append(r.c.Schedules, s)
	}
	return nil
}
