package hook

import (
	"fmt"
	"slices"
	"strings"
)

// handlerType says what the fields of a handler are good for: required ones
// first, then those it may have.
type handlerType struct {
	required []string
	optional []string
}

var handlerTypes = map[string]handlerType{
	Command: {[]string{"command"}, []string{"args", "shell", "async"}},
	HTTP:    {[]string{"url"}, []string{"headers", "allowedEnvVars"}},
	Prompt:  {[]string{"prompt"}, []string{"model"}},
	Agent:   {[]string{"prompt"}, []string{"model"}},
	MCPTool: {[]string{"server", "tool"}, []string{"input"}},
}

// forAll are the fields of every type.
var forAll = []string{"type", "if", "timeout", "once", "statusMessage"}

// handler reads one handler. It is dropped as a whole when anything is wrong
// that changes what would run, or when.
func (d *decoder) handler(m Map) (Handler, bool) {
	h := Handler{Type: typeOf(m)}
	kind, ok := handlerTypes[h.Type]
	if !ok {
		message := "a handler needs a type"
		if h.Type != "" {
			message = fmt.Sprintf("unknown handler type %.40q", h.Type)
		}
		d.fault("hook-invalid", message, "use command, http, prompt, agent or mcp_tool")
		return h, false
	}
	good := true
	for _, p := range m {
		if !slices.Contains(forAll, p.Key) && !slices.Contains(kind.required, p.Key) && !slices.Contains(kind.optional, p.Key) {
			d.within(p.Key, func() {
				d.lint("hook-unknown-field", "a handler of type "+h.Type+" has no such field; it is ignored", "")
			})
			continue
		}
		if p.Value == nil {
			continue
		}
		d.within(p.Key, func() { good = d.handlerField(&h, p) && good })
	}
	for _, name := range kind.required {
		if !present(m, name) {
			d.fault("hook-invalid", "a handler of type "+h.Type+" needs `"+name+"`", "add it")
			good = false
		}
	}
	return h, good
}

// typeOf returns the type; a handler without one is what its fields say.
func typeOf(m Map) string {
	for _, p := range m {
		if p.Key == "type" {
			s, _ := textOf(p.Value)
			return strings.TrimSpace(s)
		}
	}
	for _, kind := range []string{Command, HTTP, Prompt, MCPTool} {
		if present(m, handlerTypes[kind].required[0]) {
			return kind
		}
	}
	return ""
}

// present reports whether m has text under name that is not empty.
func present(m Map, name string) bool {
	for _, p := range m {
		if p.Key == name {
			s, ok := textOf(p.Value)
			return !ok && p.Value != nil || strings.TrimSpace(s) != ""
		}
	}
	return false
}

// texts are the fields that hold one text.
func (h *Handler) texts(name string) *string {
	switch name {
	case "command":
		return &h.Command
	case "url":
		return &h.URL
	case "prompt":
		return &h.Prompt
	case "model":
		return &h.Model
	case "server":
		return &h.Server
	case "tool":
		return &h.Tool
	case "if":
		return &h.If
	case "shell":
		return &h.Shell
	case "statusMessage":
		return &h.StatusMessage
	}
	return nil
}

// handlerField sets one field, or reports why it cannot and returns false.
func (d *decoder) handlerField(h *Handler, p Pair) bool {
	ok := true
	wants := "text"
	if to := h.texts(p.Key); to != nil {
		*to, ok = textOf(p.Value)
		if ok && p.Key == "shell" {
			wants = "bash or powershell"
			ok = h.Shell == "bash" || h.Shell == "powershell"
		}
	} else {
		switch p.Key {
		case "type": // read already
		case "once":
			wants = "true or false"
			h.Once, ok = boolOf(p.Value)
		case "async":
			wants = "true or false"
			h.Async, ok = boolOf(p.Value)
		case "args":
			wants = "a list of texts"
			h.Args, ok = textsOf(p.Value)
		case "allowedEnvVars":
			wants = "a list of names"
			h.AllowedEnv, ok = textsOf(p.Value)
		case "headers":
			wants = "a map of texts"
			h.Headers, ok = headersOf(p.Value)
		case "input":
			wants = "a map"
			_, ok = mapOf(p.Value)
			h.Input, _ = valueOf(p.Value).(map[string]any)
		case "timeout":
			t, good := d.seconds(p.Value)
			if h.Timeout = t; !good { // the default is safe, so the handler stays
				d.lint("hook-invalid", "a timeout is a positive number of seconds, not "+describe(p.Value)+"; the default is used", "")
			}
		}
	}
	if !ok {
		d.fault("hook-invalid", wants+" is expected, not "+describe(p.Value)+"; the handler is dropped", "")
	}
	return ok
}

func textsOf(v any) ([]string, bool) {
	list, ok := v.([]any)
	texts := make([]string, 0, len(list))
	for _, item := range list {
		s, isText := textOf(item)
		ok = ok && isText
		texts = append(texts, s)
	}
	return texts, ok
}

func headersOf(v any) (map[string]string, bool) {
	m, ok := mapOf(v)
	headers := make(map[string]string, len(m))
	for _, p := range m {
		s, isText := textOf(p.Value)
		ok = ok && isText
		headers[p.Key] = s
	}
	return headers, ok
}
