// Package remote makes the tools and resources of MCP servers tools of the agent
// (spec X-6). What they are called, what they say of themselves and what they
// answer is text of strangers: names are made plain, texts harmless and short,
// and no hint of theirs makes a call free. Rules decide about them by their
// names, mcp__server__tool; without a rule the person is asked.
//
// Tools are safe for concurrent use.
package remote

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/mcpclient"
	"github.com/knack-skills/knack/mcpconfig"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/text"
)

// The limits of what a server says.
const (
	maxName        = 64    // characters that every provider takes
	maxDescription = 2_048 // characters
	maxSchema      = 64 << 10
	maxTools       = 500 // of one server
	maxError       = 10_000
)

// A Tool is one tool of one server.
type Tool struct {
	spec   llm.ToolSpec
	server *mcpclient.Server
	name   string // as the server knows it
}

// Tools returns the tools of a server as it lists them at this moment, and what
// a person should know about those that are left out.
func Tools(s *mcpclient.Server) (out []agent.Tool, notices []string) {
	taken := map[string]bool{}
	for i, t := range s.Tools() {
		if i == maxTools {
			notices = append(notices, fmt.Sprintf("MCP server %s offers %d tools; only the first %d are used", s.Config.Name, len(s.Tools()), maxTools))
			break
		}
		schema, err := inputSchema(t.Schema)
		if err != nil {
			notices = append(notices, fmt.Sprintf("the tool %s of MCP server %s is not used: %v", strconv.Quote(text.Cut(t.Name, maxName)), s.Config.Name, err))
			continue
		}
		name := free(Name(s.Config.Name, t.Name), taken)
		out = append(out, &Tool{server: s, name: t.Name, spec: llm.ToolSpec{Name: name, InputSchema: schema,
			Description: cmp.Or(text.Cut(text.Block(strings.ToValidUTF8(t.Description, "\uFFFD")), maxDescription), "A tool of the MCP server "+s.Config.Name+".")}})
	}
	return out, notices
}

// Name is what a tool of a server is called here. A long name is cut and gets a
// part of its hash, so that two long names stay two.
func Name(server, tool string) string {
	name := "mcp__" + mcpconfig.Label(server) + "__" + plain(tool)
	if len(name) > maxName {
		sum := sha256.Sum256([]byte(server + "\x00" + tool))
		name = name[:maxName-9] + "_" + hex.EncodeToString(sum[:4])
	}
	return name
}

// plain replaces what names of tools cannot hold.
func plain(name string) string {
	out := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	return cmp.Or(out, "tool")
}

func free(name string, taken map[string]bool) string {
	for n := 2; taken[name]; n++ {
		end := "_" + strconv.Itoa(n)
		if next := name[:min(len(name), maxName-len(end))] + end; !taken[next] {
			name = next
		}
	}
	taken[name] = true
	return name
}

// inputSchema is a schema that providers take: an object.
func inputSchema(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) > maxSchema {
		return nil, fmt.Errorf("its schema has %d bytes", len(raw))
	}
	var s map[string]json.RawMessage
	if json.Unmarshal(raw, &s) != nil || s == nil {
		return json.RawMessage(`{"type":"object"}`), nil
	}
	if kind, ok := s["type"]; ok && string(kind) != `"object"` {
		return nil, errors.New("its input is no object")
	}
	s["type"] = json.RawMessage(`"object"`)
	return json.Marshal(s)
}

// Spec implements [agent.Tool].
func (t *Tool) Spec() llm.ToolSpec { return t.spec }

// Plan implements [agent.Tool]. A call may do anything, whatever the server says
// about it, so it runs alone.
func (t *Tool) Plan(input json.RawMessage) (agent.Plan, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(input), []byte("{")) || !json.Valid(input) {
		return agent.Plan{}, errors.New("write an object")
	}
	return agent.Plan{
		Ask: permission.Request{Tool: t.spec.Name},
		Run: func(ctx context.Context, env agent.CallEnv) (agent.Result, error) {
			r, err := t.server.Call(ctx, t.name, input, func(s string) { env.Progress(t.spec.Name + ": " + text.Terminal(s)) })
			if err != nil {
				return agent.Result{}, err
			}
			return result(r), nil
		},
	}, nil
}

// result makes an answer text. The agent saves and cuts what is too long.
func result(r mcpclient.Result) agent.Result {
	s := mcpclient.Text(r.Content)
	if strings.TrimSpace(s) == "" && r.Structured != nil {
		s = string(r.Structured)
	}
	s = text.Block(strings.ToValidUTF8(s, "\uFFFD"))
	switch {
	case s == "" && r.IsError:
		s = "The tool says that it failed, and not why."
	case s == "":
		s = "The tool has answered with nothing."
	case r.IsError && len(s) > maxError:
		half := maxError / 2
		s = strings.ToValidUTF8(s[:half], "") + fmt.Sprintf("\n[%d bytes left out]\n", len(s)-2*half) + strings.ToValidUTF8(s[len(s)-half:], "")
	}
	return agent.Result{Text: s, IsError: r.IsError}
}
