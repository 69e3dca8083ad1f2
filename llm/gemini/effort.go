package gemini

import (
	"slices"
	"strconv"
	"strings"
)

// thinking says how much a model thinks. Version 3 takes a level, version 2.5 a
// number of tokens; never both.
type thinking struct {
	IncludeThoughts bool   `json:"includeThoughts,omitempty"`
	Level           string `json:"thinkingLevel,omitempty"`
	Budget          *int   `json:"thinkingBudget,omitempty"`
}

// efforts lists what an effort is in both ways. A number of tokens becomes the
// level of the first line that is not below it.
var efforts = []struct {
	name   string
	budget int
	level  string
}{
	{"low", 2048, "low"},
	{"medium", 8192, "medium"},
	{"high", 24576, "high"},
	{"xhigh", 32768, "high"},
	{"max", 32768, "high"},
}

// limits are the least and the most that models of version 2.5 take as a
// budget; the first line that fits counts.
var limits = []struct {
	prefix      string
	least, most int
}{
	{"gemini-2.5-pro", 128, 32768},
	{"gemini-2.5-flash-lite", 512, 24576},
	{"gemini-2.5", 0, 24576},
}

// thinkingFor translates an effort. Nil leaves it to the model; older ones do
// not think.
func thinkingFor(model, effort string) *thinking {
	if effort == "" || strings.HasPrefix(model, "gemini-1") || strings.HasPrefix(model, "gemini-2.0") {
		return nil
	}
	tokens, err := strconv.Atoi(effort)
	i := len(efforts) - 1
	for at, e := range slices.Backward(efforts) {
		if err != nil && e.name == effort || err == nil && tokens <= e.budget {
			i = at
		}
	}
	switch {
	case err != nil && efforts[i].name != effort:
		return nil // a word that means nothing here
	case err != nil:
		tokens = efforts[i].budget
	}
	for _, l := range limits {
		if strings.HasPrefix(model, l.prefix) {
			tokens = min(max(tokens, l.least), l.most)
			return &thinking{IncludeThoughts: tokens > 0, Budget: &tokens}
		}
	}
	return &thinking{IncludeThoughts: true, Level: efforts[i].level}
}

// signs reports whether a model wants a signature at the calls it made, which
// those before version 3 do not.
func signs(model string) bool {
	return strings.HasPrefix(model, "gemini-") && !strings.HasPrefix(model, "gemini-1") && !strings.HasPrefix(model, "gemini-2")
}
