package tool

import (
	"fmt"
	"strings"
	"unicode"
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
		d := editDistance(plain, name)
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

// editDistance counts the bytes to insert, drop or change.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
