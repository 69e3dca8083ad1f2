package gemini

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/wire"
)

func TestClean(t *testing.T) {
	for _, tt := range []struct{ in, want, plain string }{
		{``, `{"type":"object","properties":{}}`, `{"type":"OBJECT","properties":{}}`},
		{`{"$schema":"x","type":"object","properties":{"z":{"type":"string","examples":["a"]},"a":{"type":"integer","exclusiveMinimum":0}},"required":["z"],"additionalProperties":false}`,
			`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}},"required":["z"],"additionalProperties":false}`,
			`{"type":"OBJECT","properties":{"z":{"type":"STRING"},"a":{"type":"INTEGER"}},"required":["z"]}`},
		{`{"properties":{"const":{"const":"x"},"$schema":{"type":["string","null"]}}}`,
			`{"properties":{"const":{"enum":["x"]},"$schema":{"type":["string","null"]}}}`,
			`{"properties":{"const":{"enum":["x"]},"$schema":{"nullable":true,"type":"STRING"}}}`},
		{`{"definitions":{"n":{"type":"number","if":{}}},"items":{"$ref":"#/definitions/n"}}`,
			`{"$defs":{"n":{"type":"number"}},"items":{"$ref":"#/$defs/n"}}`, `{"items":{"type":"NUMBER"}}`},
		{`{"oneOf":[{"type":"string","format":"uri"},{"type":["string","number"]},true],"enum":[1,2]}`,
			`{"oneOf":[{"type":"string","format":"uri"},{"type":["string","number"]},true],"enum":[1,2]}`,
			`{"anyOf":[{"type":"STRING"},{"anyOf":[{"type":"STRING"},{"type":"NUMBER"}]},{"type":"OBJECT"}]}`},
		{`true`, `true`, `{"type":"OBJECT"}`},
	} {
		got := clean([]byte(tt.in))
		if string(got) != tt.want {
			t.Errorf("%s: clean %s, want %s", tt.in, got, tt.want)
		}
		if got := plain(got); string(got) != tt.plain {
			t.Errorf("%s: plain %s, want %s", tt.in, got, tt.plain)
		}
	}
}

// TestHostileSchemas: references that turn in circles or multiply end.
func TestHostileSchemas(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"$defs":{"loop":{"$ref":"#/$defs/loop"},"self":{"properties":{"a":{"$ref":"#/$defs/self"}}}`)
	for i := range 30 {
		fmt.Fprintf(&b, `,"d%d":{"properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}}`, i, i+1, i+1)
	}
	b.WriteString(`},"properties":{"l":{"$ref":"#/$defs/loop"},"s":{"$ref":"#/$defs/self"},"d":{"$ref":"#/$defs/d0"}}}`)
	deep := strings.Repeat(`{"items":`, 5000) + "{}" + strings.Repeat("}", 5000)
	if n := strings.Count(string(clean([]byte(deep))), "items"); n > maxDepth+1 {
		t.Errorf("%d levels are left", n)
	}
	for _, s := range []string{b.String(), deep} {
		got := plain(clean([]byte(s)))
		if !json.Valid(got) || len(got) > 200_000 {
			t.Errorf("%d bytes, valid %v", len(got), json.Valid(got))
		}
	}
}

func FuzzSchema(f *testing.F) {
	f.Add([]byte(`{"type":["string","null"],"const":1,"oneOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"items":{}}},"properties":{"a":true}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		if !json.Valid(in) {
			return
		}
		c := clean(in)
		if !json.Valid(c) || !bytes.Equal(clean(c), c) || !json.Valid(plain(c)) {
			t.Fatalf("%s: %s, %s", in, c, plain(c))
		}
	})
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte(`{"candidates":[{"content":{"parts":[{"text":"a","thought":true,"thoughtSignature":"S"},{"functionCall":{"name":"f","args":{}},"thoughtSignature":"S"}]}}]}` +
		"\n" + `{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"cachedContentTokenCount":5}}`))
	f.Add([]byte(`[{"promptFeedback":{"blockReason":"SAFETY"}}]`))
	f.Add([]byte(`{"error":{"code":5}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		d, lines, ids, ended := &decoder{model: "m"}, bytes.Split(in, []byte("\n")), map[string]bool{}, false
		check := func(out []llm.Event) {
			for _, e := range out {
				if ended {
					t.Fatalf("after Done came %#v", e)
				}
				switch e := e.(type) {
				case llm.Done:
					ended = true
				case llm.ToolCall:
					if e.ID == "" || ids[e.ID] || !json.Valid(e.Input) {
						t.Fatalf("%+v", e)
					}
					ids[e.ID] = true
				}
			}
		}
		for _, line := range lines {
			out, done, err := d.Feed(wire.Event{Data: line, Whole: len(lines) == 1})
			check(out)
			if err != nil || done {
				if (err == nil) != ended {
					t.Fatalf("error %v, Done %v", err, ended)
				}
				return
			}
		}
		out, err := d.End()
		check(out)
		if (err == nil) != ended {
			t.Fatalf("at the end: error %v, Done %v", err, ended)
		}
	})
}

// BenchmarkRequest builds a request of 1,000 messages, half of them calls.
func BenchmarkRequest(b *testing.B) {
	r := llm.Request{Model: "gemini-3-pro", System: "Be brief.", Effort: "high"}
	for i := range 20 {
		r.Tools = append(r.Tools, llm.ToolSpec{Name: fmt.Sprintf("Tool%d", i), Description: "Does something useful.",
			InputSchema: []byte(`{"type":"object","properties":{"path":{"type":"string","description":"Where."}},"required":["path"]}`)})
	}
	text := strings.Repeat("some words ", 20)
	for i := range 500 {
		id := fmt.Sprintf("call_%d", i)
		r.Messages = append(r.Messages,
			llm.Message{Role: llm.Assistant, Content: []llm.Block{{Type: llm.Text, Text: text},
				{Type: llm.ToolUse, ToolUseID: id, Name: "Tool1", Input: []byte(`{"path":"a/b/c.go","limit":100}`)}}},
			llm.Message{Role: llm.User, Content: []llm.Block{{Type: llm.ToolResult, ToolUseID: id, Text: text}}})
	}
	for b.Loop() {
		if _, err := wire.Encode(newBody(r)); err != nil {
			b.Fatal(err)
		}
	}
}
