package hook

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// tree reads JSON as [Decode] gets it from settings.
func tree(tb testing.TB, s string) any {
	tb.Helper()
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		tb.Fatalf("%v in %s", err, s)
	}
	return v
}

// faults joins what was found, as "code at where".
func faults(list []Fault) string {
	var all []string
	for _, f := range list {
		s := f.Code + " at " + f.Where()
		if f.Lint {
			s = "lint " + s
		}
		all = append(all, s)
	}
	return strings.Join(all, "; ")
}

// TestDecode is the table of H-1 to H-4.
func TestDecode(t *testing.T) {
	echo := Handler{Type: Command, Command: "echo"}
	one := func(matcher string, h ...Handler) Config {
		return Config{{Event: PreToolUse, Matcher: matcher, Handlers: h}}
	}
	tests := []struct {
		name, in string
		want     Config
		faults   string
	}{
		{"nested", `{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"echo"}]}]}`, one("Bash", echo), ""},
		{"without matcher", `{"Stop":[{"hooks":[{"type":"command","command":"echo"}]}]}`, Config{{Event: Stop, Handlers: []Handler{echo}}}, ""},
		{"null matcher", `{"PreToolUse":[{"matcher":null,"hooks":[{"type":"command","command":"echo"}]}]}`, one("", echo), ""},
		{"without type", `{"PreToolUse":[{"hooks":[{"command":"echo"}]}]}`, one("", echo), ""},
		{"flat", `{"PreToolUse":[{"matcher":"Bash","command":"echo"}]}`, one("Bash", echo), "lint hooks-flat at PreToolUse[0]"},
		{"group without list", `{"PreToolUse":{"hooks":[{"command":"echo"}]}}`, one("", echo), "lint hooks-flat at PreToolUse"},
		{"handler without list", `{"PreToolUse":[{"hooks":{"command":"echo"}}]}`, one("", echo), ""},
		{"matcher with star", `{"PreToolUse":[{"matcher":"Bash(*)","hooks":[{"command":"echo"}]}]}`, one("Bash", echo), "lint hook-matcher at PreToolUse[0].matcher"},
		{"matcher with arguments", `{"PreToolUse":[{"matcher":"Bash(git *)","hooks":[{"command":"echo"}]}]}`, one("Bash(git *)", echo), "lint hook-matcher at PreToolUse[0].matcher"},
		{"regular expression", `{"PreToolUse":[{"matcher":"mcp__(a|b)__.*","hooks":[{"command":"echo"}]}]}`, one("mcp__(a|b)__.*", echo), ""},
		{"matcher of nothing", `{"Stop":[{"matcher":"Bash","hooks":[{"command":"echo"}]}]}`, Config{{Event: Stop, Matcher: "Bash", Handlers: []Handler{echo}}}, "lint hook-matcher at Stop[0].matcher"},
		{"broken matcher", `{"PreToolUse":[{"matcher":"a(","hooks":[{"command":"echo"}]}]}`, nil, "hook-matcher at PreToolUse[0].matcher"},
		{"matcher is a list", `{"PreToolUse":[{"matcher":["a"],"hooks":[{"command":"echo"}]}]}`, nil, "hook-matcher at PreToolUse[0].matcher"},
		{"file pattern", `{"onFileChange":[{"matcher":"[a].md","hooks":[{"command":"echo"}]}]}`,
			Config{{Event: FileChanged, Matcher: "[a].md", Handlers: []Handler{echo}}}, "lint hook-unknown-event at onFileChange"},
		{"unknown event", `{"Nope":[],"PreToolUse":[{"hooks":[{"command":"echo"}]}]}`, one("", echo), "hook-unknown-event at Nope"},
		{"event in other case", `{"pre_tool_use":[]}`, nil, "hook-unknown-event at pre_tool_use"},
		{"no map", `["a"]`, nil, "hook-invalid at "},
		{"event is false", `{"PreToolUse":false}`, nil, "hook-invalid at PreToolUse"},
		{"event is text", `{"PreToolUse":"Read the notes"}`, nil, "hook-invalid at PreToolUse"},
		{"group is text", `{"PreToolUse":["x",{"hooks":[{"command":"echo"}]}]}`, one("", echo), "hook-invalid at PreToolUse[0]"},
		{"empty group", `{"PreToolUse":[{"matcher":"Bash"}]}`, nil, "hook-invalid at PreToolUse[0]"},
		{"hooks is text", `{"PreToolUse":[{"hooks":"x"}]}`, nil, "hook-invalid at PreToolUse[0].hooks"},
		{"handler is text", `{"PreToolUse":[{"hooks":["x",{"command":"echo"}]}]}`, one("", echo), "hook-invalid at PreToolUse[0].hooks[0]"},
		{"unknown type", `{"PreToolUse":[{"hooks":[{"type":"js","command":"x"}]}]}`, nil, "hook-invalid at PreToolUse[0].hooks[0]"},
		{"no command", `{"PreToolUse":[{"hooks":[{"type":"command"}]}]}`, nil, "hook-invalid at PreToolUse[0].hooks[0]"},
		{"empty command", `{"PreToolUse":[{"hooks":[{"type":"command","command":" "}]}]}`, nil, "hook-invalid at PreToolUse[0].hooks[0]"},
		{"command is a list", `{"PreToolUse":[{"hooks":[{"type":"command","command":["x"]}]}]}`, nil, "hook-invalid at PreToolUse[0].hooks[0].command"},
		{"key beside hooks", `{"PreToolUse":[{"command":"x","hooks":[{"command":"echo"}]}]}`, one("", echo), "lint hook-unknown-field at PreToolUse[0].command"},
		{"key of another type", `{"PreToolUse":[{"hooks":[{"command":"echo","url":"x"}]}]}`, one("", echo), "lint hook-unknown-field at PreToolUse[0].hooks[0].url"},
		{"bad timeout", `{"PreToolUse":[{"hooks":[{"command":"echo","timeout":"soon"}]}]}`, one("", echo), "lint hook-invalid at PreToolUse[0].hooks[0].timeout"},
		{"negative timeout", `{"PreToolUse":[{"hooks":[{"command":"echo","timeout":-1}]}]}`, one("", echo), "lint hook-invalid at PreToolUse[0].hooks[0].timeout"},
		{"bad once", `{"PreToolUse":[{"hooks":[{"command":"echo","once":"often"}]}]}`, nil, "hook-invalid at PreToolUse[0].hooks[0].once"},
		{"bad if", `{"PreToolUse":[{"hooks":[{"command":"echo","if":["Bash"]}]}]}`, nil, "hook-invalid at PreToolUse[0].hooks[0].if"},
		{"all of command", `{"PreToolUse":[{"hooks":[{"type":"command","command":"echo","args":["a","b"],"if":"Bash(git *)","timeout":1.5,"once":true,"async":"yes","shell":"powershell","statusMessage":"Checking"}]}]}`,
			one("", Handler{Type: Command, Command: "echo", Args: []string{"a", "b"}, If: "Bash(git *)", Timeout: 1500 * time.Millisecond,
				Once: true, Async: true, Shell: "powershell", StatusMessage: "Checking"}), ""},
		{"http", `{"PreToolUse":[{"hooks":[{"type":"http","url":"http://localhost:1/x","headers":{"A":"$T"},"allowedEnvVars":["T"]}]}]}`,
			one("", Handler{Type: HTTP, URL: "http://localhost:1/x", Headers: map[string]string{"A": "$T"}, AllowedEnv: []string{"T"}}), ""},
		{"prompt", `{"PreToolUse":[{"hooks":[{"type":"prompt","prompt":"Is it safe?","model":"haiku"}]}]}`,
			one("", Handler{Type: Prompt, Prompt: "Is it safe?", Model: "haiku"}), ""},
		{"agent", `{"PreToolUse":[{"hooks":[{"type":"agent","prompt":"Look."}]}]}`, one("", Handler{Type: Agent, Prompt: "Look."}), ""},
		{"mcp_tool", `{"PreToolUse":[{"hooks":[{"type":"mcp_tool","server":"s","tool":"t","input":{"n":1,"l":["a"]}}]}]}`,
			one("", Handler{Type: MCPTool, Server: "s", Tool: "t", Input: map[string]any{"n": 1.0, "l": []any{"a"}}}), ""},
		{"mcp_tool without server", `{"PreToolUse":[{"hooks":[{"type":"mcp_tool","tool":"t"}]}]}`, nil, "hook-invalid at PreToolUse[0].hooks[0]"},
		{"null", `null`, nil, ""},
		{"empty", `{}`, nil, ""},
		{"sorted events of a Go map", `{"Stop":[{"hooks":[{"command":"echo"}]}],"PreToolUse":[{"hooks":[{"command":"echo"}]}]}`,
			append(one("", echo), Group{Event: Stop, Handlers: []Handler{echo}}), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, list := Decode(tree(t, tt.in))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if s := faults(list); s != tt.faults {
				t.Errorf("faults %q, want %q", s, tt.faults)
			}
			for _, f := range list {
				if !strings.HasPrefix(f.Message, f.Where()) {
					t.Errorf("%q does not say where: %q", f.Message, f.Where())
				}
			}
		})
	}
}

// TestDecodeMap keeps the order of writing and types plain scalars by use.
func TestDecodeMap(t *testing.T) {
	handler := Map{{"type", Plain("mcp_tool")}, {"server", Plain("007")}, {"tool", "t"}, {"once", Plain("yes")}, {"timeout", Plain("30")},
		{"input", Map{{"n", Plain("5")}, {"s", "5"}, {"b", Plain("true")}, {"none", Plain("null")}, {"w", Plain("word")}, {"o", Plain("007")}}}}
	got, list := Decode(Map{
		{"Stop", []any{Map{{"hooks", []any{Map{{"command", Plain("1.10")}}}}}}},
		{"PreToolUse", []any{Map{{"hooks", []any{handler}}}}},
	})
	want := Config{
		{Event: Stop, Handlers: []Handler{{Type: Command, Command: "1.10"}}},
		{Event: PreToolUse, Handlers: []Handler{{Type: MCPTool, Server: "007", Tool: "t", Once: true, Timeout: 30 * time.Second,
			Input: map[string]any{"n": json.Number("5"), "s": "5", "b": true, "none": nil, "w": "word", "o": "007"}}}},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(list) > 0 {
		t.Errorf("%s\n%s", diff, faults(list))
	}
}

// TestEvents wants every event of H-2 to be known under its own name.
func TestEvents(t *testing.T) {
	if n := len(Events()); n != 18 {
		t.Errorf("%d events", n)
	}
	for _, e := range Events() {
		config, list := Decode(Map{{string(e), []any{Map{{"hooks", []any{Map{{"command", "x"}}}}}}}})
		if len(config) != 1 || config[0].Event != e || len(list) > 0 {
			t.Errorf("%s: %v, %s", e, config, faults(list))
		}
	}
	_, list := Decode(Map{{"pretooluse", nil}})
	if len(list) != 1 || list[0].Fix != "write PreToolUse" {
		t.Errorf("%+v", list)
	}
}

// TestLimit is the default timeouts of H-4.
func TestLimit(t *testing.T) {
	for kind, seconds := range map[string]int{Command: 600, HTTP: 600, Prompt: 30, Agent: 60, MCPTool: 600} {
		if got := (Handler{Type: kind}).Limit(); got != time.Duration(seconds)*time.Second {
			t.Errorf("%s: %v", kind, got)
		}
	}
	if got := (Handler{Type: Prompt, Timeout: time.Minute}).Limit(); got != time.Minute {
		t.Errorf("%v", got)
	}
}

// FuzzDecode wants no panic, and nothing in a result that could not run.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"Stop":[{"hooks":[{"command":"x"}]}]}`, `{"PreToolUse":[{"matcher":"Bash(*)","url":"x"}]}`, `[1]`, `{"Stop":{"hooks":{"type":"prompt","prompt":1}}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var v any
		if json.Unmarshal([]byte(s), &v) != nil {
			return
		}
		config, list := Decode(v)
		for _, g := range config {
			if events[string(g.Event)] != g.Event || len(g.Handlers) == 0 {
				t.Errorf("bad group %+v", g)
			}
			for _, h := range g.Handlers {
				if h.Limit() <= 0 || h.Command+h.URL+h.Prompt+h.Tool == "" {
					t.Errorf("bad handler %+v", h)
				}
			}
		}
		for _, fault := range list {
			if fault.Code == "" || fault.Message == "" {
				t.Errorf("bad fault %+v", fault)
			}
		}
	})
}
