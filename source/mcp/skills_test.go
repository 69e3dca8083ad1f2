package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/skill"
)

// shelf is a server with skills.
type shelf struct {
	server
	offers []Offer
	now    Offer // what skills/get says
	files  map[string]string
}

func (s *shelf) Skills(context.Context) ([]Offer, error) { return s.offers, nil }

func (s *shelf) Skill(context.Context, string) (Offer, error) { return s.now, nil }

func (s *shelf) Read(_ context.Context, uri string) ([]byte, error) {
	text, ok := s.files[uri]
	if !ok {
		return nil, errUnknown
	}
	return []byte(text), nil
}

// offering returns the offer of a skill with these files, as its server has them.
func offering(name, header string, files map[string]string) Offer {
	o := Offer{URI: "skill://" + name + "/SKILL.md", Frontmatter: json.RawMessage(header)}
	for uri, text := range files {
		sum := sha256.Sum256([]byte(text))
		o.Resources = append(o.Resources, Resource{URI: uri, Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(text))})
	}
	return o
}

const refined = "---\nname: refine\ndescription: 'Refines: text'\nallowed-tools: [Bash(ls), Read]\nwhen_to_use: now\n---\nRefine %d.\n"

const refinedHeader = `{"name": "refine", "description": "Refines: text", "allowed-tools": ["Bash(ls)", "Read"], "when_to_use": "now"}`

// TestChanged: text that changes after it was listed, and maybe approved, is used
// only as the server now lists it, and what an approval is bound to is another
// one then (S-14).
func TestChanged(t *testing.T) {
	const uri, more = "skill://refine/SKILL.md", "skill://refine/more.md"
	s := &shelf{files: map[string]string{uri: fmt.Sprintf(refined, 1), more: "one"}}
	s.offers = []Offer{offering("refine", refinedHeader, s.files)}
	s.now = s.offers[0]
	skills, problems, err := Source{Server: "s", Client: s, Skills: s}.Load(t.Context())
	if err != nil || len(problems) > 0 || len(skills) != 1 {
		t.Fatal(skills, problems, err)
	}
	k := skills[0]
	if k.ID != "s:refine" || k.Description != "Refines: text" || k.WhenToUse != "now" || len(k.Run.AllowedTools) != 2 {
		t.Errorf("%+v", k)
	}
	first, err := k.Content.Body.Load(t.Context())
	if err != nil || !strings.HasPrefix(first.Text, "Refine 1.") || !strings.Contains(first.Text, more) || !strings.Contains(first.Source, s.offers[0].Resources[0].Digest) {
		t.Fatal(first, err)
	}
	s.files[uri] = fmt.Sprintf(refined, 2)
	if in, err := k.Content.Body.Load(t.Context()); err == nil {
		t.Errorf("changed and not listed so: %q", in.Text)
	}
	s.now = offering("refine", refinedHeader, s.files)
	second, err := k.Content.Body.Load(t.Context())
	if err != nil || !strings.HasPrefix(second.Text, "Refine 2.") || second.Source == first.Source {
		t.Error(second, err)
	}
	wider := strings.Replace(refined, "Bash(ls)", "Bash(rm *)", 1)
	s.files[uri] = fmt.Sprintf(wider, 3)
	s.now = offering("refine", strings.Replace(refinedHeader, "Bash(ls)", "Bash(rm *)", 1), s.files)
	if in, err := k.Content.Body.Load(t.Context()); err == nil {
		t.Errorf("it grants more than what was listed: %q", in.Source)
	}
}

// TestOtherFile: another file that changes changes what an approval is bound to.
func TestOtherFile(t *testing.T) {
	const uri, more = "skill://refine/SKILL.md", "skill://refine/more.md"
	var sources []string
	for _, text := range []string{"one", "two"} {
		s := &shelf{files: map[string]string{uri: fmt.Sprintf(refined, 1), more: text}}
		s.offers = []Offer{offering("refine", refinedHeader, s.files)}
		skills, _, err := Source{Server: "s", Client: s, Skills: s}.Load(t.Context())
		if err != nil || len(skills) != 1 {
			t.Fatal(skills, err)
		}
		in, err := skills[0].Content.Body.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, in.Source)
	}
	if sources[0] == sources[1] {
		t.Error("the same")
	}
}

// TestPromptsFirst: a skill does not take the id of a prompt of its server, nor
// one of another skill.
func TestPromptsFirst(t *testing.T) {
	s := &shelf{server: *named("refine"), files: map[string]string{}}
	for _, dir := range []string{"a/refine", "b/refine"} {
		uri := "skill://" + dir + "/SKILL.md"
		files := map[string]string{uri: fmt.Sprintf(refined, 1)}
		s.offers = append(s.offers, offering(dir, refinedHeader, files), offering(dir, refinedHeader, files))
		s.files[uri] = files[uri]
	}
	skills, problems, err := Source{Server: "s", Client: s, Skills: s, Inline: true}.Load(t.Context())
	var ids []string
	for _, k := range skills {
		ids = append(ids, k.ID)
		if k.Run.Mode != "inline" {
			t.Error(k.ID, k.Run.Mode)
		}
	}
	if got := strings.Join(ids, " "); got != "s:refine s:refine-2 s:refine-3" || err != nil {
		t.Error(got, problems, err)
	}
}

// TestOfferedTwice: what a server offers as a prompt and as a skill, in the same
// words, is one skill; the person can ask why.
func TestOfferedTwice(t *testing.T) {
	for _, tt := range []struct{ description, want string }{
		{"Refines: text", "s:refine"},
		{"Refines sugar.", "s:refine s:refine-2"},
	} {
		s := &shelf{server: *named("refine"), files: map[string]string{}}
		s.prompts[0].Description = tt.description
		uri := "skill://refine/SKILL.md"
		s.files[uri] = fmt.Sprintf(refined, 1)
		s.offers = append(s.offers, offering("refine", refinedHeader, s.files))
		skills, problems, err := Source{Server: "s", Client: s, Skills: s}.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, k := range skills {
			ids = append(ids, k.ID)
		}
		told := slices.ContainsFunc(problems, func(p skill.Problem) bool { return p.Code == "duplicate-prompt" && p.Severity == skill.Info })
		if got := strings.Join(ids, " "); got != tt.want || told != (len(ids) == 1) {
			t.Errorf("%q: %s, %v", tt.description, got, problems)
		}
	}
}

// TestValues: arguments go to the server word by word, the last one gets the rest.
func TestValues(t *testing.T) {
	got := map[string]string{}
	c := valued{named("p"), got}
	c.prompts[0].Arguments = []Argument{{Name: "a", Required: true}, {Name: "b"}}
	skills, _, err := Source{Server: "s", Client: c}.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := skills[0].Content.Body.(*body)
	for _, tt := range []struct{ words, want string }{{"1", "map[a:1]"}, {"1 2", "map[a:1 b:2]"}, {"1 2 3", "map[a:1 b:2 3]"}} {
		clear(got)
		if in, err := b.LoadFor(t.Context(), strings.Fields(tt.words)); err != nil || !in.Filled || fmt.Sprint(got) != tt.want {
			t.Error(tt.words, got, err)
		}
	}
	if _, err := b.LoadFor(t.Context(), nil); err == nil || errors.Is(err, errUnknown) {
		t.Error(err)
	}
}

// valued notes the values of the last call.
type valued struct {
	*server
	got map[string]string
}

func (v valued) Get(ctx context.Context, name string, args map[string]string) (string, error) {
	for k, a := range args {
		v.got[k] = a
	}
	return v.server.Get(ctx, name, args)
}
