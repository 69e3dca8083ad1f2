package lint

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/knack-skills/knack/prompt"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// Limits beyond which a body costs more than it should (spec K-6).
const (
	maxBodyLines  = 500
	maxBodyTokens = 5000
)

// bodyLong reports a body that is paid for in full at each invocation and
// would better be split into files that are read on demand.
func bodyLong(f *file, _ Options) []skill.Problem {
	lines := len(splitLines(strings.TrimRight(f.body, "\r\n")))
	tokens := text.Tokens(f.body)
	if lines <= maxBodyLines && tokens <= maxBodyTokens {
		return nil
	}
	return []skill.Problem{{
		Code: "body-long", Severity: skill.Warning, Path: f.Origin.Path, Line: f.bodyLine,
		Message: fmt.Sprintf("the body has %d lines and about %d tokens (recommended: %d and %d), paid for at each use", lines, tokens, maxBodyLines, maxBodyTokens),
		Fix:     "move long material into references/ and say in the body when to read it",
	}}
}

// indexes returns the placeholders for numbered arguments that arguments would
// replace (spec P-4), in order.
func (f *file) indexes() []prompt.Placeholder {
	bodyLines := splitLines(f.body)
	return slices.DeleteFunc(slices.Clone(f.refs), func(p prompt.Placeholder) bool {
		if p.Kind != "index" {
			return true
		}
		return p.InCommand && singleQuoted(bodyLines, p)
	})
}

// singleQuoted reports whether p stands between single quotes of a command, as
// awk programs do: there the shell leaves "$1" alone. Only the code span that p
// stands in counts, since prose has apostrophes.
func singleQuoted(lines []string, p prompt.Placeholder) bool {
	if p.Line < 1 || p.Line > len(lines) {
		return false
	}
	before := []rune(lines[p.Line-1])
	code := string(before[:min(max(p.Column-1, 0), len(before))])
	code = code[strings.LastIndexByte(code, '`')+1:]
	return strings.Count(code, "'")%2 == 1
}

// numbers returns the distinct indexes of ps, in ascending order.
func numbers(ps []prompt.Placeholder) []int {
	var all []int
	for _, p := range ps {
		if n, err := strconv.Atoi(p.Name); err == nil {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// meansArguments reports whether the body shows that its author knows of
// arguments, so that "$5" is an index and not an amount (spec P-4).
func (f *file) meansArguments() bool {
	return f.Content.Positional || slices.ContainsFunc(f.refs,
		func(p prompt.Placeholder) bool { return p.Kind == "arguments" || p.Kind == "name" })
}

// fromOne reports whether indexes are 1, 2, 3 ... without a gap: numbered
// arguments rather than amounts.
func fromOne(indexes []int) bool {
	for i, n := range indexes {
		if n != i+1 {
			return false
		}
	}
	return len(indexes) > 0
}

// maxArgument is the highest index that is taken for a numbered argument; more
// is an amount.
const maxArgument = 9

// numbered returns the indexes that stand for arguments and not for amounts or
// for the fields of a program such as awk.
func (f *file) numbered() []prompt.Placeholder {
	bodyLines := splitLines(f.body)
	used := slices.DeleteFunc(f.indexes(), func(p prompt.Placeholder) bool {
		n, err := strconv.Atoi(p.Name)
		return err != nil || n > maxArgument || p.InCode && singleQuoted(bodyLines, p)
	})
	if !fromOne(numbers(used)) && !f.meansArguments() {
		return nil
	}
	return used
}

// argsOneBased reports a body that counts its arguments from 1, while $1 is
// the second one (spec P-4).
func argsOneBased(f *file, o Options) []skill.Problem {
	used, all := f.numbered(), numbers(f.indexes())
	if o.ArgumentBase != 0 || len(used) == 0 || all[0] == 0 {
		return nil
	}
	first := slices.MinFunc(used, func(a, b prompt.Placeholder) int { return strings.Compare(a.Name, b.Name) })
	n, _ := strconv.Atoi(first.Name) // numbered has checked it
	line, column := f.inBody(first.Line, first.Column)
	return []skill.Problem{{
		Code: "args-one-based", Severity: skill.Warning, Path: f.Origin.Path, Line: line, Column: column,
		Message: fmt.Sprintf("arguments count from 0, so %s is number %d; the first argument is not used", first.Raw, n+1),
		Fix:     `count from $0, name the arguments, or set "argumentBase": 1; write \$1 for a literal one`,
	}}
}

// likely is the number of words that a call may well have. An amount beyond it
// is replaced only by a whole text that was pasted behind the name.
const likely = 20

// unescapedDollar reports amounts and awk fields that arguments would replace
// in a body that does not seem to count its arguments from 1.
func unescapedDollar(f *file, _ Options) []skill.Problem {
	used := f.indexes()
	all := numbers(used)
	if len(all) == 0 || all[0] == 0 || len(f.numbered()) > 0 {
		return nil // somebody who writes $0 knows of arguments
	}
	first := used[0]
	line, column := f.inBody(first.Line, first.Column)
	p := skill.Problem{
		Code: "unescaped-dollar", Severity: skill.Warning, Path: f.Origin.Path, Line: line, Column: column,
		Message: fmt.Sprintf("%s is replaced when the skill is called with enough arguments", first.Raw),
		Fix:     fmt.Sprintf(`write \%s if it is text; add argument-hint if it is an argument`, first.Raw),
	}
	if n := len(used) - 1; n > 0 {
		p.Message += fmt.Sprintf(" (and %d more)", n)
	}
	if all[0] >= likely {
		p.Severity = skill.Info
	}
	return []skill.Problem{p}
}

// variables are the names that exist behind CLAUDE_ and KNACK_ (spec P-7).
var variables = []string{"SKILL_DIR", "SESSION_ID", "PROJECT_DIR", "EFFORT", "PLUGIN_ROOT", "PLUGIN_DATA"}

// unknownVariables reports ${CLAUDE_...} and ${KNACK_...} that stay as they
// are, because no variable has that name. Other ${...} are the business of the
// shell or of the template they stand in.
func unknownVariables(f *file, _ Options) []skill.Problem {
	var found []skill.Problem
	for _, p := range f.refs {
		prefix, name, ok := strings.Cut(p.Name, "_")
		if p.Kind != "unknown-variable" || !ok || prefix != "CLAUDE" && prefix != "KNACK" {
			continue
		}
		near := nearVariable(name)
		switch {
		case near == "" && (p.InCode || p.InCommand):
			continue // an environment variable of the program, such as CLAUDE_CONFIG_DIR
		case near == name && !f.outsidePlugins():
			continue // exists once the plugin that this file belongs to is installed
		}
		line, column := f.inBody(p.Line, p.Column)
		q := skill.Problem{
			Code: "unknown-variable", Severity: skill.Warning, Path: f.Origin.Path, Line: line, Column: column,
			Message: fmt.Sprintf("there is no variable %s; it stays in the text as it is", p.Raw),
			Fix:     "known: ${CLAUDE_" + strings.Join(variables, "}, ${CLAUDE_") + "}",
		}
		switch near {
		case "":
		case name:
			q.Fix = "only skills of plugins have it; use ${" + prefix + "_SKILL_DIR}"
		default:
			q.Fix = fmt.Sprintf("did you mean ${%s_%s}?", prefix, near)
		}
		found = append(found, q)
	}
	return found
}

// outsidePlugins reports whether the skill certainly belongs to no plugin. A
// file that is checked by its path may be part of one.
func (f *file) outsidePlugins() bool {
	parent := filepath.Base(filepath.Dir(f.Origin.Root))
	return f.Origin.Source != skill.Plugin && f.Origin.Root != "" && (parent == ".claude" || parent == ".agents")
}

// nearVariable returns the variable that name was probably meant to be, or "":
// one that starts with the same word, or is two letters away.
func nearVariable(name string) string {
	best, least := "", 3
	word, _, _ := strings.Cut(name, "_")
	for _, v := range variables {
		d := text.Edits(name, v, least)
		if first, _, _ := strings.Cut(v, "_"); first == word {
			d = min(d, 2)
		}
		if d < least {
			best, least = v, d
		}
	}
	return best
}
