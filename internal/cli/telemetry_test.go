package cli_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/internal/lab/collector"
)

// TestTelemetry: a run sends what it did to the collector that the environment
// names, all of it before it ends (spec I-13).
func TestTelemetry(t *testing.T) {
	w := newWorld(t)
	w.file("../home/.claude/settings.json", `{"hooks":{"PreToolUse":[{"matcher":"Read","hooks":[{"type":"command","command":"true"}]}]}}`)
	w.skill("forked", "---\ndescription: forked\ncontext: fork\n---\nGo.\n")
	s := collector.Start(t)
	w.env = append(w.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+s.URL, "OTEL_SERVICE_NAME=mine", "OTEL_EXPORTER_OTLP_HEADERS=x-key=abc")
	out, _ := w.requests(`{"steps":[{"calls":[{"name":"Skill","input":{"skill":"forked"}},{"name":"Read","input":{"file_path":"none"}}]},{"text":"end"}],
		"subagents":{"*":[{"text":"found"}]}}`, "-p", "/aaa go", "--trust")
	if out.code != 0 || out.stderr != "" {
		t.Fatalf("%+v", out)
	}
	model := ""
	for _, span := range s.Spans() {
		if m := span.Attributes["gen_ai.request.model"]; m != "" {
			model = m
		}
	}
	want := strings.ReplaceAll(`knack.message
  invoke_skill aaa
  invoke_agent main
    chat MODEL
    execute_tool Skill
      invoke_skill forked
        invoke_agent general-purpose
          chat MODEL
    hook PreToolUse
    execute_tool Read
    chat MODEL
`, "MODEL", model)
	if diff := cmp.Diff(want, collector.Tree(s.Spans())); diff != "" {
		t.Error(diff)
	}
	if got := s.Resource()["service.name"]; got != "mine" || len(s.Points()) == 0 {
		t.Errorf("service %q, %d series", got, len(s.Points()))
	}
	for _, span := range s.Spans() {
		if span.Trace != s.Spans()[0].Trace {
			t.Errorf("%s is in another trace", span.Name)
		}
		if id := span.Attributes["gen_ai.conversation.id"]; id == "" || id != s.Spans()[0].Attributes["gen_ai.conversation.id"] {
			t.Errorf("%s is of conversation %q", span.Name, id)
		}
	}
	if _, h := s.Requests(); h[0].Get("X-Key") != "abc" {
		t.Errorf("headers %v", h[0])
	}
}

// TestTelemetryOffline: the same without a model (spec A-2), and without skills
// that answer.
func TestTelemetryOffline(t *testing.T) {
	w := newWorld(t)
	s := collector.Start(t)
	w.env = append(w.env, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="+s.URL+"/my/traces")
	w.run("-p", "/aaa")
	w.run("-p", "/nothing-like-it")
	if diff := cmp.Diff("knack.message\n  invoke_skill aaa\nknack.message\n", collector.Tree(s.Spans())); diff != "" {
		t.Error(diff)
	}
	if spans := s.Spans(); spans[2].Status != 2 || spans[2].Attributes["error.type"] == "" {
		t.Errorf("%+v", spans[2])
	}
	if paths, _ := s.Requests(); len(paths) != 2 || paths[0] != "/my/traces" {
		t.Errorf("%v", paths)
	}
	w.env = append(w.env, "OTEL_SDK_DISABLED=true")
	w.run("-p", "/aaa")
	if paths, _ := s.Requests(); len(paths) != 2 {
		t.Errorf("what is disabled sends: %v", paths)
	}
}

// TestTelemetryUnreachable: a collector that does not answer changes neither
// result nor exit code, and is mentioned once, with -v.
func TestTelemetryUnreachable(t *testing.T) {
	release := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer hangs.Close()
	defer close(release)
	for name, url := range map[string]string{"hangs": hangs.URL, "is away": "http://127.0.0.1:1"} {
		w := newWorld(t)
		w.env = append(w.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+url)
		if out := w.run("-p", "/aaa"); out.code != 0 || !strings.Contains(out.stdout, "First.") || out.stderr != "" {
			t.Errorf("%s: %+v", name, out)
		}
		if out := w.run("-p", "/aaa", "-v"); out.code != 0 || strings.Count(out.stderr, "telemetry was not sent") != 1 {
			t.Errorf("%s, with -v: %+v", name, out)
		}
	}
	w := newWorld(t)
	w.env = append(w.env, "OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4317")
	if out := w.run("-p", "/aaa"); out.code != 0 || !strings.Contains(out.stderr, "OTEL_EXPORTER_OTLP_ENDPOINT: it is not an http or https URL") {
		t.Errorf("%+v", out)
	}
}
