package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/skill"
)

func never() bool  { return false }
func always() bool { return true }

// TestViews covers C-9, C-10, B-4 and S-3: who sees one skill, its state, and
// which rule hides it.
func TestViews(t *testing.T) {
	override := func(key string, v Visibility) Options {
		return Options{Overrides: map[string]Visibility{key: v}, OverridesFrom: map[string]string{key: "/settings.json"}}
	}
	deny := Options{Denied: func(e *Entry) (string, bool) { return "deny Skill(" + e.ID + ")", true }}
	tests := []struct {
		name  string
		opts  Options
		in    *skill.Skill
		state State
		user  string // rule that hides it from the user, or ""
		model string // rule that hides it from the model, or ""
	}{
		{"default", Options{}, near("x"), Active, "", ""},
		{"disable-model-invocation", Options{}, near("x", onlyUser), Active, "", "C-10"},
		{"user-invocable: false", Options{}, near("x", onlyModel), Active, "C-10", ""},
		{"both", Options{}, near("x", onlyUser, onlyModel), Active, "C-10", "C-10"},
		{"conditional", Options{}, near("x", conditional), Conditional, "", "D-3"},
		{"on", override("x", On), near("x"), Active, "", ""},
		{"name-only", override("x", NameOnly), near("x"), Active, "", ""},
		{"user-invocable-only", override("x", UserInvocableOnly), near("x"), Active, "", "C-9"},
		{"off", override("x", Off), near("x"), Disabled, "C-9", "C-9"},
		{"off, conditional", override("x", Off), near("x", conditional), Disabled, "C-9", "C-9"},
		{"off by qualified id", override("project:x", Off), near("x"), Disabled, "C-9", "C-9"},
		{"off by another's qualified id", override("user:x", Off), near("x"), Active, "", ""},
		{"off by plugin id", override("p:x", Off), plugin("p", "x"), Disabled, "C-9", "C-9"},
		{"off in another normal form", override("cafe\u0301", Off), near("caf\u00e9"), Disabled, "C-9", "C-9"},
		{"off nested by its directory", override("web:x", Off), nested("web", "x"), Disabled, "C-9", "C-9"},
		{"unknown value is safe", override("x", "of"), near("x"), Active, "", "C-9"},
		{"empty value is on", override("x", ""), near("x"), Active, "", ""},
		{"bundled off", Options{DisableBundled: true}, bundled("x"), Disabled, "C-9", "C-9"},
		{"bundled off, not bundled", Options{DisableBundled: true}, managed("x"), Active, "", ""},
		{"callback no", Options{}, bundled("x", enabled(never)), Active, "C-9", "C-9"},
		{"callback yes", Options{}, bundled("x", enabled(always)), Active, "", ""},
		{"denied", deny, near("x"), Active, "", "S-3"},
		{"plugin", Options{}, plugin("p", "x"), Active, "", ""},
		{"plugin without description", Options{}, plugin("p", "x", undescribed), Active, "", "C-10"},
		{"plugin with a fallback", Options{}, plugin("p", "x", fallback), Active, "", "C-10"},
		{"plugin with when_to_use", Options{}, plugin("p", "x", whenToUse), Active, "", ""},
		{"MCP without description", Options{}, mcp("s", "x", undescribed), Active, "", "C-10"},
		{"MCP with when_to_use", Options{}, mcp("s", "x", whenToUse), Active, "", ""},
		{"directory without description", Options{}, near("x", undescribed), Active, "", ""},
		{"directory with a fallback", Options{}, user("x", fallback), Active, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := snap(tt.opts, tt.in)
			e := s.ordered[0]
			if e.State != tt.state {
				t.Errorf("state %s, want %s", e.State, tt.state)
			}
			if (e.State == Disabled) != (e.Reason.Rule == "C-9") || e.State == Disabled && e.Reason.Detail == "" {
				t.Errorf("reason %+v", e.Reason)
			}
			inUser, whyUser := s.VisibleToUser(e)
			inModel, whyModel := s.VisibleToModel(e, nil)
			if whyUser.Rule != tt.user || whyModel.Rule != tt.model {
				t.Errorf("hidden from user by %q, from model by %q; want %q, %q", whyUser.Rule, whyModel.Rule, tt.user, tt.model)
			}
			if inUser != (tt.user == "") || inModel != (tt.model == "") {
				t.Errorf("visible to user %t, to model %t", inUser, inModel)
			}
			if inUser != slices.Contains(slices.Collect(s.UserView()), e) || inModel != slices.Contains(slices.Collect(s.ModelView(nil)), e) {
				t.Error("views and reasons disagree")
			}
		})
	}
}

func TestActivation(t *testing.T) {
	s := snap(Options{}, near("deploy"), nested("web", "deploy", conditional), near("other", conditional))
	active := func(id string) bool { return id == "web:deploy" } // the id, not the bare one (D-3)
	equal(t, "model", idsOf(slices.Collect(s.ModelView(active))), []string{"deploy", "web:deploy"})
	equal(t, "user", idsOf(slices.Collect(s.UserView())), []string{"deploy", "other", "web:deploy"})
	states := map[string]State{"deploy": Active, "web:deploy": Active, "other": Conditional}
	for e := range s.All() {
		if got := e.CurrentState(active); got != states[e.ID] {
			t.Errorf("%s is %s", e.ID, got)
		}
		if got := e.CurrentState(nil); got != e.State {
			t.Errorf("%s is %s without activation", e.ID, got)
		}
	}
}

// TestCallbackIsAskedEachTime covers the last half of C-9.
func TestCallbackIsAskedEachTime(t *testing.T) {
	on := true
	s := snap(Options{}, bundled("x", enabled(func() bool { return on })))
	for _, want := range []bool{true, false, true} {
		on = want
		if got := len(slices.Collect(s.UserView())) == 1; got != want {
			t.Errorf("user view has it: %t", got)
		}
		if got := len(slices.Collect(s.ModelView(nil))) == 1; got != want {
			t.Errorf("model view has it: %t", got)
		}
		if got := s.ordered[0].CurrentState(nil) == Active; got != want {
			t.Errorf("active: %t", got)
		}
	}
}

// TestOverridesReachLosers: what is off stays off under every name (C-9).
func TestOverridesReachLosers(t *testing.T) {
	in := []*skill.Skill{user("x"), near("x"), nested("web", "x"), plugin("p", "x")}
	tests := []struct {
		name      string
		overrides map[string]Visibility
		off       []string
	}{
		{"bare id", map[string]Visibility{"x": Off}, []string{"user:x", "project:x", "project:web:x"}},
		{"qualified id", map[string]Visibility{"project:x": Off}, []string{"project:x"}},
		{"the more exact key wins", map[string]Visibility{"x": Off, "project:x": On, "web:x": On}, []string{"user:x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := snap(Options{Overrides: tt.overrides}, in...)
			for _, q := range []string{"user:x", "project:x", "project:web:x", "plugin:p:x"} {
				e, err := s.Resolve(q)
				if err != nil {
					t.Fatal(err)
				}
				if off := e.State == Disabled; off != slices.Contains(tt.off, q) {
					t.Errorf("%s disabled: %t", q, off)
				}
			}
			if len(s.shadowed) != 1 || s.shadowed[0].Winner == nil {
				t.Errorf("shadowed: %q", losers(s))
			}
		})
	}
	s := snap(Options{Overrides: map[string]Visibility{"web:x": Off}}, near("x"), nested("web", "x"))
	if v := s.Variants(s.ordered[0]); len(v) != 0 {
		t.Errorf("a variant that is off is offered: %q", idsOf(v))
	}
}

// TestOneOrder: every surface shows the same order, precedence then id, and
// never two rows of one id (C-10, C-11).
func TestOneOrder(t *testing.T) {
	s := snap(Options{}, plugin("p", "b"), near("z", onlyUser), user("a"), near("B"), bundled("z"), user("b", onlyModel), mcp("s", "a"), near("cat:a"))
	equal(t, "all", idsOf(slices.Collect(s.All())), []string{"z", "a", "b", "B", "cat:a", "p:b", "s:a"})
	equal(t, "user", idsOf(slices.Collect(s.UserView())), []string{"z", "a", "B", "cat:a", "p:b", "s:a"})
	equal(t, "model", idsOf(slices.Collect(s.ModelView(nil))), []string{"z", "a", "b", "B", "cat:a", "p:b", "s:a"})
	if s.Len() != 7 {
		t.Errorf("length %d", s.Len())
	}
}

func TestViewsStopEarlyAndAllocateNothing(t *testing.T) {
	s := snap(Options{}, user("a"), user("b"), user("c"))
	n := 0
	for range s.UserView() {
		n++
		break
	}
	for range s.ModelView(nil) {
		n++
		break
	}
	if n != 2 {
		t.Errorf("%d entries", n)
	}
	if got := testing.AllocsPerRun(100, func() {
		for e := range s.ModelView(nil) {
			n += len(e.ID)
		}
	}); got > 0 {
		t.Errorf("%v allocations a view", got)
	}
}

// TestDefaultPrecedence pins the order of C-5.
func TestDefaultPrecedence(t *testing.T) {
	var got []string
	for _, s := range DefaultPrecedence() {
		got = append(got, string(s))
	}
	want := "bundled managed user project additional legacy workflow plugin mcp"
	if strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestHostSourceComesLast(t *testing.T) {
	s := snap(Options{}, at("embedded", "", "x"), at("embedded", "", "y"), workflow("x"))
	equal(t, "all", ids(s), []string{"x=workflow:x", "y=embedded:y"})
	equal(t, "shadowed", losers(s), []string{"embedded:x<workflow:x C-5"})
}
