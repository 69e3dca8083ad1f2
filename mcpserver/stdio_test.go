package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// serve gives the server an input that ends, and returns its answers by id.
func (w *world) serve(in io.Reader) map[string]json.RawMessage {
	w.t.Helper()
	var out bytes.Buffer
	if err := w.server.ServeStdio(w.t.Context(), in, &out); err != nil {
		w.t.Fatal(err)
	}
	answers := map[string]json.RawMessage{}
	for line := range strings.Lines(out.String()) {
		var m struct {
			JSONRPC string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Result  json.RawMessage `json:"result"`
			Error   json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.JSONRPC != "2.0" {
			w.t.Errorf("on standard output: %q", line)
		}
		if answers[string(m.ID)] = m.Result; m.Result == nil {
			answers[string(m.ID)] = m.Error
		}
	}
	return answers
}

// TestNoise: what is no message is left out, and what was asked before the input
// ended is answered.
func TestNoise(t *testing.T) {
	w := open(t, skills)
	in := "Welcome to the wrapper!\n\n[1,2]\n[]\n{}\n{\"jsonrpc\":\"1.0\"}\nnull\n\xff\xfe\n" + hello + "{broken\n" + `{"jsonrpc":"2.0","id":""}0` + "\n" +
		strings.Repeat("x", 5<<20) + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"Skill","arguments":{"skill":"shell"}}}` + "\r\n" +
		`  {"jsonrpc":"2.0","id":3,"method":"no/such/method"}  ` + "\n" +
		`{"jsonrpc":"2.0","id":"four","method":"tools/call","params":{"name":"Skill","arguments":{"skill":"greet"}}}`
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(in), "byte by byte": iotest.OneByteReader(strings.NewReader(in))} {
		got := w.serve(r)
		for id, want := range map[string]string{"1": "protocolVersion", "2": "It says out", "3": "-32601", `"four"`: "Say hello"} {
			if !strings.Contains(string(got[id]), want) {
				t.Errorf("%s: answer %s is %s", name, id, got[id])
			}
		}
		if len(got) != 4 {
			t.Errorf("%s: %d answers", name, len(got))
		}
	}
}

// TestBrokenInput: an input that fails ends the session, with the error.
func TestBrokenInput(t *testing.T) {
	broken := errors.New("broken")
	w := open(t, skills)
	err := w.server.ServeStdio(t.Context(), io.MultiReader(strings.NewReader(hello), iotest.ErrReader(broken)), io.Discard)
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// FuzzInput: no input makes the server fail or write anything but messages.
func FuzzInput(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"Skill","arguments":{"skill":"greet"}}}`))
	f.Add([]byte("[{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}]\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":2,"method":"skills/list","params":{"cursor":7}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"skill://%zz"}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"skill://greet/SKILL.md"}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":2,"method":"resources/unsubscribe","params":{"uri":"skill://greet/SKILL.md"}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		open(t, map[string]string{"greet": skills["greet"]}).serve(io.MultiReader(strings.NewReader(hello), bytes.NewReader(line)))
	})
}
