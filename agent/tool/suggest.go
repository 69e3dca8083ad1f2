package tool

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/knack-skills/knack/text"
)

// suggest names the field that a wrong key probably means.
func suggest(key string, fields []Field) string {
	if len(key) > 40 {
		return ""
	}
	plain := plainKey(key)
	best, distance := "", 3
	for _, f := range fields {
		name := plainKey(f.Name)
		d := text.Edits(plain, name, distance)
		if len(plain) > 3 && len(name) > 3 && (strings.Contains(plain, name) || strings.Contains(name, plain)) {
			d = min(d, 2)
		}
		if d < distance && d < len(name) {
			best, distance = f.Name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// plainKey drops what spellings of one key differ in: case and separators.
func plainKey(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
