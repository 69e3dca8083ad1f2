package cli_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/llm"
)

// The tests of this file hold both triggers to what people reported: a person's
// /name and a model's Skill tool, before a model that follows a script.

// skillCall is a model's call of a skill.
func skillCall(name, args string) string {
	return `{"name":"Skill","input":{"skill":` + quoted(name) + `,"args":` + quoted(args) + `}}`
}

// called is what came of one call of a skill by a model: the result, and the
// text that followed it.
func (w *world) called(name, args string, flags ...string) (result llm.Block, asked []recordedRequest) {
	w.t.Helper()
	out, asked := w.requests(`{"steps":[`+calls(skillCall(name, args))+`,{"text":"end"}],"subagents":{"*":[{"text":"sub"}]}}`,
		append([]string{"-p", "go"}, flags...)...)
	list := resultsOf(asked)
	if out.code != 0 || len(list) != 1 {
		w.t.Fatalf("Skill(%s): %+v, %+v", name, out, list)
	}
	return list[0], asked
}

// typed is what came of a line that a person typed.
func (w *world) typed(line string, flags ...string) (output, []recordedRequest) {
	w.t.Helper()
	return w.requests(`{"steps":[{"text":"end"}],"subagents":{"*":[{"text":"sub"}]}}`, append([]string{"-p", line}, flags...)...)
}

// TestCasesBothTriggers is the table of who may start a skill (I-3), and what
// each is told who may not.
func TestCasesBothTriggers(t *testing.T) {
	for _, tt := range []struct {
		fields   string
		settings string
		person   string // empty: it runs; else a part of the refusal
		model    string
	}{
		{"", `{}`, "", ""},
		{"disable-model-invocation: true\n", `{}`, "", "tell the person to type /demo"},
		{"user-invocable: false\n", `{}`, "only the model can use it", ""},
		{"disable-model-invocation: true\nuser-invocable: false\n", `{}`, "nobody can start it", "nobody can start it"},
		{"paths: '*.go'\n", `{}`, "", "*.go"},
		{"", `{"skillOverrides":{"demo":"off"}}`, "skillOverrides", "skillOverrides"},
		{"", `{"skillOverrides":{"demo":"user-invocable-only"}}`, "", "tell the person to type /demo"},
		{"", `{"skillOverrides":{"demo":"name-only"}}`, "", ""},
		{"", `{"permissions":{"deny":["Skill(demo)"]}}`, "", "Skill(demo)"},
	} {
		w := newWorld(t)
		w.skill("demo", "---\ndescription: d\n"+tt.fields+"---\nDo $ARGUMENTS now.\n")
		out, asked := w.typed("/demo it", "--settings", tt.settings)
		ran := len(texts(asked, "Do it now.")) == 1
		if ran != (tt.person == "") || tt.person != "" && (out.code != 3 || !strings.Contains(out.stderr, tt.person) || len(asked) != 0) {
			t.Errorf("%q %s typed: ran %v, %+v", tt.fields, tt.settings, ran, out)
		}
		r, asked := w.called("demo", "it", "--settings", tt.settings)
		ran = len(texts(asked, "Do it now.")) == 1
		if ran != (tt.model == "") || r.IsError != (tt.model != "") || !strings.Contains(r.Text, tt.model) || len(r.Text) > 400 {
			t.Errorf("%q %s called: ran %v, %+v", tt.fields, tt.settings, ran, r)
		}
	}
}

// TestCasesCalledNames: a model calls command files, skills of plugins by their
// leaf, and what a person typed; nothing runs that was not named.
func TestCasesCalledNames(t *testing.T) { // spec C-6
	w := newWorld(t)
	w.file(".claude/commands/whoami.md", "---\nname: ignored\ndescription: d\n---\nBody of whoami.\n")
	w.file(".claude/commands/git/push.md", described("push"))
	w.file("../plug/.claude-plugin/plugin.json", `{"name":"p"}`)
	w.file("../plug/skills/to-spec/SKILL.md", "---\ndescription: d\ndisable-model-invocation: true\n---\nBody of to-spec.\n")
	w.file("../plug/skills/to-speech/SKILL.md", described("to-speech"))
	w.file("../plug/skills/commit/SKILL.md", described("another commit"))
	plug := []string{"--plugin-dir", w.path("../plug")}
	for name, tt := range map[string]struct{ typed, called string }{
		"whoami":     {"Body of whoami.", "Body of whoami."},
		"git:push":   {"Body of push.", "Body of push."},
		"to-spec":    {"Body of to-spec.", ""}, // never the visible one that looks like it
		"p:to-spec":  {"Body of to-spec.", ""},
		"to-speech":  {"Body of to-speech.", "Body of to-speech."},
		"to-spe":     {},
		"push":       {},
		"who":        {},
		"commit":     {"# Commit\n", "# Commit\n"}, // what comes with the program keeps its name
		"p:commit":   {"Body of another commit.", "Body of another commit."},
		"../whoami":  {},
		"whoami\x00": {},
	} {
		all := func(asked []recordedRequest) int {
			return len(texts(asked, "Body of ")) + len(texts(asked, "# Commit\n"))
		}
		r, asked := w.called(name, "", plug...)
		want := min(len(tt.called), 1)
		if all(asked) != want || want == 1 && len(texts(asked, tt.called)) != 1 || r.IsError != (want == 0) {
			t.Errorf("Skill(%s): %+v", name, r)
		}
		if strings.ContainsAny(name, "\x00/") {
			continue // no line that a person types
		}
		out, asked := w.typed("/"+name, plug...)
		want = min(len(tt.typed), 1)
		if all(asked) != want || want == 1 && len(texts(asked, tt.typed)) != 1 || (out.code == 0) != (want == 1) {
			t.Errorf("/%s: %+v", name, out)
		}
	}
}

// TestCasesTypedTwice: what a person has just started is not started again when
// the model calls it too, whoever may start it otherwise.
func TestCasesTypedTwice(t *testing.T) { // spec I-7
	for _, fields := range []string{"", "disable-model-invocation: true\n", "paths: '*.go'\n"} {
		w := newWorld(t)
		w.skill("demo", "---\ndescription: d\n"+fields+"---\nDo $ARGUMENTS now.\n")
		out, asked := w.requests(`{"steps":[`+calls(skillCall("demo", "it"))+`,{"text":"end"}]}`, "-p", "/demo it", "--output-format", "json")
		list := resultsOf(asked)
		if out.code != 0 || len(list) != 1 || list[0].IsError || strings.Contains(out.stdout, `"reason"`) {
			t.Fatalf("%q: %+v, %+v", fields, out, list)
		}
		n := 0
		for _, m := range asked[len(asked)-1].Messages {
			for _, b := range m.Content {
				n += strings.Count(b.Text, "Do it now.")
			}
		}
		if n != 1 || len(texts(asked, "already loaded")) != 1 {
			t.Errorf("%q: the text stands there %d times, the notes are %q", fields, n, texts(asked, "already loaded"))
		}
	}
	// Only what a person may start, and did.
	w := newWorld(t)
	w.skill("demo", "---\ndescription: d\ndisable-model-invocation: true\nallowed-tools: Bash(touch made)\n---\nDo it.\n")
	touch := calls(bash("touch made"))
	if out, _ := w.requests(`{"steps":[{"text":"end"}]}`, "-p", "/demo", "--trust"); out.code != 0 {
		t.Fatalf("%+v", out)
	}
	if _, asked := w.requests(`{"steps":[`+steps(calls(skillCall("demo", "")), touch)+`]}`, "-p", "and?", "--continue", "--trust"); outcomes(asked, false) != ".x" || w.exists("made") {
		t.Errorf("a later turn has the grant again: %+v", resultsOf(asked))
	}
}

// TestCasesStacked: skills at the start of a line, with a model behind them.
func TestCasesStacked(t *testing.T) { // spec I-4
	w := newWorld(t)
	w.skill("one", "---\ndescription: d\n---\nOne for $ARGUMENTS.\n")
	w.skill("two", "---\ndescription: d\n---\nTwo for $ARGUMENTS.\n")
	if out, asked := w.typed("/one /two do XYZ"); out.code != 0 || len(texts(asked, "One for do XYZ.")) != 1 || len(texts(asked, "Two for do XYZ.")) != 1 {
		t.Errorf("%+v", out)
	}
	for _, line := range []string{"/tmp/a.png describe", "/one.tsx is broken", "/one/two", " /one", `\/one`, "/tmp", "please run /one"} {
		if out, asked := w.typed(line); out.code != 0 || len(texts(asked, "One for")) != 0 || len(texts(asked, strings.TrimPrefix(strings.TrimSpace(line), `\`))) == 0 {
			t.Errorf("%q: %+v", line, out)
		}
	}
}

// TestCasesSiblings: what fails beside a skill in one answer does not fail it,
// in either order.
func TestCasesSiblings(t *testing.T) { // spec A-1
	for _, order := range [][]string{{skillCall("aaa", ""), bash("false")}, {bash("false"), skillCall("aaa", "")}, {`{"name":"Nope"}`, skillCall("aaa", "")}} {
		w := newWorld(t)
		_, asked := w.requests(`{"steps":[`+calls(order...)+`,{"text":"end"}]}`, "-p", "go", "--allowedTools", "Bash(false)")
		failed := 0
		for _, r := range resultsOf(asked) {
			if r.IsError {
				failed++
			}
		}
		if failed != 1 || len(texts(asked, "First.")) != 1 {
			t.Errorf("%+v", resultsOf(asked))
		}
		wholeHistory(t, asked[len(asked)-1].Messages)
	}
}

// TestCasesFirstRequest: the first request of a headless run has the tool and
// the listing.
func TestCasesFirstRequest(t *testing.T) { // spec L-1, A-7
	w := newWorld(t)
	_, asked := w.typed("please help with the first thing")
	if len(asked) != 1 || !slices.Contains(names(asked[0].Tools), "Skill") || len(texts(asked, "- aaa: first")) != 1 {
		t.Errorf("%d requests, tools %q", len(asked), names(asked[0].Tools))
	}
}
