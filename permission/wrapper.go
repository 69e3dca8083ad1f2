package permission

import (
	"strings"
)

// A wrapper is a program or builtin that runs the command in its arguments and
// adds nothing to what that does (spec S-7), so rules look through it.
type wrapper struct {
	flags     string   // one-letter options without a value
	values    string   // one-letter options with a value, joined or as the next word
	longFlags []string // long options without a value
	longValue []string // long options with a value, after "=" or as the next word
	operands  int      // words before the command
	number    bool     // -10 is an option
	appends   bool     // adds arguments of its own at the end (xargs)
	query     string   // options that make it print instead of run
}

// wrappers are looked through. An option that is not listed (time -o writes a
// file) ends the looking: the wrapper then needs a rule of its own.
var wrappers = map[string]wrapper{
	"timeout": {flags: "vfp", values: "ks", longFlags: []string{"foreground", "preserve-status", "verbose"}, longValue: []string{"kill-after", "signal"}, operands: 1},
	"time":    {flags: "pv", longFlags: []string{"portability", "verbose"}},
	"nice":    {values: "n", longValue: []string{"adjustment"}, number: true},
	"nohup":   {},
	"stdbuf":  {values: "ioe", longValue: []string{"input", "output", "error"}},
	"command": {flags: "p", query: "vV"},
	"builtin": {},
	"xargs": {
		flags: "0rtx", values: "nLPIdEs",
		longFlags: []string{"null", "no-run-if-empty", "verbose", "exit"},
		longValue: []string{"max-args", "max-procs", "delimiter", "max-chars"},
		appends:   true,
	},
}

// runners run a command in their arguments but change what it can do or where
// (another user, another environment, another script), so an allow rule must
// name them. Refusals see the command inside.
var runners = set("env sudo doas su runuser pkexec eval exec source . trap watch setsid ionice flock chrt taskset chroot " +
	"unshare nsenter strace ltrace script parallel busybox toybox systemd-run setarch linux32 linux64 prlimit unbuffer " +
	"rlwrap proxychains torsocks firejail bwrap entr coproc xargs timeout time nice nohup stdbuf command builtin")

// shells run text as a script.
var shells = set("bash sh dash zsh ksh mksh ash rbash fish")

// scripted are runners whose arguments, joined, are a script.
var scripted = set("eval watch trap")

func set(names string) map[string]bool {
	m := map[string]bool{}
	for n := range strings.FieldsSeq(names) {
		m[n] = true
	}
	return m
}

// strip returns the command that the wrapper runs. ok is false when an option
// is not known or not written out; then nobody can say where the command is.
func (w wrapper) strip(words []word) (rest []word, ok bool) {
	rest = words[1:]
	replace := ""
	for len(rest) > 0 {
		arg := rest[0]
		if !arg.static {
			if strings.HasPrefix(arg.value, "-") || arg.value == "" && w.operands > 0 {
				return nil, false
			}
			break
		}
		if arg.value == "--" {
			rest = rest[1:]
			break
		}
		if len(arg.value) < 2 || arg.value[0] != '-' {
			break
		}
		n, mark, known := w.option(rest)
		if !known {
			return nil, false
		}
		replace += mark
		rest = rest[n:]
	}
	for range w.operands {
		if len(rest) == 0 || !rest[0].static {
			return nil, false
		}
		rest = rest[1:]
	}
	switch {
	case len(rest) == 0 || !w.appends:
	case replace != "":
		rest = replaced(rest, replace)
	default:
		rest = append(rest[:len(rest):len(rest)], word{splits: true})
	}
	return rest, true
}

// option reads one option: how many words it takes with its value, and for
// xargs -I the text that stands for an input line.
func (w wrapper) option(words []word) (n int, mark string, known bool) {
	arg := words[0].value
	next := len(words) > 1 && words[1].static
	if long, ok := strings.CutPrefix(arg, "--"); ok {
		name, value, joined := strings.Cut(long, "=")
		switch {
		case contains(w.longFlags, name) && !joined:
			return 1, "", true
		case contains(w.longValue, name) && joined && value != "":
			return 1, "", true
		case contains(w.longValue, name) && !joined && next:
			return 2, "", true
		}
		return 0, "", false
	}
	if w.number && isDigits(arg[1:]) {
		return 1, "", true
	}
	for i := 1; i < len(arg); i++ {
		if strings.IndexByte(w.flags, arg[i]) >= 0 {
			continue
		}
		if strings.IndexByte(w.values, arg[i]) < 0 {
			return 0, "", false
		}
		n, value := 1, arg[i+1:]
		if value == "" {
			if !next {
				return 0, "", false
			}
			n, value = 2, words[1].value
		}
		if arg[i] == 'I' {
			mark = value
		}
		return n, mark, true
	}
	return 1, "", true
}

// queries reports whether the wrapper only prints something (command -v git).
func (w wrapper) queries(words []word) bool {
	return w.query != "" && len(words) > 1 && words[1].static && len(words[1].value) == 2 &&
		words[1].value[0] == '-' && strings.IndexByte(w.query, words[1].value[1]) >= 0
}

func contains(list []string, s string) bool {
	for _, one := range list {
		if one == s {
			return true
		}
	}
	return false
}

// replaced marks the words in which xargs -I puts its input.
func replaced(words []word, mark string) []word {
	out := make([]word, len(words))
	for i, w := range words {
		if at := strings.Index(w.value, mark); at >= 0 {
			w.value, w.static = w.value[:at], false
		}
		out[i] = w
	}
	return out
}

// actionsOf returns the words of a find command that run, write or remove
// something.
func actionsOf(words []word) (actions []string) {
	if words[0].static && base(words[0].value) == "find" {
		for _, w := range words[1:] {
			if w.static && findActions[w.value] && !contains(actions, w.value) {
				actions = append(actions, w.value)
			}
		}
	}
	return actions
}

var findActions = set("-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls")

// insides is what refusals see inside a command that runs other commands.
type insides struct {
	scripts []string // texts that some shell would run
	blind   string   // why there may be more
}

func (in *insides) script(w word) {
	if !w.static {
		in.blind = "its script is only known when it runs"
	}
	in.scripts = append(in.scripts, w.value)
}

// visible collects what refusals see inside a command. The options of programs
// that are not looked through are not interpreted: every word that could be a
// program counts as one.
func visible(c *command, words []word, opaque bool) insides {
	var in insides
	if rest := gitWithoutOptions(words); rest != nil {
		c.hidden = append(c.hidden, rest)
	}
	if !opaque {
		return in
	}
	// find only runs the word after -exec, and what that runs in turn.
	listening := len(c.actions) == 0
	for i := 1; i < len(words); i++ {
		w := words[i]
		if len(c.actions) > 0 && findActions[words[i-1].value] {
			listening = runners[base(w.value)] || shells[base(w.value)] || !w.static
		} else if !listening {
			continue
		}
		if !w.static {
			in.blind = "a command inside it is only known when it runs"
		} else if w.value != "" && w.value[0] != '-' {
			c.hide(words[i:])
		}
	}
	in.read(words)
	return in
}

// hide adds a form that refusals see.
func (c *command) hide(words []word) {
	c.hidden = append(c.hidden, words)
	if rest := gitWithoutOptions(words); rest != nil {
		c.hidden = append(c.hidden, rest)
	}
}

// read finds the scripts among words. Each kind of program is read once, from
// its first place on, which sees everything a later one is given.
func (in *insides) read(words []word) {
	var dashC, joined, split bool
	for i, w := range words {
		name := base(w.value)
		switch {
		case !w.static:
		case scripted[name] && !joined:
			joined = true
			in.joined(words[i+1:])
		case name == "env" && !split:
			split = true
			in.split(words[i+1:])
		case !dashC && (shells[name] || dashCPrograms[name]):
			dashC = true
			in.dashC(words[i+1:])
		}
	}
}

// dashCPrograms take a script after -c, as shells do.
var dashCPrograms = set("su runuser script flock")

// dashC reads the script of "bash -c script", wherever the option stands.
func (in *insides) dashC(words []word) {
	seen := false
	for _, w := range words {
		option := len(w.value) > 1 && (w.value[0] == '-' || w.value[0] == '+')
		switch {
		case option && strings.HasPrefix(w.value, "--command="):
			w.value = strings.TrimPrefix(w.value, "--command=")
			in.script(w)
		case option && (w.value == "--command" || w.value[1] != '-' && strings.Contains(w.value, "c")):
			seen = true
		case seen && !option:
			in.script(w)
		}
	}
}

// joined reads the script of eval and watch: all words together, and each word
// with a blank for itself, since "watch -n 5 'a; b'" has options in front.
func (in *insides) joined(words []word) {
	all := word{static: true}
	for _, w := range words {
		if strings.ContainsAny(w.value, " \t\n;|&") {
			in.script(w)
		}
		all.static = all.static && w.static
		if all.value != "" || !strings.HasPrefix(w.value, "-") {
			all.value += w.value + " "
		}
	}
	in.script(all)
}

// split reads the words of env -S.
func (in *insides) split(words []word) {
	for _, w := range words {
		v, long := strings.CutPrefix(w.value, "--split-string=")
		if !long {
			_, v, _ = strings.Cut(w.value, "S")
			if !strings.HasPrefix(w.value, "-") || v == "" {
				v = w.value
			}
		}
		if strings.ContainsAny(v, " \t") || v != w.value {
			in.script(word{value: v, static: w.static})
		}
	}
}
