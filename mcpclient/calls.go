package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/knack-skills/knack/source/mcp"
)

// Source returns the server as a source of skills for a catalog. It offers what
// was listed last and never waits.
func (s *Server) Source(inline bool) mcp.Source {
	return mcp.Source{Server: s.Config.Name, Client: skillsOf{s}, Skills: skillsOf{s}, Inline: inline}
}

// skillsOf is a server as package source/mcp sees it.
type skillsOf struct{ s *Server }

func (v skillsOf) known() offer {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	return v.s.offer
}

// Prompts implements [mcp.Client].
func (v skillsOf) Prompts(ctx context.Context) ([]mcp.Prompt, error) {
	return v.known().prompts, ctx.Err()
}

// Skills implements [mcp.SkillClient].
func (v skillsOf) Skills(ctx context.Context) ([]mcp.Offer, error) {
	return v.known().skills, ctx.Err()
}

// Get implements [mcp.Client].
func (v skillsOf) Get(ctx context.Context, name string, args map[string]string) (string, error) {
	c, err := v.s.connection(ctx)
	if err != nil {
		return "", err
	}
	if c.Prompts == nil {
		return "", errors.New("the server has no prompts any more")
	}
	ctx, cancel := v.s.patience(ctx, listTimeout)
	defer cancel()
	list, err := c.Prompts.GetPrompt(ctx, name, args)
	if err != nil {
		return "", why(ctx, err)
	}
	return Text(list), nil
}

// Skill implements [mcp.SkillClient].
func (v skillsOf) Skill(ctx context.Context, uri string) (mcp.Offer, error) {
	c, err := v.s.connection(ctx)
	if err != nil {
		return mcp.Offer{}, err
	}
	if c.Skills == nil {
		return mcp.Offer{}, errors.New("the server has no skills any more")
	}
	ctx, cancel := v.s.patience(ctx, listTimeout)
	defer cancel()
	o, err := c.Skills.GetSkill(ctx, uri)
	return o, why(ctx, err)
}

// Read implements [mcp.SkillClient].
func (v skillsOf) Read(ctx context.Context, uri string) ([]byte, error) {
	list, err := v.s.read(ctx, uri)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 || list[0].URI != "" && list[0].URI != uri {
		return nil, fmt.Errorf("%s: the server sends something else", uri)
	}
	if list[0].Data != nil {
		return list[0].Data, nil
	}
	return []byte(list[0].Text), nil
}

// Read returns a resource of the server as text (spec A-5). A file of a skill is
// checked against what the server lists (spec X-6).
func (s *Server) Read(ctx context.Context, uri string) (string, error) {
	list, err := s.read(ctx, uri)
	if err != nil {
		return "", err
	}
	for _, o := range (skillsOf{s}).known().skills {
		if !within(o, uri) {
			continue
		}
		data, err := skillsOf{s}.Read(ctx, uri)
		if err != nil {
			return "", err
		}
		if err := o.Verify(uri, data); err != nil {
			return "", err
		}
		return clean(string(data)), nil
	}
	return clean(Text(list)), nil
}

// Lists reports whether the server has listed this address itself, as a resource
// or as a file of a skill.
func (s *Server) Lists(uri string) bool {
	known := skillsOf{s}.known()
	return slices.ContainsFunc(known.resources, func(r Resource) bool { return r.URI == uri }) ||
		slices.ContainsFunc(known.skills, func(o mcp.Offer) bool {
			return slices.ContainsFunc(o.Resources, func(r mcp.Resource) bool { return r.URI == uri })
		})
}

// within reports whether uri belongs to a skill.
func within(o mcp.Offer, uri string) bool {
	return strings.HasPrefix(uri, strings.TrimSuffix(o.URI, "SKILL.md"))
}

func (s *Server) read(ctx context.Context, uri string) ([]Content, error) {
	c, err := s.connection(ctx)
	if err != nil {
		return nil, err
	}
	if c.Resources == nil {
		return nil, fmt.Errorf("MCP server %s has no resources", s.Config.Name)
	}
	ctx, cancel := s.patience(ctx, listTimeout)
	defer cancel()
	list, err := c.Resources.ReadResource(ctx, uri)
	return list, why(ctx, err)
}

// Tools returns what the server has listed last.
func (s *Server) Tools() []Tool { return skillsOf{s}.known().tools }

// Resources returns what the server has listed last.
func (s *Server) Resources() []Resource { return skillsOf{s}.known().resources }

// Call calls a tool. args is an object; progress may be nil.
func (s *Server) Call(ctx context.Context, tool string, args json.RawMessage, progress func(string)) (Result, error) {
	c, err := s.connection(ctx)
	if err != nil {
		return Result{}, err
	}
	if c.Tools == nil {
		return Result{}, fmt.Errorf("MCP server %s has no tools", s.Config.Name)
	}
	ctx, cancel := s.patience(ctx, callTimeout)
	defer cancel()
	// A server that dies does not answer any more, and no transport has to notice.
	ctx, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-c.Session.Done():
			lost(fmt.Errorf("MCP server %s has gone away during the call", s.Config.Name))
		case <-stop:
		}
	}()
	if progress == nil {
		progress = func(string) {}
	}
	r, err := c.Tools.CallTool(ctx, tool, args, progress)
	return r, why(ctx, err)
}

// patience bounds a call: by the entry of the server, or by usual.
func (s *Server) patience(ctx context.Context, usual time.Duration) (context.Context, context.CancelFunc) {
	if s.Config.Timeout > 0 {
		usual = s.Config.Timeout
	}
	return context.WithTimeoutCause(ctx, usual, fmt.Errorf("MCP server %s did not answer within %s", s.Config.Name, usual))
}

// why prefers the reason of a context that has ended to how a library puts it.
func why(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
