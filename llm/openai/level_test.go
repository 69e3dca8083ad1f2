package openai

import "testing"

func TestLevel(t *testing.T) {
	for _, tt := range []struct{ model, effort, want string }{
		{"gpt-5", "low", "low"}, {"gpt-5", "xhigh", "high"}, {"gpt-5-mini", "max", "high"}, {"gpt-5.1", "max", "high"},
		{"gpt-5.1-codex-max", "max", "xhigh"}, {"gpt-5.2", "max", "xhigh"}, {"gpt-5.6-sol", "max", "max"}, {"o3", "max", "high"},
		{"gpt-4.1", "high", ""}, {"gpt-5-chat-latest", "high", ""}, {"gpt-7", "max", "max"},
		{"gpt-7", "", ""}, {"gpt-7", "heroic", ""},
		{"gpt-7", "0", "low"}, {"gpt-7", "4096", "low"}, {"gpt-7", "4097", "medium"}, {"gpt-7", "32768", "high"},
		{"gpt-7", "50000", "xhigh"}, {"gpt-7", "1000000", "max"}, {"gpt-5", "1000000", "high"},
	} {
		if got := level(tt.effort, ceiling(tt.model)); got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.model, tt.effort, got, tt.want)
		}
	}
}

func TestStrict(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"object","properties":{},"additionalProperties":false}`:                                                            true,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`:                      true,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["b"],"additionalProperties":false}`:                      false,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":[],"additionalProperties":false}`:                         false,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:                                                   false,
		`{"type":"object","properties":{"a":{"type":"string","minLength":1}},"required":["a"],"additionalProperties":false}`:        false,
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"object"}]}},"required":["a"],"additionalProperties":false}`:          false,
		`{"type":"object","properties":{},"additionalProperties":false,"$defs":{"x":{"type":"object"}}}`:                            false,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}},"required":["a"],"additionalProperties":0}`: false,
		`{"type":"array","items":{"type":"string"}}`:                                                                                false, `true`: false, `{`: false,
	} {
		if got := strict([]byte(schema)); got != want {
			t.Errorf("%s: %v", schema, got)
		}
	}
}
