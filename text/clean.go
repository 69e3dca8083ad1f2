package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line makes s safe as one line for a model (spec L-9): white space runs and
// newlines become one space (none at the ends), control and invisible
// characters and terminal escape sequences are dropped (well-formed emoji
// sequences stay, spec F-7), and "<" and ">" are escaped, so that no tag can
// open or close. "&" stays, so that Line(Line(s)) == Line(s).
func Line(s string) string { return oneLine(s, true) }

// Terminal makes s safe to print on a terminal, on one line: like [Line]
// without the escaping of tags.
func Terminal(s string) string { return oneLine(s, false) }

// oneLine is the common part of Line and Terminal.
func oneLine(s string, escape bool) string {
	if clean := cleanPrefix(s, escape); clean == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	space := false // white space was seen since the last character written
	for i := 0; i < len(s); {
		r, n, kind := step(s, i)
		i += n
		switch {
		case kind == white || kind == lineEnd:
			space = b.Len() > 0
			continue
		case kind == dropped:
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		if escape && (r == '<' || r == '>') {
			writeEscaped(&b, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// cleanPrefix returns how many bytes from the start of s are visible ASCII in
// which oneLine changes nothing; it is len(s) for nearly all metadata.
func cleanPrefix(s string, escape bool) int {
	if s == "" {
		return 0
	}
	before := byte(' ') // a space at the beginning is a change
	for i := range len(s) {
		b := s[i]
		if b >= utf8.RuneSelf || asciiClass[b] != classPlain {
			if b == ' ' && before != ' ' || !escape && asciiClass[b] == classEscaped {
				before = b
				continue
			}
			return i
		}
		before = b
	}
	if before == ' ' {
		return len(s) - 1
	}
	return len(s)
}

func writeEscaped(b *strings.Builder, r rune) {
	if r == '<' {
		b.WriteString("&lt;")
	} else {
		b.WriteString("&gt;")
	}
}

// A stepKind says what one step through hostile text found.
type stepKind uint8

const (
	shown stepKind = iota
	white
	lineEnd
	dropped
)

// step looks at the character at s[i] and returns it, how many bytes it takes
// and what it is. Invalid bytes are shown as U+FFFD (spec F-7).
func step(s string, i int) (rune, int, stepKind) {
	if b := s[i]; b < utf8.RuneSelf {
		switch {
		case b == '\r' && i+1 < len(s) && s[i+1] == '\n':
			return '\n', 2, lineEnd
		case b == '\n' || b == '\r' || b == '\v' || b == '\f':
			return '\n', 1, lineEnd
		case asciiClass[b] == classSpace:
			return rune(b), 1, white
		case b == 0x1B:
			return 0, escapeLen(s[i:]), dropped
		case asciiClass[b] == classControl:
			return 0, 1, dropped
		}
		return rune(b), 1, shown
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	switch {
	case 0x3001 <= r && r < 0x3164:
		return r, n, shown // most of Chinese and Japanese punctuation and kana
	case 0x3164 < r && r < 0xFE00:
		return r, n, shown // ideographs and Hangul
	case r == 0x85 || r == 0x2028 || r == 0x2029:
		return '\n', n, lineEnd
	case unicode.IsSpace(r):
		return r, n, white
	case hiddenKind(s, i, r, n) != "":
		return 0, n, dropped
	}
	return r, n, shown
}

// escapeLen returns the bytes of the terminal control sequence at the start of
// s (ESC [ parameters final), or 1 for the escape character alone: longer
// sequences have no certain end, and dropping text up to it could hide some.
func escapeLen(s string) int {
	if len(s) < 2 || s[1] != '[' {
		return 1
	}
	for i := 2; i < len(s); i++ {
		switch b := s[i]; {
		case 0x40 <= b && b <= 0x7E:
			return i + 1
		case b < 0x20 || b > 0x7E:
			return 1
		}
	}
	return 1
}

// TerminalBlock is [Terminal] for text of several lines: newlines and tabs
// stay, and so does other white space. Every kind of line end becomes "\n".
func TerminalBlock(s string) string {
	if plainBlock(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n, kind := step(s, i)
		i += n
		if kind != dropped {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plainBlock reports whether s is ASCII without anything to clean.
func plainBlock(s string) bool {
	for i := range len(s) {
		if b := s[i]; b >= utf8.RuneSelf || b == '\r' || asciiClass[b] == classControl {
			return false
		}
	}
	return true
}

// reminderTags are the tags by which a conversation tells the host's own text
// from everybody else's.
var reminderTags = []string{
	"system-reminder", "system_reminder", "available_skills", "available-skills",
	"command-name", "command-message", "command-args", "local-command-stdout", "local-command-stderr",
}

// Block makes text of several lines safe inside a reminder (spec X-7, H-6):
// newlines stay; control and invisible characters are dropped; the "<" of a
// tag that could open or close a reminder is escaped, in any letter case and
// with white space inside. Other tags stay: the text may be HTML or code.
func Block(s string) string {
	s = TerminalBlock(s)
	var b strings.Builder
	done := 0
	for i := strings.IndexByte(s, '<'); i >= 0; {
		if namesReminder(s[i+1:]) {
			b.WriteString(s[done:i])
			b.WriteString("&lt;")
			done = i + 1
		}
		next := strings.IndexByte(s[i+1:], '<')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// namesReminder reports whether the inside of a tag begins with the name of
// one of reminderTags.
func namesReminder(inside string) bool {
	inside = skipMarks(inside)
	for _, name := range reminderTags {
		if len(inside) >= len(name) && strings.EqualFold(inside[:len(name)], name) {
			return true
		}
	}
	return false
}

// skipMarks drops what may stand between "<" and a name. It never passes the
// next "<", so that Block takes linear time.
func skipMarks(s string) string {
	return strings.TrimLeftFunc(s, func(r rune) bool { return r == '/' || r == '\\' || unicode.IsSpace(r) })
}
