package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// speakers are the events at which plain text of a hook is context for the
// model (spec H-6).
var speakers = map[Event]bool{SessionStart: true, UserPromptSubmit: true, UserPromptExpansion: true}

// deciders are the events at which a hook may hold an [Opinion] on a call, or
// change its input.
var deciders = map[Event]bool{PreToolUse: true, PermissionRequest: true}

// opinions are the values of permissionDecision.
var opinions = map[string]Opinion{"allow": Allow, "ask": Ask, "deny": Deny}

// ReadOutput reads what a hook printed that ended well (spec H-6): one JSON
// object is its output, other text is context for the events that take it. A
// field that nobody knows is ignored; one that cannot be used is left out and
// named in faults. The texts of the result are as the hook wrote them.
func ReadOutput(e Event, stdout []byte) (o Outcome, faults []string) {
	s := bytes.TrimSpace(stdout)
	if len(s) == 0 {
		return o, nil
	}
	if s[0] == '{' {
		fields, err := object(s)
		if err == nil {
			r := reading{event: e, out: &o}
			r.top(fields)
			return o, r.faults
		}
		if s[len(s)-1] == '}' {
			faults = append(faults, fmt.Sprintf("its output looks like JSON and is none, so it counts as text: %v", err))
		}
	}
	if speakers[e] {
		o.Context = []string{strings.ToValidUTF8(string(s), "\uFFFD")}
	}
	return o, faults
}

// object reads exactly one JSON object. Keys keep their case: encoding/json
// would take "Decision" for "decision".
func object(s []byte) (map[string]json.RawMessage, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(s, &m); err != nil {
		return nil, err
	}
	if m == nil {
		return nil, fmt.Errorf("an object is expected")
	}
	return m, nil
}

// reading is one run of [ReadOutput] over an object.
type reading struct {
	event  Event
	out    *Outcome
	faults []string
}

func (r *reading) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

// text returns the text of a field; a missing or null one is empty.
func (r *reading) text(m map[string]json.RawMessage, name string) string {
	var s *string
	if raw, ok := m[name]; ok && json.Unmarshal(raw, &s) != nil {
		r.fault("%s is text, not %s; it is ignored", name, kindOf(raw))
	}
	if s == nil {
		return ""
	}
	return *s
}

// flag returns a boolean field, or otherwise when it is missing.
func (r *reading) flag(m map[string]json.RawMessage, name string, otherwise bool) bool {
	var b *bool
	if raw, ok := m[name]; ok && json.Unmarshal(raw, &b) != nil {
		r.fault("%s is true or false, not %s; it is ignored", name, kindOf(raw))
		return otherwise // Unmarshal has set b all the same
	}
	if b == nil {
		return otherwise
	}
	return *b
}

// kindOf names the kind of a JSON value for messages.
func kindOf(raw json.RawMessage) string {
	var v any
	_ = json.Unmarshal(raw, &v) // it is a part of valid JSON
	return describe(v)
}

func (r *reading) top(m map[string]json.RawMessage) {
	if !r.flag(m, "continue", true) {
		r.out.Stop, r.out.StopReason = true, r.text(m, "stopReason")
	}
	r.flag(m, "suppressOutput", false) // there is no place that shows it
	if s := r.text(m, "systemMessage"); s != "" {
		r.out.Notices = append(r.out.Notices, s)
	}
	if raw, ok := m["hookSpecificOutput"]; ok && string(raw) != "null" {
		specific, err := object(raw)
		if err != nil {
			r.fault("hookSpecificOutput is an object, not %s; it is ignored", kindOf(raw))
		} else {
			r.specific(specific)
		}
	}
	reason := r.text(m, "reason")
	switch decision := r.text(m, "decision"); decision {
	case "":
	case "block", "deny": // the second is a mistake that must not let anything through
		r.block(reason)
	case "approve":
		r.opinion(Allow, reason)
	default:
		r.fault("decision is block or approve, not %.40q; it is ignored", decision)
	}
}

// block refuses; the words of a refusal win over those of anything weaker.
func (r *reading) block(reason string) {
	r.out.Block = true
	if r.out.Opinion < Deny || r.out.Reason == "" {
		r.out.Opinion, r.out.Reason = Deny, reason
	}
}

// opinion sets what the hook says of the call, unless it said something
// stronger.
func (r *reading) opinion(o Opinion, reason string) {
	switch {
	case !deciders[r.event]:
		r.fault("a decision on a call is not for %s; it is ignored", r.event)
	case o > r.out.Opinion:
		r.out.Opinion, r.out.Reason = o, reason
	}
}

// specific reads hookSpecificOutput. What was written for another event may
// refuse, and nothing else.
func (r *reading) specific(m map[string]json.RawMessage) {
	foreign := false
	if name := r.text(m, "hookEventName"); name != "" && Event(name) != r.event {
		r.fault("hookEventName is %.40q, and the event is %s; only a refusal counts", name, r.event)
		foreign = true
	}
	if s := r.text(m, "permissionDecision"); s != "" {
		o, known := opinions[s]
		switch {
		case !known:
			r.fault("permissionDecision is allow, deny or ask, not %.40q; it is ignored", s)
		case !foreign || o != Allow:
			r.opinion(o, r.text(m, "permissionDecisionReason"))
		}
	}
	if raw, ok := m["decision"]; ok && r.event == PermissionRequest {
		r.answer(raw, foreign)
	}
	if foreign {
		return
	}
	r.update(m)
	if s := r.text(m, "additionalContext"); s != "" {
		r.out.Context = append(r.out.Context, s)
	}
}

// answer reads decision{behavior, message, updatedInput}, the way in which
// PermissionRequest hooks are often written.
func (r *reading) answer(raw json.RawMessage, foreign bool) {
	m, err := object(raw)
	if err != nil {
		r.fault("hookSpecificOutput.decision is an object, not %s; it is ignored", kindOf(raw))
		return
	}
	switch b := r.text(m, "behavior"); {
	case b == "deny":
		r.opinion(Deny, r.text(m, "message"))
	case b == "allow" && !foreign:
		r.opinion(Allow, r.text(m, "message"))
		r.update(m)
	case b != "allow":
		r.fault("decision.behavior is allow or deny, not %.40q; it is ignored", b)
	}
}

func (r *reading) update(m map[string]json.RawMessage) {
	raw, ok := m["updatedInput"]
	if !ok || string(raw) == "null" {
		return
	}
	switch _, err := object(raw); {
	case !deciders[r.event]:
		r.fault("updatedInput is not for %s; it is ignored", r.event)
	case err != nil:
		r.fault("updatedInput is an object, not %s; it is ignored", kindOf(raw))
	default:
		r.out.UpdatedInput = bytes.Clone(raw)
	}
}
