package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/hookexec"
	"github.com/knack-skills/knack/internal/cli/chat"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/text"
)

// maxInput is how much of standard input is read, in bytes.
const maxInput = 10 << 20

// A verdict is what all hooks said together (spec K-9).
type verdict struct {
	Results []result `json:"results"`
	Verdict string   `json:"verdict"` // allow, deny, ask or none
	Reason  string   `json:"reason"`
	Context string   `json:"additional_context"`
	Input   any      `json:"updated_input"`
	Notices []string `json:"notices"`
}

// A result is what one hook did.
type result struct {
	Origin  string `json:"origin"`
	Type    string `json:"type"`
	Exit    int    `json:"exit_code"`
	Stdout  string `json:"stdout"`
	Stderr  string `json:"stderr"`
	Verdict string `json:"verdict"`
	Error   string `json:"error"`
	MS      int64  `json:"ms"`
}

func newTest(f *workspace.Flags) *cobra.Command {
	var tool, skill string
	cmd := &cobra.Command{
		Use:   "test EVENT",
		Short: "Run the hooks that match an event, and show what they say",
		Long: `Run the hooks that match an event, for real, and show what each of them says and
what that means together. The event's input is JSON on standard input; fields
that are left out are filled in. Hooks of settings files run, and with --skill
those that the skill would register.

Hooks of type prompt, agent and mcp_tool need a session; here they fail.`,
		Example: `  knack hooks test PreToolUse --tool Bash <call.json
  echo '{"prompt":"hello"}' | knack hooks test UserPromptSubmit --json
  knack hooks test Stop --skill guard </dev/null`,
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var out []string
			for _, e := range hook.Events() {
				out = append(out, string(e))
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := readInput(args[0], tool, cmd.InOrStdin())
			if err != nil {
				return err
			}
			e, err := f.Open(cmd)
			if err != nil {
				return err
			}
			v, err := try(cmd.Context(), e, in, skill)
			if err != nil {
				return err
			}
			if f.JSON {
				return output.JSON(cmd.OutOrStdout(), v)
			}
			print(cmd.OutOrStdout(), f.Style(cmd.OutOrStdout()), v)
			return nil
		},
	}
	cmd.Flags().StringVar(&tool, "tool", "", "`NAME` of the tool that is called (PreToolUse and the like)")
	cmd.Flags().StringVar(&skill, "skill", "", "also run the hooks that the skill `NAME` registers")
	return cmd
}

// readInput makes the input of an event from standard input and flags.
func readInput(event, tool string, r io.Reader) (hook.Input, error) {
	in := hook.Input{}
	if !slices.Contains(hook.Events(), hook.Event(event)) {
		var names []string
		for _, e := range hook.Events() {
			names = append(names, string(e))
		}
		near := text.Near(event, names, 1)
		if len(near) > 0 {
			return in, output.Usagef("there is no event %q; did you mean %s?", event, near[0])
		}
		return in, output.Usagef("there is no event %q; the events are %s", event, strings.Join(names, ", "))
	}
	if file, ok := r.(*os.File); !ok || !terminal(file) {
		data, err := io.ReadAll(io.LimitReader(r, maxInput+1))
		switch {
		case err != nil:
			return in, fmt.Errorf("reading the input: %w", err)
		case len(data) > maxInput:
			return in, output.Usagef("standard input: more than %d MiB", maxInput>>20)
		case len(bytes.TrimSpace(data)) > 0:
			if err := json.Unmarshal(data, &in); err != nil {
				return in, output.Usagef("standard input is not the JSON of an event: %v", err)
			}
		}
	}
	in.Event = hook.Event(event)
	if tool != "" {
		in.ToolName = tool
	}
	if in.ToolName != "" && len(in.ToolInput) == 0 {
		in.ToolInput = json.RawMessage("{}")
	}
	return in, nil
}

// terminal reports whether standard input is a person, who is not waited for.
func terminal(f *os.File) bool {
	fi, err := f.Stat()
	return err == nil && fi.Mode()&os.ModeCharDevice != 0
}

// try runs the hooks.
func try(ctx context.Context, e *knack.Engine, in hook.Input, skill string) (v verdict, err error) {
	var own []hookexec.Entry
	var off []string
	if skill != "" {
		entry, err := e.Snapshot().Resolve(strings.TrimPrefix(skill, "/"))
		if err != nil {
			return v, err
		}
		ok, why := chat.Admit(e, entry.Origin)
		if own = chat.SkillHooks(e, entry); !ok && len(own) > 0 {
			own, off = nil, []string{"the hooks of " + entry.ID + " are off: " + why}
		}
	}
	in.SessionID, in.CWD, in.PermissionMode = e.Session().ID, e.Dir(), "default"
	in.Covers = chat.Covers(e, in)
	runner := hookexec.New(hookexec.Options{ProjectDir: e.ProjectDir(), WorkDir: e.Dir(), Env: e.Environ, Shell: e.Env().Shell})
	out, results := runner.Trace(ctx, [][]hookexec.Entry{chat.GlobalHooks(e, false), own}, in)
	closing, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	v = verdict{Results: []result{}, Reason: out.Reason, Context: strings.Join(out.Context, "\n"), Verdict: word(out),
		Notices: slices.Concat(off, out.Notices, runner.Close(closing))}
	if v.Notices == nil {
		v.Notices = []string{}
	}
	if out.StopReason != "" {
		v.Reason = strings.TrimSpace(v.Reason + "\n" + out.StopReason)
	}
	if len(out.UpdatedInput) > 0 {
		v.Input = out.UpdatedInput
	}
	for _, r := range results {
		v.Results = append(v.Results, result{Origin: hookexec.Origin(r.Entry), Type: r.Entry.Handler.Type, Exit: r.Exit,
			Stdout: r.Stdout, Stderr: r.Stderr, Verdict: r.Verdict, Error: r.Err, MS: r.Duration.Milliseconds()})
	}
	return v, errors.Join(err, ctx.Err())
}

func word(o hook.Outcome) string {
	switch {
	case o.Refuses():
		return "deny"
	case o.Opinion == hook.Ask:
		return "ask"
	case o.Opinion == hook.Allow:
		return "allow"
	}
	return "none"
}

func print(w io.Writer, s output.Style, v verdict) {
	for _, r := range v.Results {
		fmt.Fprintf(w, "%s  %s  exit %d, %d ms: %s\n", s.Bold(text.Terminal(r.Origin)), r.Type, r.Exit, r.MS, r.Verdict)
		for _, out := range []string{r.Error, r.Stdout, r.Stderr} {
			for line := range strings.SplitSeq(strings.TrimSpace(out), "\n") {
				if line != "" {
					fmt.Fprintln(w, "    "+text.Terminal(line))
				}
			}
		}
	}
	if len(v.Results) == 0 {
		fmt.Fprintln(w, "No hook matches.")
	}
	fmt.Fprintln(w, s.Bold("verdict: ")+v.Verdict)
	for _, t := range [][2]string{{"reason: ", v.Reason}, {"context: ", v.Context}} {
		if t[1] != "" {
			fmt.Fprintln(w, t[0]+text.TerminalBlock(t[1]))
		}
	}
	for _, n := range v.Notices {
		fmt.Fprintln(w, "notice: "+text.TerminalBlock(n))
	}
}
