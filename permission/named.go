package permission

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// gitStarts are options of further git subcommands that name a program to
// start, a command to run or a file to write, besides what gitVerbs refuses.
// A rule about the subcommand does not mean them.
var gitStarts = map[string][]string{
	"fetch": {"upload-pack"}, "pull": {"upload-pack"}, "ls-remote": {"upload-pack", "exec"}, "fetch-pack": {"upload-pack", "exec"},
	"clone": {"upload-pack", "u", "template", "c", "config"}, "init": {"template"},
	"push": {"receive-pack", "exec"}, "send-pack": {"receive-pack", "exec"}, "archive": {"exec", "o", "output"},
	"rebase": {"x", "exec"}, "difftool": {"x", "extcmd"}, "format-patch": {"output", "ext-diff"}, "range-diff": {"output", "ext-diff"},
	"send-email": {"smtp-server", "sendmail-cmd", "to-cmd", "cc-cmd", "header-cmd"},
}

// gitCommands are words of git subcommands after which a command follows.
var gitCommands = map[string]string{"submodule": "foreach", "bisect": "run"}

// A demand is what an allow rule about a program has to say about one of its
// commands (spec S-7): "Bash(git log:*)" means reading, not --output.
type demand struct {
	options []string // letters and long names that the rule must hold as options
	words   []string // words that it must hold
	only    string   // why nothing narrower than all of the program, or its exact text, allows it
	away    bool     // not even that: the text means something else where it runs
}

func (d demand) empty() bool { return d.options == nil && d.words == nil && d.only == "" }

// demandOf finds the words of a command that do more than its program is
// allowed for, of those programs that mostly read. elsewhere says that the line
// has changed directory.
func demandOf(words []word, elsewhere bool) (d demand) {
	name, args := words[0], words[1:]
	if !name.static {
		return d
	}
	program := base(name.value)
	refuse := verbs[program].refuse
	if program == "git" {
		if elsewhere {
			d.only, d.away = "the git configuration of another directory may start programs", true
		}
		var ok bool
		if args, ok = d.gitGlobals(args); !ok {
			return d
		}
		sub := args[0].value
		refuse, args = slices.Concat(gitVerbs[sub].refuse, gitStarts[sub]), args[1:]
		if w := gitCommands[sub]; w != "" && slices.ContainsFunc(args, func(a word) bool { return a.value == w || !a.static }) {
			d.words = append(d.words, w)
		}
	}
	d.refused(refuse, args)
	return d
}

// gitGlobals notes options before the subcommand that choose the configuration.
// ok is false when there is no subcommand to see.
func (d *demand) gitGlobals(args []word) (rest []word, ok bool) {
	for len(args) > 0 && args[0].option() {
		w := args[0]
		if !w.static {
			d.only = "an option is only known when it runs"
			return nil, false
		}
		name, _, joined := strings.Cut(w.value, "=")
		n := 1
		if gitValued[name] {
			d.words = append(d.words, name)
			if !joined {
				n = 2
			}
		}
		args = args[min(n, len(args)):]
	}
	return args, len(args) > 0 && args[0].static
}

// refused notes the options among args that are in refuse, or could be.
func (d *demand) refused(refuse []string, args []word) {
	if len(refuse) == 0 {
		return
	}
	v := verb{refuse: refuse}
	for _, w := range args {
		switch {
		case w.value == "--" && w.static:
			return
		case !w.option() || w.value == "-" && w.static:
		case !w.static:
			d.only = "an option is only known when it runs; put -- before what is none"
		case v.refuses(w.value):
			d.options = append(d.options, canonical(w.value, refuse))
		}
	}
}

// metBy reports whether a specifier says what the command demands.
func (d demand) metBy(s bashSpec) bool {
	if d.empty() || s.kind == exactSpec && !d.away {
		return true
	}
	said := strings.Fields(s.text)
	if len(said) == 1 && strings.TrimRight(base(said[0]), "*") == "git" {
		return true // all of git is all of it, while "rg" is still a search
	}
	if d.only != "" {
		return false
	}
	for _, w := range d.words {
		if !slices.ContainsFunc(said, func(s string) bool { return s == w || strings.HasPrefix(s, w+"=") }) {
			return false
		}
	}
	for _, o := range d.options {
		if !slices.ContainsFunc(said, func(s string) bool { return names(s, o) }) {
			return false
		}
	}
	return true
}

// canonical is an option without its value; of letters that stand together it is
// the one that is refused.
func canonical(option string, refuse []string) string {
	if !strings.HasPrefix(option, "--") {
		for _, r := range refuse {
			if len(r) == 1 && strings.Contains(option[1:], r) {
				return "-" + r
			}
		}
	}
	name, _, _ := strings.Cut(option, "=")
	return name
}

// names reports whether a word of a rule is an option, with or without a value.
func names(said, option string) bool {
	if len(option) == 2 {
		return strings.HasPrefix(said, option)
	}
	return said == option || strings.HasPrefix(said, option+"=")
}

// why says what a rule would have to name, for people.
func (d demand) why() string {
	if d.only != "" {
		return d.only
	}
	all := slices.Concat(d.words, d.options)
	if len(all) == 0 {
		return ""
	}
	return "a rule must name " + all[0] + ", which can write files or start programs"
}

// nameCommands are read-only git commands that print names of commits and
// references, which never begin with "-", with the options that keep it so.
var nameCommands = map[string]map[string]bool{
	"describe":     set("--tags --all --long --always --abbrev=0 --contains --exact-match"),
	"merge-base":   set("--octopus --fork-point --all"),
	"rev-parse":    set("--abbrev-ref --short --verify --symbolic-full-name --show-toplevel"),
	"symbolic-ref": set("--short -q"),
	"branch":       set("--show-current"),
}

// beginsWithName reports whether a word begins with a command substitution that
// prints names of commits, as in "git log $(git describe --tags)..HEAD". Should
// that print nothing, what follows is no option either.
func beginsWithName(w *syntax.Word) bool {
	parts := w.Parts
	if q, ok := parts[0].(*syntax.DblQuoted); ok && !q.Dollar {
		parts = slices.Concat(q.Parts, parts[1:])
	}
	if len(parts) == 0 || !printsName(parts[0]) {
		return false
	}
	if len(parts) == 1 {
		return true
	}
	lit, ok := parts[1].(*syntax.Lit)
	return ok && lit.Value != "" && lit.Value[0] != '-' && lit.Value[0] != '\\'
}

func printsName(p syntax.WordPart) bool {
	c, ok := p.(*syntax.CmdSubst)
	return ok && len(c.Stmts) == 1 && namesOnly(c.Stmts[0], printsCommit)
}

// namesOnly reports whether a statement prints names of commits, or else a fixed
// text that is no option.
func namesOnly(s *syntax.Stmt, prints func([]*syntax.Word) bool) bool {
	if s.Background || s.Negated || slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool { return r.N == nil || r.N.Value != "2" }) {
		return false
	}
	switch n := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		return n.Op == syntax.OrStmt && namesOnly(n.X, printsCommit) && (namesOnly(n.Y, printsCommit) || namesOnly(n.Y, printsText))
	case *syntax.CallExpr:
		return len(n.Assigns) == 0 && len(n.Args) > 1 && prints(n.Args)
	}
	return false
}

// printsText: echo of one word as it stands.
func printsText(args []*syntax.Word) bool {
	text := args[1].Lit()
	if q, ok := args[1].Parts[0].(*syntax.DblQuoted); ok && len(args[1].Parts) == 1 {
		text = ""
		if len(q.Parts) == 1 {
			if lit, ok := q.Parts[0].(*syntax.Lit); ok {
				text = lit.Value
			}
		}
		if text == "" && len(q.Parts) > 0 {
			return false
		}
	} else if text == "" {
		return false
	}
	return args[0].Lit() == "echo" && len(args) == 2 && !strings.ContainsAny(text, "-*?[]{}~\\")
}

func printsCommit(args []*syntax.Word) bool {
	if args[0].Lit() != "git" {
		return false
	}
	sub := args[1].Lit()
	options, ok := nameCommands[sub]
	for _, a := range args[2:] {
		lit := a.Lit()
		ok = ok && lit != "" && (options[lit] || lit[0] != '-' && !strings.ContainsAny(lit, "*?[]{}~\\"))
	}
	return ok && (sub != "branch" || len(args) == 3 && args[2].Lit() == "--show-current")
}
