package web

import (
	"html"
	"strings"
)

// A tag is one start or end tag.
type tag struct {
	name  string // lower case
	end   bool
	attrs map[string]string // of those in wantedAttrs
}

// wantedAttrs are the attributes that matter for the text of a page.
var wantedAttrs = []string{"href", "alt", "hidden", "style"}

// A wordSet is a set of names, separated and surrounded by blanks.
type wordSet string

func (s wordSet) has(name string) bool { return strings.Contains(string(s), " "+name+" ") }

// rawElements hold text that is no markup, up to their end tag.
const rawElements wordSet = " script style title textarea xmp iframe noembed noframes "

// readMarkup splits a page into text and tags, the way browsers do: nothing is
// an error, and what is not closed reaches to the end. It takes linear time.
func readMarkup(s string, text func(string), tagged func(tag), raw func(name, content string)) {
	for i := 0; i < len(s); {
		lt := strings.IndexByte(s[i:], '<')
		if lt < 0 {
			text(html.UnescapeString(s[i:]))
			return
		}
		if lt > 0 {
			text(html.UnescapeString(s[i : i+lt]))
			i += lt
		}
		rest := s[i:]
		switch {
		case strings.HasPrefix(rest, "<!--"):
			i = after(s, i+4, "-->")
		case strings.HasPrefix(rest, "<!"), strings.HasPrefix(rest, "<?"):
			i = after(s, i+2, ">")
		case len(rest) > 1 && isLetter(rest[1]), len(rest) > 2 && rest[1] == '/' && isLetter(rest[2]):
			t, next, ok := readTag(s, i+1)
			if !ok {
				return // it is not closed, so it is not there
			}
			i = next
			if rawElements.has(t.name) && !t.end {
				end := endOf(s, i, t.name)
				raw(t.name, s[i:end])
				i = end
				continue
			}
			tagged(t)
		case strings.HasPrefix(rest, "</"):
			i = after(s, i+2, ">")
		default:
			text("<")
			i++
		}
	}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// after is the offset behind the next end, or the end of s.
func after(s string, from int, end string) int {
	if from > len(s) {
		return len(s)
	}
	i := strings.Index(s[from:], end)
	if i < 0 {
		return len(s)
	}
	return from + i + len(end)
}

// endOf is the offset of the end tag of a raw element.
func endOf(s string, from int, name string) int {
	for i := from; ; {
		n := strings.Index(s[i:], "</")
		if n < 0 {
			return len(s)
		}
		i += n
		if rest := s[i+2:]; len(rest) >= len(name) && strings.EqualFold(rest[:len(name)], name) && (len(rest) == len(name) || !isLetter(rest[len(name)])) {
			return i
		}
		i += 2
	}
}

const blanks = " \t\r\n\f"

// readTag reads a tag from behind its "<".
func readTag(s string, i int) (t tag, next int, ok bool) {
	if s[i] == '/' {
		t.end = true
		i++
	}
	start := i
	for i < len(s) && !strings.ContainsRune(blanks+"/>", rune(s[i])) {
		i++
	}
	t.name = strings.ToLower(s[start:i])
	for {
		for i < len(s) && strings.ContainsRune(blanks+"/", rune(s[i])) {
			i++
		}
		if i >= len(s) {
			return t, i, false
		}
		if s[i] == '>' {
			return t, i + 1, true
		}
		start = i
		i++ // a "=" may begin a name
		for i < len(s) && !strings.ContainsRune(blanks+"/>=", rune(s[i])) {
			i++
		}
		name, value := s[start:i], ""
		if value, i, ok = readValue(s, i); !ok {
			return t, i, false
		}
		t.keep(name, value)
	}
}

// readValue reads "= value" behind the name of an attribute, if it is there.
func readValue(s string, i int) (value string, next int, ok bool) {
	at := i
	for at < len(s) && strings.IndexByte(blanks, s[at]) >= 0 {
		at++
	}
	if at >= len(s) || s[at] != '=' {
		return "", i, true
	}
	for at++; at < len(s) && strings.IndexByte(blanks, s[at]) >= 0; {
		at++
	}
	if at >= len(s) {
		return "", at, false
	}
	if q := s[at]; q == '"' || q == '\'' {
		n := strings.IndexByte(s[at+1:], q)
		if n < 0 {
			return "", len(s), false
		}
		return s[at+1 : at+1+n], at + n + 2, true
	}
	start := at
	for at < len(s) && strings.IndexByte(blanks+">", s[at]) < 0 {
		at++
	}
	return s[start:at], at, true
}

// keep remembers an attribute; of two with one name the first counts.
func (t *tag) keep(name, value string) {
	for _, w := range wantedAttrs {
		if !strings.EqualFold(name, w) {
			continue
		}
		if t.attrs == nil {
			t.attrs = map[string]string{}
		}
		if _, twice := t.attrs[w]; !twice {
			t.attrs[w] = html.UnescapeString(value)
		}
	}
}
