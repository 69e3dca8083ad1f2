package transcript

import (
	"encoding/json"
	"time"

	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/skill"
)

// An Entry is one line of a transcript: {type, time, agent_id, data}.
type Entry struct {
	Type  string          `json:"type"`
	Time  time.Time       `json:"time"`
	Agent session.AgentID `json:"agent_id"`
	Data  json.RawMessage `json:"data"` // the payload of this type
}

// A Payload is what an entry says: [Begin], [Meta], [Prompt], [Message],
// [Invocation], [Announced], [Activated], [Approval], [Compacted], [Todos],
// [Schedule] or [Subagent].
type Payload interface{ entryType() string }

// Begin is the first entry of a transcript, written when it is created.
type Begin struct {
	Version    int    `json:"version"`
	ID         string `json:"id"`
	Project    string `json:"project"`               // for a person who looks into the file
	ForkedFrom string `json:"forked_from,omitempty"` // session that it was copied from
}

// Meta says how the session runs from here on; empty fields keep what was said
// before.
type Meta struct {
	CWD    string `json:"cwd,omitempty"`
	Model  string `json:"model,omitempty"`
	Effort string `json:"effort,omitempty"`
	Mode   string `json:"permission_mode,omitempty"`
	Title  string `json:"title,omitempty"` // given by the person or the model
}

// A Prompt is what a person typed, for lists of sessions and for the history of
// the input line. What the model saw of it is a [Message].
type Prompt struct {
	Text string `json:"text"`
}

// A Message is one message of the conversation as the host wrote it down; this
// package does not look into it.
type Message struct {
	Message json.RawMessage `json:"message"`
}

// An Invocation is a skill that was recorded (session.Session.Record). It is
// written after the messages that carry its text: should the process end in
// between, the text is loaded once too often, and not thought to be there.
type Invocation struct {
	ID     string    `json:"id"`
	Path   string    `json:"path,omitempty"`
	Args   string    `json:"args,omitempty"`
	Text   string    `json:"text"`
	Hash   string    `json:"hash"`
	At     time.Time `json:"at"`
	By     string    `json:"by,omitempty"`     // who started it (spec I-1)
	Source string    `json:"source,omitempty"` // where the skill is from
}

// InvocationOf returns the entry for an invocation.
func InvocationOf(i session.Invoked) Invocation {
	return Invocation{ID: i.ID, Path: i.Path, Args: i.Args, Text: i.Text, Hash: i.Hash, At: i.At}
}

func (i Invocation) invoked() session.Invoked {
	return session.Invoked{ID: i.ID, Path: i.Path, Args: i.Args, Text: i.Text, Hash: i.Hash, At: i.At}
}

// Announced is what an agent was told of the skills there are
// (session.Session.Tell).
type Announced struct {
	Known   map[string]Summary `json:"known,omitempty"` // by id
	Removed []string           `json:"removed,omitempty"`
	Anew    bool               `json:"anew,omitempty"` // what it was told before counts no more (Untell)
}

// Summary is a skill.Summary as it stands in a transcript.
type Summary struct {
	ID                  string `json:"id"`
	Name                string `json:"name,omitempty"`
	Description         string `json:"description,omitempty"`
	DescriptionFallback bool   `json:"description_fallback,omitempty"`
	WhenToUse           string `json:"when_to_use,omitempty"`
	ArgumentHint        string `json:"argument_hint,omitempty"`
	Version             string `json:"version,omitempty"`
}

// AnnouncedOf returns the entry for what an agent was told.
func AnnouncedOf(known map[string]skill.Summary, removed ...string) Announced {
	a := Announced{Removed: removed, Known: make(map[string]Summary, len(known))}
	for id, s := range known {
		a.Known[id] = Summary(s)
	}
	return a
}

func (a Announced) known() map[string]skill.Summary {
	out := make(map[string]skill.Summary, len(a.Known))
	for id, s := range a.Known {
		out[id] = skill.Summary(s)
	}
	return out
}

// Activated names conditional skills that became visible (spec D-3), and
// directories below the working directory whose skills were found (spec D-1).
type Activated struct {
	IDs   []string `json:"ids,omitempty"` // those that last, see catalog.Entry.LastingID
	Below []string `json:"below,omitempty"`
}

// An Approval is a rule that a person gave for the rest of the session.
type Approval struct {
	List string `json:"list"` // deny, ask or allow
	Rule string `json:"rule"` // as in a settings file
	From string `json:"from,omitempty"`
	Root string `json:"root,omitempty"` // what "/x" in it is relative to
}

// Compacted is the boundary at which an agent's history was replaced by a
// summary (spec M-2). The messages of the new history follow as entries.
type Compacted struct {
	Trigger      string   `json:"trigger"` // auto or manual
	Instructions string   `json:"instructions,omitempty"`
	PreTokens    int      `json:"pre_tokens,omitempty"`
	Summary      string   `json:"summary"`
	Whole        []Copy   `json:"whole,omitempty"`   // texts that the new history holds unshortened
	Cut          []Copy   `json:"cut,omitempty"`     // skills of which the beginning was put back
	Dropped      []string `json:"dropped,omitempty"` // skills that were left out
}

// A Copy is a session.Copy as it stands in a transcript.
type Copy struct {
	ID   string `json:"id"`
	Hash string `json:"hash"`
}

// CompactedOf returns the boundary for what was restored.
func CompactedOf(trigger, instructions, summary string, r session.Restored) Compacted {
	c := Compacted{Trigger: trigger, Instructions: instructions, Summary: summary, Dropped: r.Dropped}
	for _, w := range r.Whole {
		c.Whole = append(c.Whole, Copy(w))
	}
	for _, p := range r.Skills {
		if !p.Whole {
			c.Cut = append(c.Cut, Copy(p.Copy))
		}
	}
	return c
}

// Todos is the list of the todo tool as it stands now.
type Todos struct {
	Todos json.RawMessage `json:"todos"`
}

// A Schedule is a scheduled task that was made, or, without Task, removed (spec A-9).
type Schedule struct {
	ID   string          `json:"id"`
	Task json.RawMessage `json:"task,omitempty"`
}

// A Subagent tells of an agent that started or, with Ended, ended.
type Subagent struct {
	ID     session.AgentID `json:"id"`
	Parent session.AgentID `json:"parent,omitempty"`
	Type   string          `json:"agent_type,omitempty"`
	Skill  string          `json:"skill,omitempty"`
	Ended  bool            `json:"ended,omitempty"`
}

// The words in the field type.
const (
	typeBegin      = "begin"
	typeMeta       = "meta"
	typePrompt     = "prompt"
	typeMessage    = "message"
	typeInvocation = "invocation"
	typeAnnounced  = "announced"
	typeActivated  = "activated"
	typeApproval   = "approval"
	typeCompacted  = "compact_boundary"
	typeTodos      = "todos"
	typeSchedule   = "schedule"
	typeSubagent   = "subagent"
)

func (Begin) entryType() string      { return typeBegin }
func (Meta) entryType() string       { return typeMeta }
func (Prompt) entryType() string     { return typePrompt }
func (Message) entryType() string    { return typeMessage }
func (Invocation) entryType() string { return typeInvocation }
func (Announced) entryType() string  { return typeAnnounced }
func (Activated) entryType() string  { return typeActivated }
func (Approval) entryType() string   { return typeApproval }
func (Compacted) entryType() string  { return typeCompacted }
func (Todos) entryType() string      { return typeTodos }
func (Schedule) entryType() string   { return typeSchedule }
func (Subagent) entryType() string   { return typeSubagent }
