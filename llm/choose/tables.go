package choose

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/knack-skills/knack/text"
)

const (
	baseURL       = "OPENAI_BASE_URL"
	defaultWindow = 200_000
)

// aliases are the names that need no settings, in lower case.
var aliases = map[string]string{
	"sonnet": "anthropic/claude-sonnet-5-5",
	"opus":   "anthropic/claude-opus-5-5",
	"haiku":  "anthropic/claude-haiku-5-5",
	"fable":  "anthropic/claude-fable-5-2",
}

// defaults are tried in this order: the first whose key is set.
var defaults = []struct {
	provider Provider
	key      string
	id       string
}{
	{Anthropic, "ANTHROPIC_API_KEY", "claude-sonnet-5-5"},
	{OpenAI, "OPENAI_API_KEY", "gpt-5.5"},
	{Gemini, "GEMINI_API_KEY", "gemini-3.6-flash"},
}

// remote are the providers that take PROVIDER/ID.
var remote = []Provider{Anthropic, OpenAI, OpenAIChat, Gemini}

// prefixes tell the provider of an id that comes without one.
var prefixes = []struct {
	prefix   string
	provider Provider
}{
	{"claude-", Anthropic},
	{"gpt-", OpenAI}, {"chatgpt-", OpenAI}, {"codex-", OpenAI},
	{"o1", OpenAI}, {"o3", OpenAI}, {"o4", OpenAI},
	{"gemini-", Gemini}, {"gemma-", Gemini},
}

// suffixes change the size of the context.
var suffixes = map[string]int{"[1m]": 1_000_000}

// windows are context sizes by the beginning of an id; the first that fits
// counts. They are the sizes that every key has: more is asked for by a suffix.
var windows = []struct {
	prefix string
	tokens int
}{
	{"gpt-5-chat", 128_000}, {"gpt-5", 400_000}, {"gpt-6", 400_000},
	{"gpt-4.1", 1_047_576}, {"gpt-4o", 128_000}, {"gpt-4-turbo", 128_000}, {"gpt-4", 8_192}, {"gpt-3.5", 16_385}, {"gpt-oss", 131_072},
	{"chatgpt-4o", 128_000}, {"o1-mini", 128_000},
	{"gemini-", 1_048_576}, {"gemma-", 131_072},
}

// near returns up to three known names that look like name, best first.
func (o Options) near(name string) []string {
	const most, longest = 3, 100
	if name == "" || len(name) > longest {
		return nil
	}
	type hit struct {
		name  string
		score int
	}
	var hits []hit
	add := func(show, candidate, typed string) {
		typed, candidate = strings.ToLower(typed), strings.ToLower(candidate)
		limit := min(max(2, len(candidate)/3), len(typed)/2)
		if d := text.Edits(typed, candidate, limit); d <= limit {
			hits = append(hits, hit{show, d})
		}
	}
	for _, known := range slices.Concat(slices.Sorted(maps.Keys(o.Aliases)), slices.Sorted(maps.Keys(aliases)), []string{string(Offline)}) {
		add(known, known, name)
	}
	for _, id := range slices.Sorted(maps.Values(aliases)) {
		_, bare, _ := strings.Cut(id, "/")
		add(bare, bare, name)
	}
	if provider, id, ok := strings.Cut(name, "/"); ok {
		for _, p := range remote {
			add(string(p)+"/"+id, string(p), provider)
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.score, b.score) })
	var out []string
	for _, h := range hits {
		if !slices.Contains(out, h.name) && len(out) < most {
			out = append(out, h.name)
		}
	}
	return out
}
