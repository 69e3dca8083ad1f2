package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/llm"
)

// body is the body of a request, read back.
func body(t *testing.T, r llm.Request) map[string]any {
	t.Helper()
	b, _, err := encode(r)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return v
}

func user(texts ...string) llm.Message {
	m := llm.Message{Role: llm.User}
	for _, s := range texts {
		m.Content = append(m.Content, llm.Block{Type: llm.Text, Text: s})
	}
	return m
}

// marks lists where the cache marks stand.
func marks(v any, at string, out *[]string) {
	switch v := v.(type) {
	case map[string]any:
		if c, ok := v["cache_control"]; ok {
			*out = append(*out, at+fmt.Sprint(c))
		}
		for _, k := range []string{"tools", "system", "messages", "content"} {
			marks(v[k], at+"/"+k, out)
		}
	case []any:
		for i, e := range v {
			marks(e, fmt.Sprint(at, i), out)
		}
	}
}

func TestCacheMarks(t *testing.T) { // spec A-2
	call := llm.Block{Type: llm.ToolUse, ToolUseID: "c", Name: "A"}
	thought := llm.Block{Type: llm.Thinking, Opaque: json.RawMessage(`{"type":"thinking","thinking":"","signature":"s"}`)}
	full := llm.Request{
		System: "s", Tools: []llm.ToolSpec{{Name: "A"}, {Name: "B"}},
		Messages: []llm.Message{
			user("0"),
			{Role: llm.Assistant, Content: []llm.Block{{Type: llm.Text, Text: "1"}, call, thought}},
			{Role: llm.User, Content: []llm.Block{{Type: llm.ToolResult, ToolUseID: "c"}}},
			user("3", " "), user("\n"),
		},
	}
	for i := range full.Tools {
		full.Tools[i].InputSchema = json.RawMessage(`{"type":"object"}`)
	}
	const ephemeral = "map[type:ephemeral]"
	for _, tt := range []struct {
		name   string
		change func(*llm.Request)
		want   []string
	}{
		{"tools and system", func(r *llm.Request) {}, []string{"/tools1", "/system0"}},
		{"two messages", func(r *llm.Request) { r.CacheAt = []int{0, 1} }, []string{"/tools1", "/system0", "/messages0/content0", "/messages1/content1"}},
		{"the last two of many", func(r *llm.Request) { r.CacheAt = []int{0, 1, 2, 3} }, []string{"/tools1", "/system0", "/messages2/content0", "/messages2/content1"}},
		{"more room without tools", func(r *llm.Request) { r.CacheAt, r.Tools = []int{0, 1, 2, 3}, nil },
			[]string{"/system0", "/messages1/content1", "/messages2/content0", "/messages2/content1"}},
		{"none on a blank message, none twice, none outside", func(r *llm.Request) { r.CacheAt, r.System = []int{-1, 0, 0, 4, 9}, "\n" }, []string{"/tools1", "/messages0/content0"}},
	} {
		r := full
		tt.change(&r)
		var got []string
		marks(body(t, r), "", &got)
		for i := range got {
			got[i] = strings.TrimSuffix(got[i], ephemeral)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

// TestMessages: the API's demands on a conversation.
func TestMessages(t *testing.T) {
	v := body(t, llm.Request{Messages: []llm.Message{
		user("", "a \"q\" \\ \x01 \t\n <&> \u2028 \xff 語"),
		{Role: llm.Assistant, Content: []llm.Block{
			{Type: llm.Thinking, Text: "foreign", Opaque: json.RawMessage(`{"thoughtSignature":"x"}`)},
			{Type: llm.Thinking, Text: "broken", Opaque: json.RawMessage(`{`)},
			{Type: llm.Thinking, Text: "plain"},
			{Type: llm.Thinking, Opaque: json.RawMessage(`{"type":"redacted_thinking","data":"d","new_field":1}`)},
			{Type: llm.ToolUse, ToolUseID: "call.1/ü", Name: "A", Input: json.RawMessage(`{"n":12345678901234567890}`)},
			{Type: llm.ToolUse, ToolUseID: "c2", Name: "B", Input: json.RawMessage(`{"n":`)}}},
		{Role: llm.Assistant, Content: []llm.Block{{Type: llm.Text, Text: "  "}}},
		{Role: llm.User, Content: []llm.Block{{Type: llm.ToolResult, ToolUseID: "call.1/ü", Text: "r1"}}},
		user("a skill's text"),
		{Role: llm.User, Content: []llm.Block{{Type: llm.ToolResult, ToolUseID: "c2", IsError: true}}},
		{Role: llm.Assistant},
	}})
	block := func(kv ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i].(string)] = kv[i+1]
		}
		return m
	}
	want := []any{
		block("role", "user", "content", []any{block("type", "text", "text", "a \"q\" \\ \x01 \t\n <&> \u2028 \ufffd 語")}),
		block("role", "assistant", "content", []any{
			block("type", "redacted_thinking", "data", "d", "new_field", 1.0),
			block("type", "tool_use", "id", "call_1__", "name", "A", "input", block("n", 12345678901234567890.0)),
			block("type", "tool_use", "id", "c2", "name", "B", "input", block("malformed_input", `{"n":`))}),
		block("role", "user", "content", []any{
			block("type", "tool_result", "tool_use_id", "call_1__", "content", "r1"),
			block("type", "tool_result", "tool_use_id", "c2", "is_error", true),
			block("type", "text", "text", "a skill's text")}),
	}
	if d := cmp.Diff(want, v["messages"]); d != "" {
		t.Error(d)
	}
}

// TestPrefix: a longer conversation begins with the bytes of the shorter one,
// else the cache of the API is of no use.
func TestPrefix(t *testing.T) {
	short, longer := long(40), long(48)
	short.CacheAt, longer.CacheAt = nil, nil
	a, _, err := encode(short)
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := encode(longer)
	if err != nil {
		t.Fatal(err)
	}
	if prefix := strings.TrimSuffix(string(a), "]}"); !strings.HasPrefix(string(b), prefix) {
		t.Error("the longer conversation begins with other bytes")
	}
}

func TestEffort(t *testing.T) { // spec F: low … max or a number of thinking tokens
	budget := func(n int) any { return map[string]any{"type": "enabled", "budget_tokens": float64(n)} }
	adaptive := map[string]any{"type": "adaptive", "display": "summarized"}
	effort := func(s string) any { return map[string]any{"effort": s} }
	for _, tt := range []struct {
		model, effort    string
		thinking, output any
		max              float64
	}{
		{"claude-opus-5-5", "", nil, nil, 32000},
		{"claude-opus-5-5", "low", adaptive, effort("low"), 32000},
		{"claude-opus-5-5", "xhigh", adaptive, effort("xhigh"), 32000},
		{"claude-sonnet-5", "max", adaptive, effort("max"), 32000},
		{"claude-opus-4-7", "xhigh", adaptive, effort("xhigh"), 32000},
		{"claude-sonnet-4-6", "xhigh", adaptive, effort("high"), 32000},
		{"claude-sonnet-4-6", "max", adaptive, effort("max"), 32000},
		{"claude-opus-5-5", "1", adaptive, effort("low"), 32000},
		{"claude-opus-5-5", "10000", adaptive, effort("medium"), 32000},
		{"claude-opus-5-5", "31999", adaptive, effort("high"), 32000},
		{"claude-opus-5-5", "900000", adaptive, effort("max"), 32000},
		{"claude-opus-5-5", "-3", nil, nil, 32000},
		{"claude-opus-5-5", "huge", nil, nil, 32000},
		{"claude-haiku-4-5-20251001", "low", nil, nil, 32000},
		{"claude-haiku-4-5-20251001", "high", budget(16384), nil, 32000},
		{"claude-sonnet-4-20250514", "5", budget(1024), nil, 32000},
		{"claude-3-7-sonnet-20250219", "40000", budget(40000), nil, 64000},
		{"claude-opus-4-5@20251101", "max", budget(28672), nil, 32000},
		{"claude-3-5-haiku-20241022", "high", nil, nil, 8192},
		{"claude-3-opus-20240229", "high", nil, nil, 4096},
		{"some-other-model", "medium", budget(8192), nil, 32000},
		{"vendor/claude-opus-5.5", "medium", adaptive, effort("medium"), 32000},
	} {
		v := body(t, llm.Request{Model: tt.model, Effort: tt.effort, Messages: []llm.Message{user("x")}})
		if d := cmp.Diff([]any{tt.thinking, tt.output, tt.max}, []any{v["thinking"], v["output_config"], v["max_tokens"]}); d != "" {
			t.Errorf("%s, effort %q: %s", tt.model, tt.effort, d)
		}
	}
}

// TestEffortInTurn: thinking in tokens cannot begin between a call and its
// result.
func TestEffortInTurn(t *testing.T) {
	turn := func(first ...llm.Block) llm.Request {
		return llm.Request{Model: "claude-sonnet-4-5", Effort: "high", Messages: []llm.Message{
			user("x"),
			{Role: llm.Assistant, Content: append(first, llm.Block{Type: llm.ToolUse, ToolUseID: "c", Name: "A"})},
			{Role: llm.User, Content: []llm.Block{{Type: llm.ToolResult, ToolUseID: "c"}}},
		}}
	}
	if v := body(t, turn()); v["thinking"] != nil {
		t.Errorf("thinking = %v", v["thinking"])
	}
	thought := llm.Block{Type: llm.Thinking, Opaque: json.RawMessage(`{"type":"thinking","thinking":"","signature":"s"}`)}
	if v := body(t, turn(thought)); v["thinking"] == nil {
		t.Error("no thinking, though the answer began with it")
	}
}

func TestMaxTokens(t *testing.T) {
	for _, tt := range []struct {
		model string
		max   int
		want  float64
	}{
		{"claude-opus-5-5", 100, 100},
		{"claude-sonnet-4-5", 100, 100 + 16384},
		{"claude-sonnet-4-5", 16384, 2 * 16384}, // the API wants more than the budget
		{"claude-sonnet-4-5", 16385, 16385},
	} {
		v := body(t, llm.Request{Model: tt.model, Effort: "high", MaxTokens: tt.max, Messages: []llm.Message{user("x")}})
		if v["max_tokens"] != tt.want {
			t.Errorf("%s: max_tokens = %v", tt.model, v["max_tokens"])
		}
	}
}

func TestSchema(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"object","properties":{"n":{"type":"integer","minimum":3}}}`: `{"additionalProperties":false,"properties":{"n":{"description":"{minimum: 3}","type":"integer"}},"type":"object"}`,
		// The SDK cannot read a list of types.
		`{"type":"object","properties":{"properties":{"type":["string","null"]},"a":{"type":"array","items":{"properties":{}}}},"enum":[{"properties":1}]}`: `{"additionalProperties":false,"enum":[{"properties":1}],"properties":{"a":{"items":{"additionalProperties":false,"properties":{}},"type":"array"},"properties":{"type":["string","null"]}},"type":"object"}`,
	} {
		v := body(t, llm.Request{Messages: []llm.Message{user("x")}, Schema: json.RawMessage(in)})
		got, err := json.Marshal(v["output_config"])
		if err != nil || string(got) != `{"format":{"schema":`+want+`,"type":"json_schema"}}` {
			t.Errorf("%s became %s (%v)", in, got, err)
		}
	}
	for _, bad := range []string{`{`, `[]`, `true`, `null`} {
		if _, _, err := encode(llm.Request{Schema: json.RawMessage(bad)}); err == nil {
			t.Errorf("the schema %s was taken", bad)
		}
	}
	if _, _, err := encode(llm.Request{Tools: []llm.ToolSpec{{Name: "A", InputSchema: json.RawMessage(`{`)}}}); err == nil {
		t.Error("a broken input schema was taken")
	}
}

// FuzzString: strings are written as encoding/json reads them.
func FuzzString(f *testing.F) {
	for _, s := range []string{"", "a", "\"\\\n\t\r\x00\x1f\x7f", "語\u2028\ufffd", "\xff\xc3", "a\xe2\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b := appendString(nil, s)
		var got string
		if err := json.Unmarshal(b, &got); err != nil || !utf8.Valid(b) {
			t.Fatalf("%q became %q: %v", s, b, err)
		}
		std, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var want string
		if err := json.Unmarshal(std, &want); err != nil || got != want {
			t.Errorf("%q came back as %q, want %q", s, got, want)
		}
	})
}
