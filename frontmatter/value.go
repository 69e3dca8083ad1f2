package frontmatter

import (
	"strconv"
	"strings"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/skill"
)

type kind uint8

const (
	null kind = iota // absent, empty or null (spec F-5)
	scalar
	list
	mapping
)

type style uint8

const (
	plain  style = iota
	quoted       // single or double quotes
	block        // literal or folded
)

// A value is a piece of YAML. Scalars keep the author's spelling (spec F-4).
type value struct {
	kind      kind
	style     style
	marked    bool  // a plain scalar behind a tag or an anchor, which text lacks
	line, col int32 // of the file, from 1
	name      string
	text      string
	items     []value // of a list; of a mapping, each with its name
}

// An entry is one top-level key with its value.
type entry struct {
	key  string
	line int    // of the key in the file, from 1
	raw  string // source text of the value, see rawValue
	val  value
	// lost marks a piece that YAML cannot read: val is a scalar that holds raw.
	lost   bool
	unread bool // lost, and raw is not even known
	// refused marks a value that must not be used at all (aliases).
	refused bool
	dropped bool // see keyed
}

// isNull reports whether a plain scalar stands for nothing.
func isNull(s string) bool {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return true
	}
	return false
}

// newScalar makes a scalar or null.
func newScalar(text string, st style, line, col int) value {
	v := value{kind: scalar, style: st, text: text, line: int32(line), col: int32(col)}
	if st == plain && isNull(text) {
		v.kind, v.text = null, ""
	}
	return v
}

// at returns the value under name in a mapping.
func (v *value) at(name string) (*value, bool) {
	for i := range v.items {
		if v.kind == mapping && v.items[i].name == name {
			return &v.items[i], true
		}
	}
	return nil, false
}

// tree is v in the neutral form that package hook understands.
func (v *value) tree() any {
	switch v.kind {
	case null:
		return nil
	case list:
		items := make([]any, len(v.items))
		for i := range v.items {
			items[i] = v.items[i].tree()
		}
		return items
	case mapping:
		m := make(hook.Map, len(v.items))
		for i := range v.items {
			m[i] = hook.Pair{Key: v.items[i].name, Value: v.items[i].tree()}
		}
		return m
	}
	if v.style == plain {
		return hook.Plain(v.text)
	}
	return v.text
}

// field is the entry as the author wrote it.
func (e *entry) field(isText bool) skill.Field {
	f := skill.Field{Key: e.key, Value: e.raw}
	switch {
	case isText:
		f.Value, _ = e.plainText()
	case e.val.kind == scalar && !e.lost && (!e.val.marked || e.val.text != ""):
		f.Value = strings.TrimRight(e.val.text, "\n")
	}
	return f
}

// locate returns line and column of the part of v that path leads to, or of
// the deepest part that exists.
func (v *value) locate(path []string) (line, col int) {
	for _, step := range path {
		next, ok := v.at(step)
		if i, err := strconv.Atoi(step); err == nil && v.kind == list && i < len(v.items) {
			next, ok = &v.items[i], true
		}
		if !ok {
			break
		}
		v = next
	}
	return int(v.line), int(v.col)
}
