package frontmatter

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/knack-skills/knack/skill"
)

// Bounds on what one header may unfold to. Real headers stay under 200 nodes
// and 8 levels.
const (
	maxNodes = 10_000
	maxDepth = 64
)

// A fault is why YAML does not read a text, with the line and column of the
// file from 1 (0 when unknown).
type fault struct {
	line, col           int
	startLine, startCol int // of the construct that went wrong
	reason              string
}

// YAML refuses control characters, and YAML 1.1 takes some for line ends. They
// are text here, and reported as hidden characters (spec F-7), so while the
// library reads, others stand in for them: those from standIn on.
const (
	standIn    = 0xE100
	standInEnd = standIn + 0x100
)

// foreign returns the stand-in of r, or r.
func foreign(r rune) rune {
	switch {
	case r < 0x20 && r != '\t' && r != '\n' && r != '\r', 0x7f <= r && r < 0xa0:
		return standIn + r
	case r == 0x2028 || r == 0x2029:
		return standIn + r - 0x2028 + 0xf0
	case r == 0xfffe || r == 0xffff:
		return standIn + r - 0xfffe + 0xf8
	}
	return r
}

// home undoes foreign.
func home(r rune) rune {
	switch {
	case r < standIn || r >= standInEnd:
		return r
	case r >= standIn+0xf8:
		return r - standIn - 0xf8 + 0xfffe
	case r >= standIn+0xf0:
		return r - standIn - 0xf0 + 0x2028
	}
	return r - standIn
}

func isForeign(r rune) bool { return foreign(r) != r }
func isStandIn(r rune) bool { return standIn <= r && r < standInEnd }

// loader turns the library's nodes into values.
type loader struct {
	r     *reader
	first int // line of the file on which the text starts
	back  bool
	nodes int
	alias *yaml.Node // an alias in the current entry
	found []skill.Problem
	fault *fault
}

// strict reads src, which starts on the given line of the file, as YAML that
// holds one mapping (spec F-3, first step). Problems are reported only when
// the whole text can be read.
func (r *reader) strict(src string, first int) ([]entry, *fault) {
	l := loader{r: r, first: first}
	text := src
	if !r.afford(src) {
		return nil, &fault{line: first, reason: tooManyParts}
	}
	if strings.ContainsFunc(text, isForeign) {
		if strings.ContainsFunc(text, isStandIn) {
			return nil, &fault{line: first, col: 1, reason: "control characters"}
		}
		text, l.back = strings.Map(foreign, text), true
	}
	var doc yaml.Node
	err := yaml.Load([]byte(text), &doc)
	if err != nil && strings.Contains(text, `\u`) && r.afford(src) {
		err = yaml.Load([]byte(joinSurrogates(text)), &doc)
	}
	if err != nil {
		return nil, newFault(err, first)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, &fault{line: first, col: 1, reason: "the frontmatter is not a list of `key: value` lines"}
	}
	entries := l.entries(doc.Content[0], src)
	if l.fault != nil {
		return nil, l.fault
	}
	r.problems = append(r.problems, l.found...)
	return entries, nil
}

// newFault explains an error of the library.
func newFault(err error, first int) *fault {
	f := &fault{line: first, reason: strings.TrimPrefix(err.Error(), "yaml: ")}
	var load *yaml.LoadError
	if errors.As(err, &load) {
		f.reason = load.Message
		if load.Mark.Line > 0 {
			f.line, f.col = load.Mark.Line+first-1, load.Mark.Column
		}
		if load.ContextMark.Line > 0 {
			f.startLine, f.startCol = load.ContextMark.Line+first-1, load.ContextMark.Column
		}
	}
	f.reason = strings.TrimPrefix(f.reason, "yaml: ")
	return f
}

// entries reads the top-level mapping. The source text of a value is what
// stands between its key and the next one.
func (l *loader) entries(m *yaml.Node, src string) []entry {
	starts := lineStarts(src)
	all := keyed{entries: make([]entry, 0, len(m.Content)/2)}
	for i := 0; i+1 < len(m.Content) && l.fault == nil; i += 2 {
		k := m.Content[i]
		l.alias = nil
		e := entry{key: l.key(k), line: k.Line + l.first - 1, val: l.value(m.Content[i+1], 1)}
		if k.Column == 1 && m.Style&yaml.FlowStyle == 0 {
			end := len(src)
			if i+2 < len(m.Content) {
				end = starts[min(m.Content[i+2].Line-1, len(starts)-1)]
			}
			e.raw = rawValue(src[starts[min(k.Line-1, len(starts)-1)]:end])
		} else {
			e.raw = strings.TrimRight(e.val.text, "\n")
		}
		if l.alias != nil {
			e.val, e.refused = value{line: e.val.line, col: e.val.col}, true
			l.found = refusedAlias(l.found, l.r.path, e.key, l.alias.Line+l.first-1, l.alias.Column)
		}
		if earlier := all.add(e); earlier > 0 {
			l.duplicate(k, e.key, earlier)
		}
	}
	return all.all()
}

func (l *loader) duplicate(k *yaml.Node, key string, line int) {
	if l.r.conflict { // both sides of it are here, and that has been said
		return
	}
	l.found = append(l.found, duplicateKey(l.r.path, key, k.Line+l.first-1, k.Column, line))
}

// refusedAlias reports an entry that is ignored for its alias (spec F-4). What
// follows from a security field that is lost, Fill reports.
func refusedAlias(found []skill.Problem, path, key string, line, col int) []skill.Problem {
	what := "`" + key + "`"
	if known := lookup(key); key == "" {
		what = "the key that is one"
	} else if known != nil && known.security {
		return found
	}
	return append(found, finding(path, skill.Error, "yaml-alias", line, col,
		"YAML aliases are refused; "+what+" is ignored", "write the value out"))
}

// value copies a node. It stops at the bounds and at aliases (spec F-4).
func (l *loader) value(n *yaml.Node, depth int) value {
	v := value{line: int32(n.Line + l.first - 1), col: int32(n.Column)}
	if l.nodes++; l.nodes > maxNodes || depth > maxDepth {
		l.fault = &fault{line: int(v.line), col: int(v.col), reason: "the value is nested too deeply or has too many parts"}
		return v
	}
	switch n.Kind {
	case yaml.ScalarNode:
		v = newScalar(l.text(n.Value), styleOf(n), int(v.line), int(v.col))
		if v.style == plain && (n.Style&yaml.TaggedStyle != 0 || n.Anchor != "") {
			v.kind, v.marked = scalar, true
		}
	case yaml.AliasNode:
		l.alias = n
	case yaml.SequenceNode:
		v.kind, v.items = list, make([]value, 0, len(n.Content))
		for _, item := range n.Content {
			if l.fault != nil {
				break
			}
			v.items = append(v.items, l.value(item, depth+1))
		}
	case yaml.MappingNode:
		v.kind = mapping
		l.pairs(&v, n, depth)
	}
	return v
}

func (l *loader) pairs(v *value, n *yaml.Node, depth int) {
	index := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content) && l.fault == nil; i += 2 {
		k := n.Content[i]
		item := l.value(n.Content[i+1], depth+1)
		item.name = l.key(k)
		if at, ok := index[item.name]; ok {
			l.duplicate(k, item.name, int(v.items[at].line))
			v.items[at] = item
			continue
		}
		index[item.name] = len(v.items)
		v.items = append(v.items, item)
	}
}

// key is the text of a key; one that is no scalar has none.
func (l *loader) key(k *yaml.Node) string {
	switch k.Kind {
	case yaml.ScalarNode:
		return l.text(k.Value)
	case yaml.AliasNode:
		l.alias = k
	}
	return ""
}

func (l *loader) text(s string) string {
	if l.back {
		return strings.Map(home, s)
	}
	return s
}

func styleOf(n *yaml.Node) style {
	switch {
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		return quoted
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return block
	}
	return plain
}

// lineStarts returns where each line of s starts.
func lineStarts(s string) []int {
	starts := make([]int, 0, 16)
	for l := newLines(s); ; {
		_, at, ok := l.next()
		if !ok {
			return append(starts, len(s))
		}
		starts = append(starts, at)
	}
}
