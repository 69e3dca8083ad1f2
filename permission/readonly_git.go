package permission

import (
	"slices"
	"strings"
)

// gitPlain are options before the subcommand that change nothing about what it
// runs. -c, --exec-path, --git-dir and -C are not here: they choose the
// configuration, and with it the programs that git starts.
var gitPlain = set("--no-pager -P --no-optional-locks --literal-pathspecs --no-replace-objects --icase-pathspecs")

// gitValued are options before the subcommand that take the next word.
var gitValued = set("-c -C --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source")

// A gitVerb is a subcommand that reads.
type gitVerb struct {
	verb
	// lister are options of which one must be there before operands may be:
	// without it an operand would name something to create.
	lister []string
	// must are options of which one must be there.
	must []string
	// first, when set, are the words that may come first; empty text means none.
	first []string
}

// Options shared by commands that print commits: the refused ones write a file
// (--output), run a program (--ext-diff, --show-signature) or choose one (-O).
var gitLog = gitVerb{verb: verb{refuse: []string{"output", "ext-diff", "show-signature", "O"}}}

// gitFilter are the options that turn branch and tag into a list.
var gitFilter = []string{"--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"}

// gitVerbs is the table of subcommands; what is absent asks.
var gitVerbs = map[string]gitVerb{
	"log": gitLog, "diff": gitLog, "show": gitLog, "shortlog": gitLog, "whatchanged": gitLog, "diff-tree": gitLog,
	// These have no option that writes or runs.
	"status": {}, "rev-parse": {}, "describe": {}, "ls-files": {}, "ls-tree": {}, "merge-base": {},
	"rev-list": {}, "for-each-ref": {}, "name-rev": {}, "count-objects": {}, "version": {},
	"blame": gitLog,
	// cat-file --textconv and --filters run configured programs.
	"cat-file": {verb: verb{refuse: []string{"textconv", "filters"}}},
	// grep -O opens a pager on the matches; --ext-grep runs grep.
	"grep": {verb: verb{refuse: []string{"O", "open-files-in-pager", "ext-grep"}}},
	// Listing forms only: an operand alone creates.
	"branch": {
		verb: verb{only: slices.Concat(gitFilter, []string{
			"-a", "-r", "-v", "-vv", "-i", "--all", "--remotes", "--verbose", "--show-current", "--no-color", "--color",
			"--column", "--no-column", "--ignore-case", "--sort", "--format", "--abbrev", "--no-abbrev",
		})},
		lister: gitFilter,
	},
	"tag": {
		verb: verb{only: slices.Concat(gitFilter, []string{
			"-l", "-n", "-i", "--no-color", "--color", "--column", "--no-column", "--ignore-case", "--sort", "--format",
		})},
		lister: append([]string{"-l"}, gitFilter...),
	},
	// remote show asks the server; add and the rest write.
	"remote": {verb: verb{only: []string{"-v", "--verbose", "--all", "--push"}}, first: []string{"", "get-url"}},
	"stash":  {verb: gitLog.verb, first: []string{"list", "show"}},
	"reflog": {verb: gitLog.verb, first: []string{"", "show"}},
	"worktree": {
		verb: verb{only: []string{"--porcelain", "-v", "--verbose", "-z"}}, first: []string{"list"},
	},
	"config": {
		verb: verb{only: []string{
			"--get", "--get-all", "--get-regexp", "--list", "-l", "--global", "--local", "--system", "--worktree",
			"--show-origin", "--show-scope", "--name-only", "--null", "-z", "--bool", "--int", "--path", "--type",
			"--includes", "--no-includes",
		}},
		must: []string{"--get", "--get-all", "--get-regexp", "--list", "-l"},
	},
}

// gitReads reports whether the arguments of git make a command that reads.
func gitReads(args []word) bool {
	for len(args) > 0 && args[0].static && gitPlain[args[0].value] {
		args = args[1:]
	}
	if len(args) == 0 || !args[0].static {
		return false
	}
	if args[0].value == "--version" {
		return len(args) == 1
	}
	v, ok := gitVerbs[args[0].value]
	return ok && v.reads(args[1:])
}

func (v gitVerb) reads(args []word) bool {
	word := ""
	if v.first != nil {
		if len(args) > 0 && !args[0].option() {
			word = args[0].value
			if !args[0].static {
				return false
			}
			args = args[1:]
		} else if len(args) > 0 && !args[0].static {
			return false
		}
		if !slices.Contains(v.first, word) {
			return false
		}
	}
	bare := v.first != nil && slices.Contains(v.first, "") && word == ""
	listing, must, operands := false, v.must == nil, 0
	for _, w := range args {
		name, _, _ := strings.Cut(w.value, "=")
		if v.only != nil && !w.static && (w.splits || w.option()) {
			return false
		}
		if v.only != nil && strings.HasPrefix(w.value, "-") && !v.lists(name) {
			return false
		}
		listing = listing || slices.Contains(v.lister, name)
		must = must || slices.Contains(v.must, name)
		if !strings.HasPrefix(w.value, "-") || !w.static {
			operands++
		}
	}
	if bare && operands > 0 {
		return false // "git remote -v update" is an update
	}
	if !must || v.lister != nil && operands > 0 && !listing {
		return false
	}
	return v.only != nil || v.permits(args)
}

// lists reports whether an option is one of those named in full; -n5 is -n.
func (v gitVerb) lists(name string) bool {
	return slices.Contains(v.only, name) ||
		strings.HasPrefix(name, "-n") && slices.Contains(v.only, "-n") && isDigits(name[2:])
}

// gitWithoutOptions returns a git command without the options before its
// subcommand, so that a refusal of "git push" sees "git -C dir push". It is
// nil when there are none.
func gitWithoutOptions(words []word) []word {
	if !words[0].static || base(words[0].value) != "git" {
		return nil
	}
	rest := words[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0].value, "-") {
		n := 1
		if gitValued[rest[0].value] {
			n = 2
		}
		rest = rest[min(n, len(rest)):]
	}
	if len(rest) == 0 || len(rest) == len(words)-1 {
		return nil
	}
	return append([]word{{text: "git", value: "git", static: true}}, rest...)
}
