package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/search"
	"github.com/knack-skills/knack/session"
)

// The names of the tools.
const (
	skillTool  = "Skill"
	searchTool = "SkillSearch"
	readTool   = "SkillRead"
)

// The limits of one search (spec L-8).
const (
	defaultHits = 5
	maxHits     = 20
)

var (
	skillInput = tool.Input{Tool: skillTool, Fields: []tool.Field{
		{Name: "skill", Type: tool.String, Required: true, Filled: true, Doc: "the id of the skill, exactly as listed"},
		{Name: "args", Type: tool.String, Doc: "what a person would type after the name; optional"},
	}}
	searchInput = tool.Input{Tool: searchTool, Fields: []tool.Field{
		{Name: "query", Type: tool.String, Required: true, Filled: true, Doc: "words that describe the task"},
		{Name: "limit", Type: tool.Integer, Min: 1, Max: maxHits, Doc: "at most this many results; 5 when left out"},
		{Name: "file", Type: tool.String, Doc: "a file of the workspace that the task is about; skills that are only for such files become available"},
	}}
	readInput = tool.Input{Tool: readTool, Fields: []tool.Field{
		{Name: "skill", Type: tool.String, Required: true, Filled: true, Doc: "the id of the skill"},
		{Name: "path", Type: tool.String, Doc: "the file, relative to the skill's directory; without it the files are listed"},
	}}
)

// A call answers one tool call. What goes wrong is an error that the model can
// read, never one of the protocol: the model is who has to mend it.
type call func(ctx context.Context, own *session.Session, input json.RawMessage) (*mcp.CallToolResult, error)

// addTools offers the tools whose description never changes. [Server.publish]
// offers Skill, whose description lists the skills.
func (s *Server) addTools() {
	s.mcp.AddTool(&mcp.Tool{
		Name: searchTool, Title: "Find a skill", Annotations: readOnly(), InputSchema: searchInput.Schema(),
		Description: "Find skills by words, when the list of skills is shortened or none of it fits. " +
			"Answers with ids and descriptions, best match first. Call the Skill tool with an id to get its instructions.",
	}, s.answer(s.search))
	s.mcp.AddTool(&mcp.Tool{
		Name: readTool, Title: "Read a file of a skill", Annotations: readOnly(), InputSchema: readInput.Schema(),
		Description: "Read a file that belongs to a skill, such as a reference or a script that its instructions name. " +
			"Paths are relative to the skill's base directory. Use it when you cannot read that directory yourself.",
	}, s.answer(s.read))
}

func (s *Server) offerSkillTool(description string) {
	s.mcp.AddTool(&mcp.Tool{Name: skillTool, Title: "Use a skill", InputSchema: skillInput.Schema(), Description: description},
		s.answer(s.skill))
}

func readOnly() *mcp.ToolAnnotations {
	closed := false
	return &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed}
}

func (s *Server) answer(c call) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		input := req.Params.Arguments
		if len(input) == 0 {
			input = json.RawMessage("{}")
		}
		r, err := c(ctx, s.sessionOf(req.Session), input)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: plain(err.Error())}}}, nil
		}
		return r, nil
	}
}

// plain makes text that JSON can hold as it is.
func plain(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func (s *Server) skill(ctx context.Context, own *session.Session, input json.RawMessage) (*mcp.CallToolResult, error) {
	var in struct{ Skill, Args string }
	if err := skillInput.Decode(input, &in); err != nil {
		return nil, err
	}
	c, err := s.invoke(ctx, invoke.Request{Name: in.Skill, Args: in.Args, By: invoke.ByMCPClient}, own)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: c.contents()}, nil
}

// contents are the text, and what only the person needs to know.
func (c *compiled) contents() []mcp.Content {
	out := []mcp.Content{&mcp.TextContent{Text: plain(c.Text)}}
	if len(c.Notices) > 0 {
		out = append(out, &mcp.TextContent{Text: "notice: " + plain(strings.Join(c.Notices, "\nnotice: ")),
			Annotations: &mcp.Annotations{Audience: []mcp.Role{"user"}}})
	}
	return out
}

func (s *Server) search(ctx context.Context, own *session.Session, input json.RawMessage) (*mcp.CallToolResult, error) {
	in := struct {
		Query string
		Limit int
		File  string
	}{Limit: defaultHits}
	if err := searchInput.Decode(input, &in); err != nil {
		return nil, err
	}
	var b strings.Builder
	if in.File != "" {
		if err := s.touch(ctx, own, in.File, &b); err != nil {
			return nil, err
		}
	}
	hits, err := s.find(ctx, own, in.Query, in.Limit)
	if err != nil {
		return nil, err
	}
	for _, h := range hits {
		fmt.Fprintf(&b, "- %s: %s\n", h.ID, h.Snippet)
	}
	if b.Len() == 0 {
		b.WriteString("No skill matches. Use other words, or do the task without a skill.")
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: plain(b.String())}}}, nil
}

// find searches what this client may use. The index of the engine knows what any
// client has activated, so what is not for this one is taken out.
func (s *Server) find(ctx context.Context, own *session.Session, query string, limit int) ([]search.Hit, error) {
	snap := s.engine.Snapshot()
	hits, err := s.engine.Search(ctx, query, snap.Len()+1)
	if err != nil {
		return nil, err
	}
	hits = slices.DeleteFunc(hits, func(h search.Hit) bool {
		entry, err := snap.Resolve(h.ID)
		if err != nil {
			return true
		}
		visible, _ := snap.VisibleToModel(entry, own.Active)
		return !visible
	})
	return hits[:min(len(hits), limit)], nil
}

// touch notes that the client works on a file: conditional skills may apply to
// it (spec D-3), and directories on the way to it may have skills (spec D-1).
func (s *Server) touch(ctx context.Context, own *session.Session, file string, b *strings.Builder) error {
	d, err := s.engine.Discover(ctx, file)
	if err != nil {
		return err
	}
	for _, f := range d.Found {
		for _, e := range f.Skills {
			fmt.Fprintf(b, "Found below %s: %s\n", f.Below, calledBy(e))
		}
	}
	snap := s.engine.Snapshot()
	for e := range snap.All() {
		if !e.Trigger.Conditional || own.Active(e.LastingID()) {
			continue
		}
		if matched, _ := s.engine.TouchedBy(e, file); matched == "" {
			continue
		}
		own.Activate(e.LastingID())
		if visible, _ := snap.VisibleToModel(e, own.Active); visible {
			fmt.Fprintf(b, "Now available for %s: %s: %s\n", file, calledBy(e), e.Description)
		}
	}
	return nil
}
