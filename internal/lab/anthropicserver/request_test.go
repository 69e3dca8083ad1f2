package anthropicserver

import (
	"strings"
	"testing"
)

// TestRefuses: a request that the API would refuse does not pass here either.
func TestRefuses(t *testing.T) {
	const (
		hi     = `{"role":"user","content":[{"type":"text","text":"hi"}]}`
		called = hi + `,{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"A","input":{}}]}`
		result = `{"type":"tool_result","tool_use_id":"a"}`
		mark   = `,"cache_control":{"type":"ephemeral"}`
	)
	request := func(fields, messages string) string {
		return `{"model":"m","max_tokens":2000,"stream":true` + fields + `,"messages":[` + messages + `]}`
	}
	for _, tt := range []struct{ body, fault string }{
		{request("", hi), ""},
		{request("", called+`,{"role":"user","content":[`+result+`,{"type":"text","text":"x"}]}`), ""},
		{request(`,"thinking":{"type":"enabled","budget_tokens":1024}`, hi), ""},
		{`{`, "unexpected EOF"},
		{request(`,"temperature":1`, hi), "unknown field"},
		{`{"model":"m[1m]","max_tokens":1,"stream":true,"messages":[` + hi + `]}`, "model"},
		{`{"model":"m","stream":true,"messages":[` + hi + `]}`, "max_tokens"},
		{`{"model":"m","max_tokens":1,"messages":[` + hi + `]}`, "stream"},
		{request("", ""), "at least one message"},
		{request(`,"output_config":{"effort":"quick"}`, hi), "effort"},
		{request(`,"output_config":{"format":{"type":"json_schema","schema":null}}`, hi), "format"},
		{request(`,"thinking":{"type":"enabled","budget_tokens":2000}`, hi), "budget_tokens"},
		{request(`,"thinking":{"type":"on"}`, hi), "thinking.type"},
		{request(`,"tools":[{"name":"A","input_schema":{"type":"string"}}]`, hi), "input_schema"},
		{request(`,"tools":[{"name":"A","input_schema":{"type":"object"}},{"name":"A","input_schema":{"type":"object"}}]`, hi), "name of its own"},
		{request(`,"system":[{"type":"text","text":"s"`+mark+`}]`, strings.Repeat(`{"role":"user","content":[{"type":"text","text":"x"`+mark+`}]},{"role":"assistant","content":[{"type":"text","text":"x"`+mark+`}]},`, 2)+hi), "maximum of 4"},
		{request("", `{"role":"user","content":[{"type":"thinking","thinking":"","signature":""`+mark+`}]}`), "thinking cannot"},
		{request("", `{"role":"user","content":[]}`), "0 blocks"},
		{request("", `{"role":"assistant","content":[{"type":"text","text":"x"}]}`), "role"},
		{request("", hi+","+hi), "messages.1: role"},
		{request("", `{"role":"user","content":[{"type":"text","text":" "}]}`), "non-whitespace"},
		{request("", called), "have no results"},
		{request("", called+`,`+hi), "the calls"},
		{request("", `{"role":"user","content":[`+result+`]}`), "the calls"},
		{request("", called+`,{"role":"user","content":[{"type":"text","text":"x"},`+result+`]}`), "come first"},
		{request("", hi+`,{"role":"assistant","content":[{"type":"tool_use","id":"a.b","name":"A","input":{}}]}`), "bad tool_use"},
		{request("", hi+`,{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"A","input":"x"}]}`), "bad tool_use"},
	} {
		_, fault := read([]byte(tt.body))
		if (fault == "") != (tt.fault == "") || !strings.Contains(fault, tt.fault) {
			t.Errorf("%s\n got %q, want %q", tt.body, fault, tt.fault)
		}
	}
}
