package permission

import (
	"slices"
	"strings"
)

// codeVariables hold text that a shell runs.
var codeVariables = set("PS0 PS1 PS2 PS4 PROMPT_COMMAND BASH_ENV ENV")

const runsText = "it makes the shell run text that is only data here"

// evaluates says why a builtin may run more than its words show, or "": bash
// expands subscripts in the names of variables, aliases change what later words
// mean, and a shell without a script reads one from its input.
func evaluates(words []word) string {
	name, args := base(words[0].value), words[1:]
	switch name {
	case "alias", "enable", "hash":
		if len(args) > 0 {
			return "it changes what later commands mean"
		}
	case "mapfile", "readarray":
		if hasOption(words, "C", "") || subscripts(args) {
			return runsText
		}
	case "printf":
		if len(args) > 0 && args[0].option() && args[0].value != "--" {
			return runsText
		}
	case "test", "[":
		if !testReads(args) {
			return runsText
		}
	case "read", "unset", "getopts", "wait":
		if subscripts(args) {
			return runsText
		}
	default:
		if shells[name] && (len(operands(args)) == 0 || hasOption(words, "s", "")) {
			return "a shell reads its script from its input"
		}
	}
	return ""
}

// subscripts reports whether a word is or could be a name with a subscript.
func subscripts(words []word) bool {
	for _, w := range words {
		if !w.static || strings.Contains(w.value, "[") {
			return true
		}
	}
	return false
}

// evaluatesValue says why a builtin may run what a value says, or "": bash
// evaluates the subscript in the name of a variable, and a name that is only
// known when the line runs may have one. A rule about the builtin does not mean
// that, any more than it means arithmetic.
func evaluatesValue(words []word) string {
	const why = "a name that is only known when it runs is evaluated as code"
	args := words[1:]
	dynamic := func(w word) bool { return !w.static }
	switch base(words[0].value) {
	case "printf":
		if len(args) > 1 && args[0].option() && args[0].value != "--" && slices.ContainsFunc(args[:2], dynamic) {
			return why
		}
	case "test", "[":
		if !testReads(args) && slices.ContainsFunc(args, dynamic) {
			return why
		}
	case "mapfile", "readarray", "read", "unset", "getopts":
		if slices.ContainsFunc(args, dynamic) {
			return why
		}
	case "wait": // "wait $!" is common
		if hasOption(words, "p", "") && slices.ContainsFunc(args, dynamic) {
			return why
		}
	}
	return ""
}
