package permission

import (
	"slices"
	"strings"
)

// A verb is a command that reads and prints, allowed without a rule as long as
// its arguments hold nothing that makes it do more (spec S-7). What an argument
// could be counts: a word that is only known at run time may be an option.
type verb struct {
	// refuse are options that write or run something: "o" is -o alone, joined
	// or in a cluster, "output" is --output and every abbreviation of it.
	refuse []string
	// only, when set, are all the options there may be, in full.
	only []string
	// operands is the highest number of operands; zero means any, -1 none.
	operands int
	// values are options of one letter that take the next word.
	values string
	// reads says that operands are files whose text is shown.
	reads bool
	// check is asked besides, for commands with a grammar of their own.
	check func(args []word) bool
}

// verbs is the table of read-only commands. A command is here when no argument
// can make it change a file or start a program, or when the arguments that can
// are listed.
var verbs = map[string]verb{
	// Listing and naming: no option writes.
	"ls": {}, "pwd": {}, "basename": {}, "dirname": {}, "realpath": {}, "readlink": {},
	"stat": {}, "du": {}, "df": {}, "whoami": {}, "id": {}, "uname": {}, "which": {}, "type": {},
	// Results and flow: nothing but an exit status, a pause or printed words.
	"true": {}, "false": {}, ":": {}, "sleep": {}, "seq": {}, "echo": {},
	"break": {}, "continue": {}, "exit": {}, "return": {},
	// Text filters that only know how to print.
	"cat": {reads: true}, "head": {reads: true}, "tail": {reads: true}, "wc": {reads: true}, "cut": {reads: true},
	"nl": {reads: true}, "tac": {reads: true}, "rev": {reads: true}, "fold": {reads: true}, "column": {reads: true},
	"cmp": {reads: true}, "comm": {reads: true}, "tr": {}, "jq": {reads: true},
	"grep": {reads: true}, "egrep": {reads: true}, "fgrep": {reads: true},
	// rg runs a program for --pre and --hostname-bin, and decompressors for -z.
	"rg": {refuse: []string{"pre", "pre-glob", "hostname-bin", "z", "search-zip"}, reads: true},
	// sort writes with -o and runs --compress-program; -T chooses where it writes.
	"sort": {refuse: []string{"o", "output", "compress-program", "T", "temporary-directory"}, reads: true},
	// uniq writes its second operand.
	"uniq": {refuse: []string{}, operands: 1, values: "fsw", reads: true},
	// diff -l pipes through pr.
	"diff": {refuse: []string{"l", "paginate"}, reads: true},
	// tree -o writes; -R writes 00Tree.html.
	"tree": {refuse: []string{"o", "R", "output"}},
	// file -C writes a compiled magic file, -m and -f choose its inputs, -z runs decompressors.
	"file": {refuse: []string{"C", "compile", "m", "magic-file", "z", "Z", "uncompress", "uncompress-noreport", "S", "no-sandbox"}},
	// hostname with an operand sets the name, -F and -b too.
	"hostname": {only: []string{"-f", "-s", "-i", "-I", "-d", "-A", "--fqdn", "--long", "--short", "--domain", "--ip-address", "--all-ip-addresses"}, operands: -1},
	"date":     {check: dateReads},
	"printf":   {check: printfReads},
	"test":     {check: testReads},
	"[":        {check: testReads},
	"find":     {check: findReads},
	"command":  {check: commandAsks}, // otherwise it is a wrapper
	"git":      {check: gitReads},
}

// readers are further commands that show the text of files; they are not in
// verbs because they can also do other things.
var readers = set("sed awk gawk mawk less more bat strings xxd od hexdump base64 base32 md5sum sha1sum sha256sum sha512sum " +
	"source . zcat gunzip vim vi nano emacs code open")

// readOnlyReason says why a command needs no rule, or "".
func readOnlyReason(words []word) string {
	name := words[0]
	v, ok := verbs[name.value]
	if !ok || !name.static {
		return ""
	}
	args := words[1:]
	if v.check != nil && !v.check(args) || !v.permits(args) {
		return ""
	}
	if name.value == "git" && len(args) > 0 {
		return "git " + args[0].value + " only reads"
	}
	return name.value + " only reads"
}

// permits applies the lists of a verb to its arguments.
func (v verb) permits(args []word) bool {
	if v.refuse == nil && v.only == nil && v.operands == 0 {
		return true
	}
	operands, ended := 0, false
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case ended || !w.option() || w.value == "-" && w.static:
			operands++
			if w.splits && v.operands != 0 {
				return false
			}
		case !w.static:
			return false // it may turn out to be a refused option
		case w.value == "--":
			ended = true
		case v.only != nil && !slices.Contains(v.only, w.value), v.refuses(w.value):
			return false
		case len(w.value) == 2 && strings.IndexByte(v.values, w.value[1]) >= 0:
			if i++; i < len(args) && args[i].splits {
				return false
			}
		}
	}
	return v.operands == 0 || operands <= max(v.operands, 0)
}

// refuses reports whether one option is, abbreviates or contains a refused one.
func (v verb) refuses(arg string) bool {
	if long, ok := strings.CutPrefix(arg, "--"); ok {
		name, _, _ := strings.Cut(long, "=")
		for _, r := range v.refuse {
			if len(r) > 1 && strings.HasPrefix(r, name) {
				return true
			}
		}
		return false
	}
	for _, r := range v.refuse {
		if len(r) == 1 && strings.Contains(arg[1:], r) {
			return true
		}
	}
	return false
}

// dateReads: an operand without + sets the clock, and so does -s.
func dateReads(args []word) bool {
	for i, w := range args {
		switch {
		case strings.HasPrefix(w.value, "+") && !w.splits:
		case i > 0 && !w.splits && slices.Contains([]string{"-d", "--date", "-r", "--reference"}, args[i-1].value):
		case !w.static || !strings.HasPrefix(w.value, "-"):
			return false
		case strings.HasPrefix(w.value, "--"):
			if name, _, _ := strings.Cut(w.value, "="); strings.HasPrefix("--set", name) {
				return false
			}
		case strings.Contains(w.value, "s") && !strings.HasPrefix(w.value, "-I"):
			return false
		}
	}
	return true
}

// printfReads: -v assigns to a variable, whose subscript is code.
func printfReads(args []word) bool {
	return len(args) == 0 || !args[0].option() && !args[0].splits
}

// testReads: -v and -R evaluate a subscript. A word that splits could become
// one of them.
func testReads(args []word) bool {
	for i, w := range args {
		if w.splits || w.static && (w.value == "-v" || w.value == "-R") {
			return false
		}
		if i > 0 && !w.static && !args[i-1].static {
			return false
		}
	}
	return true
}

// findValues are predicates of find whose next word is never an action.
var findValues = set("-name -iname -path -ipath -wholename -regex -iregex -lname -type -xtype -newer -anewer -cnewer " +
	"-maxdepth -mindepth -mtime -mmin -atime -amin -ctime -cmin -size -perm -user -group -links -inum -samefile -printf")

// findReads: no predicate that runs, writes or removes.
func findReads(args []word) bool {
	for i, w := range args {
		switch {
		case w.static:
			if findActions[w.value] {
				return false
			}
		case i > 0 && findValues[args[i-1].value] && !w.splits:
		case w.option() || w.splits && w.value == "":
			return false
		}
	}
	return true
}

// commandAsks: command -v and -V print where a command is.
func commandAsks(args []word) bool {
	return len(args) > 0 && args[0].static && (args[0].value == "-v" || args[0].value == "-V")
}
