package permission

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/knack-skills/knack/gitignore"
)

// protectedDirs hold what later runs by itself; writing below them always asks
// (spec S-10). Names are compared without case: some file systems do so too.
var protectedDirs = []string{".git", ".claude", ".agents", ".vscode", ".idea", ".husky"}

// protectedFiles are read by shells, git and agents when they start (spec S-10).
var protectedFiles = []string{
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile",
	".zshrc", ".zprofile", ".zshenv", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".inputrc", "config.fish",
	".mcp.json", ".claude.json", ".gitconfig", ".gitmodules",
}

// protected says why writing to the place always asks, or "".
func (p place) protected() string {
	for _, one := range p.paths {
		for segment := range strings.SplitSeq(one, "/") {
			if slices.ContainsFunc(protectedDirs, func(d string) bool { return couldBe(segment, d) }) {
				return "it changes " + segment + ", a protected directory"
			}
		}
		name := path.Base(one)
		if slices.ContainsFunc(protectedFiles, func(f string) bool { return couldBe(name, f) }) {
			return "it changes " + name + ", a protected file"
		}
	}
	return ""
}

// couldBe reports whether a name is, or as a pattern of the shell matches, a
// protected one. A pattern only matches names with a dot if it has the dot.
func couldBe(name, protected string) bool {
	if strings.EqualFold(name, protected) {
		return true
	}
	if !strings.HasPrefix(name, ".") || !strings.ContainsAny(name, "*?[") {
		return false
	}
	ok, err := path.Match(name, protected)
	return ok || err != nil
}

// critical says why removing the place always asks, or "": it is the root, a
// directory directly below it, the home directory, the working directory or
// one of their parents (spec S-10).
func (p place) critical() string {
	for _, one := range p.paths {
		one = strings.TrimSuffix(one, "/*")
		switch {
		case one == "" || one == "/" || path.Dir(one) == "/":
			return "it removes " + cmp.Or(one, "/") + ", a directory of the system"
		case holds(one, clean("", p.home)):
			return "it removes the home directory"
		case holds(one, clean("", p.work)):
			return "it removes the working directory"
		}
	}
	return ""
}

// holds reports whether dir is inner or a parent of it.
func holds(dir, inner string) bool {
	if inner == "" {
		return false
	}
	_, ok := relative(dir, inner)
	return ok
}

// A fileVerb says what a command does with its operands.
type fileVerb int

const (
	writesAll  fileVerb = iota + 1 // every operand is created, changed or removed
	removesAll                     // every operand is removed
	movesAll                       // every operand is changed, and all but the target are removed
	writesLast                     // the last operand is the target, the others are read
	sedLike                        // writes its operands with -i, reads them otherwise
	ddLike                         // of=file is written, if=file is read
)

// fileVerbs is the table of commands whose operands are known to be files.
// Rules about files that refuse are tried on them, and protected paths and
// removals ask (spec S-8, S-10); nothing is allowed by this table.
var fileVerbs = map[string]fileVerb{
	"rm": removesAll, "rmdir": removesAll, "unlink": removesAll, "shred": removesAll,
	"mv": movesAll, "touch": writesAll, "mkdir": writesAll, "tee": writesAll, "truncate": writesAll,
	"chmod": writesAll, "chown": writesAll, "chgrp": writesAll, "mkfifo": writesAll,
	"cp": writesLast, "ln": writesLast, "install": writesLast, "rsync": writesLast,
	"sed": sedLike, "dd": ddLike,
}

// files adds the files that a command names as parts of their own, for
// refusals and protected paths only.
func (r *reader) files(text string, words []word) {
	if words = r.programOf(words); len(words) == 0 {
		return
	}
	name := base(words[0].value)
	verb := fileVerbs[name]
	if verb == 0 {
		if verbs[name].reads || readers[name] {
			for _, w := range operands(words[1:]) {
				r.fileOperand("Read", text, w, false)
			}
			for _, w := range words[1:] {
				if option, value, joined := strings.Cut(w.value, "="); joined && strings.HasPrefix(option, "--") {
					r.fileOperand("Read", text, word{value: value, static: w.static}, false) // grep --file=secret
				}
			}
		}
		if name == "find" && slices.Contains(actionsOf(words), "-delete") {
			r.findDelete(text, words[1:])
		}
		return
	}
	ops := operands(words[1:])
	spread := hasOption(words, "t", "--target-directory")
	inPlace := hasOption(words, "i", "--in-place")
	for i, w := range ops {
		switch {
		case verb == removesAll, verb == movesAll:
			r.fileOperand("Write", text, w, verb == removesAll || spread || i < len(ops)-1)
		case verb == ddLike:
			if target, ok := strings.CutPrefix(w.value, "of="); ok {
				r.fileOperand("Write", text, word{value: target, static: w.static}, false)
			} else if from, ok := strings.CutPrefix(w.value, "if="); ok {
				r.fileOperand("Read", text, word{value: from, static: w.static}, false)
			}
		case verb == writesAll, verb == sedLike && inPlace, verb == writesLast && (spread || i == len(ops)-1):
			r.fileOperand("Write", text, w, false)
		default:
			r.fileOperand("Read", text, w, false)
		}
	}
	if spread {
		for _, w := range words {
			if v, ok := strings.CutPrefix(w.value, "--target-directory="); ok {
				r.fileOperand("Write", text, word{value: v, static: w.static}, false)
			}
		}
	}
}

// programOf skips programs that run others ("sudo -u x rm y") up to the first
// word that names a command of the tables.
func (r *reader) programOf(words []word) []word {
	if !runners[base(words[0].value)] {
		return words
	}
	for i, w := range words {
		name := base(w.value)
		if w.static && (fileVerbs[name] != 0 || verbs[name].reads || readers[name]) {
			return words[i:]
		}
	}
	return nil
}

// findDelete: "find dir -delete" removes dir; with a test such as -name it
// removes some of what is in it.
func (r *reader) findDelete(text string, args []word) {
	n := slices.IndexFunc(args, func(w word) bool { return strings.HasPrefix(w.value, "-") && w.static })
	for _, w := range args[:n] {
		r.fileOperand("Write", text, w, len(args) == n+1)
	}
	if n == 0 {
		r.fileOperand("Write", text, word{value: ".", static: true}, len(args) == 1)
	}
}

func (r *reader) fileOperand(tool, text string, w word, removes bool) {
	p := part{tool: tool, text: text, inside: true}
	if w.static {
		p.place = r.placeOf(w)
	} else {
		p.place = r.guess(w)
	}
	if tool == "Write" {
		p.firm = p.place.protected()
	}
	if removes && p.firm == "" {
		p.firm = p.place.critical()
	}
	if !w.static {
		p.place.unknown = true
	}
	if p.firm != "" || len(p.place.paths) > 0 {
		r.add(p)
	}
}

// guess is the place of a word that is only known at run time, as if every
// variable were empty: "$DIR/" must not remove the root unasked, and "*" is
// everything here.
func (r *reader) guess(w word) place {
	text := strings.NewReplacer(`"`, "", "'", "", "${PWD}", r.work, "$PWD", r.work).Replace(w.text)
	text = withoutVariables(expandHomes(text, r.home))
	out := place{unknown: true, home: r.home, work: r.work}
	names, ok := gitignore.ExpandBraces(text, 64)
	if !ok {
		names = []string{text}
	}
	for _, name := range names {
		if name != "" {
			out.paths = append(out.paths, r.placeOf(word{value: expandHome(name, r.home), static: true}).paths...)
		}
	}
	return out
}

// withoutVariables takes out every $name, ${...} and $(...).
func withoutVariables(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '$' {
			b.WriteByte(text[i])
			continue
		}
		if i+1 < len(text) && (text[i+1] == '{' || text[i+1] == '(') {
			depth := 0
			for i++; i < len(text); i++ {
				switch text[i] {
				case '{', '(':
					depth++
				case '}', ')':
					depth--
				}
				if depth == 0 {
					break
				}
			}
			continue
		}
		for i+1 < len(text) && isNameByte(text[i+1]) {
			i++
		}
	}
	return b.String()
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// operands returns the words that are no options.
func operands(words []word) (out []word) {
	for i, w := range words {
		if w.static && w.value == "--" {
			return append(out, words[i+1:]...)
		}
		if !strings.HasPrefix(w.value, "-") && !(w.splits && w.text == "") {
			out = append(out, w)
		}
	}
	return out
}

// hasOption reports whether an option is there: a letter, alone, joined with
// its value or in a cluster, or a long name, if there is one.
func hasOption(words []word, letter, long string) bool {
	for _, w := range words[1:] {
		switch {
		case strings.HasPrefix(w.value, "--"):
			if long != "" && strings.HasPrefix(w.value, long) {
				return true
			}
		case strings.HasPrefix(w.value, "-") && strings.Contains(w.value, letter):
			return true
		}
	}
	return false
}

// readsUnknown reports whether a command shows files whose names are only
// known when it runs.
func readsUnknown(words []word) bool {
	if !verbs[words[0].value].reads {
		return false
	}
	for _, w := range words[1:] {
		if !w.static {
			return true
		}
	}
	return false
}
