// Package search finds skills by words (spec L-8), for catalogs too large to
// list. An index is built from one snapshot and never changes; it is safe for
// concurrent use. The next one is made from it, see [Index.Update].
//
// Documents are ranked by BM25F: a rare word counts more than a common one, a
// word in the id or name more than one in the description, and a short field
// more than a long one. The package knows words (words.go, stem.go), not
// meanings: a question in one language does not find a skill in another.
package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A Doc is one skill to index.
type Doc struct {
	ID          string
	Name        string
	Description string
	WhenToUse   string
	Headings    string // headings of the body, one per line; may be empty
}

// A Hit is one result, best first.
type Hit struct {
	ID      string
	Index   int // position in the docs given to Build
	Score   float64
	Weak    bool   // no reason to think that the skill is meant (match.go)
	Snippet string // the part of the description that matched, one line
}

// The scoring policy.
const (
	defaultLimit = 20
	saturation   = 1.2 // BM25 k1: how soon a repeated word stops counting
	lengthShare  = 0.4 // BM25 b: how much a long field is discounted
	stopWeight   = 0.1 // of words such as "the"
	charWeight   = 0.3 // of single characters of scripts without spaces
	partWeight   = 0.5 // of the parts of a compound word that is not known itself
	prefixWeight = 0.6 // of words that begin like an unknown last word
	prefixMin    = 3   // bytes of such a beginning
	prefixMost   = 32  // words tried for it
	wholeBonus   = 8   // when the query is the id
)

// A field is a part of a document.
type field uint8

const (
	fieldID field = iota
	fieldName
	fieldDescription
	fieldWhen
	fieldHeadings
	fields
)

// texts returns the text of each field.
func (d *Doc) texts() [fields]string {
	return [fields]string{fieldID: d.ID, fieldName: d.Name, fieldDescription: d.Description, fieldWhen: d.WhenToUse, fieldHeadings: d.Headings}
}

// fieldWeight says how much a word counts by where it stands.
var fieldWeight = [fields]float64{fieldID: 3, fieldName: 2.5, fieldDescription: 1, fieldWhen: 1.2, fieldHeadings: 0.4}

// An Index is a set of documents, ready to be searched.
type Index struct {
	docs   []Doc            // for snippets
	terms  map[string]int32 // number of each word
	sorted []string         // the words, for beginnings
	starts []int32          // of the postings of each word, and the end of the last
	places []posting

	// What Update needs of the documents.
	words   []string // by the number of the term
	found   []occurrence
	ends    []int32         // of each document in found
	lengths [][fields]int32 // words of each field of each document
}

// A posting says that a word occurs in a document.
type posting struct {
	doc    int32
	weight float32 // saturated occurrences, by field and length
}

// Search returns the best limit hits for query (zero means 20), with stable
// order for equal scores: by id, then by position. A query without any known
// word, or the beginning of one at its end, has no hits.
func (ix *Index) Search(query string, limit int) []Hit {
	if limit <= 0 {
		limit = defaultLimit
	}
	q := ix.parse(query)
	if len(q.words) == 0 {
		return nil
	}
	scores := make([]float32, len(ix.docs))
	var found []int32
	for _, w := range q.words {
		for _, p := range ix.postings(w.term) {
			if scores[p.doc] == 0 {
				found = append(found, p.doc)
			}
			scores[p.doc] += float32(w.weight) * p.weight
		}
	}
	named, isNamed := ix.named(query, found)
	if isNamed {
		scores[named] += wholeBonus
	}
	compare := func(a, b int32) int {
		if scores[a] != scores[b] {
			return cmp.Compare(scores[b], scores[a])
		}
		return cmp.Or(cmp.Compare(ix.docs[a].ID, ix.docs[b].ID), cmp.Compare(a, b))
	}
	best := top(found, limit, compare)
	hits := make([]Hit, len(best))
	s := newSnippets(q.words)
	for i, d := range best {
		hits[i] = Hit{ID: ix.docs[d].ID, Index: int(d), Score: float64(scores[d]), Snippet: s.of(&ix.docs[d])}
		hits[i].Weak = !(isNamed && d == named) && q.weak(d) // an id may be a word such as "the"
	}
	return hits
}

// named returns the document among found whose id is the query.
func (ix *Index) named(query string, found []int32) (int32, bool) {
	query = strings.TrimPrefix(strings.TrimSpace(query), "/")
	for _, d := range found {
		if id := ix.docs[d].ID; len(id) == len(query) && strings.EqualFold(id, query) {
			return d, true
		}
	}
	return 0, false
}

// postings returns where a term occurs.
func (ix *Index) postings(term int32) []posting {
	return ix.places[ix.starts[term]:ix.starts[term+1]]
}

// rarity is the BM25 weight of a term by the number of its documents.
func (ix *Index) rarity(term int32, known bool) float64 {
	n, df := float64(len(ix.docs)), 0.0
	if known {
		df = float64(ix.starts[term+1] - ix.starts[term])
	}
	return math.Log(1 + (n-df+0.5)/(df+0.5))
}

// top returns the first limit of all in the order of compare, without sorting
// the rest.
func top(all []int32, limit int, compare func(a, b int32) int) []int32 {
	if len(all) <= limit {
		slices.SortFunc(all, compare)
		return all
	}
	best := slices.Clone(all[:limit])
	slices.SortFunc(best, compare)
	for _, d := range all[limit:] {
		if compare(d, best[limit-1]) > 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(best[:limit-1], d, compare)
		copy(best[at+1:], best[at:limit-1])
		best[at] = d
	}
	return best
}

// beginning returns the first words that begin with prefix.
func (ix *Index) beginning(prefix string) []string {
	from, _ := slices.BinarySearch(ix.sorted, prefix)
	to := from
	for to < len(ix.sorted) && to-from < prefixMost && strings.HasPrefix(ix.sorted[to], prefix) {
		to++
	}
	return ix.sorted[from:to]
}
