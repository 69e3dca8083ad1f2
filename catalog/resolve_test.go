package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/skill"
)

// TestResolve covers the lookup order of C-6, the qualified ids of C-8 and the
// bare plugin names of X-2.
func TestResolve(t *testing.T) {
	off := Options{Overrides: map[string]Visibility{"hidden": Off}}
	tests := []struct {
		name  string
		in    []*skill.Skill
		query string
		want  string // qualified id, "?near names" or "!ids"
	}{
		{"exact id", []*skill.Skill{user("a"), near("a")}, "a", "user:a"},
		{"qualified id of the winner", []*skill.Skill{user("a"), near("a")}, "user:a", "user:a"},
		{"qualified id of the loser", []*skill.Skill{user("a"), near("a")}, "project:a", "project:a"},
		{"id before qualified id", []*skill.Skill{user("a"), plugin("user", "a")}, "user:a", "plugin:user:a"},
		{"display name", []*skill.Skill{user("a", named("Deploy it"))}, "Deploy it", "user:a"},
		{"id before display name", []*skill.Skill{user("a", named("b")), near("b")}, "b", "project:b"},
		{"qualified id before display name", []*skill.Skill{user("a", named("project:b")), near("b")}, "project:b", "project:b"},
		{"display name of two", []*skill.Skill{user("a", named("Bird")), near("b", named("Bird"))}, "Bird", "!a b"},
		{"a shadowed skill's name is no claim", []*skill.Skill{user("a", named("Bird")), near("a", named("Bird"))}, "Bird", "user:a"},
		{"normal form of the query", []*skill.Skill{user("caf\u00e9")}, "cafe\u0301", "user:caf\u00e9"},
		{"normal form of a display name", []*skill.Skill{user("a", named("Cafe\u0301"))}, "Caf\u00e9", "user:a"},
		{"case counts", []*skill.Skill{user("deploy")}, "Deploy", "?deploy"},
		{"no prefix match", []*skill.Skill{near("mcp-vector-search")}, "mcp", "?mcp-vector-search"},
		{"bare plugin name", []*skill.Skill{plugin("p", "to-spec", onlyUser), plugin("p", "to-speech")}, "to-spec", "plugin:p:to-spec"},
		{"never a near one", []*skill.Skill{plugin("p", "to-speech")}, "to-spec", "?p:to-speech"},
		{"an id before a bare plugin name", []*skill.Skill{plugin("si", "status"), bundled("status")}, "status", "bundled:status"},
		{"a display name before a bare plugin name", []*skill.Skill{plugin("si", "status"), near("x", named("status"))}, "status", "project:x"},
		{"bare plugin name of two", []*skill.Skill{plugin("p", "a"), plugin("q", "a")}, "a", "!p:a q:a"},
		{"bare plugin names that repeat the id", []*skill.Skill{plugin("p", "a", named("a")), plugin("q", "a", named("a"))}, "a", "!p:a q:a"},
		{"a plugin's display name does not take another's bare name", []*skill.Skill{plugin("p", "x", named("a")), plugin("q", "a")}, "a", "!p:x q:a"},
		{"bare name of a plugin command in a folder", []*skill.Skill{plugin("p", "front:a")}, "front:a", "plugin:p:front:a"},
		{"never a bare MCP name", []*skill.Skill{mcp("s", "deploy")}, "deploy", "?s:deploy"},
		{"nor by a display name that repeats it", []*skill.Skill{mcp("s", "deploy", named("deploy"))}, "deploy", "?s:deploy"},
		{"MCP display name", []*skill.Skill{mcp("s", "x", named("Deploy"))}, "Deploy", "mcp:s:x"},
		{"a remote claim does not count against a local one", []*skill.Skill{mcp("s", "x", named("Deploy")), near("y", named("Deploy"))}, "Deploy", "project:y"},
		{"nor against a plugin's bare name", []*skill.Skill{mcp("s", "x", named("deploy")), plugin("p", "deploy")}, "deploy", "plugin:p:deploy"},
		{"near names", []*skill.Skill{user("deploy"), user("deplay"), user("deploys"), user("dploy"), user("zebra")}, "deploi", "?deploy deplay deploys"},
		{"swapped letters", []*skill.Skill{user("commit")}, "comimt", "?commit"},
		{"nothing near", []*skill.Skill{user("commit")}, "zebra", "?"},
		{"switched off is not named", []*skill.Skill{user("hidden")}, "hiden", "?"},
		{"a lost id names its owner", []*skill.Skill{user("a", real("/r")), near("other", real("/r"))}, "other", "?project:other"},
		{"empty", []*skill.Skill{user("a"), plugin("p", "a")}, "", "?"},
		{"parent path", []*skill.Skill{user("x")}, "../x", "?"},
		{"NUL", []*skill.Skill{user("x")}, "x\x00", "?x"},
		{"newline", []*skill.Skill{user("deploy")}, "deploy\nrm", "?deploy"},
		{"blanks count", []*skill.Skill{user("deploy")}, " deploy", "?deploy"},
		{"invalid UTF-8", []*skill.Skill{user("x")}, "\xff\xfe", "?"},
		{"very long", []*skill.Skill{user("x")}, strings.Repeat("x", 1<<20), "?"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := answer(snap(off, tt.in...).Resolve(tt.query)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func answer(e *Entry, err error) string {
	if missing, ok := errors.AsType[*NotFoundError](err); ok {
		return "?" + strings.Join(missing.Near, " ")
	}
	if several, ok := errors.AsType[*AmbiguousError](err); ok {
		return "!" + strings.Join(several.IDs, " ")
	}
	return e.Qualified
}

func TestErrorTexts(t *testing.T) {
	tests := []struct {
		err  error
		want string
	}{
		{&NotFoundError{Name: "a\nb"}, `unknown skill "a\nb"; "knack list" shows every skill`},
		{&NotFoundError{Name: "a", Near: []string{"b"}}, `unknown skill "a"; did you mean "b"? "knack list" shows every skill`},
		{&NotFoundError{Name: "a", Near: []string{"b", "c", "d"}}, `unknown skill "a"; did you mean "b", "c" or "d"? "knack list" shows every skill`},
		{&AmbiguousError{Name: "a", IDs: []string{"b", "c"}}, `the name "a" is claimed by several skills; use one of the ids "b" or "c"`},
	}
	for _, tt := range tests {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// FuzzResolve: any name gives an entry of the snapshot or an error that says
// so, with at most three near names that exist.
func FuzzResolve(f *testing.F) {
	s := snap(Options{}, user("deploy", named("Ship it")), near("deploy"), plugin("p", "review"), mcp("s", "x"), nested("web", "deploy"), user("caf\u00e9"))
	for _, seed := range []string{"deploy", "project:deploy", "Ship it", "review", "../x", "\x00", "cafe\u0301", "depoly", ":", "web:deploy"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		e, err := s.Resolve(name)
		if (e == nil) == (err == nil) {
			t.Fatalf("entry %v, error %v", e, err)
		}
		if err == nil {
			if again, _ := s.Resolve(e.Qualified); again != e {
				t.Fatalf("%q gives an entry that its qualified id %q does not mean", name, e.Qualified)
			}
			return
		}
		if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' }) {
			t.Errorf("control character in %q", err)
		}
		if missing, ok := errors.AsType[*NotFoundError](err); ok {
			if len(missing.Near) > maxNear {
				t.Errorf("%d near names", len(missing.Near))
			}
			for _, n := range missing.Near {
				if _, err := s.Resolve(n); err != nil {
					t.Errorf("near name %q: %v", n, err)
				}
			}
		}
		if again := fmt.Sprint(s.Explain(name, nil)); again == "" {
			t.Error("no explanation")
		}
	})
}

func TestZeroSnapshot(t *testing.T) {
	var s Snapshot
	if s.Len() != 0 || len(slices.Collect(s.All())) != 0 || len(slices.Collect(s.Shadowed())) != 0 ||
		len(slices.Collect(s.ModelView(nil))) != 0 || len(slices.Collect(s.UserView())) != 0 ||
		s.ProblemsOf("") != nil || s.Variants(&Entry{Skill: user("x")}) != nil {
		t.Error("the zero snapshot is not empty")
	}
	if _, err := s.Resolve("x"); answer(nil, err) != "?" {
		t.Errorf("got %v", err)
	}
	if e, steps := s.Explain("x", nil); e != nil || len(steps) != 1 {
		t.Errorf("got %v, %v", e, steps)
	}
}

// TestToolNames: a skill of a server is also found by a name like those of the
// server's tools, and nothing else is.
func TestToolNames(t *testing.T) {
	snap := snap(Options{}, mcp("zen", "chat"), mcp("my.server", "test-prompt"), mcp("zen", "mine"), user("mcp__zen__mine"))
	for name, want := range map[string]string{
		"mcp__zen__chat": "zen:chat", "mcp__my_server__test-prompt": "my.server:test-prompt", "mcp__my.server__test-prompt": "my.server:test-prompt",
		"mcp__zen__mine": "mcp__zen__mine", "mcp__zen": "", "mcp__zen__": "", "mcp__other__chat": "", "zen__chat": "",
	} {
		e, err := snap.Resolve(name)
		if (err != nil) != (want == "") || err == nil && e.ID != want {
			t.Errorf("%s: %v, %v", name, e, err)
		}
	}
}

// TestServerNames: the name that a server has in the configuration means its
// skills as well, where nothing of this machine has that id.
func TestServerNames(t *testing.T) {
	theirs := func(owner, id string) *skill.Skill {
		return at(skill.MCP, "", id, func(s *skill.Skill) { s.Origin.Owner = owner })
	}
	snap := snap(Options{}, theirs("plugin:p:s", "plugin_p_s:chat"), theirs("my server", "my_server:chat"), theirs("taken:by", "taken_by:chat"), user("taken:by:chat"),
		theirs("plugin:q:s", "plugin_q_s:x"), theirs("plugin:q", "plugin_q:s:x"), theirs("one", "one:two__x"), theirs("one__two", "one__two:x"), theirs("one", "one:x"))
	for name, want := range map[string]string{
		"plugin:p:s:chat": "plugin_p_s:chat", "plugin_p_s:chat": "plugin_p_s:chat", "mcp__plugin_p_s__chat": "plugin_p_s:chat",
		"my server:chat": "my_server:chat", "taken:by:chat": "taken:by:chat",
		"plugin:q:s:x": "?", "mcp__one__two__x": "?", "mcp__one__x": "one:x", // two servers want to be called so
		"plugin:p:s:": "", "plugin:p:s:chats": "", "p:s:chat": "", "s:chat": "", ":chat": "",
	} {
		e, err := snap.Resolve(name)
		if _, two := err.(*AmbiguousError); two != (want == "?") || (err != nil) != (want == "" || two) || err == nil && e.ID != want {
			t.Errorf("%s: %v, %v", name, e, err)
		}
	}
}

// TestRequires: what a skill needs and is not here is told, and so are rings;
// nothing else is (G-1).
func TestRequires(t *testing.T) {
	needs := func(id string, names ...string) *skill.Skill {
		return user(id, func(s *skill.Skill) { s.Run.Requires = names })
	}
	for _, tt := range []struct {
		name   string
		skills []*skill.Skill
		want   []string
	}{
		{"all here", []*skill.Skill{needs("a", "b", "b@^1.2", "user:b"), user("b")}, nil},
		{"one missing", []*skill.Skill{needs("a", "b", "docx@>=1 <2"), user("b")}, []string{`"a" requires the skill "docx@>=1 <2", which is not here`}},
		{"a skill of a server", []*skill.Skill{needs("a", "mcp__zen__chat", "zen:chat", "zen:none"), mcp("zen", "chat")}, []string{`"a" requires the skill "zen:none", which is not here`}},
		{"two", []*skill.Skill{needs("a", "b"), needs("b", "a")}, []string{"in a ring: a → b → a"}},
		{"itself", []*skill.Skill{needs("a", "a")}, []string{"in a ring: a → a"}},
		{"a tail", []*skill.Skill{needs("a", "b"), needs("b", "c"), needs("c", "d"), needs("d", "b")}, []string{"in a ring: b → c → d → b"}},
		{"a diamond", []*skill.Skill{needs("a", "b", "c"), needs("b", "d"), needs("c", "d"), user("d")}, nil},
	} {
		var got []string
		for _, p := range snap(Options{}, tt.skills...).Problems {
			if p.Severity != skill.Warning || p.Fix == "" || p.Code != codeRequiresMissing && p.Code != codeRequiresRing {
				t.Errorf("%s: %v", tt.name, p)
			}
			got = append(got, p.Message)
		}
		if len(got) != len(tt.want) || len(got) > 0 && !strings.HasSuffix(got[0], tt.want[0]) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	many := snap(Options{}, needs("a", slices.Repeat([]string{"none:at-all"}, 10*maxRequires)...))
	if e, _ := many.Resolve("a"); len(many.Missing(e)) != maxRequires {
		t.Error(len(many.Missing(e)))
	}
}
