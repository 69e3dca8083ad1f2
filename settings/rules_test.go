package settings_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/settings"
	"github.com/knack-skills/knack/skill"
)

// origins is rules as "text scope".
func origins(rules []permission.Rule) []string {
	out := []string{}
	for _, r := range rules {
		out = append(out, r.Text+" "+r.Scope)
	}
	return out
}

// everywhere has one rule of each kind at each level.
var everywhere = map[string]string{
	"managed": `{"permissions": {"allow": ["Am"], "ask": ["Qm"], "deny": ["Dm"]}}`,
	"flag":    `{"permissions": {"allow": ["Af"], "ask": ["Qf"], "deny": ["Df"]}}`,
	"local":   `{"permissions": {"allow": ["Al"], "ask": ["Ql"], "deny": ["Dl"]}}`,
	"project": `{"permissions": {"allow": ["Ap"], "ask": ["Qp"], "deny": ["Dp"]}}`,
	"user":    `{"permissions": {"allow": ["Au"], "ask": ["Qu"], "deny": ["Du"]}}`,
}

func TestRules(t *testing.T) {
	tr := newTree(t, everywhere)
	s := settings.Load(tr.src)
	for _, tt := range []struct {
		trusted bool
		allow   []string
		codes   []string
	}{
		{false, []string{"Am managed", "Af command-line", "Au user"}, []string{"local:1:18: warning [rule-untrusted]", "project:1:18: warning [rule-untrusted]"}},
		{true, []string{"Am managed", "Af command-line", "Al local", "Ap project", "Au user"}, nil},
	} {
		rules, problems := s.Rules(tt.trusted)
		if diff := cmp.Diff(tt.allow, origins(rules.Allow)); diff != "" {
			t.Errorf("trusted %v: %s", tt.trusted, diff)
		}
		if got := origins(rules.Deny); !slices.Equal(got, []string{"Dm managed", "Df command-line", "Dl local", "Dp project", "Du user"}) {
			t.Errorf("trusted %v: deny %v", tt.trusted, got)
		}
		if got := origins(rules.Ask); !slices.Equal(got, []string{"Qm managed", "Qf command-line", "Ql local", "Qp project", "Qu user"}) {
			t.Errorf("trusted %v: ask %v", tt.trusted, got)
		}
		if got := tr.brief(problems); !slices.Equal(got, tt.codes) {
			t.Errorf("trusted %v: problems %v", tt.trusted, got)
		}
	}
}

func TestRulesManagedOnly(t *testing.T) {
	files := map[string]string{"managed.d/only.json": `{"allowManagedPermissionRulesOnly": true}`}
	for k, v := range everywhere {
		files[k] = v
	}
	s := settings.Load(newTree(t, files).src)
	rules, problems := s.Rules(true)
	if got := origins(rules.Allow); !slices.Equal(got, []string{"Am managed"}) {
		t.Errorf("allow %v", got)
	}
	if len(rules.Deny) != 5 || len(rules.Ask) != 5 {
		t.Errorf("deny and ask do not hold: %v", rules)
	}
	if len(problems) != 4 {
		t.Errorf("problems %v", problems)
	}
	for _, p := range problems {
		if p.Code != "rule-not-managed" || !strings.Contains(p.Message, ": A") {
			t.Errorf("problem %v", p)
		}
	}
}

func TestRuleOrigin(t *testing.T) {
	tr := newTree(t, everywhere)
	flagDir := filepath.Dir(tr.path("flag"))
	rules, _ := settings.Load(tr.src).Rules(true)
	want := map[string][2]string{
		"Am": {tr.path("managed"), tr.src.ProjectDir}, "Af": {tr.path("flag"), flagDir}, "Al": {tr.path("local"), tr.src.ProjectDir},
		"Ap": {tr.path("project"), tr.src.ProjectDir}, "Au": {tr.path("user"), tr.src.UserDir},
	}
	for _, r := range rules.Allow {
		if got := [2]string{r.From, r.Root}; got != want[r.Text] {
			t.Errorf("%s: got %v, want %v", r.Text, got, want[r.Text])
		}
	}
	tr.src.Flag = `{"permissions": {"ask": ["A"]}}`
	rules, _ = settings.Load(tr.src).Rules(false)
	if r := rules.Ask[1]; r.Text != "A" || r.From != "--settings" || r.Root != tr.src.ProjectDir {
		t.Errorf("inline: %+v", r)
	}
}

func TestRulesThatDoNotParse(t *testing.T) {
	tr := newTree(t, map[string]string{"user": "{\"permissions\": {\"deny\": [\n \"Bash\", 7,\n  \"Bash(\", \"Read\", \"Read\"]}}"})
	rules, problems := settings.Load(tr.src).Rules(true)
	if got := origins(rules.Deny); !slices.Equal(got, []string{"Bash user", "Read user"}) {
		t.Errorf("deny %v", got)
	}
	if got := tr.brief(problems); !slices.Equal(got, []string{"user:3:3: error [permission-rule]"}) {
		t.Errorf("problems %v", got)
	}
}

func TestLeftOutRulesAreFew(t *testing.T) {
	tr := newTree(t, map[string]string{"project": `{"permissions": {"allow": ["A", "B", "C", "D", "E", "F", "G"]}}`})
	_, problems := settings.Load(tr.src).Rules(false)
	if len(problems) != 1 || problems[0].Severity != skill.Warning || !strings.HasSuffix(problems[0].Message, "A, B, C, D, E, and 2 more") {
		t.Errorf("problems %v", problems)
	}
}

// TestRulesLaws: a deny anywhere holds, and no allow of the workspace counts
// before trust (S-1, S-9), whatever else the files say.
func TestRulesLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := rapid.SampledFrom([]string{"Bash", "Bash(ls:*)", "Read(/x/**)", "Skill(a)", "Bash(", "", "mcp__s"})
		type permissions struct {
			Allow []string `json:"allow"`
			Ask   []string `json:"ask"`
			Deny  []string `json:"deny"`
		}
		denied := map[string]bool{}
		files := map[string]string{}
		for _, level := range []string{"managed", "flag", "local", "project", "user"} {
			if rapid.Bool().Draw(t, "no "+level) {
				continue
			}
			p := permissions{rapid.SliceOf(rule).Draw(t, level+" allow"), rapid.SliceOf(rule).Draw(t, level+" ask"), rapid.SliceOf(rule).Draw(t, level+" deny")}
			for _, d := range p.Deny {
				if d != "Bash(" && d != "" {
					denied[d] = true
				}
			}
			text, err := json.Marshal(map[string]any{
				"permissions": p, "allowManagedPermissionRulesOnly": rapid.Bool().Draw(t, level+" only"),
			})
			if err != nil {
				t.Fatal(err)
			}
			files[level] = string(text)
		}
		s := loadOf(t, files)
		for _, trusted := range []bool{false, true} {
			rules, _ := s.Rules(trusted)
			for d := range denied {
				if !slices.ContainsFunc(rules.Deny, func(r permission.Rule) bool { return r.Text == d }) {
					t.Fatalf("trusted %v: deny %s is lost", trusted, d)
				}
			}
			for _, r := range rules.Allow {
				if !trusted && (r.Scope == "project" || r.Scope == "local") {
					t.Fatalf("%s of %s holds without trust", r.Text, r.Scope)
				}
				if v := s.AllowManagedPermissionRulesOnly; v != nil && *v && r.Scope != "managed" {
					t.Fatalf("%s of %s holds although managed only", r.Text, r.Scope)
				}
			}
		}
	})
}
