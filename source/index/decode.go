package index

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/skill"
)

// A decoder reads what an encoder wrote. After the first value that cannot be,
// it is bad and gives zero values; it never reads outside of s, and makes no
// list longer than what is left could fill.
type decoder struct {
	s   string
	bad bool
}

func (d *decoder) uint() uint64 {
	var v uint64
	for i := 0; i < len(d.s) && i < binary.MaxVarintLen64; i++ {
		c := d.s[i]
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			d.s = d.s[i+1:]
			return v
		}
	}
	d.bad, d.s = true, ""
	return 0
}

func (d *decoder) int() int64 {
	v := d.uint()
	return int64(v>>1) ^ -int64(v&1)
}

func (d *decoder) string() string {
	n := d.uint()
	if n > uint64(len(d.s)) {
		d.bad, d.s = true, ""
		return ""
	}
	out := d.s[:n]
	d.s = d.s[n:]
	return out
}

func (d *decoder) flags(flags ...*bool) {
	v := d.uint()
	for i, f := range flags {
		*f = v>>i&1 != 0
	}
}

// length returns the length of a list or map whose items take at least size
// bytes each; ok is false when it is nil.
func (d *decoder) length(size int) (n int, ok bool) {
	v := d.uint()
	if v == 0 {
		return 0, false
	}
	if v-1 > uint64(len(d.s)/size) {
		d.bad, d.s = true, ""
		return 0, false
	}
	return int(v - 1), true
}

func (d *decoder) strings() []string {
	n, ok := d.length(1)
	if !ok {
		return nil
	}
	out := make([]string, n)
	for i := range out {
		out[i] = d.string()
	}
	return out
}

// record reads everything but the path.
func (d *decoder) record(path string) Record {
	r := Record{Path: path, Real: d.string()}
	r.Stamp.Size = d.int()
	r.Stamp.ModTime = d.int()
	r.Stamp.ChangeTime = d.int()
	r.Stamp.Device = d.uint()
	r.Stamp.Inode = d.uint()
	r.Fields = int(d.uint())
	if n, ok := d.length(6); ok {
		r.Problems = make([]skill.Problem, n)
		for i := range r.Problems {
			p := &r.Problems[i]
			p.Code = d.string()
			p.Severity = skill.Severity(d.string())
			p.Message = d.string()
			p.Line = int(d.int())
			p.Column = int(d.int())
			p.Fix = d.string()
		}
	}
	r.Skill = d.skill()
	return r
}

func (d *decoder) skill() *skill.Skill {
	s := new(skill.Skill)
	t, r, c := &s.Trigger, &s.Run, &s.Content
	d.flags(&s.DescriptionFallback, &t.HiddenFromUser, &t.HiddenFromModel, &t.Conditional, &r.Background, &c.Positional)
	s.Name = d.string()
	s.Description = d.string()
	s.WhenToUse = d.string()
	s.ArgumentHint = d.string()
	s.Version = d.string()
	t.Paths = d.strings()
	r.Mode = skill.Mode(d.string())
	r.Agent = d.string()
	r.Model = d.string()
	r.Effort = d.string()
	r.AllowedTools = d.strings()
	r.DisallowedTools = d.strings()
	r.Shell = d.string()
	r.Hooks = d.hooks()
	r.Requires = d.strings()
	c.Arguments = d.strings()
	c.Bytes = d.int()
	if n, ok := d.length(2); ok {
		c.Extra = make([]skill.Field, n)
		for i := range c.Extra {
			c.Extra[i].Key = d.string()
			c.Extra[i].Value = d.string()
		}
	}
	return s
}

func (d *decoder) hooks() hook.Config {
	n, ok := d.length(3)
	if !ok {
		return nil
	}
	out := make(hook.Config, n)
	for i := range out {
		g := &out[i]
		g.Event = hook.Event(d.string())
		g.Matcher = d.string()
		if n, ok := d.length(16); ok {
			g.Handlers = make([]hook.Handler, n)
			for j := range g.Handlers {
				d.handler(&g.Handlers[j])
			}
		}
	}
	return out
}

func (d *decoder) handler(h *hook.Handler) {
	h.Type = d.string()
	h.Command = d.string()
	h.Args = d.strings()
	h.URL = d.string()
	if n, ok := d.length(2); ok {
		h.Headers = make(map[string]string, n)
		for range n {
			k := d.string()
			h.Headers[k] = d.string()
		}
	}
	h.AllowedEnv = d.strings()
	h.Prompt = d.string()
	h.Model = d.string()
	h.Server = d.string()
	h.Tool = d.string()
	h.Input = d.object(0)
	h.If = d.string()
	h.Shell = d.string()
	h.Timeout = time.Duration(d.int())
	d.flags(&h.Once, &h.Async)
	h.StatusMessage = d.string()
}

func (d *decoder) object(depth int) map[string]any {
	n, ok := d.length(1)
	if !ok {
		return nil
	}
	out := map[string]any{}
	for range n {
		k := d.string()
		out[k] = d.value(depth + 1)
		if d.bad {
			return nil
		}
	}
	return out
}

func (d *decoder) value(depth int) any {
	if depth > maxDepth {
		d.bad, d.s = true, ""
		return nil
	}
	switch d.uint() {
	case isNil:
		return nil
	case isFalse:
		return false
	case isTrue:
		return true
	case isString:
		return d.string()
	case isFloat:
		return math.Float64frombits(d.uint())
	case isInt:
		return int(d.int())
	case isInt64:
		return d.int()
	case isUint64:
		return d.uint()
	case isList:
		return d.list(depth)
	case isObject:
		return d.object(depth)
	}
	d.bad, d.s = true, ""
	return nil
}

func (d *decoder) list(depth int) []any {
	n, ok := d.length(1)
	if !ok {
		return nil
	}
	out := []any{}
	for range n {
		out = append(out, d.value(depth+1))
		if d.bad {
			return nil
		}
	}
	return out
}
