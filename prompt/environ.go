package prompt

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

// Names that programs read from their environment. An argument must not reach
// them by a declared name: GIT_EXTERNAL_DIFF or LD_PRELOAD would make a
// permitted command run another one (spec P-9). A reference to such a name in
// a command line still yields the argument.
var (
	reservedNames = []string{
		"ARGUMENTS", "BROWSER", "CDPATH", "COLUMNS", "EDITOR", "ENV", "HOME", "HOSTNAME", "IFS", "LANG", "LANGUAGE",
		"LINES", "LOGNAME", "MAIL", "OLDPWD", "PAGER", "PATH", "PROMPT_COMMAND", "PS1", "PS2", "PS3", "PS4", "PWD",
		"SHELL", "SHELLOPTS", "SHLVL", "TMP", "TEMP", "TMPDIR", "TZ", "UID", "EUID", "PPID", "GROUPS", "USER", "VISUAL",
		"CC", "CXX", "LD", "AR", "MAKE", "MAKEFILES", "GLOBIGNORE", "TERM", "TERMCAP", "TERMINFO",
		"LESS", "LESSOPEN", "LESSCLOSE", "GOROOT", "GOENV", "GOTOOLCHAIN", "GOPROXY", "GOBIN", "GOSUMDB", "GOVCS",
		"GOAUTH", "GOINSECURE", "RUBYOPT", "RUBYLIB", "RUBYSHELL", "HISTFILE",
	}
	reservedPrefixes = []string{
		"BASH", "CARGO_", "CLAUDE_", "CURL_", "DOCKER_", "DYLD_", "GCONV_", "GIT_", "GLIBC_", "GNUPG", "JAVA_", "JDK_",
		"KNACK_", "LC_", "LD_", "MALLOC_", "NODE_", "NPM_", "OPENSSL_", "PERL5", "PIP_", "PYTHON", "RUSTC", "RUSTUP_",
		"SSH_", "SSL_", "SUDO_", "UV_", "XDG_", "YARN_", "_", "npm_", "pip_",
	}
	reservedSuffixes = []string{
		"FLAGS", "OPTIONS", "OPTS", "PATH", "PAGER", "EDITOR", "_COMMAND", "_PROXY", "_proxy", "_ASKPASS", "_SHELL", "_CONFIG", "_RC",
	}
)

// reserved reports whether programs give the name a meaning.
func reserved(name string) bool {
	return slices.Contains(reservedNames, name) ||
		slices.ContainsFunc(reservedPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }) ||
		slices.ContainsFunc(reservedSuffixes, func(p string) bool { return strings.HasSuffix(name, p) })
}

// exportable returns the test for names that become environment variables:
// those a shell can read, that mean nothing to programs, and that would not
// hide a variable the process already has.
func exportable(base []string) func(string) bool {
	taken := make(map[string]bool, len(base))
	for _, kv := range base {
		key, _, _ := strings.Cut(kv, "=")
		taken[key] = true
	}
	return func(name string) bool { return identifier(name) && !reserved(name) && !taken[name] }
}

// baseEnviron returns the environment to start from, without what an outer
// invocation may have left in it: a skill sees its own variables or none.
func baseEnviron(environ []string) []string {
	if environ == nil {
		environ = os.Environ()
	}
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		_, ours := find(key)
		return ours || key == "ARGUMENTS" || strings.HasPrefix(key, argumentEnv("")) ||
			strings.HasPrefix(key, prefixes[0]+userConfigEnv) || strings.HasPrefix(key, prefixes[1]+userConfigEnv)
	})
}

// maxPassed bounds, in bytes, the arguments that every command gets. Systems
// refuse to start a program with more than some 100 KiB in one string; a long
// text typed behind a command must not stop commands that do not ask for it.
const maxPassed = 64 << 10

// withArguments reports whether cmd gets the arguments.
func (c *compiler) withArguments(cmd command) bool {
	return len(c.args) <= maxPassed || slices.ContainsFunc(cmd.tokens, func(t token) bool { return t.kind != variableToken })
}

// environ returns the environment of cmd (spec P-9). A shell splits what it
// expands outside of quotes: $ARGUMENTS there gives a word for each blank-
// separated part, as typed and without reading quotes, and "$ARGUMENTS" gives
// one word. The arguments as the text knows them are "$@".
func (c *compiler) environ(cmd command, base []string, exported func(string) bool) []string {
	env := append(slices.Clip(base), c.scope.environ()...)
	if !c.withArguments(cmd) {
		return env
	}
	env = append(env, "ARGUMENTS="+c.args)
	for _, n := range c.names {
		value := c.named(n.index)
		if exported(n.text) {
			env = append(env, n.text+"="+value)
		} else {
			env = append(env, argumentEnv("NAME_"+strconv.Itoa(n.index))+"="+value)
		}
	}
	for _, t := range cmd.tokens {
		if t.listed {
			value, _ := c.argument(t.index)
			env = append(env, argumentEnv(t.name)+"="+value)
		}
	}
	return env
}

// positional returns $0, $1 and so on: the arguments from $0 or, counted from
// one, from $1 with the skill's id as $0. Without arguments a line that reads
// $0 finds it empty; other lines keep the shell's own name there, which begins
// the shell's error messages.
func (c *compiler) positional(cmd command) []string {
	if !c.withArguments(cmd) {
		return nil
	}
	if c.base == 1 {
		return append([]string{c.skill.ID}, c.list...)
	}
	if len(c.list) == 0 && slices.ContainsFunc(cmd.tokens, func(t token) bool {
		return t.kind == indexToken && !t.listed && t.index == 0
	}) {
		return []string{""}
	}
	return c.list
}
