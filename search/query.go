package search

// A queryWord is a known word of a query and what it is worth.
type queryWord struct {
	text   string
	term   int32
	weight float64
	stop   bool // says little about what is wanted
	single bool // one character of a script without spaces: in many texts
}

// A query is what somebody looks for.
type query struct {
	words []queryWord
	// asked is what all words would be worth if one skill had them, but for
	// those that say little. Unknown words are as rare as any.
	asked float64

	ix      *Index
	seen    map[string]bool
	last    string  // the last word that is no part of another
	known   bool    // the last word is in the index
	missing float64 // what it is worth if not, and nothing was found instead
}

// parse looks the words of a query up.
func (ix *Index) parse(text string) *query {
	q := &query{ix: ix, seen: map[string]bool{}, known: true}
	var s scanner
	s.scan(text, asQuery, q.word)
	if !q.known && len(q.last) >= prefixMin && !stopWords[q.last] {
		begun := 0.0
		for _, t := range ix.beginning(q.last) {
			begun = max(begun, q.add(plain, t, prefixWeight))
		}
		if begun > 0 {
			q.missing = begun
		}
	}
	q.asked += q.missing
	return q
}

// word takes the next word. The parts of a compound count when the whole is
// unknown, and then instead of it.
func (q *query) word(w word) {
	text := string(w.text)
	_, ok := q.ix.terms[text]
	share := 1.0
	switch {
	case w.kind == part && (q.known || !ok), w.kind == joined && !ok:
		return
	case stopWords[text]:
		share = stopWeight
	case w.kind == single:
		share = charWeight
	case w.kind == part:
		share = partWeight
	}
	switch w.kind {
	case part:
		q.missing = 0
	case joined:
	default:
		q.asked += q.missing
		q.last, q.known, q.missing = text, ok, 0
	}
	if worth := q.add(w.kind, text, share); ok {
		q.asked += worth
	} else {
		q.missing = worth
	}
}

// add adds a word and returns what it is worth, 0 if it says little or was
// there already. An unknown word has a worth, too.
func (q *query) add(kind kind, text string, share float64) float64 {
	if q.seen[text] {
		return 0
	}
	q.seen[text] = true
	term, known := q.ix.terms[text]
	weight, stop := share*q.ix.rarity(term, known), stopWords[text]
	if known {
		q.words = append(q.words, queryWord{text, term, weight, stop, kind == single})
	}
	if stop {
		return 0
	}
	return weight
}
