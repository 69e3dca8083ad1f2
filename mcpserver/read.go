package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/session"
)

// read is the tool SkillRead.
func (s *Server) read(ctx context.Context, own *session.Session, input json.RawMessage) (*mcp.CallToolResult, error) {
	var in struct{ Skill, Path string }
	if err := readInput.Decode(input, &in); err != nil {
		return nil, err
	}
	e, err := s.readable(ctx, own, in.Skill)
	if err != nil {
		return nil, err
	}
	if err := s.mayBeRead(ctx, own, e, strings.TrimSpace(in.Path)); err != nil {
		return nil, err
	}
	if strings.TrimSpace(in.Path) == "" {
		return s.listFiles(ctx, e)
	}
	f, err := s.readFile(ctx, e, in.Path)
	if err != nil {
		return nil, err
	}
	if f.isText() {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(f.Data)}}}, nil
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.EmbeddedResource{Resource: f.contents(uriOf(e, f.Path))}}}, nil
}

func (s *Server) listFiles(ctx context.Context, e *catalog.Entry) (*mcp.CallToolResult, error) {
	d, err := openFolder(ctx, e)
	if err != nil {
		return nil, err
	}
	defer d.close()
	paths, more, err := d.list(ctx, maxListed)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for _, p := range paths {
		fmt.Fprintln(&b, line(p))
	}
	if more {
		fmt.Fprintf(&b, "and more; only the first %d are listed\n", maxListed)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: plain(b.String())}}}, nil
}

func (s *Server) readFile(ctx context.Context, e *catalog.Entry, name string) (file, error) {
	p, err := clean(name)
	if err != nil {
		return file{}, err
	}
	if err := s.mayRead(e, p); err != nil {
		return file{}, err
	}
	d, err := openFolder(ctx, e)
	if err != nil {
		return file{}, err
	}
	defer d.close()
	return d.read(p, maxFile)
}

// contents makes a resource of f.
func (f file) contents(uri string) *mcp.ResourceContents {
	c := &mcp.ResourceContents{URI: uri, MIMEType: f.mimeType()}
	if f.isText() {
		c.Text = string(f.Data)
	} else {
		c.Blob = f.Data
	}
	return c
}

// readable returns a skill whose files this client may read: one that it could
// call, or has been given. Whether a call would be approved is another question,
// since reading grants and runs nothing.
func (s *Server) readable(ctx context.Context, own *session.Session, name string) (*catalog.Entry, error) {
	env := s.env(own)
	e, err := env.Catalog.Resolve(invoke.Named(name))
	if err != nil {
		return nil, err
	}
	if _, given := own.Holds(session.Main, calledBy(e)); given && e.State != catalog.Disabled {
		return e, nil
	}
	env.Ask = willing{}
	if err := invoke.Check(ctx, invoke.Request{Name: name, By: invoke.ByMCPClient}, env); err != nil {
		return nil, err
	}
	return e, nil
}

// willing stands for the person while it is found out what a rule forbids.
type willing struct{}

var _ invoke.Asker = willing{}

// Ask says yes.
func (willing) Ask(context.Context, invoke.Question) (invoke.Answer, error) {
	return invoke.Answer{Allow: true}, nil
}
