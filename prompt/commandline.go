package prompt

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A dialect is what differs between the shells when a line is prepared.
type dialect struct {
	scan func(line string) []shellByte
	// quote returns value as it must be written where b says, or false if it
	// cannot be written there.
	quote func(value string, b shellByte) (string, bool)
	// reference returns an expansion of the environment variable, as one word.
	reference func(variable string, b shellByte) string
	// foreign: arguments are not shell variables of their own there.
	foreign bool
}

func dialectOf(shell string) dialect {
	if shell == "powershell" || shell == "pwsh" {
		return dialect{scan: scanPowershell, quote: quotePowershell, reference: referPowershell, foreign: true}
	}
	return dialect{scan: scanShell, quote: quoteBash, reference: referBash}
}

// lineTokens returns what a command line refers to (spec P-5, P-9), by the
// rules of the shell that will read it: nothing in single quotes, one digit
// after a dollar sign.
func lineTokens(line string, labels []shellByte, names []name) []token {
	var out []token
	for i := 0; i < len(line); {
		k := strings.IndexByte(line[i:], '$')
		if k < 0 {
			break
		}
		i += k
		t, ok := lineToken(line, i, labels[i], names)
		if ok {
			out = append(out, t)
		}
		i = max(i+1, t.end)
	}
	return out
}

func lineToken(line string, i int, b shellByte, names []name) (token, bool) {
	t, ok := dollar(line, i, names)
	if ok && t.kind == variableToken {
		return t, b&escapedByte == 0
	}
	if !b.expands() {
		return token{}, false
	}
	if ok && (t.listed || t.kind == nameToken && !identifier(t.name)) {
		return t, true // not the shell's syntax: rewritten
	}
	return shellParameter(line, i, names)
}

// shellParameter reads $x, ${x} or ${x…} at line[i] as a shell would.
func shellParameter(line string, i int, names []name) (token, bool) {
	rest := line[i+1:]
	word := 0
	braced := strings.HasPrefix(rest, "{")
	if braced {
		word = 1
	}
	const scope = "env:" // PowerShell
	env := len(rest) >= word+len(scope) && strings.EqualFold(rest[word:word+len(scope)], scope)
	if env {
		word += len(scope)
	}
	switch {
	case word == len(rest):
		return token{}, false
	case rest[word] == '@' || rest[word] == '*':
		return token{kind: argumentsToken, start: i, end: i + 1 + word + 1, name: rest[word : word+1]}, true
	case isDigit(rest[word]):
		n := 1
		if braced {
			n = digits(rest[word:])
		}
		text := rest[word : word+n]
		return token{kind: indexToken, start: i, end: i + 1 + word + n, name: text, index: number(text)}, true
	}
	end := word
	for end < len(rest) && isWord(rest[end]) {
		end++
	}
	t := token{start: i, end: i + 1 + end, name: rest[word:end], plain: !braced && !env}
	if braced && !env && strings.HasPrefix(rest[end:], "}") {
		t.plain = true
		t.end++
	}
	if t.name == "ARGUMENTS" {
		t.kind = argumentsToken
		return t, true
	}
	for _, n := range names {
		if n.text == t.name {
			t.kind, t.index = nameToken, n.index
			return t, true
		}
	}
	return t, false
}

// argumentEnv returns the name of the environment variable that holds one
// argument, for references that are not the shell's own syntax.
func argumentEnv(suffix string) string { return "KNACK_ARGUMENT_" + suffix }

// prepare returns the line that runs: the author's line with its P-7 variables
// expanded as if quoted (spec P-9), and with references that the shell would
// misread ($ARGUMENTS[0], $issue-number) turned into ones it understands. It
// works on the author's text alone; no argument is ever part of a line.
func (d dialect) prepare(line string, labels []shellByte, tokens []token, s scope, exported func(string) bool) string {
	var b strings.Builder
	done := 0
	for _, t := range tokens {
		text, ok := d.replacement(t, labels[t.start], s, exported)
		if !ok {
			continue
		}
		b.WriteString(line[done:t.start])
		b.WriteString(text)
		done = t.end
	}
	b.WriteString(line[done:])
	return b.String()
}

func (d dialect) replacement(t token, b shellByte, s scope, exported func(string) bool) (string, bool) {
	switch {
	case t.kind == variableToken:
		value, ok := s.lookup(t.name)
		if !ok {
			return "", false
		}
		if text, ok := d.quote(value, b); ok {
			return text, true
		}
		env := envName(t.name)
		return d.reference(env, b), env != "" && b.expands()
	case t.listed:
		return d.reference(argumentEnv(t.name), b), true
	case t.kind == nameToken && (t.plain || !identifier(t.name)) && !exported(t.name):
		return d.reference(argumentEnv(fmt.Sprintf("NAME_%d", t.index)), b), true
	case d.foreign && t.plain:
		return d.reference(t.name, b), true
	}
	return "", false
}

// quoteBash writes value for the place that b describes.
func quoteBash(value string, b shellByte) (string, bool) {
	if plainWord(value) {
		return value, true
	}
	if b&unsureByte != 0 && !harmless(value) {
		return "", false
	}
	if b&nestedQuotes != 0 && strings.ContainsAny(value, "\\`$'\"{}\n") {
		return "", false // only what needs no protection is written here
	}
	switch b.quoting() {
	case bareText:
		return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'", true
	case doubleQuote:
		return escapeDouble.Replace(value), true
	case singleQuote:
		return strings.ReplaceAll(value, "'", `'\''`), true
	case ansiQuote:
		return strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(value), true
	case hereText:
		return strings.NewReplacer(`\`, `\\`, "$", `\$`, "`", "\\`").Replace(value), !strings.Contains(value, "\n")
	}
	return value, !strings.ContainsAny(value, "\r\n") // a comment or a raw here-document
}

// harmless reports whether s can be no program text, however it is quoted.
func harmless(s string) bool {
	for _, r := range s {
		if r != ' ' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && (r >= utf8.RuneSelf || !plainWord(string(r))) {
			return false
		}
	}
	return true
}

// referBash refers to an environment variable as one word.
func referBash(variable string, b shellByte) string {
	if b.quoting() == bareText {
		return `"${` + variable + `}"`
	}
	return "${" + variable + "}"
}

// plainWord reports whether no shell sees anything special in s, anywhere.
func plainWord(s string) bool {
	for i := range len(s) {
		if !isWord(s[i]) && strings.IndexByte("./:@%+,=-", s[i]) < 0 {
			return false
		}
	}
	return s != ""
}
