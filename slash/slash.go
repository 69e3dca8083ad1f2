// Package slash reads what a person typed: is it an ordinary message, or does
// it start with /name (spec I-4), does it hold a keyword (I-1)? Every front end
// uses it, the terminal and "-p" alike, so a line means the same wherever it is
// typed. Running what was asked for, and near names for a typing error, are left
// to the callers. All functions are pure but for the questions they ask of their
// callers, and safe for concurrent use.
package slash

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxStack is how many leading skills one message may call (spec I-4).
const MaxStack = 6

// mcpMark stands between the name and the arguments of an MCP prompt, as menus
// show it (spec I-4).
const mcpMark = "(MCP)"

// A Call is a recognised /name args at the start of a message.
type Call struct {
	Name string // as typed, without the slash
	Args string // verbatim from its first character that is not white space; equal for all calls of a stack
	MCP  bool   // "(MCP)" followed the name: the caller may look among MCP prompts only
}

// A Kind says what a message is.
type Kind int

// The kinds of messages. The zero value is the harmless one.
const (
	Message Kind = iota // ordinary text for the model
	Calls               // one or more commands or skills to run
	Unknown             // meant as a command, but nothing has that name: say so, call no model
)

func (k Kind) String() string {
	switch k {
	case Calls:
		return "calls"
	case Unknown:
		return "unknown"
	}
	return "message"
}

// A Parsed is the reading of one message. It is a plain value.
type Parsed struct {
	Kind Kind
	// Calls holds between one and [MaxStack] calls, in the order typed, when
	// Kind is Calls.
	Calls []Call
	// Text is the message: exactly as typed, but for a backslash that kept it
	// from being a command.
	Text string
	// Unknown is the name that nothing has, when Kind is Unknown.
	Unknown string
}

// A Names knows which names exist: local commands, and the skills a person may
// see. Names are compared as the catalog compares them, after Unicode NFC
// (spec C-6); Parse hands them over as typed.
type Names interface {
	// Command reports whether name is a command or a skill, also one that will
	// refuse to run, and whether it is an inline, user-invocable skill, so that
	// others may follow it on the same line.
	Command(name string) (exists, stackable bool)
}

// Parse reads message (spec I-4). Only its first character counts: a leading
// blank or "\/" makes it ordinary text. exists reports whether an absolute
// path is there, so that "/tmp" is taken for a path when nothing else has the
// name; nil means that no path exists.
func Parse(message string, names Names, exists func(path string) bool) Parsed {
	if plain, ok := strings.CutPrefix(message, `\`); ok {
		// The backslash goes only where it did something, so that a message
		// such as `\/a\/b` about a regular expression arrives as it is.
		if strings.HasPrefix(plain, "/") && Parse(plain, names, exists).Kind != Message {
			return Parsed{Text: plain}
		}
		return Parsed{Text: message}
	}
	call, ok := cutCall(message)
	if !ok {
		return Parsed{Text: message}
	}
	known, stackable := names.Command(call.Name)
	switch {
	case known:
		return Parsed{Kind: Calls, Calls: stack(call, stackable, names), Text: message}
	case !commandLike(call.Name), exists != nil && exists("/"+call.Name):
		return Parsed{Text: message}
	}
	return Parsed{Kind: Unknown, Unknown: call.Name, Text: message}
}

// stack collects the calls that follow first. What is left when it stops
// becomes the arguments of all of them.
func stack(first Call, stackable bool, names Names) []Call {
	calls := []Call{first}
	rest := first.Args
	for stackable && len(calls) < MaxStack {
		next, ok := cutCall(rest)
		if !ok {
			break
		}
		if _, stackable = names.Command(next.Name); !stackable {
			break
		}
		calls = append(calls, next)
		rest = next.Args
	}
	for i := range calls {
		calls[i].Args = rest
	}
	return calls
}

// cutCall splits "/name args". It reports false for text that does not start
// with a slash and a name.
func cutCall(text string) (Call, bool) {
	rest, ok := strings.CutPrefix(text, "/")
	if !ok {
		return Call{}, false
	}
	name, args := cutWord(rest)
	if name == "" {
		return Call{}, false
	}
	c := Call{Name: name, Args: args}
	// Only "server:tool" can be marked; elsewhere the word is an argument.
	if strings.Contains(name, ":") {
		if word, after := cutWord(args); word == mcpMark {
			c.Args, c.MCP = after, true
		}
	}
	return c, true
}

// cutWord returns the text up to the first white space, and what follows the
// white space. White space is Unicode's, because input methods for Chinese and
// Japanese type U+3000 where others type a blank.
func cutWord(s string) (word, rest string) {
	i := strings.IndexFunc(s, unicode.IsSpace)
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimLeftFunc(s[i:], unicode.IsSpace)
}

// commandLike reports whether an unknown name reads as a mistyped command
// rather than as a path or prose: ASCII letters, digits, ":", "_", "-", and
// letters of other scripts with the marks that belong to them.
func commandLike(name string) bool {
	for _, r := range name {
		switch {
		case r == ':', r == '_', r == '-', '0' <= r && r <= '9':
		case r == utf8.RuneError:
			return false
		case !unicode.IsLetter(r) && !unicode.IsMark(r):
			return false
		}
	}
	return true
}
