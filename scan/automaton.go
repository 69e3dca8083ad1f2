package scan

// A hit is one keyword in a text. end is the offset behind it.
type hit struct {
	end     int
	class   class
	pattern int16 // index of the sentence pattern that it wakes up, or -1
}

// An automaton finds all keywords in one pass over a text, in any letter case
// (Aho and Corasick). Quotes and backslashes are passed over, and so is the end
// of a line behind a backslash: a shell does not see them either.
type automaton struct {
	class [256]uint8 // byte to column; 0 is no byte of any keyword
	width int
	next  []int32 // state*width + column
	out   [][]hit
	words []keyword
}

type keyword struct {
	text string
	hit  hit
}

func (a *automaton) add(word string, c class, pattern int) {
	a.words = append(a.words, keyword{word, hit{class: c, pattern: int16(pattern)}})
}

// skipped is the column of bytes that do not move the automaton.
const skipped = 255

func (a *automaton) build() {
	a.width = 1
	for _, w := range a.words {
		for i := range len(w.text) {
			if c := w.text[i]; a.class[c] == 0 {
				a.class[c] = uint8(a.width)
				a.width++
			}
		}
	}
	for c := byte('A'); c <= 'Z'; c++ {
		a.class[c] = a.class[c+'a'-'A']
	}
	for _, c := range []byte{'\t', '\n', '\r'} {
		a.class[c] = a.class[' ']
	}
	for _, c := range []byte{'"', '\'', '\\'} {
		a.class[c] = skipped
	}
	a.state()
	for _, w := range a.words {
		at := 0
		for i := range len(w.text) {
			to := &a.next[at*a.width+int(a.class[w.text[i]])]
			if *to == 0 {
				n := a.state()
				a.next[at*a.width+int(a.class[w.text[i]])] = int32(n)
				at = n
				continue
			}
			at = int(*to)
		}
		a.out[at] = append(a.out[at], w.hit)
	}
	a.link()
}

func (a *automaton) state() int {
	a.next = append(a.next, make([]int32, a.width)...)
	a.out = append(a.out, nil)
	return len(a.out) - 1
}

// link fills the transitions to the longest other beginning, breadth first.
func (a *automaton) link() {
	fail := make([]int, len(a.out))
	var queue []int
	for c := range a.width {
		if s := int(a.next[c]); s > 0 {
			queue = append(queue, s)
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		a.out[s] = append(a.out[s], a.out[fail[s]]...)
		for c := range a.width {
			i := s*a.width + c
			back := a.next[fail[s]*a.width+c]
			if t := int(a.next[i]); t > 0 {
				fail[t] = int(back)
				queue = append(queue, t)
			} else {
				a.next[i] = back
			}
		}
	}
}

// find returns the hits in text, in order.
func (a *automaton) find(text string) []hit {
	var hits []hit
	at, width := 0, a.width
	for i := 0; i < len(text); i++ {
		c := a.class[text[i]]
		if c == skipped {
			if text[i] == '\\' && i+1 < len(text) && text[i+1] == '\n' {
				i++
			}
			continue
		}
		at = int(a.next[at*width+int(c)])
		if a.out[at] == nil {
			continue
		}
		for _, h := range a.out[at] {
			h.end = i + 1
			hits = append(hits, h)
		}
	}
	return hits
}
