package search

import (
	"maps"
	"slices"
)

// Build indexes docs. It keeps their strings.
func Build(docs []Doc) *Index { return new(Index).Update(docs) }

// Update returns what Build would of docs, and reads only those that ix, which
// does not change, has not under the same id with the same texts.
func (ix *Index) Update(docs []Doc) *Index {
	b := builder{ix: &Index{docs: slices.Clone(docs), terms: make(map[string]int32, len(ix.terms))}}
	b.old = newEarlier(ix)
	b.ix.ends = make([]int32, 0, len(docs))
	b.ix.lengths = make([][fields]int32, 0, len(docs))
	size := 0
	if len(ix.found) == 0 {
		for i := range docs {
			for _, text := range docs[i].texts() {
				size += len(text)
			}
		}
	}
	b.ix.found = make([]occurrence, 0, max(size/bytesPerWord, len(ix.found)))
	b.emit = b.occurrence
	for i := range docs {
		if !b.reuse(&docs[i]) {
			b.add(&docs[i])
		}
	}
	b.count()
	b.place()
	b.ix.sorted = slices.Sorted(maps.Keys(b.ix.terms))
	return b.ix
}

// bytesPerWord is about what a word takes in a text, to size the index.
const bytesPerWord = 7

// An occurrence is a word at its place in a document: the number of the term
// and, in the lowest bits, the field. There are many of them.
type occurrence uint32

const fieldBits = 3

func occurs(term int32, f field) occurrence { return occurrence(term)<<fieldBits | occurrence(f) }

func (o occurrence) term() int32  { return int32(o >> fieldBits) }
func (o occurrence) field() field { return field(o & (1<<fieldBits - 1)) }

// A builder collects the words of all documents before it weighs them, because
// the weight depends on average lengths.
type builder struct {
	ix      *Index
	old     earlier
	scan    scanner
	emit    func(word)      // occurrence, made into a value once
	field   field           // that is being read
	average [fields]float64 // words of a field, where it is not empty
	weights []float64       // by term: what the current document gathered
}

// add reads the words of d.
func (b *builder) add(d *Doc) {
	b.ix.lengths = append(b.ix.lengths, [fields]int32{})
	for f, text := range d.texts() {
		how := asText
		if field(f) == fieldID || field(f) == fieldName {
			how = asName
		}
		b.field = field(f)
		b.scan.scan(text, how, b.emit)
	}
	b.ix.ends = append(b.ix.ends, int32(len(b.ix.found)))
}

// occurrence notes a word of the last document.
func (b *builder) occurrence(w word) {
	term, ok := b.ix.terms[string(w.text)]
	if !ok {
		term = b.term(string(w.text))
	}
	b.ix.found = append(b.ix.found, occurs(term, b.field))
	b.ix.lengths[len(b.ix.lengths)-1][b.field]++
}

// term numbers a new word.
func (b *builder) term(text string) int32 {
	term := int32(len(b.ix.words))
	b.ix.words = append(b.ix.words, text)
	b.ix.terms[text] = term
	return term
}

// An earlier index tells what was read of documents before.
type earlier struct {
	ix    *Index
	byID  map[string]int32
	terms []int32 // the new number of each of its words, plus one; 0 is none yet
}

func newEarlier(ix *Index) earlier {
	old := earlier{ix: ix, byID: make(map[string]int32, len(ix.docs)), terms: make([]int32, len(ix.words))}
	for i := range ix.docs {
		old.byID[ix.docs[i].ID] = int32(i)
	}
	return old
}

// reuse takes the words of d from the earlier index, if they are known there.
func (b *builder) reuse(d *Doc) bool {
	old := b.old.ix
	i, ok := b.old.byID[d.ID]
	if !ok || old.docs[i] != *d {
		return false
	}
	from := int32(0)
	if i > 0 {
		from = old.ends[i-1]
	}
	for _, o := range old.found[from:old.ends[i]] {
		term := b.old.terms[o.term()] - 1
		if term < 0 {
			text := old.words[o.term()]
			if known, ok := b.ix.terms[text]; ok {
				term = known
			} else {
				term = b.term(text)
			}
			b.old.terms[o.term()] = term + 1
		}
		b.ix.found = append(b.ix.found, occurs(term, o.field()))
	}
	b.ix.ends = append(b.ix.ends, int32(len(b.ix.found)))
	b.ix.lengths = append(b.ix.lengths, old.lengths[i])
	return true
}

// count finds the average lengths.
func (b *builder) count() {
	var sum, filled [fields]float64
	for _, l := range b.ix.lengths {
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
	for doc, to := range b.ix.ends {
		found := b.ix.found[from:to]
		var share [fields]float64
		for i := range share {
			share[i] = fieldWeight[i] / (1 - lengthShare + lengthShare*float64(b.ix.lengths[doc][i])/b.average[i])
		}
		for _, o := range found {
			b.weights[o.term()] += share[o.field()]
		}
		for _, o := range found {
			if term := o.term(); b.weights[term] > 0 {
				f(int32(doc), term, b.weights[term])
				b.weights[term] = 0
			}
		}
		from = to
	}
}
