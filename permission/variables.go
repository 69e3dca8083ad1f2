package permission

import "strings"

// safeVariables may be set in front of a command without changing which
// programs it runs (spec S-7): language, time zone, colour, verbosity. PATH,
// LD_PRELOAD, IFS, BASH_ENV, GIT_SSH_COMMAND, PAGER and everything unknown are
// not here: with them a rule about a command would allow another one.
var safeVariables = map[string]bool{
	"LANG": true, "LANGUAGE": true, "TZ": true, "TERM": true, "COLORTERM": true, "COLUMNS": true, "LINES": true,
	"NO_COLOR": true, "FORCE_COLOR": true, "CLICOLOR": true, "CLICOLOR_FORCE": true,
	"CI": true, "DEBUG": true, "VERBOSE": true, "RUST_BACKTRACE": true, "RUST_LOG": true, "NODE_ENV": true,
	"RAILS_ENV": true, "RACK_ENV": true, "PYTHONUNBUFFERED": true, "PYTHONDONTWRITEBYTECODE": true,
	"GOOS": true, "GOARCH": true, "CGO_ENABLED": true, "GO111MODULE": true,
	"LC_ALL": true, "LC_COLLATE": true, "LC_CTYPE": true, "LC_MESSAGES": true, "LC_MONETARY": true,
	"LC_NUMERIC": true, "LC_TIME": true, "GIT_TERMINAL_PROMPT": true, "GIT_OPTIONAL_LOCKS": true,
}

func safeVariable(name string) bool { return safeVariables[name] }

// localVariable reports whether setting the variable for the rest of the line
// is harmless. Programs read environment variables in capitals, but for a few.
func localVariable(name string) bool {
	if safeVariables[name] {
		return true
	}
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return false
	}
	return !strings.HasPrefix(name, "npm_") && !strings.HasPrefix(name, "pnpm_") && !strings.HasSuffix(name, "_proxy") &&
		name != "_" && name != "histchars" && name != "auto_resume"
}
