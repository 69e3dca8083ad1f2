// Package search finds skills by words (spec L-8), for catalogs too large to
// list. An index is built from one snapshot and never changes; it is safe for
// concurrent use.
package search

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
	Snippet string // the part of the description that matched, one line
}

// An Index is a set of documents, ready to be searched.
type Index struct{}

// Build indexes docs.
func Build(docs []Doc) *Index { panic("to be written") }

// Search returns the best limit hits for query (zero means 20), with stable
// order for equal scores. A query without any known word has no hits.
func (ix *Index) Search(query string, limit int) []Hit { panic("to be written") }

// Headings returns the headings of a Markdown body, one per line, outside code
// fences.
func Headings(body string) string { panic("to be written") }
