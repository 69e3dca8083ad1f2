package hookexec

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/shell"
)

// places are the directories that hooks are told of (spec H-5), each under the
// prefixes of variablePrefixes.
var places = []struct {
	name string
	of   func(Options, Dirs) string
}{
	{"PLUGIN_DATA", func(_ Options, d Dirs) string { return d.PluginData }},
	{"PLUGIN_ROOT", func(_ Options, d Dirs) string { return d.PluginRoot }},
	{"PROJECT_DIR", func(o Options, _ Dirs) string { return o.ProjectDir }},
	{"SKILL_DIR", func(_ Options, d Dirs) string { return d.Skill }},
}

var variablePrefixes = []string{"CLAUDE_", "KNACK_"}

// variables are all names, sorted.
func variables() []string {
	names := make([]string, 0, len(places)*len(variablePrefixes))
	for _, prefix := range variablePrefixes {
		for _, p := range places {
			names = append(names, prefix+p.name)
		}
	}
	return names
}

func isVariable(name string) bool { return slices.Contains(variables(), name) }

// values are the variables that are set for a hook.
func (r *Runner) values(e Entry) map[string]string {
	set := map[string]string{}
	for _, p := range places {
		if dir := p.of(r.opts, e.Dirs); dir != "" {
			for _, prefix := range variablePrefixes {
				set[prefix+p.name] = dir
			}
		}
	}
	return set
}

// base is the environment of all hooks.
func (r *Runner) base() []string {
	if r.opts.Env != nil {
		if env := r.opts.Env(); env != nil {
			return env
		}
	}
	return os.Environ()
}

// environment is that of a hook's process. A variable of the same name that the
// program itself was started with says nothing of this hook.
func (r *Runner) environment(set map[string]string, own []string) []string {
	env := slices.DeleteFunc(slices.Clone(r.base()), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return isVariable(name)
	})
	for _, name := range variables() {
		if dir, ok := set[name]; ok {
			env = append(env, name+"="+dir)
		}
	}
	return append(env, own...)
}

// directory is where a hook runs: where the agent is, or what is left of it.
func (r *Runner) directory(in hook.Input) string {
	home, _ := os.UserHomeDir() // one without a home has the others
	for _, dir := range []string{in.CWD, r.opts.WorkDir, r.opts.ProjectDir, home} {
		if info, err := os.Stat(dir); dir != "" && err == nil && info.IsDir() {
			return dir
		}
	}
	return os.TempDir()
}

// prepare makes the process of a command hook. An error says why the hook
// cannot run as it is written.
func (r *Runner) prepare(e Entry, in hook.Input) (shell.Command, error) {
	set := r.values(e)
	c := shell.Command{Dir: r.directory(in), Env: r.environment(set, e.Env), Timeout: e.Handler.Limit(), Limit: maxOutput}
	var q quoting
	switch h := e.Handler; {
	case h.Args != nil:
		// bash replaces itself by the program and reads nothing but its words.
		c.Line = `exec -- "$0" "$@"`
		for _, word := range append([]string{h.Command}, h.Args...) {
			q.used = append(q.used, braced(word)...)
			c.Args = append(c.Args, substitute(word, func(name string) string { return set[name] }))
		}
	case h.Shell == "powershell":
		q.used = braced(h.Command)
		c.Shell, c.Line = h.Shell, substitute(h.Command, func(name string) string { return "${env:" + name + "}" })
	default:
		q = quote(h.Command)
		c.Shell, c.Line = h.Shell, q.line
	}
	for _, name := range q.used {
		if set[name] == "" {
			return c, fmt.Errorf("%s is not set for it (%s), so it cannot run", name, meaning(name))
		}
	}
	for _, name := range q.code {
		if harmful(set[name]) {
			return c, fmt.Errorf("a program would take the directory name in %s for program text, so it does not run: let the program read the variable from its environment, or rename %q", name, set[name])
		}
	}
	return c, nil
}

// substitute replaces each ${NAME} of a variable.
func substitute(s string, with func(name string) string) string {
	var pairs []string
	for _, name := range braced(s) {
		pairs = append(pairs, "${"+name+"}", with(name))
	}
	return strings.NewReplacer(pairs...).Replace(s)
}

// meaning says whose variable it is.
func meaning(name string) string {
	switch {
	case strings.HasSuffix(name, "SKILL_DIR"):
		return "only hooks of a skill have it"
	case strings.HasSuffix(name, "PROJECT_DIR"):
		return "there is no project"
	}
	return "only hooks of a plugin have it"
}
