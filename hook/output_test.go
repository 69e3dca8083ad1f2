package hook

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadOutput is the table of H-6 for what a hook prints.
func TestReadOutput(t *testing.T) {
	for _, tt := range []struct {
		name   string
		event  Event
		in     string
		want   Outcome
		faults string // a part of each, joined
	}{
		{"nothing", PreToolUse, " \n", Outcome{}, ""},
		{"text is a log", PreToolUse, "checked", Outcome{}, ""},
		{"text is context", UserPromptSubmit, " on main\n", Outcome{Context: []string{"on main"}}, ""},
		{"text is context", SessionStart, "a", Outcome{Context: []string{"a"}}, ""},
		{"text is context", UserPromptExpansion, "a", Outcome{Context: []string{"a"}}, ""},
		{"a list is text", SessionStart, "[1]", Outcome{Context: []string{"[1]"}}, ""},
		{"two objects are text", SessionStart, `{"a":1} {"b":2}`, Outcome{Context: []string{`{"a":1} {"b":2}`}}, "looks like JSON"},
		{"a brace is text", SessionStart, "{a", Outcome{Context: []string{"{a"}}, ""},
		{"broken", PreToolUse, `{"decision":"block",}`, Outcome{}, "looks like JSON"},
		{"bytes", SessionStart, "a\xffb", Outcome{Context: []string{"a\uFFFDb"}}, ""},
		{"empty object", SessionStart, "{}", Outcome{}, ""},
		{"unknown fields", PreToolUse, `{"x":1,"hookSpecificOutput":{"y":[]}}`, Outcome{}, ""},
		{"nulls", PreToolUse, `{"continue":null,"decision":null,"reason":null,"hookSpecificOutput":null,"systemMessage":null}`, Outcome{}, ""},
		{"other case is unknown", PreToolUse, `{"Decision":"block"}`, Outcome{}, ""},
		{"stop", Stop, `{"continue":false,"stopReason":"enough"}`, Outcome{Stop: true, StopReason: "enough"}, ""},
		{"go on", Stop, `{"continue":true,"stopReason":"x"}`, Outcome{}, ""},
		{"message", Stop, `{"systemMessage":"careful","suppressOutput":true}`, Outcome{Notices: []string{"careful"}}, ""},
		{"block", Stop, `{"decision":"block","reason":"tests fail"}`, Outcome{Opinion: Deny, Block: true, Reason: "tests fail"}, ""},
		{"deny is block", PostToolUse, `{"decision":"deny"}`, Outcome{Opinion: Deny, Block: true}, ""},
		{"approve", PreToolUse, `{"decision":"approve","reason":"fine"}`, Outcome{Opinion: Allow, Reason: "fine"}, ""},
		{"approve what", Stop, `{"decision":"approve"}`, Outcome{}, "not for Stop"},
		{"allow", PreToolUse, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"r","updatedInput":{"a":1},"additionalContext":"c"}}`,
			Outcome{Opinion: Allow, Reason: "r", UpdatedInput: json.RawMessage(`{"a":1}`), Context: []string{"c"}}, ""},
		{"ask", PreToolUse, `{"hookSpecificOutput":{"permissionDecision":"ask"}}`, Outcome{Opinion: Ask}, ""},
		{"deny", PreToolUse, `{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"r"}}`, Outcome{Opinion: Deny, Reason: "r"}, ""},
		{"deny and approve", PreToolUse, `{"decision":"approve","reason":"y","hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"n"}}`, Outcome{Opinion: Deny, Reason: "n"}, ""},
		{"allow and block", PreToolUse, `{"decision":"block","reason":"n","hookSpecificOutput":{"permissionDecision":"allow","permissionDecisionReason":"y"}}`, Outcome{Opinion: Deny, Block: true, Reason: "n"}, ""},
		{"shouting", PreToolUse, `{"hookSpecificOutput":{"permissionDecision":"DENY"}}`, Outcome{}, "permissionDecision is allow, deny or ask"},
		{"a permission of another event", Stop, `{"hookSpecificOutput":{"permissionDecision":"deny"}}`, Outcome{}, "not for Stop"},
		{"written for another event", PreToolUse, `{"hookSpecificOutput":{"hookEventName":"PostToolUse","permissionDecision":"allow","updatedInput":{},"additionalContext":"c"}}`, Outcome{}, "only a refusal counts"},
		{"a refusal for another event", PreToolUse, `{"hookSpecificOutput":{"hookEventName":"PostToolUse","permissionDecision":"deny"}}`, Outcome{Opinion: Deny}, "only a refusal counts"},
		{"answer", PermissionRequest, `{"hookSpecificOutput":{"decision":{"behavior":"allow","updatedInput":{"a":2}}}}`, Outcome{Opinion: Allow, UpdatedInput: json.RawMessage(`{"a":2}`)}, ""},
		{"answer no", PermissionRequest, `{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"m"}}}`, Outcome{Opinion: Deny, Reason: "m"}, ""},
		{"answer what", PermissionRequest, `{"hookSpecificOutput":{"decision":{"behavior":"maybe"}}}`, Outcome{}, "behavior is allow or deny"},
		{"update where", PostToolUse, `{"hookSpecificOutput":{"updatedInput":{}}}`, Outcome{}, "updatedInput is not for PostToolUse"},
		{"update with", PreToolUse, `{"hookSpecificOutput":{"updatedInput":"x"}}`, Outcome{}, "updatedInput is an object"},
		{"wrong types", PreToolUse, `{"continue":"no","decision":5,"systemMessage":[],"reason":{},"hookSpecificOutput":[]}`, Outcome{},
			"continue is true or false|systemMessage is text, not a list|hookSpecificOutput is an object, not a list|reason is text, not a map|decision is text"},
		{"unknown decision", Stop, `{"decision":"perhaps"}`, Outcome{}, "block or approve, not \"perhaps\""},
	} {
		got, faults := ReadOutput(tt.event, []byte(tt.in))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
		want := strings.Split(tt.faults, "|")
		if tt.faults == "" {
			want = nil
		}
		if len(faults) != len(want) {
			t.Errorf("%s: faults %q, want %q", tt.name, faults, want)
			continue
		}
		for i := range want {
			if !strings.Contains(faults[i], want[i]) {
				t.Errorf("%s: fault %q, want %q", tt.name, faults[i], want[i])
			}
		}
	}
}

// FuzzReadOutput: output that is not exactly one object decides nothing, and
// what decides on a call does so at an event that has one.
func FuzzReadOutput(f *testing.F) {
	for _, s := range []string{"", "x", "{}", `{"decision":"block"}`, `{"continue":false}`, `{"hookSpecificOutput":{"permissionDecision":"deny","updatedInput":{}}}`, "{\xff}", "[[[["} {
		f.Add(s, "PreToolUse")
		f.Add(s, "Stop")
	}
	f.Fuzz(func(t *testing.T, s, event string) {
		o, _ := ReadOutput(Event(event), []byte(s))
		var any map[string]json.RawMessage
		if json.Unmarshal([]byte(s), &any) != nil && (o.Refuses() || o.Opinion != NoOpinion || o.UpdatedInput != nil || len(o.Notices) > 0) {
			t.Errorf("%q decides: %+v", s, o)
		}
		if !deciders[Event(event)] && (o.Opinion == Allow || o.Opinion == Ask || o.UpdatedInput != nil) {
			t.Errorf("%q at %s: %+v", s, event, o)
		}
		if o.Block && o.Opinion != Deny {
			t.Errorf("%q blocks without refusing: %+v", s, o)
		}
		if o.UpdatedInput != nil && !json.Valid(o.UpdatedInput) {
			t.Errorf("%q: input %q", s, o.UpdatedInput)
		}
	})
}

// TestCombine is the table of H-7.
func TestCombine(t *testing.T) {
	in := func(s string) json.RawMessage { return json.RawMessage(s) }
	for _, tt := range []struct {
		name string
		list []Outcome
		want Outcome
	}{
		{"nobody", nil, Outcome{}},
		{"deny beats all", []Outcome{{Opinion: Allow, Reason: "a"}, {Opinion: Deny, Reason: "d"}, {Opinion: Ask, Reason: "q"}}, Outcome{Opinion: Deny, Reason: "d"}},
		{"ask beats allow", []Outcome{{Opinion: Ask, Reason: "q"}, {Opinion: Allow, Reason: "a"}}, Outcome{Opinion: Ask, Reason: "q"}},
		{"allow beats none", []Outcome{{}, {Opinion: Allow, Reason: "a"}, {}}, Outcome{Opinion: Allow, Reason: "a"}},
		{"reasons add", []Outcome{{Opinion: Deny, Reason: "a"}, {Opinion: Deny, Reason: "b"}, {Opinion: Deny, Reason: "a"}}, Outcome{Opinion: Deny, Reason: "a\nb"}},
		{"block", []Outcome{{}, {Opinion: Deny, Block: true, Reason: "x"}}, Outcome{Opinion: Deny, Block: true, Reason: "x"}},
		{"stop", []Outcome{{Stop: true}, {Stop: true, StopReason: "b"}, {Stop: true, StopReason: "c"}}, Outcome{Stop: true, StopReason: "b"}},
		{"texts add", []Outcome{{Context: []string{"a"}, Notices: []string{"m"}}, {Context: []string{"b"}}}, Outcome{Context: []string{"a", "b"}, Notices: []string{"m"}}},
		{"input", []Outcome{{Opinion: Allow, UpdatedInput: in(`{"a":1}`)}}, Outcome{Opinion: Allow, UpdatedInput: in(`{"a":1}`)}},
		{"an allow of the old input", []Outcome{{Opinion: Allow, Reason: "a"}, {UpdatedInput: in(`{}`)}}, Outcome{UpdatedInput: in(`{}`)}},
		{"an ask of the old input", []Outcome{{Opinion: Ask, Reason: "a"}, {UpdatedInput: in(`{}`)}}, Outcome{Opinion: Ask, Reason: "a", UpdatedInput: in(`{}`)}},
		{"refused input", []Outcome{{UpdatedInput: in(`{}`)}, {Opinion: Deny}}, Outcome{Opinion: Deny}},
		{"two inputs", []Outcome{{UpdatedInput: in(`{"a":1}`)}, {UpdatedInput: in(`{"a":2}`)}},
			Outcome{UpdatedInput: in(`{"a":1}`), Notices: []string{"several hooks changed the input of one call; the change of the first one counts"}}},
	} {
		if diff := cmp.Diff(tt.want, Combine(tt.list)); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
	}
	then := Then(Outcome{Opinion: Allow, Reason: "old"}, Outcome{UpdatedInput: in(`{}`)})
	if then.Opinion != NoOpinion || then.UpdatedInput == nil {
		t.Errorf("an allow before a change: %+v", then)
	}
	then = Then(Outcome{UpdatedInput: in(`{"a":1}`)}, Outcome{Opinion: Allow, Reason: "new", UpdatedInput: in(`{"a":2}`)})
	if then.Opinion != Allow || string(then.UpdatedInput) != `{"a":2}` {
		t.Errorf("a later change: %+v", then)
	}
}
