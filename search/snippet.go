package search

import (
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/text"
)

const (
	snippetChars = 160  // characters of a snippet, at most
	snippetLead  = 30   // bytes before the first match
	snippetRead  = 4096 // bytes of a text that are looked at
)

// snippets cuts the parts out that matched a query.
type snippets struct {
	weights map[string]float64 // of the words of the query
	scan    scanner
}

func newSnippets(q []queryWord) *snippets {
	s := &snippets{weights: make(map[string]float64, len(q))}
	for _, w := range q {
		s.weights[w.text] = w.weight
	}
	return s
}

// of returns the part of d's description that matched, or of its other texts
// when the description did not.
func (s *snippets) of(d *Doc) string {
	for _, t := range [...]string{d.Description, d.WhenToUse, d.Headings} {
		if at, ok := s.find(clip(t)); ok {
			return window(clip(t), at)
		}
	}
	return window(clip(d.Description), 0)
}

// clip returns the part of a text that is looked at.
func clip(t string) string {
	if len(t) <= snippetRead {
		return t
	}
	n := snippetRead
	for n > 0 && !utf8.RuneStart(t[n]) {
		n--
	}
	return t[:n]
}

// find returns where the best window of t begins: the most weight of
// different words of the query in as many bytes as a snippet shows.
func (s *snippets) find(t string) (at int, ok bool) {
	type match struct {
		start  int
		weight float64
	}
	var matches []match
	s.scan.scan(t, asText, func(w word) {
		if weight := s.weights[string(w.text)]; weight > 0 {
			matches = append(matches, match{w.start, weight})
		}
	})
	best := 0.0
	for i, m := range matches {
		sum := 0.0
		for _, n := range matches[i:] {
			if n.start-m.start > snippetChars-2*snippetLead {
				break
			}
			sum += n.weight
		}
		if sum > best {
			best, at = sum, m.start
		}
	}
	return at, best > 0
}

// window returns about snippetChars characters of t around at, on one line.
func window(t string, at int) string {
	from := at - snippetLead
	if from <= 0 || utf8.RuneCountInString(t) <= snippetChars {
		return text.Cut(text.Terminal(t), snippetChars)
	}
	// Begin after a space, or at least at a character.
	if i := strings.IndexByte(t[from:at], ' '); i >= 0 {
		from += i + 1
	} else {
		for from < at && !utf8.RuneStart(t[from]) {
			from++
		}
	}
	return text.Cut("…"+text.Terminal(t[from:]), snippetChars)
}
