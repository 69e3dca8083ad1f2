package invoke_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/audit"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/skill"
)

// A hasher knows one hash for everything.
type hasher struct{}

func (hasher) Examine(context.Context, *catalog.Entry, skill.Instructions) (invoke.Content, error) {
	return invoke.Content{Hash: "abc"}, nil
}

type forkerFunc func() (invoke.ForkResult, error)

func (f forkerFunc) Fork(context.Context, invoke.ForkRequest) (invoke.ForkResult, error) { return f() }

// TestInvocationRecord: each invocation is one record, with what it was and
// how it ended, whoever started it and also when it failed (spec I-13).
func TestInvocationRecord(t *testing.T) {
	w := newWorld(t, catalog.Options{}, map[string]string{
		"user/plain/SKILL.md":   file("Some words."),
		"project/fork/SKILL.md": file("Go.", "context: fork"),
		"user/fails/SKILL.md":   file("!`exit 7`", "allowed-tools: Bash(exit *)"),
		"user/manual/SKILL.md":  file("Go.", "disable-model-invocation: true"),
	})
	boom := errors.New("boom")
	for name, tt := range map[string]struct {
		req  invoke.Request
		fork forkerFunc
		want audit.Record
		more audit.Invoked
	}{
		"inline": {req: invoke.Request{Name: "/plain", By: invoke.ByUser},
			want: audit.Record{Skill: "plain", SkillHash: "abc", Source: "user", Outcome: "ok"},
			more: audit.Invoked{By: "user", Mode: "inline"}},
		"fork": {req: invoke.Request{Name: "fork", By: invoke.ByModel, Agent: "a1"},
			fork: func() (invoke.ForkResult, error) { return invoke.ForkResult{Text: "x", Tokens: 123}, nil },
			want: audit.Record{AgentID: "a1", Skill: "fork", SkillHash: "abc", Source: "project", Outcome: "ok"},
			more: audit.Invoked{By: "model", Mode: "fork", Tokens: 123}},
		"fork that fails": {req: invoke.Request{Name: "fork", By: invoke.ByModel},
			fork: func() (invoke.ForkResult, error) { return invoke.ForkResult{}, boom },
			want: audit.Record{Skill: "fork", Source: "project", Outcome: "error"},
			more: audit.Invoked{By: "model", Mode: "fork", Error: `skill "fork": boom`}},
		"fork that takes too long": {req: invoke.Request{Name: "fork", By: invoke.ByModel},
			fork: func() (invoke.ForkResult, error) { return invoke.ForkResult{}, context.DeadlineExceeded },
			want: audit.Record{Skill: "fork", Source: "project", Outcome: "timeout"},
			more: audit.Invoked{By: "model", Mode: "fork", Error: `skill "fork": context deadline exceeded`}},
		"command that fails": {req: invoke.Request{Name: "fails", By: invoke.ByUser},
			want: audit.Record{Skill: "fails", Source: "user", Outcome: "error"},
			more: audit.Invoked{By: "user", Mode: "inline", Error: "failed with exit code 7"}},
		"refused": {req: invoke.Request{Name: "manual", By: invoke.ByModel},
			want: audit.Record{Skill: "manual", Source: "user", Outcome: "blocked"},
			more: audit.Invoked{By: "model", Mode: "inline", Error: "manual"}},
		"unknown": {req: invoke.Request{Name: "/nothing", By: invoke.ByUser},
			want: audit.Record{Outcome: "error"},
			more: audit.Invoked{By: "user", Name: "nothing", Error: "nothing"}},
	} {
		t.Run(name, func(t *testing.T) {
			env, log := w.env(), &book{}
			env.Audit, env.Approvals = log, hasher{}
			if tt.fork != nil {
				env.Fork = tt.fork
			}
			ticks := 0
			env.Now = func() time.Time { ticks++; return time.Unix(int64(ticks), 0) }
			r, err := invoke.Invoke(t.Context(), tt.req, env)
			got := log.list[len(log.list)-1]
			for _, before := range log.list[:len(log.list)-1] {
				if before.Kind == audit.Invocation {
					t.Error("there are two records")
				}
			}
			var more audit.Invoked
			if err := json.Unmarshal(got.Detail, &more); err != nil {
				t.Fatal(err)
			}
			if more.DurationMS <= 0 || !strings.Contains(more.Error, tt.more.Error) || (more.Error == "") != (err == nil) {
				t.Errorf("detail %+v, error %v", more, err)
			}
			if r != nil && r.Mode == skill.Inline {
				if more.Tokens <= 0 || more.Tokens != r.Tokens() {
					t.Errorf("%d tokens", more.Tokens)
				}
				more.Tokens = 0
			}
			more.DurationMS, more.Error = 0, tt.more.Error
			got.Detail = nil
			tt.want.Kind, tt.want.Tool, tt.want.SessionID = audit.Invocation, "Skill", env.Session.ID
			if tt.want.AgentID == "" {
				tt.want.AgentID = "main"
			}
			if diff := cmp.Diff([]any{tt.want, tt.more}, []any{got, more}); diff != "" {
				t.Error(diff)
			}
		})
	}
}
