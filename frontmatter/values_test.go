package frontmatter

import (
	"slices"
	"strings"
	"testing"
)

// TestValues reads a file that is no skill by the rules of skills (spec F-3, F-4).
func TestValues(t *testing.T) {
	doc, problems := Parse("a.md", []byte(header("title: Use when: x # not a comment\nmaxTurns: 007\nkeep_it: yes\nnames: [a, b]\n"+
		"none: null\nempty: []\nmodel: inherit\neffort: quick\nTITLE: x\ntitel: y\n")))
	v := doc.Values("so it is not used")
	if got := v.Text("title"); !strings.HasPrefix(got, "Use when: x") {
		t.Errorf("text %q", got)
	}
	if got := v.Word("max-turns", "a number"); got != "007" {
		t.Errorf("word %q", got)
	}
	if !v.Bool("keep-it", false, false) || !v.Bool("missing", true, false) {
		t.Error("booleans")
	}
	if got := v.Names("names"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("names %q", got)
	}
	if v.Has("none") || v.Has("missing") || !v.Has("empty") {
		t.Error("Has")
	}
	if rules, set := v.Rules("empty"); !set || len(rules) > 0 {
		t.Errorf("empty list: %q, %t", rules, set)
	}
	if _, set := v.Rules("none"); set {
		t.Error("null is a list")
	}
	if v.Model() != "" || v.Effort() != "low" || len(v.Hooks()) > 0 || len(v.Lost()) > 0 {
		t.Errorf("%q %q", v.Model(), v.Effort())
	}
	v.Suggest([]string{"title", "max-turns"}, map[string]string{"names": "max-turns"})
	if got := codes(append(problems, v.Problems()...)); got != "yaml-recovered did-you-mean did-you-mean did-you-mean" {
		t.Errorf("problems %q", got)
	}
}

// TestLostValues: a list that limits is never read as no limit.
func TestLostValues(t *testing.T) {
	for _, yaml := range []string{
		"tools: {write: false}\n", "tools: [Read\nname: x\n", "base: &b [Read]\ntools: *b\n", "tools: [a] [b]\n",
	} {
		doc, _ := Parse("a.md", []byte(header(yaml)))
		v := doc.Values("so it is not used")
		rules, set := v.Rules("tools")
		if !set || len(rules) == 0 && len(v.Lost()) == 0 {
			t.Errorf("%q: %q, set %t, lost %q", yaml, rules, set, v.Lost())
		}
		for _, p := range v.Problems() {
			if p.Code == "security-field-lost" && !strings.HasSuffix(p.Message, ", so it is not used") {
				t.Errorf("%q", p.Message)
			}
		}
	}
}

func FuzzValues(f *testing.F) {
	for _, s := range fastSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, yaml string) {
		doc, _ := Parse("a.md", []byte("---\n"+yaml+"\n---\n"))
		v := doc.Values("so it is not used")
		for _, field := range doc.Fields() {
			v.Text(field.Key)
			v.Word(field.Key, "a word")
			v.Names(field.Key)
			v.Bool(field.Key, false, true)
			if rules, set := v.Rules(field.Key); !set && len(rules) > 0 {
				t.Errorf("rules %q of nothing", rules)
			}
		}
		v.Hooks()
		v.Problems()
	})
}
