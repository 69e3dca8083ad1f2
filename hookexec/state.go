package hookexec

import (
	"encoding/json"
	"time"

	"github.com/knack-skills/knack/audit"
	"github.com/knack-skills/knack/hook"
)

// state is what a runner knows of one entry; [Runner.mu] guards all of it but
// turn.
type state struct {
	turn   chan struct{} // held by the one run of a hook that is to run once
	spent  bool
	told   map[string]bool // kinds of trouble that were told
	status Status
}

// key names the state of an entry.
func (e Entry) key() any {
	if e.Key != nil {
		return e.Key
	}
	return e.Level + "\x00" + e.Owner + "\x00" + string(e.Event) + "\x00" + e.Matcher + "\x00" + e.Handler.If + "\x00" + does(e.Handler)
}

func (r *Runner) state(e Entry) *state {
	r.mu.Lock()
	defer r.mu.Unlock()
	st := r.states[e.key()]
	if st == nil {
		st = &state{turn: make(chan struct{}, 1), told: map[string]bool{}}
		r.states[e.key()] = st
	}
	return st
}

func (r *Runner) spent(st *state) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return st.spent
}

// spend ends the life of a hook that was to run once (spec H-8). That somebody
// else took it away meanwhile, with its skill for example, is fine too.
func (r *Runner) spend(st *state, e Entry) {
	r.mu.Lock()
	st.spent = true
	r.mu.Unlock()
	if e.Spend != nil {
		e.Spend()
	}
}

// first reports whether this kind of trouble is new.
func (r *Runner) first(st *state, kind string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	told := st.told[kind]
	st.told[kind] = true
	return !told
}

func (r *Runner) remember(st *state, res Result, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	st.status.Runs++
	st.status.Last, st.status.Err, st.status.At, st.status.Duration = res.Verdict, res.Err, at, res.Duration
}

// Status returns entries with the results of their last runs, in order (spec
// H-11). Those that have not run are there as well.
func (r *Runner) Status(entries ...Entry) []Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]Status, len(entries))
	for i, e := range entries {
		if st := r.states[e.key()]; st != nil {
			list[i] = st.status
		}
		list[i].Entry, list[i].Summary = e, Summary(e.Handler)
	}
	return list
}

// detail is the part of an audit record that only hooks have.
type detail struct {
	Event   hook.Event `json:"event"`
	Owner   string     `json:"owner"`
	Matcher string     `json:"matcher,omitempty"`
	Type    string     `json:"type"`
	Hook    string     `json:"hook"`
	Exit    int        `json:"exit,omitempty"`
	Reason  string     `json:"reason,omitempty"`
	MS      int64      `json:"duration_ms"`
}

// log writes the record of a run (spec S-12).
func (r *Runner) log(res *Result, in hook.Input) {
	if r.opts.Audit == nil {
		return
	}
	e := res.Entry
	reason := res.Err
	if reason == "" {
		reason = res.Outcome.Reason
	}
	more, err := json.Marshal(detail{in.Event, e.Owner, e.Matcher, e.Handler.Type, Summary(e.Handler), res.Exit, reason, res.Duration.Milliseconds()})
	rec := audit.Record{
		SessionID: in.SessionID, AgentID: in.AgentID, Kind: audit.Hook, Tool: in.ToolName,
		Source: e.Level, Outcome: res.Verdict, Detail: more,
	}
	if e.Level == Skill {
		rec.Skill = e.Owner
	}
	if err == nil {
		_ = r.opts.Audit.Write(rec) // the Sink itself tells the person, once
	}
}
