package mcpserver

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/session"
)

// template leads to every file of every skill.
const template = scheme + "{skill}/{+path}"

func (s *Server) addTemplate() {
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: template, Name: "skill-file", Title: "A file of a skill",
		Description: "A file that belongs to a skill, by the skill's id and the file's path in its directory. In an id, write / for each colon.",
	}, s.resource)
}

// resource answers resources/read.
func (s *Server) resource(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	f, err := s.fileAt(ctx, s.sessionOf(req.Session), req.Params.URI)
	if err != nil {
		return nil, err
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{f.contents(req.Params.URI)}}, nil
}

// fileAt returns the file that a URI means, if this client may read it, which
// hooks are asked about. The error is one for the client.
func (s *Server) fileAt(ctx context.Context, own *session.Session, uri string) (file, error) {
	e, p, ok := split(s.engine.Snapshot(), uri)
	if !ok {
		return file{}, mcp.ResourceNotFoundError(uri)
	}
	if err := s.mayBeRead(ctx, own, e, p); err != nil {
		return file{}, invalid(err)
	}
	e, err := s.readable(ctx, own, calledBy(e))
	if err != nil {
		return file{}, invalid(err)
	}
	f, err := s.readFile(ctx, e, p)
	if errors.Is(err, errNoFile) {
		return file{}, mcp.ResourceNotFoundError(uri)
	}
	if err != nil {
		return file{}, invalid(err)
	}
	return f, nil
}

// maxCompletions is how many values one answer may hold.
const maxCompletions = 100

// complete answers completion/complete: ids and files of skills. What the
// arguments of a skill may be, only its author knows.
func (s *Server) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	var values []string
	arg := req.Params.Argument
	if ref := req.Params.Ref; ref.Type == "ref/resource" && ref.URI == template {
		switch arg.Name {
		case "skill":
			for e := range s.engine.Snapshot().ModelView(s.sessionOf(req.Session).Active) {
				values = append(values, pathOf(e))
			}
		case "path":
			values = s.pathsOf(ctx, req)
		}
	}
	values = slices.DeleteFunc(values, func(v string) bool { return !strings.HasPrefix(v, arg.Value) })
	slices.Sort(values)
	res := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}, Total: len(values)}}
	res.Completion.Values = append(res.Completion.Values, values[:min(len(values), maxCompletions)]...)
	res.Completion.HasMore = len(values) > maxCompletions
	return res, nil
}

// pathsOf lists the files of the skill that was chosen before.
func (s *Server) pathsOf(ctx context.Context, req *mcp.CompleteRequest) []string {
	if req.Params.Context == nil {
		return nil
	}
	named, _, ok := split(s.engine.Snapshot(), scheme+req.Params.Context.Arguments["skill"]+"/"+mainFile)
	if !ok {
		return nil
	}
	var e *catalog.Entry
	var err error
	if e, err = s.readable(ctx, s.sessionOf(req.Session), calledBy(named)); err != nil {
		return nil // completion has no place for reasons
	}
	d, err := openFolder(ctx, e)
	if err != nil {
		return nil
	}
	defer d.close()
	paths, _, _ := d.list(ctx, maxListed)
	return paths
}
