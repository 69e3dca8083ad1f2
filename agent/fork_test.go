package agent_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agentdef"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/turn"
)

const runSkill = `{"calls":[{"name":"Skill","input":{"skill":"forked","args":"the work"}}]}`

// TestFork: an agent of its own, an empty history, one text back.
func TestFork(t *testing.T) { // spec I-8
	w := newWorld(t, map[string]string{
		"project/a.txt":            "alpha",
		skills + "forked/SKILL.md": skillFile("Do $ARGUMENTS.", "context: fork", "model: opus", "effort: low", "agent: Explore"),
	})
	dir := t.TempDir()
	c := agent.New(w.options(w.engine, llm.Record(script(t, `{"steps":[`+runSkill+`,{"text":"thanks"}],
		"subagents":{"forked":[{"calls":[{"name":"Read","input":{"file_path":"a.txt"}}]},{"text":"the answer"}]}}`), dir)))
	if ans, err := c.Submit(t.Context(), agent.Input{Text: "secret of the parent"}); err != nil || ans.Text != "thanks" {
		t.Fatalf("%+v, %v", ans, err)
	}
	if r := w.results(session.Main); len(r) != 1 || r[0].Text != "Skill \"forked\" completed (forked).\n\nResult:\nthe answer" {
		t.Errorf("result %+v", r)
	}
	reqs := recorded(t, dir)
	if len(reqs) != 4 {
		t.Fatalf("%d requests", len(reqs))
	}
	first := reqs[1]
	if first.Agent == "main" || first.Agent != reqs[2].Agent || first.Model != "opus" || first.Effort != "low" {
		t.Errorf("the fork asked as %s, model %s, effort %s", first.Agent, first.Model, first.Effort)
	}
	if !strings.Contains(string(first.Messages[0]), "Do the work.") || strings.Contains(first.text(), "secret of the parent") {
		t.Errorf("the fork began with %s", first.text())
	}
	for _, r := range []request{reqs[0], reqs[3]} {
		if strings.Contains(r.text(), "alpha") || strings.Contains(r.text(), "Do the work") {
			t.Error("the parent sees what its fork did")
		}
	}
	if started := of[agent.AgentStarted](w); len(started) != 1 || started[0].Type != "Explore" || started[0].Skill != "forked" || started[0].Parent != session.Main {
		t.Errorf("started %+v", started)
	}
	id := of[agent.AgentEnded](w)[0].Agent
	if _, alive := w.engine.Session().Agent(id); alive || len(w.engine.Session().Invoked(id)) != 0 || len(w.engine.Session().Told(id)) != 0 {
		t.Error("the fork left something behind")
	}
	calls := 0
	for _, p := range of[agent.Progress](w) {
		if p.Agent == id && p.Calls > 0 {
			calls = p.Calls
		}
	}
	if calls != 1 {
		t.Errorf("progress says %d calls", calls)
	}
}

// TestForkByPerson: no call of the parent's model, and its text comes back.
func TestForkByPerson(t *testing.T) { // spec I-8
	w := newWorld(t, map[string]string{skills + "forked/SKILL.md": skillFile("Do $ARGUMENTS.", "context: fork")})
	dir := t.TempDir()
	c := agent.New(w.options(w.engine, llm.Record(script(t, `{"steps":[],"subagents":{"*":[{"text":"the answer"}]}}`), dir)))
	r, err := c.Invoke(t.Context(), invoke.Request{Name: "forked", Args: "x", By: invoke.ByUser})
	if err != nil || r.Fork.Text != "the answer" || len(r.Messages) != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, q := range recorded(t, dir) {
		if q.Agent == "main" {
			t.Error("the parent's model was asked")
		}
	}
}

// TestForkEnds: what the parent hears when it does not go well.
func TestForkEnds(t *testing.T) { // spec I-8, I-10
	for _, tt := range []struct {
		name, field, steps string // of the skill; of the fork
		want               string
		failed             bool
	}{
		{"empty", "agent: Explore", `{}`, "Skill execution completed", false},
		{"unknown type", "agent: Explorer", `{}`, "general-purpose", true},
		{"model fails", "agent: Explore", `{"error":{"status":400,"message":"bad things"}}`, "bad things", true},
		{"asks the person", "agent: general-purpose", `{"calls":[{"name":"AskUserQuestion","input":{"questions":[{"question":"Which?","options":[{"label":"a"},{"label":"b"}]}]}}]},{"expect":{"last_user_contains":"cannot ask the person"},"text":"assumed"}`, "assumed", false},
		{"needs approval", "agent: general-purpose", `{"calls":[{"name":"Bash","input":{"command":"touch x","description":"d"}}]},{"expect":{"last_user_contains":"Permission denied"},"text":"assumed"}`, "assumed", false},
		{"itself", "agent: general-purpose", runSkill + `,{"expect":{"last_user_contains":"cannot start itself"},"text":"refused"}`, "refused", false},
		{"itself through another", "agent: general-purpose", `{"calls":[{"name":"Agent","input":{"description":"d","prompt":"deeper"}}]},{"text":"top"}`, "top", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{skills + "forked/SKILL.md": skillFile("Do it.", "context: fork", tt.field)})
			o := w.options(w.engine, script(t, `{"steps":[`+runSkill+`,{"text":"end"}],"subagents":{"forked":[`+tt.steps+`],
				"*":[`+runSkill+`,{"expect":{"last_user_contains":"cannot start itself"},"text":"no"}]}}`))
			o.Ask = asks(func() { t.Error("a fork asked the person") })
			c := agent.New(o)
			if ans, err := c.Submit(t.Context(), agent.Input{Text: "go"}); err != nil || ans.Text != "end" {
				t.Fatalf("%+v, %v", ans, err)
			}
			valid(t, c.History())
			if r := w.results(session.Main); len(r) != 1 || r[0].IsError != tt.failed || !strings.Contains(r[0].Text, tt.want) {
				t.Errorf("%+v", r)
			}
			if n := w.engine.Session().Running(); len(n) != 0 {
				t.Errorf("%v still run", n)
			}
		})
	}
}

// TestForkTools: what a fork may call (spec I-9), also under the settings of
// its parent's turn.
func TestForkTools(t *testing.T) {
	for _, tt := range []struct {
		name   string
		fields []string
		call   string
		parent string // disallowed by a skill of the parent's turn
		want   string
		file   bool
	}{
		{"listed is granted", []string{"allowed-tools: Bash(touch made)"}, "touch made", "", "", true},
		{"others are not", []string{"allowed-tools: Bash(touch other)"}, "touch made", "", "touch other", false},
		{"limited, though the person allows it", []string{"allowed-tools: Read"}, "touch made", "", `no tool "Bash"`, false},
		{"taken away", []string{"disallowed-tools: Bash"}, "touch made", "", `no tool "Bash"`, false},
		{"refused by rule", []string{"disallowed-tools: Bash(touch *)"}, "touch made", "", "disallowed-tools", false},
		{"the parent's refusals hold", nil, "touch made", "Bash(touch *)", "disallowed-tools", false},
		{"free", nil, "touch made", "", "", true},
		{"plan", []string{"agent: Plan"}, "touch made", "", "plan mode", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{
				skills + "forked/SKILL.md": skillFile("Do it.", append(tt.fields, "context: fork")...)})
			w.rules.Allow = []permission.Rule{rule(t, "Skill"), rule(t, "Bash(touch made)")}
			c := agent.New(w.options(w.engine, script(t, `{"steps":[`+runSkill+`,{"text":"end"}],"subagents":{"forked":[
				{"calls":[{"name":"Bash","input":{"command":"`+tt.call+`","description":"d"}}]},{}]}}`)))
			in := agent.Input{Text: "go"}
			if tt.parent != "" {
				in.Override.DisallowedTools = []string{tt.parent}
			}
			if _, err := c.Submit(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			var got llm.Block
			for _, r := range w.results("") {
				if r.Name == "Bash" {
					got = r
				}
			}
			if got.IsError == tt.file || !strings.Contains(got.Text, tt.want) || exists(w, "made") != tt.file {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestForkLimitCoversEdits: the patterns of allowed-tools hold for every tool
// that they speak of.
func TestForkLimitCoversEdits(t *testing.T) { // spec I-9, S-8
	w := newWorld(t, map[string]string{"project/a.txt": "alpha",
		skills + "forked/SKILL.md": skillFile("Do it.", "context: fork", "allowed-tools: Edit(out/**)")})
	w.rules.Allow = []permission.Rule{rule(t, "Skill"), rule(t, "Edit")}
	c := agent.New(w.options(w.engine, script(t, `{"steps":[`+runSkill+`,{}],"subagents":{"forked":[
		{"calls":[{"name":"Read","input":{"file_path":"a.txt"}}]},
		{"calls":[{"name":"MultiEdit","input":{"file_path":"a.txt","edits":[{"old_string":"alpha","new_string":"beta"}]}},
		{"name":"Write","input":{"file_path":"out/b.txt","content":"beta"}}]},{}]}}`)))
	if _, err := c.Submit(t.Context(), agent.Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	if w.read("project/a.txt") != "alpha" || w.read("project/out/b.txt") != "beta" {
		t.Errorf("%+v", w.results(""))
	}
}

// TestForkReadsItsFiles: a skill outside of the workspace tells its fork to read
// what lies beside it.
func TestForkReadsItsFiles(t *testing.T) {
	w := newWorld(t, map[string]string{"home/.claude/skills/forked/SKILL.md": skillFile("Read x.md.", "context: fork"),
		"home/.claude/skills/forked/x.md": "beside", "home/other.md": "elsewhere"})
	read := func(p string) string { return `{"name":"Read","input":{"file_path":"` + w.dir + `/home/` + p + `"}}` }
	c := agent.New(w.options(w.engine, script(t, `{"steps":[`+runSkill+`,{"calls":[`+read(".claude/skills/forked/x.md")+`]},{}],
		"subagents":{"*":[{"calls":[`+read(".claude/skills/forked/x.md")+`,`+read("other.md")+`]},{}]}}`)))
	if _, err := c.Submit(t.Context(), agent.Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	var failed []bool
	for _, r := range w.results("") {
		failed = append(failed, r.IsError)
	}
	if fmt.Sprint(failed) != "[false true false true]" {
		t.Errorf("%+v", w.results(""))
	}
}

// TestDepth: three levels below the main agent, and no more.
func TestDepth(t *testing.T) { // spec I-10
	w := newWorld(t, nil)
	deeper := `{"calls":[{"name":"Agent","input":{"description":"d","prompt":"deeper"}}]}`
	c := agent.New(w.options(w.engine, script(t, `{"steps":[`+deeper+`,{}],"subagents":{"*":[`+deeper+`,{"text":"up"}]}}`)))
	if _, err := c.Submit(t.Context(), agent.Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	valid(t, c.History())
	started := of[agent.AgentStarted](w)
	if len(started) != session.MaxDepth {
		t.Errorf("%d subagents", len(started))
	}
	refused := 0
	for _, r := range w.results("") {
		if r.IsError && strings.Contains(r.Text, "do the task here") {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("%+v", w.results(""))
	}
}

// TestMaxAgents: twenty at once, the next is refused.
func TestMaxAgents(t *testing.T) { // spec I-10
	w := newWorld(t, nil)
	release := make(chan struct{})
	asked := 0
	c := agent.New(w.options(w.engine, model(func(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
		if r.AgentID != "main" {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return says(llm.TextDelta{Text: "sub"})
		}
		if asked++; asked > 1 {
			return says(llm.TextDelta{Text: "end"})
		}
		var calls []llm.Event
		for i := range session.MaxAgents + 1 {
			calls = append(calls, call(fmt.Sprint(i), "Agent", `{"description":"d","prompt":"p","run_in_background":true}`))
		}
		return says(calls...)
	})))
	if _, err := c.Submit(t.Context(), agent.Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, r := range w.results(session.Main) {
		if r.IsError && strings.Contains(r.Text, "20 subagents run already") {
			refused++
		}
	}
	if refused != 1 || len(c.Tasks()) != session.MaxAgents {
		t.Errorf("%d refused, %d run", refused, len(c.Tasks()))
	}
	close(release)
	if pending, err := c.Wait(t.Context()); err != nil || !pending {
		t.Errorf("Wait = %v, %v", pending, err)
	}
	if msgs := c.Deliver(); len(msgs) != session.MaxAgents {
		t.Errorf("%d results", len(msgs))
	}
	c.Close()
}

// TestBackground: the result comes to whoever started it, else to the session,
// never to another agent; Close ends what runs.
func TestBackground(t *testing.T) { // spec I-11
	for _, starterEnds := range []bool{true, false} {
		t.Run(fmt.Sprint("starter ends ", starterEnds), func(t *testing.T) {
			w := newWorld(t, map[string]string{"project/a.txt": "alpha",
				skills + "bg/SKILL.md":     skillFile("Work.", "context: fork", "background: true"),
				skills + "forked/SKILL.md": skillFile("Start it.", "context: fork")})
			release, done := make(chan struct{}), make(chan struct{})
			steps := map[string]int{}
			wait := probe{"Wait", agent.Plan{Run: func(ctx context.Context, _ agent.CallEnv) (agent.Result, error) {
				close(release)
				<-done
				return agent.Result{Text: "waited"}, nil
			}}}
			o := w.options(w.engine, model(func(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
				if r.Skill == "bg" {
					select {
					case <-release:
					case <-ctx.Done():
					}
					return says(llm.TextDelta{Text: "result of bg"})
				}
				steps[r.Skill]++
				switch n := steps[r.Skill]; {
				case r.Skill == "forked" && n == 1:
					return says(call("1", "Skill", `{"skill":"bg"}`))
				case r.Skill == "forked" && n == 2 && !starterEnds:
					return says(call("2", "Wait", "{}"))
				case r.Skill == "" && n == 1:
					return says(call("1", "Skill", `{"skill":"forked"}`))
				}
				return says(llm.TextDelta{Text: "end"})
			}), wait)
			c := agent.New(o)
			if !starterEnds {
				// The starter waits until its background agent has delivered.
				go func() {
					<-release
					for len(c.Tasks()) > 0 {
						if _, err := c.Wait(t.Context()); err != nil {
							break
						}
					}
					close(done)
				}()
			}
			if _, err := c.Submit(t.Context(), agent.Input{Text: "go"}); err != nil {
				t.Fatal(err)
			}
			if starterEnds {
				close(release)
			}
			pending, err := c.Wait(t.Context())
			if err != nil || pending != starterEnds {
				t.Fatalf("Wait = %v, %v", pending, err)
			}
			if starterEnds {
				if _, err := c.Submit(t.Context(), agent.Input{}); err != nil {
					t.Fatal(err)
				}
			}
			for _, m := range of[agent.Message](w) {
				for _, b := range m.Message.Content {
					if b.Type == llm.Text && strings.Contains(b.Text, "completed.\n\nResult:\nresult of bg") && (m.Agent == session.Main) != starterEnds {
						t.Errorf("delivered to %s", m.Agent)
					}
				}
			}
			valid(t, c.History())
		})
	}
}

// TestStop: a background subagent can be stopped, and Close stops all.
func TestStop(t *testing.T) { // spec I-10, I-11
	w := newWorld(t, map[string]string{skills + "bg/SKILL.md": skillFile("Work.", "context: fork", "background: true")})
	c := agent.New(w.options(w.engine, model(func(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
		return func(yield func(llm.Event, error) bool) { <-ctx.Done(); yield(nil, ctx.Err()) }
	})))
	start := func() session.AgentID {
		r, err := c.Invoke(t.Context(), invoke.Request{Name: "bg", By: invoke.ByUser})
		if err != nil {
			t.Fatal(err)
		}
		return session.AgentID(r.Fork.Task)
	}
	one, two := start(), start()
	if got := c.Tasks(); len(got) != 2 || !slices.Contains(got, one) || !slices.Contains(got, two) {
		t.Errorf("tasks %v", got)
	}
	if !c.StopTask(one) || c.StopTask("agent-none") {
		t.Error("StopTask")
	}
	c.Close()
	msgs := c.Deliver()
	if len(msgs) != 2 || !strings.Contains(msgs[0].Text, "failed") || len(c.Tasks()) != 0 {
		t.Errorf("%+v", msgs)
	}
	if _, err := c.Invoke(t.Context(), invoke.Request{Name: "bg", By: invoke.ByUser}); err == nil {
		t.Error("a task began after the end")
	}
	if n := w.engine.Session().Running(); len(n) != 0 {
		t.Errorf("%v still run", n)
	}
}

// TestAgentType: prompt and surroundings, preloaded skills, absent tools.
func TestAgentType(t *testing.T) { // spec A-4, I-1
	w := newWorld(t, map[string]string{skills + "pre/SKILL.md": skillFile("Preloaded text.")})
	dir := t.TempDir()
	o := w.options(w.engine, llm.Record(script(t, `{"steps":[{"calls":[
		{"name":"Agent","input":{"description":"d","prompt":"Work.","subagent_type":"full"}}]},
		{"calls":[{"name":"Agent","input":{"description":"d","prompt":"Work.","subagent_type":"lean"}}]},{}]}`), dir))
	o.Around, o.AroundLean = "AROUND", "LEAN"
	o.Definition = func(name string) (*agentdef.Definition, error) {
		return &agentdef.Definition{Name: name, Prompt: "I am " + name + ".",
			Tools: agentdef.Tools{Listed: true, Only: []string{"Read", "Skill", "Missing"}},
			Run:   agentdef.Run{Lean: name == "lean", Skills: []string{"pre", "gone"}}}, nil
	}
	if _, err := agent.New(o).Submit(t.Context(), agent.Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	reqs := recorded(t, dir)
	if reqs[1].System != "I am full.\n\nAROUND" || reqs[3].System != "I am lean.\n\nLEAN" {
		t.Errorf("systems %q, %q", reqs[1].System, reqs[3].System)
	}
	if got := reqs[1].toolNames(t); !slices.Equal(got, []string{"Read", "Skill"}) {
		t.Errorf("tools %v", got)
	}
	if first := string(reqs[1].Messages[0]); !strings.Contains(first, "Preloaded text.") || !strings.Contains(first, "Work.") {
		t.Errorf("first message %s", first)
	}
	var notices []string
	for _, n := range of[agent.Notice](w) {
		notices = append(notices, n.Text)
	}
	if got := strings.Join(notices, "\n"); !strings.Contains(got, `"Missing"`) || !strings.Contains(got, "gone") {
		t.Errorf("notices %s", got)
	}
}

// TestMainType: the type of the main agent limits it as it would a subagent.
func TestMainType(t *testing.T) { // spec A-7
	w := newWorld(t, map[string]string{skills + "pre/SKILL.md": skillFile("Preloaded text.")})
	dir := t.TempDir()
	o := w.options(w.engine, llm.Record(script(t, `{"steps":[{"calls":[{"name":"Bash","input":{"command":"touch made","description":"d"}}]},{},{}]}`), dir))
	o.Mode = agent.ModeBypass
	o.Main = &agentdef.Definition{Name: "main", Tools: agentdef.Tools{Listed: true, Only: []string{"Read", "Bash(git *)"}},
		Run: agentdef.Run{Skills: []string{"pre"}, Model: "haiku"}}
	c := agent.New(o)
	for range 2 {
		if _, err := c.Submit(t.Context(), agent.Input{Text: "go"}); err != nil {
			t.Fatal(err)
		}
	}
	reqs := recorded(t, dir)
	if got := reqs[0].toolNames(t); !slices.Equal(got, []string{"Read", "Bash", "BashOutput", "KillShell"}) && !slices.Equal(got, []string{"Read", "Bash"}) {
		t.Errorf("tools %v", got)
	}
	if reqs[0].Model != "haiku" || strings.Count(reqs[2].text(), "Preloaded text.") != 1 {
		t.Errorf("model %s, %s", reqs[0].Model, reqs[2].text())
	}
	if exists(w, "made") || len(c.Denials()) != 1 {
		t.Errorf("denials %+v", c.Denials())
	}
}

// TestDeleted: a skill that is gone between listing and call is an error that
// the model can work with.
func TestDeleted(t *testing.T) {
	w := newWorld(t, map[string]string{skills + "gone/SKILL.md": skillFile("x")})
	n := 0
	c := agent.New(w.options(w.engine, model(func(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
		if n++; n == 1 {
			w.remove(skills + "gone")
			return says(call("1", "Skill", `{"skill":"gone"}`))
		}
		return says(llm.TextDelta{Text: "end"})
	})))
	if ans, err := c.Submit(t.Context(), agent.Input{Text: "go"}); err != nil || ans.Text != "end" {
		t.Fatalf("%+v, %v", ans, err)
	}
	valid(t, c.History())
	if r := w.results(""); len(r) != 1 || !r[0].IsError || !strings.Contains(r[0].Text, "gone") {
		t.Errorf("%+v", r)
	}
	if got := w.engine.Session().Invoked(session.Main); len(got) != 0 {
		t.Errorf("recorded %+v", got)
	}
	for _, e := range of[agent.Invoked](w) {
		if e.Err == nil || e.Result != nil || e.Name != "gone" {
			t.Errorf("%+v", e)
		}
	}
}

// TestJoin: messages join without a call of the model.
func TestJoin(t *testing.T) {
	w := newWorld(t, nil)
	c := agent.New(w.options(w.engine, script(t, `{"steps":[]}`)))
	c.Join(turn.Message{Role: turn.User, Text: "/forked x"}, turn.Message{Role: turn.Assistant, Text: "answer"}, turn.Message{Role: turn.User})
	if h := c.History(); len(h) != 2 || h[1].Role != llm.Assistant || h[1].Content[0].Text != "answer" {
		t.Errorf("%+v", h)
	}
}

// TestForkMode: a type can be stricter than the agent that starts it, and wider
// only where that one still asks.
func TestForkMode(t *testing.T) { // spec S-10, A-4
	const touch, write = `{"name":"Bash","input":{"command":"touch made","description":"d"}}`, `{"name":"Write","input":{"file_path":"made","content":"x"}}`
	for _, tt := range []struct {
		session  agent.Mode
		kind     string
		noBypass bool
		call     string
		made     bool
	}{
		{agent.ModeBypass, "", false, touch, true},
		{agent.ModeBypass, "plan", false, touch, false},
		{agent.ModeBypass, "dontAsk", false, touch, false},
		{agent.ModeBypass, "acceptEdits", false, touch, true},
		{agent.ModePlan, "bypassPermissions", false, touch, false},
		{agent.ModeDontAsk, "bypassPermissions", false, touch, false},
		{agent.ModeDontAsk, "acceptEdits", false, write, false},
		{agent.ModeDefault, "bypassPermissions", false, touch, true},
		{agent.ModeDefault, "bypassPermissions", true, touch, false},
		{agent.ModeDefault, "acceptEdits", false, write, true},
		{agent.ModeDefault, "", false, write, false},
		{agent.ModeAcceptEdits, "default", false, write, false},
		{agent.ModeAcceptEdits, "", false, write, true},
	} {
		w := newWorld(t, nil)
		o := w.options(w.engine, script(t, `{"steps":[{"calls":[{"name":"Agent","input":{"description":"d","prompt":"p"}}]},{}],
			"subagents":{"*":[{"calls":[`+tt.call+`]},{}]}}`))
		o.Mode, o.NoBypass = tt.session, tt.noBypass
		o.Definition = func(name string) (*agentdef.Definition, error) {
			return &agentdef.Definition{Name: name, Run: agentdef.Run{PermissionMode: tt.kind}}, nil
		}
		if _, err := agent.New(o).Submit(t.Context(), agent.Input{Text: "go"}); err != nil {
			t.Fatal(err)
		}
		if exists(w, "made") != tt.made {
			t.Errorf("session %s, type %q: made is %v", tt.session, tt.kind, !tt.made)
		}
	}
}
