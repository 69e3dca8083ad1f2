package slash_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/slash"
)

// TestKeywords: a whole word of the person's own sentence (spec I-1).
func TestKeywords(t *testing.T) {
	words := []string{"ultraplan", "deep  plan", "plan", "café", "深度计划", "план", "แผน", "c++", "プラン", ""}
	for message, want := range map[string]string{
		"ultraplan":                      "ultraplan",
		"please UltraPlan the move":      "ultraplan",
		"ultraplan, ultraplan!":          "ultraplan",
		"(ultraplan) now":                "ultraplan",
		"go: ultraplan.":                 "ultraplan",
		"- ultraplan":                    "ultraplan",
		"wait…ultraplan?":                "ultraplan",
		"a plan, then ultraplan":         "plan ultraplan",
		"a Deep\n\tPlan and a plan":      "deep  plan plan",
		"deepplan, planning, planned":    "",
		"my_plan, plan_b, plan9":         "",
		"re-ultraplan ultraplan-mode":    "",
		"src/plan plan/ plan.md a.plan":  "",
		`c:\plan plan\x`:                 "",
		"--plan -plan @plan #plan $plan": "",
		"run /plan later":                "",
		"plan() x=plan plan@host a:plan": "",
		"the plan's end":                 "",
		"/fix the plan":                  "",
		" /fix the plan":                 "plan",
		"":                               "",
		// Quotes.
		`he said "ultraplan" and left`: "",
		`'plan' and ‘plan’ and “plan”`: "",
		"«plan» „plan“ 「plan」":         "",
		`don't plan, won't`:            "plan",
		`the dogs' plan isn't 'here'`:  "plan",
		`'tis the plan, isn't it`:      "plan",
		`'don't plan' he said`:         "",
		`a 5" disk plan`:               "plan",
		`a 5" disk plan, 3" board`:     "plan",
		`"never closed plan`:           "plan",
		"\"over\n\nplan\"":             "plan",
		"\"over\nplan\"":               "",
		`"a" plan "b"`:                 "plan",
		// Code.
		"run `plan` now":                "",
		"run ``a ` plan`` now":          "",
		"run `plan now":                 "plan",
		"a `b` plan `c`":                "plan",
		"```\nplan\n```":                "",
		"```go\nplan\n```\nplan":        "plan",
		"~~~\nplan\n```\nplan\n~~~~\n":  "",
		"```\nplan, never closed":       "",
		"  ```\n```x\nplan\n  ```\nend": "",
		"`over\n\nplan`":                "plan",
		// Other scripts and spellings.
		"请深度计划一下":              "深度计划",
		"请plan一下":              "plan",
		"наш ПЛАН готов":       "план",
		"планы":                "",
		"ทำแผนใหม่":            "แผน",
		"プランを作る":               "プラン",
		"プランナー":                "",
		"un cafe\u0301 chaud":  "café",
		"un CAFÉ":              "café",
		"learn C++ now":        "c++",
		"plan\u0301":           "",
		"\xff plan \xff":       "plan",
		"🎉plan🎉":               "plan",
		"plan\u00a0b":          "plan",
		"deep\u00a0plan, then": "deep  plan",
	} {
		if d := cmp.Diff(want, strings.Join(slash.Keywords(message, words), " ")); d != "" {
			t.Errorf("%q: %s", message, d)
		}
	}
	if got := slash.Keywords("plan", nil); got != nil {
		t.Errorf("no words: %q", got)
	}
}

// TestKeywordsAreCheap: openers that nothing closes are not looked for again and
// again.
func TestKeywordsAreCheap(t *testing.T) {
	for _, piece := range []string{"“", "'x ", `"x `, "` `` ``` ", "«x\n", " ", "~", "~~~\n", "\n"} {
		if got := slash.Keywords(strings.Repeat(piece, 1<<15), []string{"plan"}); len(got) != 0 {
			t.Errorf("%q: %q", piece, got)
		}
	}
}

// FuzzKeywords: what is found stands in the message, and quoting the whole of a
// message hides it.
func FuzzKeywords(f *testing.F) {
	for _, seed := range []string{"a plan", "'plan'", "```\nplan", "“plan”", "深plan", "`plan"} {
		f.Add(seed, "plan")
	}
	f.Fuzz(func(t *testing.T, message, word string) {
		got := slash.Keywords(message, []string{word})
		if len(got) > 1 || len(got) == 1 && got[0] != word {
			t.Errorf("%q in %q: %q", word, message, got)
		}
		if strings.ContainsAny(message, "`~") {
			return
		}
		if got := slash.Keywords("~~~\n"+message+"\n~~~", []string{word}); len(got) > 0 && !slices.Contains([]string{"~", "~~", "~~~"}, word) {
			t.Errorf("%q in a fence: %q", word, got)
		}
	})
}
