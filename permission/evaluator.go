package permission

import "strings"

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
