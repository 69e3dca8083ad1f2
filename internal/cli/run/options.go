package run

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/llm/choose"
	"github.com/knack-skills/knack/llm/offline"
	"github.com/knack-skills/knack/permission"
)

// Options are the flags of a run (spec A-7).
type Options struct {
	Flags  *workspace.Flags
	Prompt string
	Format string
	Model  string

	InputFormat string

	Effort       string
	MaxTurns     int
	Mode         string
	Allowed      []string
	Disallowed   []string
	AppendSystem string
	Agents       string
	Agent        string
	NoSkills     bool
	Continue     bool
	Resume       string
	Fork         bool
	Bare         bool
	Schema       string // --json-schema

	shape  *shape  // of Schema; nil asks for text
	person *person // nil when nobody sits at a terminal
}

// Register adds the flags of a run to cmd, the root command.
func (o *Options) Register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVarP(&o.Prompt, "print", "p", "", "answer `PROMPT` and exit")
	fl.StringVar(&o.Format, "output-format", "text", "print `FORMAT`: text, json, stream-json")
	fl.StringVar(&o.InputFormat, "input-format", "text", "read `FORMAT`: text (default), stream-json")
	fl.StringVar(&o.Model, "model", "", "`MODEL`: PROVIDER/ID, an alias, or offline")
	fl.StringVar(&o.Effort, "effort", "", "reasoning: a `LEVEL` low to max, or tokens")
	fl.IntVar(&o.MaxTurns, "max-turns", 0, "at most `N` calls of the model (default 200)")
	fl.StringVar(&o.Mode, "permission-mode", "", "`MODE` for what the rules leave open")
	fl.StringArrayVar(&o.Allowed, "allowedTools", nil, "allow what this `RULE` covers (repeatable)")
	fl.StringArrayVar(&o.Disallowed, "disallowedTools", nil, "refuse what this `RULE` covers (repeatable)")
	fl.StringVar(&o.AppendSystem, "append-system-prompt", "", "add `TEXT` to the system prompt")
	fl.StringVar(&o.Schema, "json-schema", "", "answer with JSON of `SCHEMA` (file or JSON)")
	fl.StringVar(&o.Agents, "agents", "", "agent types as a `JSON` object")
	fl.StringVar(&o.Agent, "agent", "", "run as the agent type `NAME`")
	fl.BoolVar(&o.NoSkills, "disable-slash-commands", false, "no skills and no commands")
	fl.BoolVar(&o.Bare, "bare", false, "only --add-dir skills and managed hooks")
	fl.BoolVar(&o.Continue, "continue", false, "go on with the last session of this project")
	fl.StringVar(&o.Resume, "resume", "", "go on with the session `ID`")
	fl.BoolVar(&o.Fork, "fork-session", false, "with --continue or --resume: go on in a copy")
	// The default is said in the text, or is the first that it names.
	for _, name := range []string{"output-format", "input-format"} {
		fl.Lookup(name).DefValue = ""
	}
	fixed := func(flag string, words ...string) {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	fixed("output-format", "text", "json", "stream-json")
	fixed("input-format", "text", "stream-json")
	fixed("model", offline.Name, "sonnet", "opus", "haiku")
	fixed("effort", efforts...)
	fixed("permission-mode", modes()...)
}

// efforts are the words of --effort.
var efforts = []string{"low", "medium", "high", "xhigh", "max"}

func modes() []string {
	var out []string
	for _, m := range agent.Modes() {
		out = append(out, string(m))
	}
	return out
}

// talk are the flags that only a real conversation has a use for.
var talk = []string{"effort", "max-turns", "permission-mode", "allowedTools", "disallowedTools", "append-system-prompt",
	"agents", "agent", "disable-slash-commands", "continue", "resume", "fork-session", "json-schema"}

// onlyOffline refuses flags that the offline model cannot honour.
func (o *Options) onlyOffline(cmd *cobra.Command) error {
	for _, name := range talk {
		if cmd.Flags().Changed(name) {
			return output.Usagef("--%s needs a language model: set a key such as ANTHROPIC_API_KEY, or name one with --model", name)
		}
	}
	return nil
}

// model decides which model answers: the flag, else the settings, else the
// first provider whose key is set, else offline (spec A-2).
func (o *Options) model(e *knack.Engine) (choose.Choice, choose.Options, error) {
	names := choose.Options{Aliases: e.Settings().ModelAliases, Getenv: e.Getenv}
	name, from := o.Model, "--model"
	if name == "" {
		name, from = e.Settings().Model, "the setting \"model\""
		// A file of the workspace must not play the part of the model.
		names.NoScripted = e.Settings().ModelFromWorkspace()
	}
	c, err := choose.Resolve(name, names)
	names.NoScripted = true // from here on names come from skills and agent types
	if err != nil {
		return c, names, output.Usagef("%s: %v", from, err)
	}
	if err := c.Ready(names); err != nil {
		return c, names, output.Usagef("%v, or use offline (--model offline)", err)
	}
	return c, names, nil
}

// check reads the flags that have a grammar of their own.
func (o *Options) check(cmd *cobra.Command) error {
	for flag, list := range map[string][]string{"allowedTools": o.Allowed, "disallowedTools": o.Disallowed} {
		for _, text := range list {
			if _, err := permission.ParseRule(text); err != nil {
				return output.Usagef("--%s: %v", flag, err)
			}
		}
	}
	if o.Mode != "" && !contains(modes(), o.Mode) {
		return output.Usagef("--permission-mode: %q is none of %s", o.Mode, strings.Join(modes(), ", "))
	}
	if cmd.Flags().Changed("effort") && !contains(efforts, o.Effort) {
		n, err := strconv.Atoi(o.Effort)
		if err != nil || n <= 0 {
			return output.Usagef("--effort: %q is none of %s, and no positive number of tokens", o.Effort, strings.Join(efforts, ", "))
		}
		o.Effort = strconv.Itoa(n)
	}
	if o.MaxTurns < 0 {
		return output.Usagef("--max-turns: %d is not a positive number", o.MaxTurns)
	}
	if o.Fork && !o.Continue && o.Resume == "" {
		return output.Usagef("--fork-session goes with --continue or --resume")
	}
	if o.Continue && o.Resume != "" {
		return output.Usagef("--continue and --resume exclude each other")
	}
	return nil
}

func contains(words []string, w string) bool {
	for _, x := range words {
		if x == w {
			return true
		}
	}
	return false
}
