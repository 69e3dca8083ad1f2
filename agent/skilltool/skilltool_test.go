package skilltool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/skilltool"
	"github.com/knack-skills/knack/agent/tool/tooltest"
	"github.com/knack-skills/knack/search"
)

func TestContract(t *testing.T) {
	t.Run("Skill", func(t *testing.T) {
		tooltest.Run(t, skilltool.Skill{}, `{"skill":"commit"}`, `{"skill":"deploy","args":"to \"production\""}`)
	})
	t.Run("SkillSearch", func(t *testing.T) {
		tooltest.Run(t, skilltool.Search{Finder: finder{}}, `{"query":"deploy"}`, `{"query":"部署","limit":20}`)
	})
}

// finder answers with as many hits as it is asked for.
type finder struct{ err error }

func (f finder) Search(_ context.Context, query string, limit int) (hits []search.Hit, err error) {
	for i := range limit {
		if query != "nothing" {
			hits = append(hits, search.Hit{ID: fmt.Sprint("skill-", i), Snippet: "about " + query})
		}
	}
	return hits, f.err
}

func TestSearch(t *testing.T) { // spec L-8
	for _, tt := range []struct {
		input, want string
		lines       int
	}{
		{`{"query":"deploy"}`, "- skill-0: about deploy\n- skill-1", 5},
		{`{"query":"deploy","limit":20}`, "- skill-19: about deploy\n", 20},
		{`{"query":"nothing"}`, "No skill matches", 0},
	} {
		p, err := skilltool.Search{Finder: finder{}}.Plan(json.RawMessage(tt.input))
		if err != nil || !p.ReadOnly {
			t.Fatalf("%s: %+v, %v", tt.input, p, err)
		}
		r, err := p.Run(t.Context(), agent.CallEnv{})
		if err != nil || !strings.Contains(r.Text, tt.want) || strings.Count(r.Text, "\n") != tt.lines {
			t.Errorf("%s: %q, %v", tt.input, r.Text, err)
		}
	}
	broken := errors.New("broken")
	p, err := skilltool.Search{Finder: finder{broken}}.Plan(json.RawMessage(`{"query":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(t.Context(), agent.CallEnv{}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// TestWrong: each error says what to mend.
func TestWrong(t *testing.T) {
	for input, want := range map[string]string{
		`{}`:                       "skill",
		`{"skill":"  "}`:           "skill",
		`{"skill":7}`:              "skill",
		`{"skill":"a","argz":"b"}`: "argz",
		`{"skill":"a"} {"more":1}`: "",
		`["a"]`:                    "object",
		`null`:                     "",
	} {
		if _, err := (skilltool.Skill{}).Plan(json.RawMessage(input)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", input, err)
		}
	}
	for _, input := range []string{`{"query":" "}`, `{"query":"a","limit":0}`, `{"query":"a","limit":21}`, `{"limit":3}`} {
		if _, err := (skilltool.Search{}).Plan(json.RawMessage(input)); err == nil {
			t.Errorf("%s is accepted", input)
		}
	}
}
