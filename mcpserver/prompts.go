package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/prompt"
	"github.com/knack-skills/knack/text"
)

// argsArgument is the argument of a skill that declares none: all that would be
// typed after its name.
const argsArgument = "args"

// promptOf is the prompt by which a person picks a skill.
func promptOf(e *catalog.Entry) *mcp.Prompt {
	return &mcp.Prompt{Name: calledBy(e), Title: title(e), Description: describe(e), Arguments: argumentsOf(e)}
}

func argumentsOf(e *catalog.Entry) []*mcp.PromptArgument {
	hint := line(e.ArgumentHint)
	if len(e.Content.Arguments) == 0 {
		if hint == "" {
			hint = "what would be typed after the name"
		}
		return []*mcp.PromptArgument{{Name: argsArgument, Description: hint}}
	}
	var out []*mcp.PromptArgument
	for _, name := range e.Content.Arguments {
		out = append(out, &mcp.PromptArgument{Name: name, Description: hint})
		hint = "" // it is about all of them
	}
	return out
}

// prompt answers prompts/get: a person picked a skill.
func (s *Server) prompt(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	e, err := s.engine.Snapshot().Resolve(req.Params.Name)
	if err != nil {
		return nil, invalid(err)
	}
	args, err := argsOf(e, req.Params.Arguments)
	if err != nil {
		return nil, invalid(err)
	}
	c, err := s.invoke(ctx, invoke.Request{Name: req.Params.Name, Args: args, By: invoke.ByMCPPrompt}, s.sessionOf(req.Session))
	if err != nil {
		return nil, invalid(err)
	}
	res := &mcp.GetPromptResult{Description: describe(c.Entry),
		Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: plain(c.Text)}}}}
	if len(c.Notices) > 0 {
		// There is no other place for what the person should know.
		res.Description = strings.TrimSpace(res.Description + "\nnotice: " + plain(strings.Join(c.Notices, "\nnotice: ")))
	}
	return res, nil
}

// argsOf writes arguments that came by name as a person would type them.
func argsOf(e *catalog.Entry, given map[string]string) (string, error) {
	declared := e.Content.Arguments
	if len(declared) == 0 {
		declared = []string{argsArgument}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(declared, name) {
			msg := fmt.Sprintf("skill %q has no argument %q", calledBy(e), name)
			if near := text.Near(name, declared, 3); len(near) > 0 {
				msg += "; did you mean " + strings.Join(near, " or ") + "?"
			}
			return "", errors.New(msg)
		}
	}
	if len(e.Content.Arguments) == 0 {
		return given[argsArgument], nil
	}
	var words []string
	for _, name := range declared {
		words = append(words, prompt.QuoteArg(given[name]))
	}
	// Those at the end that are not given are left out, and not given as empty.
	for len(words) > 0 && given[declared[len(words)-1]] == "" {
		words = words[:len(words)-1]
	}
	return strings.Join(words, " "), nil
}

// invalid is an error about what a client asked for.
func invalid(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: plain(err.Error())}
}
