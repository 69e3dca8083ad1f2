package bundled_test

import (
	"testing"

	"github.com/knack-skills/knack/search"
	"github.com/knack-skills/knack/source/bundled"
)

// The words that people use find the skill that they mean (spec L-8).
func TestStandardIsFound(t *testing.T) {
	var docs []search.Doc
	for _, b := range bundled.Standard() {
		s, body := read(t, b)
		docs = append(docs, search.Doc{ID: b.ID, Name: s.Name, Description: s.Description, WhenToUse: s.WhenToUse, Headings: search.Headings(body)})
	}
	ix := search.Build(docs)
	for query, want := range map[string]string{
		"please commit my work":           "commit",
		"check in these changes":          "commit",
		"save my changes to git":          "commit",
		"clean up this code":              "simplify",
		"simplify the parser":             "simplify",
		"tidy up and refactor":            "simplify",
		"write a new skill":               "create-skill",
		"create a slash command":          "create-skill",
		"improve the skill we have":       "create-skill",
		"fix the description in SKILL.md": "create-skill",
	} {
		hits := ix.Search(query, 3)
		if len(hits) == 0 || hits[0].ID != want {
			t.Errorf("%q finds %v, want %s first", query, hits, want)
		}
	}
}
