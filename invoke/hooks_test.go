package invoke_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/knack-skills/knack/audit"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
)

const guarded = "hooks: {PreToolUse: [{matcher: Bash, hooks: [{type: command, command: ./check.sh}]}]}"

// Hooks are registered by the invocation, whoever makes it, and by nothing else
// (spec H-8, H-10).
func TestHooksAreRegistered(t *testing.T) {
	tests := []struct {
		name   string
		skill  string
		change func(*invoke.Env)
		want   int
		notice string
	}{
		{"user skill", "user/guard", nil, 1, ""},
		{"trusted project", "project/guard", nil, 1, ""},
		{"untrusted project", "project/guard", func(e *invoke.Env) { e.Trusted = false }, 0, "not trusted"},
		{"switched off", "user/guard", func(e *invoke.Env) { e.NoHooks = "disableAllHooks is set" }, 0, "disableAllHooks is set"},
		{"managed only, user skill", "user/guard", func(e *invoke.Env) { e.ManagedHooks = "allowManagedHooksOnly is set" }, 0, "allowManagedHooksOnly"},
		{"plugins only, user skill", "user/guard", func(e *invoke.Env) { e.PluginHooks = "strictPluginOnlyCustomization is set" }, 0, "strictPluginOnlyCustomization"},
		{"plugins only, managed skill", "managed/guard", func(e *invoke.Env) { e.PluginHooks = "strictPluginOnlyCustomization is set" }, 1, ""},
		{"managed only, managed skill", "managed/guard", func(e *invoke.Env) { e.ManagedHooks = "allowManagedHooksOnly is set" }, 1, ""},
	}
	for _, by := range []invoke.Caller{invoke.ByUser, invoke.ByModel} {
		for _, tt := range tests {
			t.Run(string(by)+"/"+tt.name, func(t *testing.T) {
				w := newWorld(t, catalog.Options{}, map[string]string{tt.skill + "/SKILL.md": file("Go.", guarded)})
				env := w.env()
				env.Trusted = true
				env.Rules = env.Rules.With(permission.Rule{Text: "Skill", Tool: "Skill"})
				if tt.change != nil {
					tt.change(&env)
				}
				if n := len(env.Session.Hooks("worker")); n != 0 {
					t.Fatalf("%d hooks before the invocation", n)
				}
				var notices string
				for range 2 { // registering again never doubles
					r, err := invoke.Invoke(t.Context(), invoke.Request{Name: "guard", By: by, Agent: "worker"}, env)
					if err != nil {
						t.Fatal(err)
					}
					notices = strings.Join(r.Notices, "\n")
				}
				if n := len(env.Session.Hooks("worker")); n != tt.want {
					t.Errorf("%d hooks, want %d", n, tt.want)
				}
				if n := len(env.Session.Hooks(session.Main)); n != 0 {
					t.Errorf("another agent has %d hooks", n)
				}
				if !strings.Contains(notices, tt.notice) || tt.notice == "" && notices != "" {
					t.Errorf("notices %q, want %q", notices, tt.notice)
				}
			})
		}
	}
}

// A book is a sink that keeps what it gets.
type book struct {
	mu   sync.Mutex
	list []audit.Record
}

func (b *book) Write(r audit.Record) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list = append(b.list, r)
	return nil
}

// lines shows the records as "kind tool outcome rule".
func (b *book) lines() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, r := range b.list {
		out = append(out, strings.TrimSpace(string(r.Kind)+" "+r.Tool+" "+r.Outcome+" "+r.Rule))
	}
	return strings.Join(out, "; ")
}

// Every decision and every command is on record, with the rule that decided
// (spec S-12).
func TestAudit(t *testing.T) {
	tests := []struct {
		name string
		by   invoke.Caller
		body string
		deny string
		ask  invoke.Asker
		want string
	}{
		{"typed", invoke.ByUser, "Go.", "", nil, "decision Skill allow; invocation Skill ok"},
		{"model", invoke.ByModel, "Go.", "", nil, "decision Skill allow; invocation Skill ok"},
		{"denied", invoke.ByModel, "Go.", "Skill(s)", nil, "decision Skill deny Skill(s); invocation Skill blocked"},
		{"read-only command", invoke.ByUser, "!`echo hi`", "", nil,
			"decision Skill allow; decision Bash allow; command Bash ok; invocation Skill ok"},
		{"command that nobody allows", invoke.ByUser, "!`touch x`", "", nil,
			"decision Skill allow; decision Bash deny; invocation Skill blocked"},
		{"approved command that fails", invoke.ByUser, "!`touch x && false`", "", answers(true),
			"decision Skill allow; decision Bash approved; command Bash error; invocation Skill error"},
		{"declined command", invoke.ByUser, "!`touch x`", "", answers(false),
			"decision Skill allow; decision Bash declined; invocation Skill blocked"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, catalog.Options{}, map[string]string{"user/s/SKILL.md": file(tt.body)})
			env := w.env()
			env.Ask = tt.ask
			log := &book{}
			env.Audit = log
			if tt.deny != "" {
				r, err := permission.ParseRule(tt.deny)
				if err != nil {
					t.Fatal(err)
				}
				r.Scope = "user"
				env.Rules.Deny = append(env.Rules.Deny, r)
			}
			_, _ = invoke.Invoke(t.Context(), invoke.Request{Name: "s", By: tt.by, Agent: "worker"}, env)
			if got := log.lines(); got != tt.want {
				t.Errorf("\ngot  %s\nwant %s", got, tt.want)
			}
			for _, r := range log.list {
				if r.SessionID != env.Session.ID || r.AgentID != "worker" || r.Skill != "s" || !json.Valid(append([]byte{}, r.Detail...)) {
					t.Errorf("record %+v", r)
				}
			}
		})
	}
}

type answers bool

func (a answers) Ask(context.Context, invoke.Question) (invoke.Answer, error) {
	return invoke.Answer{Allow: bool(a)}, nil
}
