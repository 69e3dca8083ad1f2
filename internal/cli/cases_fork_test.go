package cli_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/internal/lab/anthropicserver"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/llmtest"
)

// forkOf returns the first request of the subagent, started by a person or by a
// model, and what it ended with.
func (w *world) forkOf(by, name, script string, flags ...string) (recordedRequest, output, []recordedRequest) {
	w.t.Helper()
	prompt, main := "/"+name, `{"text":"end"}`
	if by == "model" {
		prompt, main = "go", calls(skillCall(name, ""))+`,{"text":"end"}`
	}
	out, asked := w.requests(`{"steps":[`+main+`],"subagents":{"*":[`+script+`]}}`, append([]string{"-p", prompt}, flags...)...)
	for _, r := range asked {
		if r.Agent != "main" {
			return r, out, asked
		}
	}
	return recordedRequest{}, out, asked
}

var triggers = []string{"person", "model"}

// TestCasesForkAgent: an agent of the project is used, with its prompt, tools
// and model; an unknown one is an error that names those there are.
func TestCasesForkAgent(t *testing.T) { // spec I-8
	for _, by := range triggers {
		w := newWorld(t)
		w.file(".claude/agents/mine.md", "---\nname: mine\ndescription: d\ntools: Read, Skill\nmodel: haiku\n---\nYou are mine.\n")
		w.skill("demo", "---\ndescription: d\ncontext: fork\nagent: mine\n---\nDo it.\n")
		w.skill("alias", "---\ndescription: d\ncontext: fork\nagent-type: mine\n---\nDo it.\n")
		w.skill("lost", "---\ndescription: d\ncontext: fork\nagent: nobody\n---\nDo it.\n")
		for _, name := range []string{"demo", "alias"} {
			r, out, _ := w.forkOf(by, name, `{"text":"sub"}`)
			if out.code != 0 || !strings.HasPrefix(r.System, "You are mine.") || fmt.Sprint(names(r.Tools)) != "[Read Skill]" || r.Model != "haiku" {
				t.Errorf("%s by %s: model %s, tools %q, %+v", name, by, r.Model, names(r.Tools), out)
			}
		}
		r, out, asked := w.forkOf(by, "lost", `{"text":"sub"}`)
		told := out.stderr
		if by == "model" {
			told = resultsOf(asked)[0].Text
		}
		if r.Agent != "" || !strings.Contains(told, "mine") || !strings.Contains(told, "general-purpose") || len(texts(asked, "Do it.")) != 0 {
			t.Errorf("by %s: %q, %+v", by, told, out)
		}
	}
}

// TestCasesForkBegins: a subagent begins with the skill's text, and never with
// nothing; what is no fork stays in the conversation.
func TestCasesForkBegins(t *testing.T) { // spec I-8
	w := newWorld(t)
	w.skill("plan", "---\ndescription: d\ncontext: fork\n---\nPlan the day.\n")
	w.file(".claude/commands/nothing.md", "---\ndescription: d\ncontext: fork\n---\n")
	for _, by := range triggers {
		for name, want := range map[string]string{"plan": "Plan the day.", "nothing": `Skill "nothing" was started, and it holds no instructions`} {
			r, out, _ := w.forkOf(by, name, `{"text":"sub"}`)
			if out.code != 0 || len(r.Messages) == 0 || !strings.Contains(r.Messages[0].Content[0].Text, want) {
				t.Errorf("%s by %s: %+v, %+v", name, by, r.Messages, out)
			}
		}
		for _, context := range []string{"", "context: inline\n", "context: forked\n", "context: background\n"} {
			w.skill("demo", "---\ndescription: d\n"+context+"---\nDo it.\n")
			r, out, asked := w.forkOf(by, "demo", `{"text":"sub"}`)
			if r.Agent != "" || len(texts(asked, "Do it.")) != 1 {
				t.Errorf("%q by %s: %+v", context, by, out)
			}
		}
	}
}

// TestCasesForkTools: the tools that a subagent is sent are those that its skill
// lists, besides those that only read (I-9); nobody waits for a person.
func TestCasesForkTools(t *testing.T) {
	for _, by := range triggers {
		w := newWorld(t)
		w.skill("demo", "---\ndescription: d\ncontext: fork\nallowed-tools: Read, Grep, Bash(touch made)\n---\nDo it.\n")
		ask := `{"name":"AskUserQuestion","input":{"questions":[{"question":"Ready?","options":[{"label":"y"},{"label":"n"}]}]}}`
		r, out, asked := w.forkOf(by, "demo", calls(bash("touch made"), bash("touch more"), ask, skillCall("aaa", ""))+`,{"text":"sub"}`, "--trust", "--allowedTools", "Skill(demo)")
		got := names(r.Tools)
		for tool, want := range map[string]bool{"Read": true, "Grep": true, "Bash": true, "Skill": true, "SkillSearch": true, "Write": false, "Edit": false, "WebFetch": false, "Agent": false} {
			if slices.Contains(got, tool) != want {
				t.Errorf("by %s: %s is among the tools: %v", by, tool, !want)
			}
		}
		if out.code != 0 || !w.exists("made") || w.exists("more") {
			t.Errorf("by %s: %+v", by, out)
		}
		// It was told which skills there are, and used one.
		if len(texts(asked, "First.")) != 1 || len(texts([]recordedRequest{r}, "- aaa: first")) != 1 {
			t.Errorf("by %s: the subagent knows no skills", by)
		}
		if !strings.Contains(r.System, "Nobody can answer questions") {
			t.Errorf("by %s: the subagent does not know that nobody is there", by)
		}
	}
}

// TestCasesForkEndless: a subagent that never ends is stopped, and what it said
// last is not lost.
func TestCasesForkEndless(t *testing.T) { // spec I-10
	for _, by := range triggers {
		w := newWorld(t)
		w.skill("demo", "---\ndescription: d\ncontext: fork\n---\nDo it.\n")
		var list []string
		for i := range 60 {
			list = append(list, fmt.Sprintf(`{"text":"step %d","calls":[{"name":"Glob","input":{"pattern":"*"}}]}`, i+1))
		}
		_, out, asked := w.forkOf(by, "demo", steps(list...))
		told := out.stderr
		if by == "model" {
			told = resultsOf(asked)[0].Text
		}
		if !strings.Contains(told, "stopped after 50") || !strings.Contains(told, "step 50") {
			t.Errorf("by %s: %q", by, told)
		}
	}
}

// TestCasesAgentSkills: what an agent's definition says of skills: those that
// do not exist are told to it and to the person; a list of them limits it and
// every agent that it starts.
func TestCasesAgentSkills(t *testing.T) { // spec A-4
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c"} {
		w.skill(name, "---\ndescription: d\n---\nText of "+name+".\n")
	}
	w.file(".claude/agents/haunted.md", "---\nname: haunted\ndescription: d\nskills: [ghost, a]\n---\nHaunted.\n")
	w.file(".claude/agents/outer.md", "---\nname: outer\ndescription: d\ntools: Agent, Skill(a), Skill(b)\n---\nOuter.\n")
	w.file(".claude/agents/inner.md", "---\nname: inner\ndescription: d\ntools: Skill(b), Skill(c)\n---\nInner.\n")
	w.file(".claude/agents/free.md", "---\nname: free\ndescription: d\n---\nFree.\n")
	out, asked := w.requests(`{"steps":[`+calls(start("haunted", "Work."))+`,{"text":"end"}]}`, "-p", "go")
	if out.code != 0 || !strings.Contains(out.stderr, "ghost") || len(texts(asked, `"ghost" along, and it was not found`)) != 1 || len(texts(asked, "Text of a.")) != 1 {
		t.Errorf("%+v", out)
	}
	all := calls(skillCall("a", ""), skillCall("/b", ""), skillCall("project:c", ""))
	for kind, want := range map[string]string{"inner": "x.x", "free": "..x"} {
		out, asked := w.requests(`{"steps":[`+steps(all, calls(start(kind, "Work.")))+`,{"text":"end"}],"subagents":{"*":[`+all+`,{"text":"sub"}]}}`,
			"-p", "go", "--agent", "outer", "--output-format", "json")
		if got := outcomes(asked, false); out.code != 0 || got != "..x." {
			t.Errorf("the outer agent: %q, %+v: %+v", got, out, resultsOf(asked))
		}
		inner := slices.DeleteFunc(slices.Clone(asked), func(r recordedRequest) bool { return r.Agent == "main" })
		last := inner[len(inner)-1]
		last.Agent = "main"
		if got := outcomes([]recordedRequest{last}, false); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
		if n := strings.Count(out.stdout, `"reason"`); n != 1+strings.Count(want, "x") {
			t.Errorf("%d refusals are reported: %s", n, out.stdout)
		}
	}
}

// TestCasesModels: the model of a skill holds until the turn ends, the latest
// wins, and the next turn has the session's, whichever trigger it was and
// whether or not the model could be had.
func TestCasesModels(t *testing.T) { // spec I-5, I-6
	w := newWorld(t)
	w.skill("outer", "---\ndescription: d\nmodel: claude-outer\n---\nOuter.\n")
	w.skill("inner", "---\ndescription: d\nmodel: claude-inner\n---\nInner.\n")
	w.skill("lost", "---\ndescription: d\nmodel: gemini/no-such\n---\nLost.\n")
	for name, tt := range map[string]struct{ first, calls, want string }{
		"typed":         {"/outer", "inner", "claude-outer claude-inner claude-test"},
		"called":        {"go", "outer inner", "claude-test claude-outer claude-inner claude-test"},
		"typed, lost":   {"/lost", "inner", "claude-test claude-inner claude-test"},
		"called, lost":  {"/inner", "lost", "claude-inner claude-test claude-test"},
		"the other way": {"/inner", "outer", "claude-inner claude-outer claude-test"},
	} {
		var replies []llmtest.Reply
		for i, skill := range strings.Fields(tt.calls) {
			input, _ := json.Marshal(map[string]string{"skill": skill})
			replies = append(replies, llmtest.Reply{Stop: llm.ToolCalls, Parts: []llmtest.Part{{Call: &llm.ToolCall{ID: fmt.Sprint("toolu_", i), Name: "Skill", Input: input}}}})
		}
		replies = append(replies, llmtest.Reply{Parts: []llmtest.Part{{Text: "one"}}}, llmtest.Reply{Parts: []llmtest.Part{{Text: "two"}}})
		s := anthropicserver.Start(t, replies...)
		env := w.env
		w.env = append(slices.Clone(env), "ANTHROPIC_BASE_URL="+s.URL, "ANTHROPIC_API_KEY="+anthropicserver.Key)
		for _, line := range [][]string{{"-p", tt.first}, {"-p", "and on", "--continue"}} {
			out := w.run(append(line, "--model", "anthropic/claude-test", "--allowedTools", "Skill")...)
			if out.code != 0 {
				t.Fatalf("%s: %+v", name, out)
			}
			if lost := strings.Contains(tt.first+tt.calls, "lost") && line[1] == tt.first; strings.Contains(out.stderr, "no-such") != lost {
				t.Errorf("%s: the notices are %q", name, out.stderr)
			}
		}
		w.env = env
		var got []string
		for _, r := range s.Requests() {
			got = append(got, r.Model)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: asked %q, want %s", name, got, tt.want)
		}
	}
}
