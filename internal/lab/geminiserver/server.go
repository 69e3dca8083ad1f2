// Package geminiserver is a loopback server that speaks generateContent of the
// Gemini API as far as agents use it. It refuses what the API refuses.
package geminiserver

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/knack-skills/knack/internal/lab/loopback"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/llmtest"
)

// Key is the only key that the server takes.
const Key = "test-key"

// Start starts a server that gives replies in order; one request more is an
// error of the test. The base URL for clients is its URL with /v1beta. It stops
// in a cleanup of t.
func Start(t testing.TB, replies ...llmtest.Reply) *loopback.Server {
	return loopback.Start(t, protocol{}, loopback.InOrder(t, replies))
}

// StartFunc is [Start] with replies that depend on the request; n counts the
// requests from zero. answer is called by several goroutines.
func StartFunc(t testing.TB, answer func(n int, r loopback.Request) llmtest.Reply) *loopback.Server {
	return loopback.Start(t, protocol{}, answer)
}

type protocol struct{}

// object is a JSON object.
type object = map[string]any

type request struct {
	System   *content  `json:"systemInstruction"`
	Contents []content `json:"contents"`
	Tools    []struct {
		Functions []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"parametersJsonSchema"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	Config struct {
		Max      int             `json:"maxOutputTokens"`
		Mime     string          `json:"responseMimeType"`
		Schema   json.RawMessage `json:"responseJsonSchema"`
		Thinking json.RawMessage `json:"thinkingConfig"`
	} `json:"generationConfig"`
}

type content struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

type part struct {
	Text    *string `json:"text"`
	Thought bool    `json:"thought"`
	Call    *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Response *struct {
		ID       string            `json:"id"`
		Name     string            `json:"name"`
		Response map[string]string `json:"response"`
	} `json:"functionResponse"`
	Signature string `json:"thoughtSignature"`
}

// Read implements loopback.Protocol.
func (protocol) Read(r *http.Request, body []byte) (seen llmtest.Seen, refusal *llmtest.Reply) {
	refuse := func(status int, kind, message string) (llmtest.Seen, *llmtest.Reply) {
		return seen, &llmtest.Reply{Status: status, Type: kind, Message: message}
	}
	path, isModel := strings.CutPrefix(r.URL.Path, "/v1beta/models/")
	model, isStream := strings.CutSuffix(path, ":streamGenerateContent")
	switch {
	case r.Header.Get("x-goog-api-key") != Key:
		return refuse(403, "PERMISSION_DENIED", "API key not valid")
	case r.Method != http.MethodPost || !isModel || !isStream || r.URL.RawQuery != "alt=sse":
		return refuse(404, "NOT_FOUND", r.Method+" "+r.URL.String())
	}
	var q request
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return refuse(400, "INVALID_ARGUMENT", err.Error())
	}
	seen.Model = model
	if q.System != nil {
		seen.System = *q.System.Parts[0].Text
	}
	for _, t := range q.Tools {
		for _, f := range t.Functions {
			seen.Tools = append(seen.Tools, llm.ToolSpec{Name: f.Name, Description: f.Description, InputSchema: f.Schema})
		}
	}
	var err error
	if seen.Blocks, err = read(q.Contents, strings.HasPrefix(model, "gemini-3")); err != nil {
		return refuse(400, "INVALID_ARGUMENT", err.Error())
	}
	return seen, nil
}

// read checks the order of contents: the results of calls stand right behind
// them, as many as there are calls, and newer models want signatures.
func read(contents []content, signed bool) (out []llm.Block, err error) {
	var open []string // names of calls without a result
	for i, c := range contents {
		if len(c.Parts) == 0 || c.Role != "user" && c.Role != "model" {
			return nil, fmt.Errorf("contents[%d]: role %q, %d parts", i, c.Role, len(c.Parts))
		}
		results := 0
		for _, p := range c.Parts {
			switch {
			case p.Call != nil && c.Role == "model" && json.Valid(p.Call.Args) && p.Call.Args[0] == '{':
				if signed && len(open) == 0 && p.Signature == "" {
					return nil, fmt.Errorf("function call is missing a thought_signature in functionCall parts")
				}
				open = append(open, p.Call.Name)
				out = append(out, llm.Block{Type: llm.ToolUse, ToolUseID: p.Call.ID, Name: p.Call.Name, Input: p.Call.Args})
			case p.Response != nil && c.Role == "user":
				if results >= len(open) || open[results] != p.Response.Name {
					return nil, fmt.Errorf("function response for %q does not fit calls %v", p.Response.Name, open)
				}
				results++
				out = append(out, llm.Block{Type: llm.ToolResult, ToolUseID: p.Response.ID, Text: p.Response.Response["output"] + p.Response.Response["error"]})
			case p.Thought:
				out = append(out, llm.Block{Type: llm.Thinking})
			case p.Text != nil && *p.Text != "":
				out = append(out, llm.Block{Type: llm.Text, Text: *p.Text})
			default:
				return nil, fmt.Errorf("contents[%d]: a part is not valid", i)
			}
		}
		if c.Role == "user" {
			if results != len(open) {
				return nil, fmt.Errorf("the number of function response parts (%d) must be equal to the number of function call parts (%d)", results, len(open))
			}
			open = nil
		}
	}
	return out, nil
}

// codes are the API's words for a status.
var codes = map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
	429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 529: "UNAVAILABLE"}

// Error implements loopback.Protocol.
func (protocol) Error(r llmtest.Reply) []byte {
	status := cmp.Or(r.Status, 503)
	return loopback.Encode(object{"error": object{"code": status, "message": r.Message, "status": cmp.Or(codes[status], r.Type)}})
}

// Script implements loopback.Protocol.
func (protocol) Script(_ *http.Request, seen llmtest.Seen, reply llmtest.Reply, n int) loopback.Script {
	chunk := func(parts []any, finish string) loopback.Event {
		c := object{"content": object{"role": "model", "parts": parts}, "index": 0}
		u := object{"promptTokenCount": reply.Usage.InputTokens + reply.Usage.CacheReadInputTokens}
		if finish != "" {
			c["finishReason"] = finish
			u["candidatesTokenCount"] = reply.Usage.OutputTokens / 2
			u["thoughtsTokenCount"] = reply.Usage.OutputTokens - reply.Usage.OutputTokens/2
			u["cachedContentTokenCount"] = reply.Usage.CacheReadInputTokens
		}
		return loopback.Event{Data: loopback.Encode(object{"candidates": []any{c}, "usageMetadata": u,
			"modelVersion": seen.Model + "-001", "responseId": fmt.Sprintf("r%d", n)})}
	}
	var s loopback.Script
	signature := "" // of the thought before, which stands on the next part
	for i, p := range reply.Parts {
		var events []loopback.Event
		switch {
		case p.Call != nil:
			c := object{"functionCall": object{"id": cmp.Or(p.Call.ID, fmt.Sprintf("fc_%d_%d", n, i)), "name": p.Call.Name,
				"args": json.RawMessage(cmp.Or(string(p.Call.Input), "{}"))}}
			if signature != "" {
				c["thoughtSignature"] = signature
				signature = ""
			}
			events = append(events, chunk([]any{c}, ""))
		case p.Thinking != "":
			for _, piece := range loopback.Pieces(p.Thinking) {
				events = append(events, chunk([]any{object{"text": piece, "thought": true}}, ""))
			}
			signature = p.Signature
		default:
			for _, piece := range loopback.Pieces(p.Text) {
				events = append(events, chunk([]any{object{"text": piece}}, ""))
			}
		}
		s.Parts = append(s.Parts, events)
	}
	finish := map[llm.StopReason]string{llm.MaxTokens: "MAX_TOKENS", llm.Refusal: "SAFETY"}[reply.Stop]
	end := object{"text": ""}
	if signature != "" {
		end["thoughtSignature"] = signature
	}
	s.End = []loopback.Event{chunk([]any{end}, cmp.Or(finish, "STOP"))}
	return s
}
