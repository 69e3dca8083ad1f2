package search

import (
	"maps"
	"slices"
)

// Build indexes docs. It keeps their strings.
func Build(docs []Doc) *Index {
	b := builder{ix: &Index{docs: slices.Clone(docs), terms: map[string]int32{}}}
	b.ends = make([]int32, 0, len(docs))
	for i := range docs {
		b.add(&docs[i])
	}
	b.count()
	b.place()
	b.ix.sorted = slices.Sorted(maps.Keys(b.ix.terms))
	return b.ix
}

// An occurrence is a word at its place in a document.
type occurrence struct {
	term  int32
	field field
}

// A builder collects the words of all documents before it weighs them, because
// the weight depends on average lengths.
type builder struct {
	ix      *Index
	scan    scanner
	found   []occurrence
	ends    []int32         // of each document in found
	lengths [][fields]int32 // words of each field of each document
	average [fields]float64 // words of a field, where it is not empty
	weights []float64       // by term: what the current document gathered
}

// add reads the words of d.
func (b *builder) add(d *Doc) {
	var length [fields]int32
	for f, text := range [fields]string{fieldID: d.ID, fieldName: d.Name, fieldDescription: d.Description, fieldWhen: d.WhenToUse, fieldHeadings: d.Headings} {
		how := asText
		if field(f) == fieldID || field(f) == fieldName {
			how = asName
		}
		b.scan.scan(text, how, func(w word) {
			term, ok := b.ix.terms[string(w.text)]
			if !ok {
				term = int32(len(b.ix.terms))
				b.ix.terms[string(w.text)] = term
			}
			b.found = append(b.found, occurrence{term, field(f)})
			length[f]++
		})
	}
	b.ends = append(b.ends, int32(len(b.found)))
	b.lengths = append(b.lengths, length)
}

// count finds the average lengths.
func (b *builder) count() {
	var sum, filled [fields]float64
	for _, l := range b.lengths {
		for f, n := range l {
			if n > 0 {
				sum[f] += float64(n)
				filled[f]++
			}
		}
	}
	for f := range sum {
		b.average[f] = max(1, sum[f]/max(1, filled[f]))
	}
}

// place writes the postings, by term and then by document.
func (b *builder) place() {
	terms := len(b.ix.terms)
	b.weights = make([]float64, terms)
	starts := make([]int32, terms+1)
	b.documents(func(_ int32, term int32, _ float64) { starts[term+1]++ })
	for t := range terms {
		starts[t+1] += starts[t]
	}
	next := slices.Clone(starts)
	b.ix.places = make([]posting, starts[terms])
	b.documents(func(doc, term int32, w float64) {
		b.ix.places[next[term]] = posting{doc, float32(w * (saturation + 1) / (w + saturation))}
		next[term]++
	})
	b.ix.starts = starts
}

// documents calls f once for each document and each word in it, with the
// occurrences weighted by field and length.
func (b *builder) documents(f func(doc, term int32, weight float64)) {
	from := int32(0)
	for doc, to := range b.ends {
		found := b.found[from:to]
		var share [fields]float64
		for i := range share {
			share[i] = fieldWeight[i] / (1 - lengthShare + lengthShare*float64(b.lengths[doc][i])/b.average[i])
		}
		for _, o := range found {
			b.weights[o.term] += share[o.field]
		}
		for _, o := range found {
			if w := b.weights[o.term]; w > 0 {
				f(int32(doc), o.term, w)
				b.weights[o.term] = 0
			}
		}
		from = to
	}
}
