package hook

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A Fault is a part of a declaration that was dropped, or (Lint) read in a way
// that its author should know of. It is data, never an error: one malformed
// entry costs that entry alone (spec H-9).
type Fault struct {
	Code    string   // stable: hooks-flat, hook-unknown-event, hook-unavailable-event, hook-matcher, hook-invalid, hook-unknown-field
	Message string   // begins with Where
	Fix     string   // what to do about it; may be empty
	Path    []string // keys and list indexes from 0 that lead to the part
	Lint    bool     // nothing was dropped
}

// Where renders Path, such as "PreToolUse[0].hooks[1]".
func (f Fault) Where() string {
	var b strings.Builder
	for i, p := range f.Path {
		if _, err := strconv.Atoi(p); err == nil && i > 0 {
			b.WriteString("[" + p + "]")
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(p)
	}
	return b.String()
}

// decoder collects the result of one [Decode].
type decoder struct {
	config Config
	faults []Fault
	path   []string
}

// Decode reads the value of a hooks section (spec H-1) and reports what it
// could not use. v is a neutral tree, see [Map]. The nested form and the flat
// form are read; nil is an empty section. The result shares no maps with v.
func Decode(v any) (Config, []Fault) {
	var d decoder
	if v == nil {
		return nil, nil
	}
	m, ok := mapOf(v)
	if !ok {
		d.fault("hook-invalid", "hooks must be a map of events, not "+describe(v), "write `Event: [{matcher, hooks: [...]}]`")
		return nil, d.faults
	}
	for _, p := range m {
		d.within(p.Key, func() { d.event(p.Key, p.Value) })
	}
	return d.config, d.faults
}

// within runs f one step deeper in the path.
func (d *decoder) within(step string, f func()) {
	d.path = append(d.path, step)
	f()
	d.path = d.path[:len(d.path)-1]
}

func (d *decoder) add(f Fault) {
	f.Path = append([]string(nil), d.path...)
	if where := f.Where(); where != "" {
		f.Message = where + ": " + f.Message
	}
	d.faults = append(d.faults, f)
}

func (d *decoder) fault(code, message, fix string) {
	d.add(Fault{Code: code, Message: message, Fix: fix})
}

func (d *decoder) lint(code, message, fix string) {
	d.add(Fault{Code: code, Message: message, Fix: fix, Lint: true})
}

func (d *decoder) event(name string, v any) {
	event, ok := events[name]
	if !ok {
		d.fault("hook-unknown-event", "there is no such event; the entry is ignored", nearestEvent(name))
		return
	}
	if event != Event(name) {
		d.lint("hook-unknown-event", "read as "+string(event), "write "+string(event))
	}
	list, ok := v.([]any)
	if m, isMap := mapOf(v); isMap { // one group without a list around it
		list, ok = []any{m}, true
		d.lint("hooks-flat", "a list of groups is expected; the map is read as its only group", "put a - before it")
	}
	if !ok {
		d.fault("hook-invalid", "a list of groups is expected, not "+describe(v), "write `- matcher: ...` with `hooks:` below")
		return
	}
	for i, item := range list {
		d.within(strconv.Itoa(i), func() { d.group(event, item) })
	}
}

// nearestEvent suggests the event that differs in case or punctuation alone.
func nearestEvent(name string) string {
	if e, ok := plainEvents[plainName(name)]; ok {
		return "write " + string(e)
	}
	return "the events are " + eventNames
}

func (d *decoder) group(event Event, v any) {
	m, ok := mapOf(v)
	if !ok {
		d.fault("hook-invalid", "a map with matcher and hooks is expected, not "+describe(v), "")
		return
	}
	g := Group{Event: event}
	var nested any
	isNested := false
	var flat Map
	for _, p := range m {
		switch p.Key {
		case "matcher":
			d.within(p.Key, func() { g.Matcher, ok = d.matcher(event, p.Value) })
		case "hooks":
			nested, isNested = p.Value, true
		default:
			flat = append(flat, p)
		}
	}
	if !ok {
		return // hooks of a broken matcher must not run for everything
	}
	switch {
	case isNested:
		g.Handlers = d.handlers("hooks", nested)
		for _, p := range flat {
			d.within(p.Key, func() {
				d.lint("hook-unknown-field", "unknown next to matcher and hooks; it is ignored", "move it into the handler")
			})
		}
	case len(flat) > 0:
		if h, ok := d.handler(flat); ok {
			d.lint("hooks-flat", "the handler stands in the group itself", "put it below `hooks:` as a list item with `type:`")
			g.Handlers = []Handler{h}
		}
	default:
		d.fault("hook-invalid", "the group has no hooks", "add `hooks:`")
	}
	if len(g.Handlers) > 0 {
		d.config = append(d.config, g)
	}
}

// handlers reads the list of handlers of a group.
func (d *decoder) handlers(step string, v any) (handlers []Handler) {
	d.within(step, func() {
		list, ok := v.([]any)
		if !ok {
			if m, isMap := mapOf(v); isMap {
				list, ok = []any{m}, true
			}
		}
		if !ok {
			d.fault("hook-invalid", "a list of handlers is expected, not "+describe(v), "")
			return
		}
		for i, item := range list {
			d.within(strconv.Itoa(i), func() {
				m, ok := mapOf(item)
				if !ok {
					d.fault("hook-invalid", "a handler is a map with `type`, not "+describe(item), "")
					return
				}
				if h, ok := d.handler(m); ok {
					handlers = append(handlers, h)
				}
			})
		}
	})
	return handlers
}

// exact are the matchers that name tools; others are regular expressions (spec H-3).
var exact = regexp.MustCompile(`^[A-Za-z0-9_\- ,|]*$`)

// matcher reads a matcher. `Tool(*)` means the tool (spec H-3).
func (d *decoder) matcher(event Event, v any) (string, bool) {
	if v == nil {
		return "", true
	}
	s, ok := textOf(v)
	if !ok {
		d.fault("hook-matcher", "a matcher is text, not "+describe(v), "")
		return "", false
	}
	s = strings.TrimSpace(s)
	if _, looks := subjects[event]; !looks && event != FileChanged && s != "" && s != "*" {
		d.lint("hook-matcher", fmt.Sprintf("%s has nothing to match, so the matcher %q changes nothing", event, s), "leave it out")
		return s, true
	}
	if s == "" || s == "*" || namesOnly(s) || event == FileChanged {
		return s, true
	}
	if tool, ok := strings.CutSuffix(s, "(*)"); ok && tool != "" && exact.MatchString(tool) {
		d.lint("hook-matcher", fmt.Sprintf("the matcher %q is read as %q", s, tool), "write "+tool)
		return tool, true
	}
	if _, err := regexp.Compile(s); err != nil {
		d.fault("hook-matcher", fmt.Sprintf("the matcher %q is no regular expression; the group is dropped", s), "")
		return "", false
	}
	if i := strings.IndexByte(s, '('); i > 0 && exact.MatchString(s[:i]) && strings.HasSuffix(s, ")") && !strings.Contains(s, "|") {
		d.lint("hook-matcher", fmt.Sprintf("the matcher %q is a regular expression on tool names, so it matches no call by its arguments", s),
			fmt.Sprintf("write `matcher: %s` and `if: \"%s\"` in the handler", s[:i], s))
	}
	return s, true
}

// seconds reads a timeout.
func (d *decoder) seconds(v any) (time.Duration, bool) {
	s, ok := textOf(v)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || !(n > 0) || n > math.MaxInt32 {
		return 0, false
	}
	return time.Duration(n * float64(time.Second)), true
}
