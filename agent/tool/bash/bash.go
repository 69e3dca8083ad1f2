package bash

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/shell"
)

//go:embed bash.md
var bashDoc string

// The time limits of a command, in milliseconds.
const (
	defaultTimeout = 120_000
	maxTimeout     = 600_000
)

// A Bash runs a command line.
type Bash struct{ s *Shells }

func bashInput() tool.Input {
	return tool.Input{Tool: "Bash", Fields: []tool.Field{
		{Name: "command", Type: tool.String, Required: true, Filled: true, Doc: "the command line to run"},
		{Name: "description", Type: tool.String, Doc: "what the command does, in five to ten words"},
		{Name: "timeout", Type: tool.Integer, Min: 1, Max: maxTimeout, Doc: "the time limit in milliseconds; 120000 when left out, and none in the background"},
		{Name: "run_in_background", Type: tool.Boolean, Doc: "return at once and let the command run; read its output with BashOutput"},
	}}
}

// Spec implements [agent.Tool].
func (t *Bash) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: "Bash", Description: bashDoc, InputSchema: bashInput().Schema()}
}

// bashCall is the input of a call.
type bashCall struct {
	Command     string `json:"command"`
	Description string `json:"description"`
	Timeout     int    `json:"timeout"`
	Background  bool   `json:"run_in_background"`
}

// Plan implements [agent.Tool].
func (t *Bash) Plan(input json.RawMessage) (agent.Plan, error) {
	var in bashCall
	if err := bashInput().Decode(input, &in); err != nil {
		return agent.Plan{}, err
	}
	switch {
	case strings.TrimSpace(in.Command) == "":
		return agent.Plan{}, errors.New(`Bash: "command" is blank: give the command line to run`)
	case strings.ContainsRune(in.Command, 0):
		// No program can be given one, so what would run is not what was judged.
		return agent.Plan{}, errors.New(`Bash: "command" holds a NUL character: write $'\0' or use printf '\0' in it instead`)
	}
	if in.Timeout == 0 && !in.Background {
		in.Timeout = defaultTimeout
	}
	req := permission.Request{
		Tool:    "Bash",
		Input:   permission.Input{Command: in.Command},
		WorkDir: t.s.o.Base.Dir,
		Home:    t.s.o.Base.Home,
		Links:   tool.Behind,
	}
	return agent.Plan{
		Ask: req,
		// What is allowed without any rule changes nothing.
		ReadOnly: !in.Background && permission.Rules{}.Decide(req).Verdict == permission.Allow,
		Run: func(ctx context.Context, env agent.CallEnv) (agent.Result, error) {
			if in.Background {
				return t.background(ctx, env, in)
			}
			return t.run(ctx, env, in)
		},
	}, nil
}

func (t *Bash) command(in bashCall) shell.Command {
	c := shell.Command{
		Line:    in.Command,
		Dir:     t.s.o.Base.Dir,
		Timeout: time.Duration(in.Timeout) * time.Millisecond,
		Spill:   t.s.o.Spill,
		Merge:   true,
	}
	if t.s.o.Env != nil {
		c.Env = t.s.o.Env()
	}
	return c
}

func (t *Bash) background(ctx context.Context, env agent.CallEnv, in bashCall) (agent.Result, error) {
	c := t.command(in)
	c.Limit, c.Spill = 1, "" // the log has it
	j, err := t.s.start(ctx, env.Agent, c)
	if err != nil {
		return failed(err)
	}
	return agent.Result{Text: fmt.Sprintf("Running in the background as %s. Read its output with BashOutput, end it with KillShell.", j.id)}, nil
}

func (t *Bash) run(ctx context.Context, env agent.CallEnv, in bashCall) (agent.Result, error) {
	c := t.command(in)
	c.Follow = progress(env.Progress)
	out, err := t.s.o.Runner.Run(ctx, c)
	if ctx.Err() != nil {
		return agent.Result{}, ctx.Err()
	}
	if err != nil {
		return failed(err)
	}
	return result(in, out, t.s.o.Base.Dir), nil
}

// result puts the output and what there is to say about it together.
func result(in bashCall, out shell.Output, dir string) agent.Result {
	text := strings.TrimRight(strings.ToValidUTF8(string(out.Stdout)+string(out.Stderr), string(utf8.RuneError)), " \t\r\n")
	var notes []string
	if out.StdoutFile != "" {
		notes = append(notes, "[the output is longer than this; all of it is in "+out.StdoutFile+"]")
	} else if out.Lost {
		notes = append(notes, "[the output is longer than this; the rest was dropped]")
	}
	switch {
	case out.TimedOut:
		notes = append(notes, fmt.Sprintf("[killed after %s: the time limit; give a longer timeout, or use run_in_background]", time.Duration(in.Timeout)*time.Millisecond))
	case out.Exit != 0:
		notes = append(notes, fmt.Sprintf("[exit code %d]", out.Exit))
	case text == "":
		text = "(no output)"
	}
	if endsInCD(in.Command) && !out.TimedOut && out.Exit == 0 {
		notes = append(notes, "[the cd ends with this call; the next one starts in "+dir+" again]")
	}
	if text != "" && len(notes) > 0 {
		text += "\n"
	}
	return agent.Result{Text: text + strings.Join(notes, "\n"), IsError: out.TimedOut || out.Exit != 0}
}

// endsInCD reports whether the last command of a line looks like one that
// changes the directory. It is for a hint, so it need not be exact.
func endsInCD(line string) bool {
	line = strings.TrimSpace(line)
	if i := strings.LastIndexAny(line, ";&|\n"); i >= 0 {
		line = line[i+1:]
	}
	word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	return word == "cd" || word == "pushd"
}

// progress passes on the last line of each piece of output.
type progress func(string)

// Write implements io.Writer and never fails.
func (p progress) Write(b []byte) (int, error) {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(b), "")), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		p(last)
	}
	return len(b), nil
}

// failed is a result that tells the model what went wrong.
func failed(err error) (agent.Result, error) {
	return agent.Result{Text: err.Error(), IsError: true}, nil
}
