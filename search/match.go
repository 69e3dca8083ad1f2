package search

import (
	"cmp"
	"slices"
)

const (
	enoughWords = 2   // different words that say something
	enoughShare = 0.5 // of what a query asks for
)

// weak reports whether d, a hit, gives no reason to think that it is meant. A
// reason is a word of its id or name, or two words of its texts, or one that is
// half of the query; words such as "the" and "please" never are. Somebody who
// searches sees weak hits, too, but nothing should be started because of one.
func (q *query) weak(d int32) bool {
	words, share := 0, 0.0
	for _, w := range q.words {
		if !w.stop && q.ix.has(w.term, d) {
			share += w.weight
			if !w.single {
				words++
			}
		}
	}
	if share == 0 {
		return true
	}
	return words < enoughWords && share < enoughShare*q.asked && !q.names(&q.ix.docs[d])
}

// has reports whether a term occurs in a document.
func (ix *Index) has(term, doc int32) bool {
	_, ok := slices.BinarySearchFunc(ix.postings(term), doc, func(p posting, doc int32) int { return cmp.Compare(p.doc, doc) })
	return ok
}

// names reports whether a word of the query is one of d's id or name.
func (q *query) names(d *Doc) (found bool) {
	var s scanner
	for _, text := range [...]string{d.ID, d.Name} {
		s.scan(text, asName, func(w word) {
			found = found || slices.ContainsFunc(q.words, func(p queryWord) bool { return !p.stop && !p.single && p.text == string(w.text) })
		})
	}
	return found
}
