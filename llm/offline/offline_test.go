package offline_test

import (
	"strings"
	"testing"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm/offline"
	"github.com/knack-skills/knack/search"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/source/bundled"
)

// run invokes a skill on the real road.
func run(t *testing.T, name string) *invoke.Result {
	t.Helper()
	c := catalog.New(catalog.Options{}, bundled.New(t.TempDir(),
		bundled.Skill{ID: "tidy", File: "---\ndescription: Tidies.\n---\nTidy up.\n\n"},
		bundled.Skill{ID: "audit", File: "---\ndescription: Audits.\ncontext: fork\n---\nAudit it.\n"}))
	snap, err := c.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := invoke.Invoke(t.Context(), invoke.Request{Name: name, By: invoke.ByUser},
		invoke.Env{Catalog: snap, Session: session.New("s"), Fork: offline.Forker{}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestChoose(t *testing.T) { // spec A-2
	if id, ok := offline.Choose(nil); ok || id != "" {
		t.Errorf("Choose(nil) = %q, %v", id, ok)
	}
	if id, ok := offline.Choose([]search.Hit{{ID: "best"}, {ID: "next"}}); !ok || id != "best" {
		t.Errorf("Choose = %q, %v", id, ok)
	}
}

func TestAnswer(t *testing.T) { // spec A-2: it says that no language model is attached
	tidy, audit := run(t, "tidy"), run(t, "audit")
	for _, tt := range []struct {
		message string
		results []*invoke.Result
		want    string
	}{
		{"", []*invoke.Result{tidy},
			"[offline: no language model is attached. Skill \"tidy\" (you named it) gives a model these instructions:]\n\nTidy up."},
		{"  clean the desk\nplease ", []*invoke.Result{tidy},
			"[offline: no language model is attached. Skill \"tidy\" (chosen by search for \"clean the desk\") gives a model these instructions:]\n\nTidy up."},
		{"", []*invoke.Result{tidy, audit},
			"[offline: no language model is attached. Skill \"tidy\" (you named it) gives a model these instructions:]\n\nTidy up.\n\n" +
				"[offline: no language model is attached. Skill \"audit\" (you named it; it would run in a subagent) gives a model these instructions:]\n\nAudit it."},
	} {
		if got := offline.Answer(tt.message, tt.results...); got != tt.want {
			t.Errorf("Answer(%q) = %q, want %q", tt.message, got, tt.want)
		}
	}
	if audit.Fork == nil || audit.Fork.Text != "Audit it.\n" {
		t.Errorf("the fork answered %+v", audit.Fork)
	}
}

func TestNoMatch(t *testing.T) {
	got := offline.NoMatch(strings.Repeat("語", 100) + "\nmore")
	if want := `"` + strings.Repeat("語", 79) + `…"`; !strings.Contains(got, want) || !strings.Contains(got, "no language model is attached") || strings.Contains(got, "more") {
		t.Errorf("NoMatch = %q", got)
	}
}
