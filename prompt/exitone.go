package prompt

import (
	"path"
	"slices"
	"strings"
)

// exitOne lists the programs whose exit status 1 is an answer and not a
// failure (spec P-12), by shell.
var exitOne = map[bool][]string{
	false: {"grep", "rg", "egrep", "fgrep", "find", "diff", "test", "[", "git diff", "git grep"},
	true:  {"grep", "rg", "egrep", "fgrep", "git diff", "git grep"}, // PowerShell: find, diff and test are others
}

// A simpleCommand is one command of the outermost list of a line.
type simpleCommand struct {
	words []string
	after string // what follows: ; & && || | or nothing
}

// resultStatus reports whether exit status 1 of the line is a result: every
// command that may have decided the status is one of the table. "cd" may stand
// before one as long as it had nothing to complain about.
func resultStatus(line string, d dialect, stderr []byte) bool {
	commands := splitLine(line, d.scan(line))
	sources := statusSources(commands, strings.Contains(line, "pipefail"), setsErrexit(commands))
	answers := false
	for _, words := range sources {
		switch name := programName(words); {
		case slices.Contains(exitOne[d.foreign], name):
			answers = true
		case name == "cd" && len(strings.TrimSpace(string(stderr))) == 0:
		default:
			return false
		}
	}
	return answers
}

// statusSources returns the commands that may have decided the exit status: of
// the last list, the last command of each pipeline that && leads on from. With
// pipefail every command of a pipeline counts, with errexit every list.
func statusSources(commands []simpleCommand, pipefail, errexit bool) [][]string {
	var sources [][]string
	for i, c := range commands {
		if len(c.words) == 0 {
			continue
		}
		before := ";"
		if i > 0 {
			before = commands[i-1].after
		}
		switch {
		case before == "|" || before == "&&":
		case before == "||" || !errexit:
			sources = nil
		}
		if c.after != "|" || pipefail {
			sources = append(sources, c.words)
		}
	}
	return sources
}

func setsErrexit(commands []simpleCommand) bool {
	return slices.ContainsFunc(commands, func(c simpleCommand) bool {
		if len(c.words) < 2 || c.words[0] != "set" {
			return false
		}
		return slices.ContainsFunc(c.words[1:], func(w string) bool {
			return w == "errexit" || strings.HasPrefix(w, "-") && strings.Contains(w, "e")
		})
	})
}

// splitLine splits a line into the commands of its outermost list.
func splitLine(line string, labels []shellByte) []simpleCommand {
	var (
		out  []simpleCommand
		cmd  simpleCommand
		word strings.Builder
		in   bool
	)
	endWord := func() {
		if in {
			cmd.words = append(cmd.words, word.String())
		}
		word.Reset()
		in = false
	}
	endCommand := func(op string) {
		endWord()
		if op == "\n" {
			op = ";"
			if len(cmd.words) == 0 { // a line may end after an operator
				return
			}
		}
		cmd.after = op
		out = append(out, cmd)
		cmd = simpleCommand{}
	}
	for i := 0; i < len(line); i++ {
		b, c := labels[i], line[i]
		switch {
		case b.quoting() == commentText || b&insideOfHere != 0:
		case b.quoting() != bareText || b&(insideOfList|escapedByte) != 0:
			in = true
			if !quoteMark(b, c) {
				word.WriteByte(c)
			}
		case c == ' ' || c == '\t' || c == '\r':
			endWord()
		case c == '>' || c == '<' || c == '&' && strings.HasPrefix(line[i:], "&>"):
			in = true
			for i < len(line) && strings.IndexByte("<>&|", line[i]) >= 0 {
				word.WriteByte(line[i])
				i++
			}
			i--
		case strings.IndexByte(";&|\n", c) >= 0:
			op := operator(line[i:])
			i += len(op) - 1
			if op == "|&" {
				op = "|"
			}
			endCommand(op)
		default:
			in = true
			word.WriteByte(c)
		}
	}
	endCommand("")
	return out
}

// quoteMark reports whether c is a mark of quoting and not part of the word.
func quoteMark(b shellByte, c byte) bool {
	if b&escapedByte != 0 {
		return c == '\\'
	}
	return b.quoting() == doubleQuote && c == '"' || b.quoting() == singleQuote && c == '\''
}

func operator(s string) string {
	for _, op := range []string{"&&", "||", "|&", ";;"} {
		if strings.HasPrefix(s, op) {
			return op
		}
	}
	return s[:1]
}

// programName returns the program that words run: without assignments,
// redirections and what only watches over it, and for git with its command.
func programName(words []string) string {
	for len(words) > 0 {
		w := words[0]
		name, _, assigned := strings.Cut(w, "=")
		switch {
		case assigned && identifier(name):
		case strings.ContainsAny(w, "<>"):
			if strings.HasSuffix(w, "<") || strings.HasSuffix(w, ">") || strings.HasSuffix(w, "&") {
				words = words[min(1, len(words)-1):] // the target is the next word
			}
		case slices.Contains([]string{"command", "builtin", "env", "nohup", "time"}, w):
		case w == "timeout" || w == "nice":
			words = skipOptions(words[1:])
			if w == "timeout" && len(words) > 0 {
				words = words[1:] // the duration
			}
			continue
		case path.Base(w) == "git":
			if words = skipOptions(words[1:]); len(words) > 0 {
				return "git " + words[0]
			}
			return "git"
		default:
			return path.Base(w)
		}
		words = words[1:]
	}
	return ""
}

// skipOptions drops options, and the values of those that take one.
func skipOptions(words []string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		takesValue := slices.Contains([]string{"-C", "-c", "-k", "-n", "-s", "--git-dir", "--work-tree"}, words[0])
		words = words[1:]
		if takesValue && len(words) > 0 {
			words = words[1:]
		}
	}
	return words
}
