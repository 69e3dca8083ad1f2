// Package prompt compiles a skill's body into the text that is injected (spec
// chapter 4): parse into segments, then arguments, variables, commands, join.
// Parsing happens before anything is inserted, so inserted text is never
// syntax (spec P-1). Whether a command may run is asked of the caller.
package prompt

import (
	"context"
	"time"

	"github.com/knack-skills/knack/shell"
	"github.com/knack-skills/knack/skill"
)

// Vars are the variables of spec P-7. Each is available as ${CLAUDE_<key>} and
// ${KNACK_<key>}; empty values of SkillDir, ProjectDir and the plugin ones mean
// that the variable does not exist for this skill and stays as it is. An empty
// SkillDir means the directory of the instructions, if they have one.
type Vars struct {
	SkillDir, SessionID, ProjectDir, Effort string
	PluginRoot, PluginData                  string            // plugin skills only
	UserConfig                              map[string]string // ${user_config.KEY}, plugin skills only
}

// Env is what one compilation may use.
type Env struct {
	Vars    Vars
	WorkDir string       // where commands run
	Base    int          // first index of $N: 0, 1, or -1 for auto (spec P-4)
	Shell   shell.Runner // nil refuses commands
	// Environ is the base environment of commands; nil means the process's own.
	Environ []string
	// Decide judges one command line, after P-7 expansion, before any runs; nil
	// allows none. A non-nil error refuses and ends the compilation.
	Decide func(ctx context.Context, line string) (Permission, error)
	// Off replaces each command by Off when not empty (spec P-13, S-9); whom a
	// switch exempts is the caller's to know. NoShell leaves each command as it
	// was written (render --no-shell). Remote skills' commands are text always.
	Off      string
	NoShell  bool
	SpillDir string           // where long output is saved; empty means os.TempDir
	Timeout  time.Duration    // per command; zero means two minutes
	Now      func() time.Time // nil means time.Now; called from several goroutines
}

// Permission is the answer of Env.Decide.
type Permission struct {
	Decision string // "allow", "deny" or "ask"
	Rule     string // the rule that decided, as text
	Reason   string
}

// A Span says where a part of the final text came from (spec P-14, K-3).
// Start and End are byte offsets into the text.
type Span struct {
	Start    int    `json:"start"`
	End      int    `json:"end"`
	Kind     string `json:"kind"` // body, argument, variable, command or base_dir
	Name     string `json:"name"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	ExitCode int    `json:"exit_code"`
	MS       int64  `json:"ms"`
}

// A Ran is one inline command (spec K-3).
type Ran struct {
	Line     string `json:"line"`
	ExitCode int    `json:"exit_code"`
	MS       int64  `json:"ms"`
	Decision string `json:"decision"`
	Rule     string `json:"rule"`
}

// A Result is a compiled skill.
type Result struct {
	Text     string
	Trace    []Span
	Commands []Ran
}

// Compile compiles in, the instructions of s, with the argument string args.
// In inline commands the arguments are shell variables: the shell splits an
// unquoted $ARGUMENTS at blanks, and never reads it as program text (spec P-9).
// The error is a [*DeniedError], a [*CommandError], a *shell.MissingError, or
// that of ctx or of env.Decide. It is safe for concurrent use.
func Compile(ctx context.Context, s *skill.Skill, in skill.Instructions, args string, env Env) (*Result, error) {
	c := newCompiler(s, in, args, env)
	if err := c.run(ctx); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return c.join(), nil
}
