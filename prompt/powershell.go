package prompt

import "strings"

// scanPowershell labels the bytes of a PowerShell line: single and double
// quotes, here-strings, comments, and the backtick, which protects.
func scanPowershell(line string) []shellByte {
	labels := make([]shellByte, len(line))
	unsure := shellByte(0)
	mark := func(i, end int, b shellByte) int {
		end = min(end, len(line))
		if b.expands() && b.quoting() != bareText && strings.Contains(line[max(i-1, 0):end], "$(") {
			unsure = unsureByte // it has quotes of its own
		}
		for ; i < end; i++ {
			labels[i] = b | unsure
		}
		return end
	}
	for i := 0; i < len(line); {
		rest := line[i:]
		switch {
		case rest[0] == '`':
			i = mark(i, i+2, bareText|escapedByte)
		case strings.HasPrefix(rest, "@'\n"), strings.HasPrefix(rest, `@"`+"\n"):
			b := rawHereText
			if rest[1] == '"' {
				b = hereText
			}
			end := strings.Index(rest, "\n"+rest[1:2]+"@")
			if end < 0 {
				end = len(rest)
			}
			i = mark(i, i+end+3, b)
		case rest[0] == '\'':
			end := strings.IndexByte(rest[1:], '\'')
			if end < 0 {
				end = len(rest)
			}
			i = mark(i, i+1+end+1, singleQuote)
		case rest[0] == '"':
			end, opened := i+1, unsure
			for end < len(line) && line[end] != '"' {
				b := doubleQuote
				if line[end] == '`' {
					b |= escapedByte
					end = mark(end, end+2, b)
					continue
				}
				end = mark(end, end+1, b)
			}
			labels[i] = doubleQuote | opened
			i = mark(end, end+1, doubleQuote)
		case rest[0] == '#' && wordStart(line[:i]):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			i = mark(i, i+end, commentText)
		default:
			i = mark(i, i+1, bareText)
		}
	}
	return labels
}

// quotePowershell writes value for the place that b describes. PowerShell also
// takes the typographic quotation marks for quotes, and a quoted string does
// not join the text behind it: outside of quotes each character is protected.
func quotePowershell(value string, b shellByte) (string, bool) {
	if plainWord(value) {
		return value, true
	}
	if strings.ContainsAny(value, "\r\n") || b&unsureByte != 0 && !harmless(value) {
		return "", false
	}
	const single, double = "'‘’‚‛", "\"“”„"
	var special string
	protect := "`"
	switch b.quoting() {
	case bareText:
		if value == "" {
			return "''", true
		}
		special = single + double + " \t`$#(){}[];|&<>@,*?~!^"
	case doubleQuote, hereText:
		special = double + "`$"
	case singleQuote:
		special, protect = single, ""
	default:
		return value, true
	}
	var out strings.Builder
	for _, r := range value {
		if strings.ContainsRune(special, r) {
			if protect == "" {
				out.WriteRune(r) // doubled
			}
			out.WriteString(protect)
		}
		out.WriteRune(r)
	}
	return out.String(), true
}

// referPowershell refers to an environment variable.
func referPowershell(variable string, b shellByte) string { return "${env:" + variable + "}" }
