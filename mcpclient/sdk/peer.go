package sdk

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/knack-skills/knack/mcpclient"
	source "github.com/knack-skills/knack/source/mcp"
)

// ListPrompts implements [mcpclient.Prompts].
func (p *peer) ListPrompts(ctx context.Context) ([]source.Prompt, error) {
	return pages(ctx, func(ctx context.Context, cursor string) ([]source.Prompt, string, error) {
		r, err := p.s.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		var out []source.Prompt
		for _, q := range r.Prompts {
			if q == nil {
				continue
			}
			one := source.Prompt{Name: q.Name, Title: q.Title, Description: q.Description}
			for _, a := range q.Arguments {
				if a != nil {
					one.Arguments = append(one.Arguments, source.Argument{Name: a.Name, Description: a.Description, Required: a.Required})
				}
			}
			out = append(out, one)
		}
		return out, r.NextCursor, nil
	})
}

// GetPrompt implements [mcpclient.Prompts].
func (p *peer) GetPrompt(ctx context.Context, name string, args map[string]string) ([]mcpclient.Content, error) {
	r, err := p.s.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: args})
	if err != nil {
		return nil, err
	}
	var out []mcpclient.Content
	for _, m := range r.Messages {
		if m != nil {
			c := content(m.Content)
			c.Role = string(m.Role)
			out = append(out, c)
		}
	}
	return out, nil
}

// ListTools implements [mcpclient.Tools].
func (p *peer) ListTools(ctx context.Context) ([]mcpclient.Tool, error) {
	return pages(ctx, func(ctx context.Context, cursor string) ([]mcpclient.Tool, string, error) {
		r, err := p.s.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		var out []mcpclient.Tool
		for _, t := range r.Tools {
			if t == nil {
				continue
			}
			schema, err := json.Marshal(t.InputSchema)
			if err != nil {
				return nil, "", fmt.Errorf("the schema of the tool %.60q: %w", t.Name, err)
			}
			out = append(out, mcpclient.Tool{Name: t.Name, Description: t.Description, Schema: schema})
		}
		return out, r.NextCursor, nil
	})
}

// CallTool implements [mcpclient.Tools].
func (p *peer) CallTool(ctx context.Context, name string, args json.RawMessage, progress func(string)) (mcpclient.Result, error) {
	params := &mcp.CallToolParams{Name: name, Arguments: args}
	token, end := p.listeners.add(progress)
	defer end()
	params.SetProgressToken(token)
	r, err := p.s.CallTool(ctx, params)
	if err != nil {
		return mcpclient.Result{}, err
	}
	out := mcpclient.Result{IsError: r.IsError}
	for _, c := range r.Content {
		out.Content = append(out.Content, content(c))
	}
	if r.StructuredContent != nil {
		if out.Structured, err = json.Marshal(r.StructuredContent); err != nil {
			return out, fmt.Errorf("the structured answer: %w", err)
		}
	}
	return out, nil
}

// ListResources implements [mcpclient.Resources].
func (p *peer) ListResources(ctx context.Context) ([]mcpclient.Resource, error) {
	return pages(ctx, func(ctx context.Context, cursor string) ([]mcpclient.Resource, string, error) {
		r, err := p.s.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		var out []mcpclient.Resource
		for _, x := range r.Resources {
			if x != nil {
				out = append(out, mcpclient.Resource{URI: x.URI, Name: x.Name, Description: x.Description, MIME: x.MIMEType})
			}
		}
		return out, r.NextCursor, nil
	})
}

// ReadResource implements [mcpclient.Resources].
func (p *peer) ReadResource(ctx context.Context, uri string) ([]mcpclient.Content, error) {
	r, err := p.s.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return nil, err
	}
	var out []mcpclient.Content
	for _, c := range r.Contents {
		if c != nil {
			out = append(out, resource(c))
		}
	}
	return out, nil
}

func resource(c *mcp.ResourceContents) mcpclient.Content {
	return mcpclient.Content{Kind: "resource", URI: c.URI, MIME: c.MIMEType, Text: c.Text, Data: c.Blob}
}

// content is one piece without the SDK's types.
func content(c mcp.Content) mcpclient.Content {
	switch c := c.(type) {
	case *mcp.TextContent:
		return mcpclient.Content{Kind: "text", Text: c.Text}
	case *mcp.EmbeddedResource:
		if c.Resource != nil {
			return resource(c.Resource)
		}
		return mcpclient.Content{Kind: "empty resource"}
	case *mcp.ResourceLink:
		return mcpclient.Content{Kind: "link", URI: c.URI, MIME: c.MIMEType}
	case *mcp.ImageContent:
		return mcpclient.Content{Kind: "image", Data: c.Data, MIME: c.MIMEType}
	case *mcp.AudioContent:
		return mcpclient.Content{Kind: "audio", Data: c.Data, MIME: c.MIMEType}
	}
	return mcpclient.Content{Kind: "unknown content"}
}

// listeners lead news of a call to whoever waits for it. They are safe for
// concurrent use.
type listeners struct {
	mu   sync.Mutex
	next int
	by   map[string]func(string)
}

func newListeners() *listeners { return &listeners{by: map[string]func(string){}} }

func (l *listeners) add(f func(string)) (token string, end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	token = "knack-" + strconv.Itoa(l.next)
	l.by[token] = f
	return token, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.by, token)
	}
}

func (l *listeners) tell(n *mcp.ProgressNotificationParams) {
	if n == nil {
		return
	}
	token, _ := n.ProgressToken.(string)
	l.mu.Lock()
	f := l.by[token]
	l.mu.Unlock()
	if f == nil {
		return // its call has ended
	}
	said := n.Message
	if said == "" && n.Total > 0 {
		said = fmt.Sprintf("%g of %g", n.Progress, n.Total)
	}
	if said != "" {
		f(said)
	}
}
