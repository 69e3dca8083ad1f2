package index

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/skill"
)

// One list of fields for both directions would need pointers to everything and
// a call for each; the two below are kept equal by TestRoundTrip, which fills
// every field of skill.Skill there is.

// An encoder writes values one after the other. A text is its length and its
// bytes; of lists and maps the length is one more, so that 0 can mean nil.
type encoder struct {
	b   []byte
	bad bool // a value has no exact form
}

func (e *encoder) uint(v uint64) { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) int(v int64)   { e.b = binary.AppendVarint(e.b, v) }

func (e *encoder) string(s string) {
	e.uint(uint64(len(s)))
	e.b = append(e.b, s...)
}

func (e *encoder) flags(flags ...bool) {
	v := uint64(0)
	for i, f := range flags {
		if f {
			v |= 1 << i
		}
	}
	e.uint(v)
}

// length writes the length of a list or map, and reports whether it is nil.
func (e *encoder) length(n int, isNil bool) {
	if isNil {
		e.uint(0)
		return
	}
	e.uint(uint64(n) + 1)
}

func (e *encoder) strings(list []string) {
	e.length(len(list), list == nil)
	for _, s := range list {
		e.string(s)
	}
}

// record writes everything but the path.
func (e *encoder) record(r *Record) {
	e.string(r.Real)
	e.int(r.Stamp.Size)
	e.int(r.Stamp.ModTime)
	e.int(r.Stamp.ChangeTime)
	e.uint(r.Stamp.Device)
	e.uint(r.Stamp.Inode)
	e.uint(uint64(r.Fields))
	e.length(len(r.Problems), r.Problems == nil)
	for _, p := range r.Problems {
		e.string(p.Code)
		e.string(string(p.Severity))
		e.string(p.Message)
		e.int(int64(p.Line))
		e.int(int64(p.Column))
		e.string(p.Fix)
	}
	e.skill(r.Skill)
}

func (e *encoder) skill(s *skill.Skill) {
	t, r, c := &s.Trigger, &s.Run, &s.Content
	e.flags(s.DescriptionFallback, t.HiddenFromUser, t.HiddenFromModel, t.Conditional, r.Background, c.Positional)
	e.string(s.Name)
	e.string(s.Description)
	e.string(s.WhenToUse)
	e.string(s.ArgumentHint)
	e.string(s.Version)
	e.strings(t.Paths)
	e.string(string(r.Mode))
	e.string(r.Agent)
	e.string(r.Model)
	e.string(r.Effort)
	e.strings(r.AllowedTools)
	e.strings(r.DisallowedTools)
	e.string(r.Shell)
	e.hooks(r.Hooks)
	e.strings(r.Requires)
	e.strings(c.Arguments)
	e.int(c.Bytes)
	e.length(len(c.Extra), c.Extra == nil)
	for _, f := range c.Extra {
		e.string(f.Key)
		e.string(f.Value)
	}
}

func (e *encoder) hooks(c hook.Config) {
	e.length(len(c), c == nil)
	for _, g := range c {
		e.string(string(g.Event))
		e.string(g.Matcher)
		e.length(len(g.Handlers), g.Handlers == nil)
		for i := range g.Handlers {
			e.handler(&g.Handlers[i])
		}
	}
}

func (e *encoder) handler(h *hook.Handler) {
	e.string(h.Type)
	e.string(h.Command)
	e.strings(h.Args)
	e.string(h.URL)
	e.length(len(h.Headers), h.Headers == nil)
	for _, k := range slices.Sorted(maps.Keys(h.Headers)) {
		e.string(k)
		e.string(h.Headers[k])
	}
	e.strings(h.AllowedEnv)
	e.string(h.Prompt)
	e.string(h.Model)
	e.string(h.Server)
	e.string(h.Tool)
	e.object(h.Input, 0)
	e.string(h.If)
	e.string(h.Shell)
	e.int(int64(h.Timeout))
	e.flags(h.Once, h.Async)
	e.string(h.StatusMessage)
}

func (e *encoder) object(m map[string]any, depth int) {
	e.length(len(m), m == nil)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		e.string(k)
		e.value(m[k], depth+1)
	}
}

// maxDepth is how deep the input of a hook's tool may be nested; deeper ones
// are not kept.
const maxDepth = 64

// The kinds of value that the input of a hook's tool is made of.
const (
	isNil = iota
	isFalse
	isTrue
	isString
	isFloat
	isInt
	isInt64
	isUint64
	isList
	isObject
)

func (e *encoder) value(v any, depth int) {
	if depth > maxDepth {
		e.bad = true
		return
	}
	switch v := v.(type) {
	case nil:
		e.uint(isNil)
	case bool:
		e.uint(isFalse)
		if v {
			e.b[len(e.b)-1] = isTrue
		}
	case string:
		e.uint(isString)
		e.string(v)
	case float64:
		e.uint(isFloat)
		e.uint(math.Float64bits(v))
	case int:
		e.uint(isInt)
		e.int(int64(v))
	case int64:
		e.uint(isInt64)
		e.int(v)
	case uint64:
		e.uint(isUint64)
		e.uint(v)
	case []any:
		e.uint(isList)
		e.length(len(v), v == nil)
		for _, item := range v {
			e.value(item, depth+1)
		}
	case map[string]any:
		e.uint(isObject)
		e.object(v, depth)
	default:
		e.bad = true
	}
}
