package file

import (
	"bytes"
	"sort"
	"strings"
	"unicode/utf8"
)

// bom is the byte order mark of UTF-8.
const bom = "\ufeff"

// A document is a text as a model edits it: no byte order mark, and every line
// ends with "\n". What its bytes were is remembered, so that those a change
// does not concern stay as they were, in files with mixed line ends too.
type document struct {
	text  string
	bom   bool
	crlf  bool  // most lines end with "\r\n": so do new ones
	ends  []int // offsets in text of newlines that are "\r\n" in the file
	valid bool  // it is UTF-8
}

func parse(content []byte) document {
	body, marked := bytes.CutPrefix(content, []byte(bom))
	d := document{bom: marked, valid: utf8.Valid(body)}
	var b strings.Builder
	b.Grow(len(body))
	for i, c := range body {
		switch {
		case c == '\r' && i+1 < len(body) && body[i+1] == '\n':
			d.ends = append(d.ends, b.Len())
		default:
			b.WriteByte(c)
		}
	}
	d.text = b.String()
	d.crlf = 2*len(d.ends) > strings.Count(d.text, "\n")
	return d
}

// incoming is what a model wrote, in the document's terms: in a file that ends
// lines with "\r\n" it makes no difference whether the model did.
func (d *document) incoming(s string) string {
	if len(d.ends) == 0 {
		return s
	}
	return strings.ReplaceAll(s, "\r\n", "\n")
}

// replace puts text in the place of text[start:end].
func (d *document) replace(start, end int, text string) {
	from := sort.SearchInts(d.ends, start)
	to := sort.SearchInts(d.ends, end)
	grown := len(text) - (end - start)
	ends := make([]int, 0, len(d.ends))
	ends = append(ends, d.ends[:from]...)
	if d.crlf {
		for i := range len(text) {
			if text[i] == '\n' {
				ends = append(ends, start+i)
			}
		}
	}
	for _, e := range d.ends[to:] {
		ends = append(ends, e+grown)
	}
	d.ends = ends
	d.text = d.text[:start] + text + d.text[end:]
}

// replaceAll puts text in the place of every old, which is not empty, and
// returns where the first one was.
func (d *document) replaceAll(old, text string) (first int) {
	first = strings.Index(d.text, old)
	var b strings.Builder
	var ends []int
	next := 0 // of d.ends
	keep := func(upTo, shift int) {
		for ; next < len(d.ends) && d.ends[next] < upTo; next++ {
			ends = append(ends, d.ends[next]+shift)
		}
	}
	at := 0
	for {
		i := strings.Index(d.text[at:], old)
		if i < 0 {
			break
		}
		keep(at+i, b.Len()-at)
		b.WriteString(d.text[at : at+i])
		for j := range len(text) {
			if d.crlf && text[j] == '\n' {
				ends = append(ends, b.Len()+j)
			}
		}
		b.WriteString(text)
		at += i + len(old)
		for next < len(d.ends) && d.ends[next] < at {
			next++
		}
	}
	keep(len(d.text), b.Len()-at)
	b.WriteString(d.text[at:])
	d.text, d.ends = b.String(), ends
	return first
}

// bytes returns the file.
func (d *document) bytes() []byte {
	var b bytes.Buffer
	b.Grow(len(d.text) + len(d.ends) + len(bom))
	if d.bom {
		b.WriteString(bom)
	}
	at := 0
	for _, e := range d.ends {
		b.WriteString(d.text[at:e])
		b.WriteByte('\r')
		at = e
	}
	b.WriteString(d.text[at:])
	return b.Bytes()
}

// ending makes every line of d end as in the file it replaces, where the model
// left that open by writing "\n" throughout.
func (d *document) ending(old document) {
	d.bom = d.bom || old.bom
	if !old.crlf || len(d.ends) > 0 {
		return
	}
	for at := 0; ; {
		i := strings.IndexByte(d.text[at:], '\n')
		if i < 0 {
			return
		}
		d.ends = append(d.ends, at+i)
		at += i + 1
	}
}
