package hookexec

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/knack-skills/knack/hook"
)

// tool calls a tool of an MCP server; its text counts like a command's output.
func (r *Runner) tool(ctx context.Context, e Entry, in hook.Input, payload []byte) answer {
	h := e.Handler
	if r.opts.CallTool == nil {
		return failed("port", "no MCP server is there to call%s", unguarded(e))
	}
	var event map[string]any
	if err := json.Unmarshal(payload, &event); err != nil {
		return failed("input", "the event cannot be read: %v", err)
	}
	input, _ := filled(h.Input, event).(map[string]any)
	out, err := r.opts.CallTool(ctx, h.Server, h.Tool, input)
	if err != nil {
		return failed("tool", "the tool %s of %s failed: %v", h.Tool, h.Server, err)
	}
	if len(out) > maxOutput {
		return failed("size", "its answer has more than 1 MiB")
	}
	a := answer{stdout: out}
	a.outcome, a.faults = hook.ReadOutput(in.Event, []byte(out))
	return a
}

// filled replaces ${path} in the texts of an input by that part of the event,
// such as ${tool_input.file_path}. A text that is one ${path} becomes the value
// itself; what is not there is empty.
func filled(v any, event map[string]any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, item := range v {
			m[k] = filled(item, event)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = filled(item, event)
		}
		return list
	case string:
		return filledText(v, event)
	}
	return v
}

func filledText(s string, event map[string]any) any {
	refs := regexp.MustCompile(`\$\{([A-Za-z0-9_.]+)\}`)
	if m := refs.FindStringSubmatch(s); m != nil && m[0] == s {
		if v := at(event, m[1]); v != nil {
			return v
		}
		return ""
	}
	return refs.ReplaceAllStringFunc(s, func(ref string) string {
		switch v := at(event, ref[2:len(ref)-1]).(type) {
		case nil:
			return ""
		case string:
			return v
		default:
			text, _ := json.Marshal(v) // it came out of JSON
			return string(text)
		}
	})
}

// at returns the part of an event that a dotted path names, or nil.
func at(event map[string]any, path string) any {
	var v any = event
	for _, key := range strings.Split(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}
