package session

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/text"
)

// The limits of what compaction puts back, in tokens (spec M-2).
const (
	restorePerSkill = 5_000
	restoreTotal    = 25_000
	restoreNames    = 5 // the names of dropped skills take at most a fifth of the total
	maxShownArgs    = 300
)

// A Budget limits [Session.Restore]. The zero value has the limits of spec M-2.
type Budget struct {
	PerSkill int // tokens of one skill; zero means 5,000
	Total    int // tokens in all, everything included; zero means 25,000
	// Staying is how many of the latest invocations keep their messages in the
	// new history, because the model has not answered them yet. They are not
	// restored: they are no earlier request.
	Staying int
}

// Restored is what puts an agent's skills back after its history was replaced
// by a summary.
type Restored struct {
	Text    string         // one attachment for the model; empty when there is nothing to say
	Skills  []RestoredPart // what it holds, oldest first
	Dropped []string       // ids of what did not fit, oldest first; Text names them
	Whole   []Copy         // what the agent holds unshortened now, what stays included; sorted
	Tokens  int            // estimate for Text
}

// A RestoredPart is one skill in a [Restored].
type RestoredPart struct {
	Copy
	Whole bool // nothing was cut off
}

// Restore chooses what an agent keeps of the skills it invoked when its history
// is replaced by a summary (spec M-2): of each skill its latest text, newest
// first until the budget is full; what is chosen is written oldest first. It is
// called once the summary stands, and from then on only what it returned whole
// counts as held by the agent, so [Session.Record] reports no repetition of
// anything else. Hooks, activation, approvals, what the agent was told, and the
// invocations themselves stay as they are (spec M-3).
func (s *Session) Restore(a AgentID, b Budget) Restored {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.of(a)
	clear(st.whole)
	r := b.restore(st.latest(b.Staying))
	for _, p := range r.Skills {
		if p.Whole {
			st.whole[p.Copy] = true
		}
	}
	for c := range st.whole {
		r.Whole = append(r.Whole, c)
	}
	slices.SortFunc(r.Whole, func(a, b Copy) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Hash, b.Hash)) })
	return r
}

// Compacted notes a compaction of an earlier run: the agent holds these texts
// whole and no others. [Session.Restore] does the same by itself.
func (s *Session) Compacted(a AgentID, whole ...Copy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.of(a)
	clear(st.whole)
	for _, c := range whole {
		st.whole[c] = true
	}
}

// latest returns the latest invocation of each skill, newest first, without
// those whose text stays in the history because their messages stay.
func (m *memory) latest(staying int) []record {
	stay := m.invoked[max(0, len(m.invoked)-max(0, staying)):]
	for _, r := range stay {
		if !r.repeat { // the messages of a repetition only point to a text
			m.whole[r.copy()] = true
		}
	}
	var out []record
	seen := map[string]bool{}
	for _, r := range slices.Backward(m.invoked) {
		if !seen[r.ID] && !m.whole[r.copy()] {
			out = append(out, r)
		}
		seen[r.ID] = true
	}
	return out
}

func (b Budget) restore(newest []record) Restored {
	if len(newest) == 0 {
		return Restored{}
	}
	if b.PerSkill <= 0 {
		b.PerSkill = restorePerSkill
	}
	if b.Total <= 0 {
		b.Total = restoreTotal
	}
	// The frame is reserved first, as if everything was dropped.
	left := b.Total - cost(restoreIntro) - cost(droppedNote(ids(newest), b.Total/restoreNames))
	// A cut skill is cut a little more, so that as many of them fit as the two
	// limits promise: five in 25,000 tokens, with all that stands around them.
	cut := min(b.PerSkill, left/max(1, b.Total/b.PerSkill))
	var blocks []string
	var dropped []record
	var r Restored
	for _, rec := range newest {
		block, whole, ok := rec.block(b.PerSkill, cut, left)
		if !ok {
			dropped = append(dropped, rec)
			continue
		}
		left -= cost(block)
		blocks = append(blocks, block)
		r.Skills = append(r.Skills, RestoredPart{rec.copy(), whole})
	}
	slices.Reverse(blocks)
	slices.Reverse(r.Skills)
	slices.Reverse(dropped)
	r.Dropped = ids(dropped)
	out := "<system-reminder>\n"
	if len(blocks) > 0 {
		out += restoreIntro + strings.Join(blocks, "")
	}
	if len(dropped) > 0 {
		out += droppedNote(r.Dropped, b.Total/restoreNames)
	}
	r.Text = strings.TrimRight(out, "\n") + "\n</system-reminder>"
	r.Tokens = text.Tokens(r.Text)
	return r
}

// cost is what a piece adds to a text at most.
func cost(piece string) int { return text.Tokens(piece) + 2 }

func ids(records []record) []string {
	var out []string
	for _, r := range records {
		out = append(out, r.ID)
	}
	return out
}

const restoreIntro = `The conversation was shortened. These skills were invoked in the part that is gone, oldest first; their instructions follow again, so that you can keep to them in the work that goes on.
They are no new request. What was asked for when they were invoked was done then, or the summary says what is left of it: do not begin a skill's task again, and do not take the messages that follow for its arguments.

`

// droppedNote names skills that did not fit, in at most limit tokens.
func droppedNote(dropped []string, limit int) string {
	var b strings.Builder
	for i, id := range dropped {
		name := text.Line(id)
		if limit -= text.Tokens(name) + 2; limit < 0 {
			fmt.Fprintf(&b, " and %d more", len(dropped)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name)
	}
	return "Also invoked before, and left out here for want of space: " + b.String() +
		". Invoke a skill again when you need its instructions.\n"
}

func (r record) copy() Copy { return Copy{r.ID, r.Hash} }

// block writes one skill. A text of up to perSkill tokens stays whole; of a
// longer one stays as much as makes a block of cut tokens. ok is false when
// the block has more than left tokens.
func (r record) block(perSkill, cut, left int) (block string, whole, ok bool) {
	head := r.heading()
	if min(r.tokens, cut)+text.Tokens(head) > left {
		return "", false, false // without reading the text
	}
	body := text.Block(r.Text)
	if tokens := text.Tokens(body); tokens > perSkill {
		mark := r.mark(tokens)
		block = head + keepHead(body, cut-cost(head)-cost(mark)-2) + mark
	} else {
		block, whole = head+strings.TrimRight(body, "\n")+"\n\n", true
	}
	return block, whole, cost(block) <= left
}

// heading names a skill and marks its arguments as past.
func (r record) heading() string {
	var b strings.Builder
	b.WriteString("## Skill " + text.Line(r.ID) + "\n")
	if r.Path != "" {
		b.WriteString("File: " + text.Line(r.Path) + "\n")
	}
	b.WriteString("Invoked earlier")
	if !r.At.IsZero() {
		b.WriteString(", at " + r.At.UTC().Format("2006-01-02 15:04 UTC"))
	}
	if r.Args == "" {
		b.WriteString(", without arguments.\n\n")
	} else {
		fmt.Fprintf(&b, ". Arguments of that earlier request, not to be acted on again: %s\n\n", text.Cut(text.Line(r.Args), maxShownArgs))
	}
	return b.String()
}

// mark stands where a text was cut.
func (r record) mark(tokens int) string {
	again := "Invoke the skill again"
	if r.Path != "" {
		again = "Read " + text.Line(r.Path) + ", or invoke the skill again,"
	}
	return fmt.Sprintf("\n[Cut here: only the beginning of about %d tokens is shown. %s to have the rest.]\n\n", tokens, again)
}

// keepHead returns the beginning of s, at most limit tokens, which ends with a
// line, or with a grapheme where the last line is most of it.
func keepHead(s string, limit int) string {
	if limit <= 0 {
		return ""
	}
	end := prefix(s, limit)
	if i := strings.LastIndexByte(s[:end], '\n'); i >= end/2 {
		return s[:i+1]
	}
	// Cut takes off one character for its "…", which the mark makes needless.
	return strings.TrimSuffix(text.Cut(s, utf8.RuneCountInString(s[:end])), "…")
}

// prefix returns the length of the longest prefix of s, in whole characters, of
// at most limit tokens.
func prefix(s string, limit int) int {
	// More tokens never come from less text, so the end is searched for, at
	// first near the beginning: s may be long.
	most := min(len(s), 8*limit)
	for most < len(s) && text.Tokens(s[:most]) <= limit {
		most = min(len(s), 2*most)
	}
	border := func(i int) int {
		for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
			i--
		}
		return i
	}
	n := sort.Search(most+1, func(i int) bool { return text.Tokens(s[:border(i)]) > limit })
	return border(max(0, n-1))
}
