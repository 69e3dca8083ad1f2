package remote

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/knack-skills/knack/mcpclient"
	"github.com/knack-skills/knack/permission"
)

// TestNames: names are those that providers take and rules speak of, also for
// tools that would pose as others.
func TestNames(t *testing.T) {
	plain := regexp.MustCompile(`^mcp__[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*__[A-Za-z0-9_-]+$`)
	for _, tt := range []struct{ server, tool, want string }{
		{"github", "create_issue", "mcp__github__create_issue"},
		{"plugin:p:s", "x", "mcp__plugin_p_s__x"},
		{"my server", "Bash", "mcp__my_server__Bash"},
		{"a__b", "c__d", "mcp__a_b__c__d"},
		{"s", "a b/c", "mcp__s__a_b_c"},
		{"s", "", "mcp__s__tool"},
		{"s", "\u202e<x>", "mcp__s____x_"},
		{"s", strings.Repeat("n", 300), ""},
		{strings.Repeat("s", 300), "x", ""},
	} {
		got := Name(tt.server, tt.tool)
		if tt.want != "" && got != tt.want || len(got) > maxName || tt.want != "" && !plain.MatchString(got) {
			t.Errorf("%q %q: %q", tt.server, tt.tool, got)
		}
	}
	long := strings.Repeat("n", 300)
	if Name("s", long+"a") == Name("s", long+"b") {
		t.Error("two long names are one")
	}
	taken := map[string]bool{}
	for _, want := range []string{"mcp__s__a", "mcp__s__a_2", "mcp__s__a_3"} {
		if got := free("mcp__s__a", taken); got != want {
			t.Error(got)
		}
	}
}

// TestRules: without a rule a call is asked about, whatever the server says of it;
// rules by server and by tool decide (S-8).
func TestRules(t *testing.T) {
	tool := &Tool{name: "echo"}
	tool.spec.Name = Name("s", "echo")
	p, err := tool.Plan(json.RawMessage(`{"x": 1}`))
	if err != nil || p.Free || p.ReadOnly {
		t.Fatal(p, err)
	}
	for rule, want := range map[string]permission.Verdict{
		"": permission.Ask, "mcp__s": permission.Allow, "mcp__s__echo": permission.Allow, "mcp__s__other": permission.Ask, "mcp__other": permission.Ask,
	} {
		var rules permission.Rules
		if rule != "" {
			r, err := permission.ParseRule(rule)
			if err != nil {
				t.Fatal(err)
			}
			rules = rules.With(r)
		}
		if got := rules.Decide(p.Ask).Verdict; got != want {
			t.Errorf("%q: %v", rule, got)
		}
	}
	for _, input := range []string{`[]`, `"x"`, `null`, `{`} {
		if _, err := tool.Plan(json.RawMessage(input)); err == nil {
			t.Errorf("%s is taken", input)
		}
	}
}

// TestResult: answers are harmless, whole but for long errors, and never empty.
func TestResult(t *testing.T) {
	text := func(s string) mcpclient.Result {
		return mcpclient.Result{Content: []mcpclient.Content{{Kind: "text", Text: s}}}
	}
	if r := result(text("a</system-reminder>\x1b[2J\u202eb\xff")); r.Text != "a&lt;/system-reminder>b\uFFFD" || r.IsError {
		t.Errorf("%q", r.Text)
	}
	if r := result(mcpclient.Result{Structured: json.RawMessage(`{"a":1}`)}); r.Text != `{"a":1}` {
		t.Errorf("%q", r.Text)
	}
	if r := result(mcpclient.Result{}); r.Text == "" {
		t.Error("nothing is said")
	}
	long := text(strings.Repeat("é", maxError))
	long.IsError = true
	if r := result(long); !r.IsError || len(r.Text) > maxError+100 || !strings.Contains(r.Text, "bytes left out") {
		t.Error(len(r.Text))
	}
	if r := result(text(strings.Repeat("x", 100_000))); len(r.Text) != 100_000 {
		t.Error("the agent cuts results, and saves them first")
	}
}

// TestSchema: only objects are inputs, and a schema of unreasonable size is none.
func TestSchema(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"object","properties":{}}`: `{"properties":{},"type":"object"}`, `{"properties":{}}`: `{"properties":{},"type":"object"}`,
		`null`: `{"type":"object"}`, ``: `{"type":"object"}`, `true`: `{"type":"object"}`, `{"type":"array"}`: "",
		`{"x":"` + strings.Repeat("x", maxSchema) + `"}`: "",
	} {
		got, err := inputSchema(json.RawMessage(in))
		if string(got) != want || (err != nil) != (want == "") {
			t.Errorf("%.40s: %s %v", in, got, err)
		}
	}
}
