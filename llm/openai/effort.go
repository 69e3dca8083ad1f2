package openai

import (
	"slices"
	"strconv"
	"strings"
)

// The levels of reasoning, ascending.
var levels = []string{"low", "medium", "high", "xhigh", "max"}

// ceilings says how high the reasoning of a model of OpenAI goes, by the
// beginning of its id; the first line that fits counts. Models without reasoning
// refuse every field about it. A model that is not listed is new, and takes what
// it is asked, or says what it does not take.
var ceilings = []struct{ prefix, top string }{
	{"gpt-3.5", ""},
	{"gpt-4", ""},
	{"chatgpt-", ""},
	{"gpt-5-chat", ""},
	{"gpt-5-pro", "high"},
	{"gpt-5.1-codex-max", "xhigh"},
	{"gpt-5.1", "high"},
	{"gpt-5.2", "xhigh"},
	{"gpt-5.3", "xhigh"},
	{"gpt-5.4", "xhigh"},
	{"gpt-5.5", "xhigh"},
	{"gpt-5.", "max"},
	{"gpt-5", "high"},
	{"gpt-oss", "high"},
	{"o1", "high"},
	{"o3", "high"},
	{"o4", "high"},
	{"", "max"},
}

// budgets translates a number of thinking tokens, which OpenAI does not know.
var budgets = []struct {
	tokens int // at most
	level  string
}{
	{4096, "low"},
	{16384, "medium"},
	{32768, "high"},
	{65536, "xhigh"},
}

// reasons reports whether a model of OpenAI reasons.
func reasons(model string) bool { return ceiling(model) != "" }

func ceiling(model string) string {
	for _, c := range ceilings {
		if strings.HasPrefix(model, c.prefix) {
			return c.top
		}
	}
	return ""
}

// level is the level for an effort, at most top. Empty leaves it to the server.
func level(effort, top string) string {
	if n, err := strconv.Atoi(effort); err == nil {
		effort = "max"
		for _, b := range slices.Backward(budgets) {
			if n <= b.tokens {
				effort = b.level
			}
		}
	}
	i := min(slices.Index(levels, effort), slices.Index(levels, top))
	if i < 0 {
		return ""
	}
	return levels[i]
}

// lower is what to ask for when a server refuses a level: the next one down to
// high, which nearly all know, and then its own choice.
func lower(level string) string {
	if i := slices.Index(levels, level); i > slices.Index(levels, "high") {
		return levels[i-1]
	}
	return ""
}
