package gemini_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/knack-skills/knack/internal/lab/geminiserver"
	"github.com/knack-skills/knack/internal/lab/loopback"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/gemini"
	"github.com/knack-skills/knack/llm/llmtest"
)

// raw asks a server that gives this body, whatever it is asked.
func raw(t *testing.T, body string) (llm.Answer, error) {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))
	t.Cleanup(web.Close)
	return llm.Collect(client(t, web.URL).Stream(t.Context(), llmtest.Request()))
}

func lines(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		fmt.Fprintf(&b, "data: %s\r\n\r\n", c)
	}
	return b.String()
}

// candidate is a chunk with these parts.
func candidate(parts, finish string) string {
	return `{"candidates":[{"content":{"parts":[` + parts + `]},"finishReason":"` + finish + `"}]}`
}

// summary writes an answer down; ids that were made up are written as *.
func summary(a llm.Answer) string {
	var s string
	for _, b := range a.Message.Content {
		switch id := b.ToolUseID; b.Type {
		case llm.ToolUse:
			if strings.HasPrefix(id, "local_") {
				id = "*"
			}
			s += fmt.Sprintf("%s:%s(%s) ", id, b.Name, b.Input)
		case llm.Thinking:
			s += fmt.Sprintf("%q%s ", b.Text, b.Opaque)
		default:
			s += b.Text + " "
		}
	}
	return s + string(a.Done.Stop)
}

func TestAnswers(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"text", lines(candidate(`{"text":"a"},{"text":"b"}`, ""), candidate(``, "STOP")), "ab end_turn"},
		{"no content", lines(`{"candidates":[{"finishReason":"STOP"}]}`), "end_turn"},
		{"calls without ids", lines(candidate(`{"functionCall":{"name":"f","args":{"n":9007199254740993}}},{"functionCall":{"name":"g"}}`, "STOP")), `*:f({"n":9007199254740993}) *:g({}) tool_use`},
		{"one id for two", lines(candidate(`{"functionCall":{"id":"x","name":"f"}},{"functionCall":{"id":"x","name":"g"}}`, "STOP")), `x:f({}) *:g({}) tool_use`},
		{"no object", lines(candidate(`{"functionCall":{"id":"x","name":"f","args":[1]}}`, "STOP")), `x:f({"malformed_input":"[1]"}) tool_use`},
		{"signature on a call", lines(candidate(`{"text":"hm","thought":true}`, ""), candidate(`{"functionCall":{"id":"x","name":"f"},"thoughtSignature":"S"}`, "STOP")), `""{"thoughtSignature":"S","on":"functionCall"} x:f({}) tool_use`},
		{"signature at the end", lines(candidate(`{"text":"a"}`, ""), candidate(`{"text":"","thoughtSignature":"S"}`, "STOP")), `a ""{"thoughtSignature":"S","on":"text"} end_turn`},
		{"signature on a thought", lines(candidate(`{"text":"hm","thought":true,"thoughtSignature":"S"}`, "STOP")), `"hm"{"thoughtSignature":"S","on":"thought"} end_turn`},
		{"limit", lines(candidate(`{"text":"a"}`, "MAX_TOKENS")), "a max_tokens"},
		{"safety", lines(candidate(`{"text":"a"}`, "PROHIBITED_CONTENT")), "a refusal"},
		{"blocked prompt", lines(`{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":5}}`), "refusal"},
		{"no blank line at the end", strings.TrimRight(lines(candidate(`{"text":"a"}`, "STOP")), "\r\n"), "a end_turn"},
		{"a list, not a stream", `[` + candidate(`{"text":"a"}`, "") + `,` + candidate(`{"text":"b"}`, "STOP") + `]`, "ab end_turn"},
		{"one value, not a stream", candidate(`{"text":"a"}`, "STOP"), "a end_turn"},
		{"[DONE] of a proxy", lines(candidate(`{"text":"a"}`, "STOP"), "[DONE]"), "a end_turn"},
		{"unknown parts", lines(candidate(`{"executableCode":{"code":"1"}},{"text":"a"}`, "STOP")), "a end_turn"},
	} {
		a, err := raw(t, tt.body)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := summary(a); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestErrors(t *testing.T) {
	text := lines(candidate(`{"text":"a"}`, ""))
	for _, tt := range []struct {
		name, body, kind, message string
		retryable                 bool
	}{
		{"nothing", "", "", "cut off", true},
		{"no reason", text, "", "cut off", true},
		{"half a chunk", text + `data: {"candidates":[{"finishReason":"ST`, "", "middle", true},
		{"error chunk", text + lines(`{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}`), "UNAVAILABLE", "busy", true},
		{"error in a list", `[{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}]`, "INVALID_ARGUMENT", "bad", false},
		{"malformed call", lines(`{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"call: print(f("}]}`), "", "print(f(", true},
		{"signature missing", lines(candidate(``, "MISSING_THOUGHT_SIGNATURE")), "MISSING_THOUGHT_SIGNATURE", "", false},
		{"empty list", `[]`, "", "cut off", true},
	} {
		a, err := raw(t, tt.body)
		if err == nil || a.Done != nil || !strings.Contains(err.Error(), tt.message) || llm.Retryable(err) != tt.retryable {
			t.Errorf("%s: %v (retryable %v)", tt.name, err, llm.Retryable(err))
		}
		if api, ok := errors.AsType[*llm.APIError](err); tt.kind != "" && (!ok || api.Type != tt.kind) {
			t.Errorf("%s: %#v", tt.name, err)
		}
	}
}

func parsed(t *testing.T, s []byte) (v map[string]any) {
	t.Helper()
	if err := json.Unmarshal(s, &v); err != nil {
		t.Fatalf("%v in %s", err, s)
	}
	return v
}

// history has what other providers, interruptions and errors leave behind.
func history(model string) llm.Request {
	r := llmtest.Request()
	r.Model = model
	r.Messages = append(r.Messages,
		llm.Message{Role: llm.Assistant, Content: []llm.Block{
			{Type: llm.Thinking, Text: "of another", Opaque: []byte(`{"type":"thinking","signature":"S"}`)},
			{Type: llm.Thinking, Text: "hm", Opaque: []byte(`{"thoughtSignature":"S0","on":"thought"}`)},
			{Type: llm.Text, Text: "I look."},
			{Type: llm.Thinking, Opaque: []byte(`{"thoughtSignature":"S1","on":"text"}`)},
			{Type: llm.Thinking, Opaque: []byte(`{"thoughtSignature":"S2","on":"functionCall"}`)},
			{Type: llm.ToolUse, ToolUseID: "x", Name: "Look"},
			{Type: llm.ToolUse, ToolUseID: "local_1", Name: "Look", Input: []byte(`[1]`)}}},
		llm.Message{Role: llm.User, Content: []llm.Block{
			{Type: llm.ToolResult, ToolUseID: "x", Text: "gone", IsError: true},
			{Type: llm.ToolResult, ToolUseID: "local_1", Text: "here"}}},
		llm.Message{Role: llm.User, Content: []llm.Block{{Type: llm.Text, Text: "go on"}, {Type: llm.Text}}},
		llm.Message{Role: llm.Assistant, Content: []llm.Block{{Type: llm.ToolUse, ToolUseID: "y", Name: "Look"}}},
		llm.Message{Role: llm.User, Content: []llm.Block{{Type: llm.ToolResult, ToolUseID: "y", Text: ""}}},
		llm.Message{Role: llm.Assistant, Content: []llm.Block{{Type: llm.Text, Text: ""}}})
	return r
}

func TestHistory(t *testing.T) {
	const want = `{"contents":[
		{"role":"user","parts":[{"text":"hello"}]},
		{"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"S0"},{"text":"I look.","thoughtSignature":"S1"},
			{"functionCall":{"id":"x","name":"Look","args":{}},"thoughtSignature":"S2"},
			{"functionCall":{"name":"Look","args":{"malformed_input":"[1]"}}}]},
		{"role":"user","parts":[{"functionResponse":{"id":"x","name":"Look","response":{"error":"gone"}}},
			{"functionResponse":{"name":"Look","response":{"output":"here"}}},{"text":"go on"}]},
		{"role":"model","parts":[{"functionCall":{"id":"y","name":"Look","args":{}}UNSIGNED}]},
		{"role":"user","parts":[{"functionResponse":{"id":"y","name":"Look","response":{"output":""}}}]}]}`
	for model, unsigned := range map[string]string{
		"gemini-2.5-pro": "", "gemini-3-pro-preview": `,"thoughtSignature":"skip_thought_signature_validator"`,
	} {
		s := start(t, llmtest.Reply{})
		if _, err := llm.Collect(s.Model().Stream(t.Context(), history(model))); err != nil {
			t.Fatal(err)
		}
		w := parsed(t, []byte(strings.Replace(want, "UNSIGNED", unsigned, 1)))
		if d := cmp.Diff(w["contents"], parsed(t, s.Seen()[0].Body)["contents"]); d != "" {
			t.Errorf("%s (-want +got)\n%s", model, d)
		}
	}
}

func TestFields(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*llm.Request)
		want   string // of generationConfig
	}{
		{"defaults", func(*llm.Request) {}, `null`},
		{"limit", func(r *llm.Request) { r.MaxTokens = 5 }, `{"maxOutputTokens":5}`},
		{"schema", func(r *llm.Request) { r.Schema = []byte(`{"$schema":"x","type":"object"}`) }, `{"responseMimeType":"application/json","responseJsonSchema":{"type":"object"}}`},
		{"level", func(r *llm.Request) { r.Effort = "medium" }, `{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"medium"}}`},
		{"tokens as a level", func(r *llm.Request) { r.Effort = "9000" }, `{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"high"}}`},
		{"budget", func(r *llm.Request) { r.Effort, r.Model = "max", "gemini-2.5-flash" }, `{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":24576}}`},
		{"budget of pro", func(r *llm.Request) { r.Effort, r.Model = "max", "gemini-2.5-pro" }, `{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":32768}}`},
		{"tokens", func(r *llm.Request) { r.Effort, r.Model = "1234", "gemini-2.5-pro" }, `{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":1234}}`},
		{"too few", func(r *llm.Request) { r.Effort, r.Model = "1", "gemini-2.5-pro" }, `{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":128}}`},
		{"none", func(r *llm.Request) { r.Effort, r.Model = "0", "gemini-2.5-flash" }, `{"thinkingConfig":{"thinkingBudget":0}}`},
		{"a model that does not think", func(r *llm.Request) { r.Effort, r.Model = "high", "gemini-2.0-flash" }, `null`},
		{"strange effort", func(r *llm.Request) { r.Effort = "heroic" }, `null`},
	} {
		s := start(t, llmtest.Reply{})
		r := llmtest.Request()
		tt.change(&r)
		if _, err := llm.Collect(s.Model().Stream(t.Context(), r)); err != nil {
			t.Fatal(err)
		}
		got := parsed(t, s.Seen()[0].Body)["generationConfig"]
		if d := cmp.Diff(parsed(t, []byte(`{"c":`+tt.want+`}`))["c"], got); d != "" {
			t.Errorf("%s (-want +got)\n%s", tt.name, d)
		}
	}
}

// TestGiveWay: a refusal of an optional field ends with a request that has it
// in another form, or not at all.
func TestGiveWay(t *testing.T) {
	for _, tt := range []struct {
		name, refusal, has, hasNot string
	}{
		{"schemas of tools", `Invalid JSON payload received. Unknown name "parametersJsonSchema" at 'tools[0].function_declarations[0]'`, `"parameters":{"type":"OBJECT"`, "parametersJsonSchema"},
		{"level", "Thinking level MEDIUM is not supported for this model.", `"thinkingLevel":"high"`, "medium"},
		{"thinking", "Thinking is not enabled for this model", `"maxOutputTokens":99`, "thinkingConfig"},
		{"schema beside tools", "Function calling with a response mime type: 'application/json' is unsupported", "Answer with JSON alone", "responseMimeType"},
	} {
		s := geminiserver.StartFunc(t, func(n int, _ loopback.Request) llmtest.Reply {
			if n == 0 {
				return llmtest.Reply{Status: 400, Message: tt.refusal}
			}
			return llmtest.Reply{}
		})
		r := history("gemini-3-pro")
		r.Effort, r.MaxTokens, r.Schema = "medium", 99, []byte(`{"type":"object","description":"zwieback"}`)
		if _, err := llm.Collect(client(t, s.URL+"/v1beta").Stream(t.Context(), r)); err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		last := string(s.Seen()[len(s.Seen())-1].Body)
		if !strings.Contains(last, tt.has) || strings.Contains(last, tt.hasNot) || !strings.Contains(last, "zwieback") {
			t.Errorf("%s: %s", tt.name, last)
		}
	}
	const all = "parametersJsonSchema thinking level medium response_json_schema"
	s := geminiserver.StartFunc(t, func(int, loopback.Request) llmtest.Reply { return llmtest.Reply{Status: 400, Message: all} })
	r := history("gemini-3-pro")
	r.Effort, r.Schema = "medium", []byte(`{"type":"object"}`)
	if _, err := llm.Collect(client(t, s.URL+"/v1beta").Stream(t.Context(), r)); err == nil || len(s.Seen()) != 5 {
		t.Errorf("a server that refuses everything: %v after %d requests", err, len(s.Seen()))
	}
}

func TestModelIDs(t *testing.T) {
	s := start(t)
	for _, model := range []string{"", "../../v1/files", "a..b"} {
		r := llmtest.Request()
		r.Model = model
		if _, err := llm.Collect(s.Model().Stream(t.Context(), r)); err == nil {
			t.Errorf("%q: no error", model)
		}
	}
	if _, err := gemini.New(gemini.Options{BaseURL: "nowhere"}); err == nil {
		t.Error("a base URL without a host is no error")
	}
}
