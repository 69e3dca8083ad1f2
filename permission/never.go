package permission

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// knownTools are the tools whose names people misspell by case.
var knownTools = slices.Concat(editTools, readTools, []string{"Bash", "Skill", "Agent", "Task", "WebFetch", "WebSearch"})

// NeverMatches reports why a rule can match nothing, or "" (spec F-6).
func NeverMatches(r Rule) string {
	for _, tool := range knownTools {
		if r.Tool != tool && strings.EqualFold(r.Tool, tool) {
			return fmt.Sprintf("tools are told apart by case: write %s", tool)
		}
	}
	if !r.HasSpec || r.Specifier == "*" {
		return ""
	}
	s := r.Specifier
	switch {
	case r.Tool == bashTool:
		return neverBash(s)
	case r.Tool == "Skill":
		s = strings.TrimPrefix(s, "/")
		if s == "" || s == ":*" {
			return "it names no skill"
		}
	case r.Tool == "Agent" || r.Tool == "Task":
		if strings.Trim(s, ", ") == "" {
			return "it names no agent type"
		}
	case r.Tool == "WebFetch":
		return neverDomain(s)
	case isPathTool(r.Tool):
		if strings.HasPrefix(s, "!") {
			return "a rule is one pattern, so there is nothing that ! could take back"
		}
		if open := strings.LastIndexByte(s, '['); open >= 0 && !strings.Contains(s[open:], "]") && !strings.HasSuffix(s[:open], `\`) {
			return "its [ is not closed: write \\[ for the character itself"
		}
	case r.Tool == "*" || strings.HasPrefix(r.Tool, "mcp__") || r.Tool == "WebSearch":
		return r.Tool + " takes no specifier: write " + r.Tool
	default:
		return fmt.Sprintf("nothing is known about the input of %s that a specifier could speak of: write %s", r.Tool, r.Tool)
	}
	return ""
}

// neverBash finds specifiers that no simple command can have.
func neverBash(s string) string {
	if why := neverProgram(s); why != "" {
		return why
	}
	spec := readSpec(s, "")
	if spec.kind == exactSpec {
		return "" // the text of a whole line may hold anything
	}
	file, err := parse(spec.text)
	if err != nil {
		// "a | *" only ends in the middle of a line once its * is gone.
		if file, err = parse(spec.text + " x"); err != nil {
			return ""
		}
	}
	if len(file.Stmts) != 1 {
		return manyCommands
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	switch {
	case stmt.Background || stmt.Negated:
		return manyCommands
	case len(stmt.Redirs) > 0:
		return "commands are compared without their redirections: write a rule for the file, such as Edit(path)"
	case !ok:
		if _, isDecl := stmt.Cmd.(*syntax.DeclClause); isDecl {
			return ""
		}
		return manyCommands
	case len(call.Args) == 0 && len(call.Assigns) > 1:
		return manyCommands
	}
	return ""
}

// neverProgram finds a colon in the name of the program, and says what was
// probably meant: a list of commands, arguments, or a subcommand.
func neverProgram(s string) string {
	program, _, _ := strings.Cut(s, " ")
	head, rest, star := strings.Cut(s, ":*")
	star = star && len(head) < len(program)
	switch {
	case program == ":*":
		return "it names no command: write Bash(command:*)"
	case strings.ContainsAny(program, `"'`):
		return ""
	case star && strings.IndexAny(strings.TrimLeft(rest, " "), ",;|&") == 0:
		return manyCommands + ": write " + eachCommand(s)
	}
	name := strings.TrimSuffix(program, ":*")
	before, after, colon := strings.Cut(name, ":")
	switch {
	case star && rest != "" && name != program:
		return fmt.Sprintf("no program is called %q: \":*\" only stands for arguments at the end; write Bash(%s *%s)",
			program, strings.ReplaceAll(head, ":", " "), rest)
	case !colon || strings.ContainsAny(name, `/\`):
		return ""
	}
	// What follows the program keeps its form; a program alone gets arguments.
	words := strings.Join(strings.FieldsFunc(before+" "+after, func(r rune) bool { return r == ' ' || r == ':' || r == '*' }), " ")
	if more := s[len(program):]; more != "" {
		words += more
	} else {
		words += ":*"
	}
	return fmt.Sprintf("no program is called %q: only a final \":*\" stands for arguments; write Bash(%s)", name, words)
}

// eachCommand writes a rule for each command of a list.
func eachCommand(s string) string {
	var out []string
	for _, c := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(",;|&", r) }) {
		if c = strings.TrimSpace(c); c != "" {
			out = append(out, "Bash("+c+")")
		}
	}
	return strings.Join(out, " and ")
}

const manyCommands = "every simple command of a line is compared by itself: write one rule for each"

func neverDomain(s string) string {
	host, ok := strings.CutPrefix(s, "domain:")
	host = strings.TrimSpace(host)
	switch {
	case !ok:
		return "WebFetch rules name a host: write WebFetch(domain:example.com)"
	case host == "":
		return "it names no host: write WebFetch(domain:example.com)"
	case strings.ContainsAny(host, "/:@ ") && !strings.HasPrefix(host, "["):
		return "a host has no scheme, port or path: write WebFetch(domain:example.com)"
	}
	return ""
}
