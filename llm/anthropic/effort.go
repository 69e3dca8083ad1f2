package anthropic

import (
	"strconv"
	"strings"

	"github.com/knack-skills/knack/llm"
)

// The limits that the API sets for thinking in tokens.
const (
	minBudget = 1024
	maxBudget = 60_000
	maxAnswer = 64_000 // with its thinking, of the models that take a budget
)

// efforts maps the words to thinking tokens for models that know no effort, and
// back for models that know no tokens: a number means the first word whose limit
// it does not exceed.
var efforts = []struct {
	name   string
	budget int // zero is no thinking
	limit  int
}{
	{"low", 0, 4_096},
	{"medium", 8_192, 12_288},
	{"high", 16_384, 32_768},
	{"xhigh", 24_576, 49_152},
	{"max", 28_672, 1 << 40},
}

// answers holds how long an answer is when the request does not say, by the
// first version of the models that it applies to.
var answers = []struct {
	since version
	max   int
}{
	{version{3, 7}, 32_000},
	{version{3, 5}, 8_192},
	{version{0, 0}, 4_096},
}

// A version is that of a Claude model.
type version struct{ major, minor int }

func (v version) atLeast(w version) bool {
	return v.major > w.major || v.major == w.major && v.minor >= w.minor
}

// modelVersion reads claude-opus-4-8, claude-3-7-sonnet-20250219 and the like,
// also after a gateway's prefix. Others have none.
func modelVersion(id string) (v version, ok bool) {
	_, id, ok = strings.Cut(strings.ToLower(id), "claude-")
	if !ok {
		return version{}, false
	}
	var numbers []int
	for _, word := range strings.FieldsFunc(id, func(r rune) bool { return r == '-' || r == '.' || r == '@' }) {
		n, err := strconv.Atoi(word)
		if err != nil || len(word) > 2 { // a longer one is a date
			if len(numbers) > 0 {
				break
			}
			continue
		}
		if numbers = append(numbers, n); len(numbers) == 2 {
			break
		}
	}
	switch len(numbers) {
	case 0:
		return version{}, false
	case 1:
		return version{numbers[0], 0}, true
	}
	return version{numbers[0], numbers[1]}, true
}

// think sets effort, thinking and the length of the answer. Models since 4.6
// decide themselves how long to think, and are told an effort; older ones, and
// models of others behind the same protocol, are told a number of tokens.
func think(w *request, effort string, ms []message) {
	v, known := modelVersion(w.Model)
	if w.MaxTokens <= 0 {
		w.MaxTokens = answerLength(v, known)
	}
	if effort == "" || known && !v.atLeast(version{3, 7}) {
		return
	}
	if known && v.atLeast(version{4, 6}) {
		if name := effortName(effort, v); name != "" {
			w.Thinking = &thinking{Type: "adaptive", Display: "summarized"}
			w.Output = &output{Effort: name}
		}
		return
	}
	budget := effortBudget(effort)
	if budget == 0 || !begunThinking(ms) {
		return
	}
	w.Thinking = &thinking{Type: "enabled", BudgetTokens: budget}
	if w.MaxTokens <= budget { // thinking counts as part of the answer
		w.MaxTokens = min(w.MaxTokens+budget, maxAnswer)
	}
}

func answerLength(v version, known bool) int {
	for _, a := range answers {
		if !known || v.atLeast(a.since) {
			return a.max
		}
	}
	return answers[0].max
}

// effortName is empty for a word that is not an effort.
func effortName(effort string, v version) string {
	n, err := strconv.Atoi(effort)
	if err == nil && n <= 0 {
		return ""
	}
	for _, e := range efforts {
		if err != nil && e.name != effort || err == nil && n > e.limit {
			continue
		}
		if e.name == "xhigh" && !v.atLeast(version{4, 7}) {
			return "high"
		}
		return e.name
	}
	return ""
}

func effortBudget(effort string) int {
	if n, err := strconv.Atoi(effort); err == nil {
		if n <= 0 {
			return 0
		}
		return min(max(n, minBudget), maxBudget)
	}
	for _, e := range efforts {
		if e.name == effort {
			return e.budget
		}
	}
	return 0
}

// begunThinking reports whether thinking in tokens is possible now: an answer
// that is going on (its calls have just been carried out) must have begun with
// thinking, else the API refuses the request. It is after a skill has changed
// the effort in the middle of a turn.
func begunThinking(ms []message) bool {
	if len(ms) < 2 || len(ms[len(ms)-1].parts) == 0 || ms[len(ms)-1].parts[0].Type != llm.ToolResult {
		return true
	}
	before := ms[len(ms)-2].parts
	return len(before) > 0 && before[0].Type == llm.Thinking
}
