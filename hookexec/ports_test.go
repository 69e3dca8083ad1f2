package hookexec

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/knack-skills/knack/hook"
)

func handler(h hook.Handler) Entry {
	return Entry{Owner: "settings", Level: User, Event: hook.PreToolUse, Handler: h}
}

// TestHTTP is H-4's http: what is sent, what comes back, and what is kept to
// oneself.
func TestHTTP(t *testing.T) {
	var sent struct {
		method, body, auth, kind string
	}
	mux := http.NewServeMux()
	answer := func(path string, status int, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, q *http.Request) {
			b, err := io.ReadAll(q.Body)
			if err != nil {
				t.Error(err)
			}
			sent.method, sent.body, sent.auth, sent.kind = q.Method, string(b), q.Header.Get("X-Auth"), q.Header.Get("Content-Type")
			if status/100 == 3 {
				w.Header().Set("Location", "/block")
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body) // the client may have seen enough
		})
	}
	answer("/empty", 204, "")
	answer("/block", 200, ` {"decision":"block","reason":"no"} `)
	answer("/text", 200, "hello")
	answer("/broken", 200, "{broken}")
	answer("/error", 500, `{"decision":"block"}`)
	answer("/moved", 307, "")
	answer("/flood", 200, "{"+strings.Repeat(" ", 2*maxOutput)+"}")
	mux.HandleFunc("/hang", func(_ http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body) // only then does the server see the client leave
		<-q.Context().Done()
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	r := New(Options{Env: func() []string { return []string{"TOKEN=secret", "OTHER=hidden"} }})
	for _, tt := range []struct{ url, verdict, notice string }{
		{server.URL + "/empty", OK, ""},
		{server.URL + "/block", Blocked, ""},
		{server.URL + "/text?key=private", Failed, "no JSON object"},
		{server.URL + "/broken", Failed, "no JSON object"},
		{server.URL + "/error", Failed, "500"},
		{server.URL + "/moved", Failed, "redirects are not followed"},
		{server.URL + "/flood", Failed, "more than 1 MiB"},
		{server.URL + "/hang?key=private", Timeout, "time limit"},
		{"http://127.0.0.1:1/x?key=private", Failed, "the request failed"},
		{"file:///etc/passwd", Failed, "not one of http or https"},
		{"://", Failed, "not one of http or https"},
	} {
		e := handler(hook.Handler{Type: hook.HTTP, URL: tt.url, Headers: map[string]string{"X-Auth": "Bearer $TOKEN ${TOKEN}-$OTHER$MISSING"}, AllowedEnv: []string{"TOKEN", "MISSING"}})
		if tt.verdict == Timeout {
			e.Handler.Timeout = 100 * time.Millisecond
		}
		out, results := r.Trace(t.Context(), [][]Entry{{e}}, pre)
		notices := strings.Join(out.Notices, "|")
		if results[0].Verdict != tt.verdict || !strings.Contains(notices, tt.notice) {
			t.Errorf("%s: %s, %q", tt.url, results[0].Verdict, notices)
		}
		if strings.Contains(notices, "secret") || strings.Contains(notices, "private") {
			t.Errorf("%s: a secret in %q", tt.url, notices)
		}
		if strings.HasSuffix(tt.url, "/empty") {
			if sent.method != "POST" || !strings.Contains(sent.body, `"tool_name":"Bash"`) || sent.auth != "Bearer secret secret-" || sent.kind != "application/json" {
				t.Errorf("sent %+v", sent)
			}
			if !strings.Contains(notices, "$OTHER, which is not in allowedEnvVars") {
				t.Errorf("notices %q", notices)
			}
		}
	}
}

// TestModels: prompt and agent hooks answer {ok, reason}.
func TestModels(t *testing.T) {
	for _, tt := range []struct {
		reply   string
		err     error
		verdict string
		reason  string
	}{
		{`{"ok":true}`, nil, OK, ""},
		{`{"ok":false,"reason":"it is not safe"}`, nil, Blocked, "it is not safe"},
		{"```json\n{\"ok\": false, \"reason\": \"fenced\"}\n```", nil, Blocked, "fenced"},
		{"yes", nil, Failed, ""}, {`{"reason":"x"}`, nil, Failed, ""}, {`{"ok":"true"}`, nil, Failed, ""}, {"", errors.New("overloaded"), Failed, ""},
	} {
		for _, kind := range []string{hook.Prompt, hook.Agent} {
			var model, prompt string
			turns := 0
			r := New(Options{
				AskModel: func(_ context.Context, m, p string) (string, error) { model, prompt = m, p; return tt.reply, tt.err },
				RunAgent: func(_ context.Context, m, p string, n int) (string, error) {
					model, prompt, turns = m, p, n
					return tt.reply, tt.err
				},
			})
			out, results := r.Trace(t.Context(), [][]Entry{{handler(hook.Handler{Type: kind, Prompt: "Is $ARGUMENTS safe?", Model: "small"})}}, pre)
			if results[0].Verdict != tt.verdict || !strings.Contains(out.Reason, tt.reason) || (tt.verdict == Failed) != (len(out.Notices) == 1) {
				t.Errorf("%s of %q: %s, %+v", kind, tt.reply, results[0].Verdict, out)
			}
			if model != "small" || !strings.HasPrefix(prompt, `Is {"session_id":"s1"`) || kind == hook.Agent && turns != 50 {
				t.Errorf("%s asked %q %q %d", kind, model, prompt, turns)
			}
		}
	}
	slow := New(Options{AskModel: func(ctx context.Context, _, _ string) (string, error) { <-ctx.Done(); return "", ctx.Err() }})
	e := handler(hook.Handler{Type: hook.Prompt, Prompt: "p", Timeout: 50 * time.Millisecond})
	if _, results := slow.Trace(t.Context(), [][]Entry{{e}}, pre); results[0].Verdict != Timeout {
		t.Errorf("a model that hangs: %+v", results[0])
	}
}

// TestTool: mcp_tool fills its input from the event and reads the answer like
// output.
func TestTool(t *testing.T) {
	var got string
	reply, fail := `{"decision":"block","reason":"scanned"}`, error(nil)
	r := New(Options{CallTool: func(_ context.Context, server, tool string, input map[string]any) (string, error) {
		b, err := json.Marshal(input)
		if err != nil {
			t.Error(err)
		}
		got = server + " " + tool + " " + string(b)
		return reply, fail
	}})
	h := hook.Handler{Type: hook.MCPTool, Server: "s", Tool: "scan", Input: map[string]any{
		"line": "run ${tool_input.command}", "all": "${tool_input}", "none": "${tool_input.x.y}", "list": []any{"${session_id}", 1.0},
	}}
	out := r.Run(t.Context(), [][]Entry{{handler(h)}}, hook.Input{Event: hook.PreToolUse, SessionID: "s1", ToolInput: json.RawMessage(`{"command":"ls"}`)})
	if !out.Block || got != `s scan {"all":{"command":"ls"},"line":"run ls","list":["s1",1],"none":""}` {
		t.Errorf("%+v after %s", out, got)
	}
	fail = errors.New("no such server")
	if out := r.Run(t.Context(), [][]Entry{{handler(h)}}, pre); out.Block || len(out.Notices) != 1 || !strings.Contains(out.Notices[0], "no such server") {
		t.Errorf("%+v", out)
	}
}

// TestNoPorts: what nobody can answer is said, once, and lets the event go on.
func TestNoPorts(t *testing.T) {
	r := New(Options{})
	for _, h := range []hook.Handler{{Type: hook.Prompt, Prompt: "p"}, {Type: hook.Agent, Prompt: "p"}, {Type: hook.MCPTool, Server: "s", Tool: "t"}, {Type: "magic"}} {
		if out, results := r.Trace(t.Context(), [][]Entry{{handler(h)}}, pre); results[0].Verdict != Failed || len(out.Notices) != 1 || out.Block {
			t.Errorf("%s: %+v", h.Type, out)
		}
	}
}

// TestAdmit is the table of H-10.
func TestAdmit(t *testing.T) {
	all := []string{Managed, User, Project, Local, Plugin, Skill, Agent}
	for _, tt := range []struct {
		name string
		p    Policy
		f    Facts
		runs string // levels
	}{
		{"trusted", Policy{Trusted: true}, Facts{}, "managed user project local plugin skill agent"},
		{"not trusted", Policy{}, Facts{}, "managed user plugin skill agent"},
		{"not trusted, from the workspace", Policy{}, Facts{Workspace: true}, "managed"},
		{"disabled", Policy{Trusted: true, Disabled: true}, Facts{}, "managed"},
		{"disabled by the administrator", Policy{Trusted: true, Disabled: true, DisabledManaged: true}, Facts{Managed: true}, ""},
		{"managed only", Policy{Trusted: true, ManagedOnly: true}, Facts{}, "managed"},
		{"managed only, a managed plugin", Policy{Trusted: true, ManagedOnly: true}, Facts{Managed: true}, strings.Join(all, " ")},
		{"managed only, bundled", Policy{ManagedOnly: true}, Facts{Bundled: true}, "managed user plugin skill agent"},
		{"plugins only", Policy{Trusted: true, PluginOnly: true}, Facts{}, "managed plugin"},
		{"plugins only, of a plugin", Policy{Trusted: true, PluginOnly: true}, Facts{Plugin: true}, strings.Join(all, " ")},
		{"remote", Policy{Trusted: true}, Facts{Remote: true, Managed: true}, ""},
	} {
		var runs []string
		for _, level := range all {
			ok, why := Admit(level, tt.f, tt.p)
			if ok == (why != "") {
				t.Errorf("%s, %s: %v without a reason %q", tt.name, level, ok, why)
			}
			if ok {
				runs = append(runs, level)
			}
		}
		if got := strings.Join(runs, " "); got != tt.runs {
			t.Errorf("%s: %q run, want %q", tt.name, got, tt.runs)
		}
	}
}
