package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/turn"
)

// road is a skill that needs everything that the road does.
const road = `---
description: Travels the road to a traveller
arguments: [who, what]
allowed-tools: Bash(touch made)
effort: high
---
Road for $who with $what, at \$5, in ${CLAUDE_EFFORT}.
Seen: !` + "`echo seen by \"$who\"`" + `
Read ` + "`references/more.md`" + ` in ${CLAUDE_SKILL_DIR}.
`

// An entry is one way to start the skill with a model behind it (spec I-1).
type entry struct {
	argv      []string // of the run
	stdin     string
	call      string // the step of a model that starts it; empty if none does
	inside    bool   // it works in a subagent
	bare      bool   // the way brings no arguments along
	arguments string // as the model is shown them; empty if they are the usual
}

const (
	traveller = `Ann "two words"`
	shown     = "<command-args>" + traveller + "</command-args>"
)

// entries are the ways in. A new one is a new line.
func entries() map[string]entry {
	lines := `{"type":"user","message":{"role":"user","content":` + quoted("/road "+traveller) + `}}` + "\n"
	stream := []string{"--input-format", "stream-json", "--output-format", "stream-json"}
	tool := func(name string) entry {
		return entry{argv: []string{"-p", "go"}, call: calls(`{"name":"Skill","input":{"skill":"` + name + `","args":` + quoted(traveller) + `}}`)}
	}
	return map[string]entry{
		"typed":                 {argv: []string{"-p", "/road " + traveller}},
		"typed, qualified":      {argv: []string{"-p", "/user:road " + traveller}},
		"typed, in a stream":    {argv: append([]string{"-p", ""}, stream...), stdin: lines},
		"Skill tool":            tool("road"),
		"Skill tool, as typed":  tool(" /road "),
		"Skill tool, qualified": tool("user:road"),
		"keyword": {argv: []string{"-p", traveller + " and a voyage", "--settings", `{"skillKeywords":{"voyage":"road"}}`},
			arguments: traveller + " and a voyage"},
		"initialPrompt": {argv: []string{"-p", "and on", "--agent", "starter"},
			arguments: strings.ReplaceAll(traveller, `"`, "'") + "\n\nand on"},
		"preloaded, main agent":  {argv: []string{"-p", "go", "--agent", "holder"}, bare: true},
		"preloaded, in subagent": {argv: []string{"-p", "go"}, call: calls(start("holder", "Work.")), inside: true, bare: true},
	}
}

// TestOneRoad: one skill, whichever way it is started: the same text, the same
// note on what it grants, the same grant, the same files, and it is remembered.
func TestOneRoad(t *testing.T) { // spec I-1, I-5
	for name, e := range entries() {
		t.Run(name, func(t *testing.T) { e.travel(t) })
	}
}

// newRoad is a world with the skill among those of the person.
func newRoad(t *testing.T) *world {
	w := newWorld(t)
	w.file("../home/.claude/skills/road/SKILL.md", road)
	w.file("../home/.claude/skills/road/references/more.md", "More of the road.\n")
	w.file(".claude/agents/holder.md", "---\nname: holder\ndescription: holds\nskills: road\n---\nYou hold.\n")
	w.file(".claude/agents/starter.md", "---\nname: starter\ndescription: starts\ninitialPrompt: /road "+strings.ReplaceAll(traveller, `"`, "'")+"\n---\nYou start.\n")
	return w
}

func (e entry) travel(t *testing.T) {
	w := newRoad(t)
	args, visible := traveller, shown
	if e.bare {
		args, visible = "", ""
	}
	if e.arguments != "" {
		visible = "<command-args>" + e.arguments + "</command-args>"
	}
	more := filepath.Join(w.dir, "home/.claude/skills/road/references/more.md")
	work := calls(bash("touch made"), `{"name":"Read","input":{"file_path":`+quoted(more)+`}}`, bash("touch more"))
	end := `{"text":"end"}`
	list := []string{work, end}
	if e.call != "" {
		list = []string{e.call, work, end}
	}
	subagents := ""
	if e.inside {
		list, subagents = []string{e.call, end}, `"holder":[`+steps(work, end)+`]`
	}
	out, asked := w.piped(e.stdin, `{"steps":[`+steps(list...)+`],"subagents":{`+subagents+`}}`, append(e.argv, "--allowedTools", "Skill(road)")...)
	if out.code != 0 || !strings.Contains(out.stdout, "end") {
		t.Fatalf("%+v", out)
	}
	if got := texts(asked, "Road for"); len(got) != 1 || strings.TrimRight(got[0], "\n") != strings.TrimRight(w.rendered("road", args), "\n") {
		t.Errorf("the model read\n%q, rendered is\n%q", got, w.rendered("road", args))
	}
	if got := texts(asked, "<command-name>/road"); len(got) != 1 || strings.Contains(got[0], "<command-args>") != (visible != "") || !strings.Contains(got[0], visible) {
		t.Errorf("the person sees %q", got)
	}
	if got := texts(asked, `While skill "road" is active`); len(got) != 1 || !strings.Contains(got[0], "Bash(touch made)") || !strings.Contains(got[0], "effort: high") {
		t.Errorf("the notes on its grants are %q", got)
	}
	e.worked(t, w, asked)
}

// worked looks at what came of the skill.
func (e entry) worked(t *testing.T, w *world, asked []recordedRequest) {
	for _, r := range slices.Backward(asked) {
		if (r.Agent != "main") != e.inside {
			continue
		}
		r.Agent = "main"
		if got := outcomes([]recordedRequest{r}, e.call != "" && !e.inside); got != "..x" || !w.exists("made") || w.exists("more") {
			t.Errorf("grant, own file, and what nobody granted: %q: %+v", got, resultsOf([]recordedRequest{r}))
		}
		break
	}
	counts, err := filepath.Glob(filepath.Join(w.dir, "state/usage/*.json"))
	if err != nil || len(counts) != 1 {
		t.Fatalf("usage is in %q, %v", counts, err)
	}
	if data, err := os.ReadFile(counts[0]); err != nil || !strings.Contains(string(data), `"road"`) {
		t.Errorf("the use was not counted: %s, %v", data, err)
	}
	logs, err := filepath.Glob(filepath.Join(w.dir, "state/projects/*/*.jsonl"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("transcripts are %q, %v", logs, err)
	}
	data, err := os.ReadFile(logs[0])
	n := 0
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, `{"type":"invocation"`) && strings.Contains(line, `"id":"road"`) {
			n++
		}
	}
	if err != nil || n != 1 {
		t.Errorf("the transcript has %d invocations, %v", n, err)
	}
}

// piped is requests with something on standard input.
func (w *world) piped(stdin, script string, args ...string) (output, []recordedRequest) {
	if stdin == "" {
		return w.requests(script, args...)
	}
	dir := w.t.TempDir()
	file := filepath.Join(dir, "script.json")
	if err := os.WriteFile(file, []byte(script), 0o644); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	cmd := w.command(ctx, append(args, "--model", "scripted:"+file)...)
	cmd.Env = append(cmd.Env, "KNACK_RECORD="+filepath.Join(dir, "record"))
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	_ = cmd.Run()
	return output{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}, readRecords(w.t, filepath.Join(dir, "record"))
}

// TestOneRoadWithoutModel: the two ways that no language model takes part in.
func TestOneRoadWithoutModel(t *testing.T) { // spec I-1, K-11
	w := newRoad(t)
	for args, line := range map[string][]string{
		traveller: {"-p", "/road " + traveller},
		"":        {"-p", "the traveller travels the road", "--settings", `{"permissions":{"allow":["Skill(road)"]}}`},
	} {
		out := w.run(line...)
		_, text, _ := strings.Cut(out.stdout, "\n\n")
		if want := w.rendered("road", args); out.code != 0 || strings.TrimSpace(text) != strings.TrimSpace(want) {
			t.Errorf("%q prints\n%s\nand rendered is\n%s", line, text, want)
		}
	}
}

// TestOneRoadEmbedded: what a program gets from Engine.Invoke is what the loop
// puts before a model.
func TestOneRoadEmbedded(t *testing.T) { // spec I-1, A-10
	w := newRoad(t)
	e, err := knack.New(t.Context(), knack.Options{
		Dir: w.repo, Home: filepath.Join(w.dir, "home"), StateDir: filepath.Join(w.dir, "state"),
		Getenv: func(name string) string {
			return map[string]string{"KNACK_MANAGED_DIR": filepath.Join(w.dir, "managed")}[name]
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, asked := w.requests(`{"steps":[{"text":"end"}]}`, "-p", "/road "+traveller)
	r, err := e.Invoke(t.Context(), invoke.Request{Name: "road", Args: traveller, By: invoke.ByUser})
	if err != nil || len(asked) != 1 {
		t.Fatalf("%d requests, %v", len(asked), err)
	}
	blocks := asked[0].Messages[0].Content
	if len(r.Messages) != 3 || len(blocks) != 3 {
		t.Fatalf("%d and %d messages", len(r.Messages), len(blocks))
	}
	for i, m := range r.Messages {
		if m.Role != turn.User || m.Meta != (i > 0) || m.Text != blocks[i].Text {
			t.Errorf("message %d is\n%q, and the loop's is\n%q", i, m.Text, blocks[i].Text)
		}
	}
	if !slices.Equal(r.Override.AllowedTools, []string{"Bash(touch made)"}) || r.Override.Effort != "high" {
		t.Errorf("override %+v", r.Override)
	}
}
