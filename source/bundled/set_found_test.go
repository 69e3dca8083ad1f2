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

		"migrate all call sites to the new API in parallel": "batch",
		"split this big change into units with worktrees":   "batch",
		"rename it in hundreds of files, one agent each":    "batch",
		"why did the session go wrong":                      "debug",
		"look at the transcript and explain that refusal":   "debug",
		"debug why the hook did not run":                    "debug",
		"show me the keyboard shortcuts":                    "keybindings-help",
		"rebind ctrl-r to another key":                      "keybindings-help",
		"this key does nothing in the terminal":             "keybindings-help",
		"check the build every five minutes":                "loop",
		"keep polling the deployment":                       "loop",
		"repeat this prompt at an interval":                 "loop",
		"remember that we use pnpm":                         "remember",
		"note this down for later sessions":                 "remember",
		"add it to CLAUDE.md":                               "remember",
		"review my changes":                                 "review",
		"look for bugs in this pull request":                "review",
		"do a code review of the branch":                    "review",
		"turn this session into a skill":                    "skillify",
		"capture this workflow so we can repeat it":         "skillify",
		"make a skill of the work we just did":              "skillify",
		"you are going in circles":                          "stuck",
		"the command hangs and nothing happens":             "stuck",
		"what blocks this frozen process":                   "stuck",
		"allow npm test without asking":                     "update-config",
		"change my settings":                                "update-config",
		"add a hook that formats after each edit":           "update-config",
		"verify that the fix works":                         "verify",
		"prove it by running the program":                   "verify",
		"try it out and show me evidence":                   "verify",
	} {
		hits := ix.Search(query, 3)
		if len(hits) == 0 || hits[0].ID != want {
			t.Errorf("%q finds %v, want %s first", query, hits, want)
		}
	}
}
