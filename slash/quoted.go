package slash

import (
	"slices"
	"strings"
	"unicode"
)

// quoted marks what stands in quotes or code. What is opened and never closed
// hides nothing, but for a fence, which ends with the text.
func quoted(text []rune) []bool {
	hidden := make([]bool, len(text))
	dead := map[rune]bool{} // quotes, and lengths of runs, that nothing closes in this paragraph
	for i := 0; i < len(text); {
		end, r := i, text[i]
		switch {
		case (r == '`' || r == '~') && lineStart(text, i) && fence(text, i) > 0:
			end = fenceEnd(text, i)
		case r == '`':
			run := runOf(text, i)
			if key := -rune(run); !dead[key] {
				end = codeEnd(text, i, run)
				dead[key] = end == i
			}
			if end == i {
				i += run // as CommonMark has it, they are letters then
				continue
			}
		case blankLine(text, i):
			clear(dead)
		case opens(text, i) && !dead[r]:
			end = quoteEnd(text, i)
			dead[r] = end == i
		}
		for j := i; j < end; j++ {
			hidden[j] = true
		}
		i = max(end, i+1)
	}
	return hidden
}

func runOf(text []rune, i int) int {
	n := i
	for n < len(text) && text[n] == text[i] {
		n++
	}
	return n - i
}

// codeEnd is behind the run of backticks that closes the one at i, or i.
func codeEnd(text []rune, i, run int) int {
	for j := i + run; j < len(text); j++ {
		if blankLine(text, j) {
			return i
		}
		if text[j] == '`' {
			n := runOf(text, j)
			if n == run {
				return j + n
			}
			j += n - 1
		}
	}
	return i
}

func lineStart(text []rune, i int) bool {
	for i > 0 && text[i-1] != '\n' {
		if i--; text[i] != ' ' && text[i] != '\t' {
			return false
		}
	}
	return true
}

// fence is the length of the fence that begins at i, or 0.
func fence(text []rune, i int) int {
	if text[i] != '`' && text[i] != '~' {
		return 0
	}
	n := runOf(text, i)
	line := text[i+n:]
	if end := slices.Index(line, '\n'); end >= 0 {
		line = line[:end]
	}
	if n < 3 || text[i] == '`' && slices.Contains(line, '`') {
		return 0
	}
	return n
}

func fenceEnd(text []rune, i int) int {
	n := fence(text, i)
	for j := i + n; j < len(text); j++ {
		if text[j] != '\n' {
			continue
		}
		k := j + 1
		for k < len(text) && (text[k] == ' ' || text[k] == '\t') {
			k++
		}
		if k < len(text) && text[k] == text[i] && runOf(text, k) >= n {
			line := text[k+runOf(text, k):]
			if end := slices.Index(line, '\n'); end >= 0 {
				line = line[:end]
			}
			if strings.TrimSpace(string(line)) == "" {
				return k + runOf(text, k) + len(line)
			}
		}
	}
	return len(text)
}

// closing pairs the quotes of many languages; „ and ‚ close in two ways.
var closing = map[rune]string{
	'"': `"`, '\'': "'", '“': "”", '‘': "’", '„': "“”", '‚': "‘’", '«': "»", '‹': "›",
	'「': "」", '『': "』", '《': "》", '〈': "〉",
}

// opens reports whether a quote begins at i. The straight ones open before a
// word; an apostrophe or an inch does not.
func opens(text []rune, i int) bool {
	if closing[text[i]] == "" {
		return false
	}
	return !straight(text[i]) || (i == 0 || !letter(text[i-1])) && i+1 < len(text) && !unicode.IsSpace(text[i+1])
}

func straight(r rune) bool { return r == '"' || r == '\'' }

// quoteEnd is behind the quote that begins at i, or i. A quote does not reach
// over an empty line.
func quoteEnd(text []rune, i int) int {
	ends := closing[text[i]]
	for j := i + 1; j < len(text); j++ {
		switch {
		case blankLine(text, j):
			return i
		case !strings.ContainsRune(ends, text[j]):
		case text[i] == '"':
			return j + 1
		case (text[j] == '\'' || text[j] == '’') && j+1 < len(text) && letter(text[j+1]):
			// "don't" within
		case straight(text[i]) && unicode.IsSpace(text[j-1]):
		default:
			return j + 1
		}
	}
	return i
}

// blankLine reports whether an empty line begins behind the line break at i.
func blankLine(text []rune, i int) bool {
	if text[i] != '\n' {
		return false
	}
	for _, r := range text[i+1:] {
		if r == '\n' {
			return true
		}
		if !unicode.IsSpace(r) {
			return false
		}
	}
	return false
}
