// Package web holds the tool that fetches pages: WebFetch (spec A-3). It sends
// no cookies and no credentials, and does not reach into private networks unless
// it is told that it may.
//
// The tool holds no state between calls and is safe for concurrent use.
package web

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/permission"
)

//go:embed web.md
var webDoc string

// Options say what may be fetched. The zero value is safe.
type Options struct {
	// AllowPrivate lets addresses of this machine and of private networks be
	// fetched. Otherwise they are refused at the moment of connecting, when a
	// name can no longer come to mean something else.
	AllowPrivate bool
	// Proxy chooses a proxy, such as http.ProxyFromEnvironment; nil uses none.
	// Where a name leads is then the proxy's knowledge: names and addresses that
	// are private by themselves are refused all the same.
	Proxy func(*http.Request) (*url.URL, error)
	// Timeout is for the whole of a call; zero is 30 seconds.
	Timeout time.Duration
	// MaxBytes is how much of a page is read; zero is 5 MiB.
	MaxBytes int64
}

const (
	defaultTimeout  = 30 * time.Second
	defaultMaxBytes = 5 << 20
	maxURL          = 8 << 10
)

// A WebFetch fetches a page.
type WebFetch struct{ o Options }

// New returns the tool.
func New(o Options) *WebFetch {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultMaxBytes
	}
	return &WebFetch{o}
}

func input() tool.Input {
	return tool.Input{Tool: "WebFetch", Fields: []tool.Field{
		{Name: "url", Type: tool.String, Required: true, Filled: true, Doc: "the whole address of the page, with https:// or http://"},
		{Name: "prompt", Type: tool.String, Doc: "what you want to know from the page"},
	}}
}

// Spec implements [agent.Tool].
func (t *WebFetch) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: "WebFetch", Description: webDoc, InputSchema: input().Schema()}
}

// Plan implements [agent.Tool].
func (t *WebFetch) Plan(raw json.RawMessage) (agent.Plan, error) {
	var in struct{ URL, Prompt string }
	if err := input().Decode(raw, &in); err != nil {
		return agent.Plan{}, err
	}
	u, err := readURL(in.URL)
	if err != nil {
		return agent.Plan{}, fmt.Errorf("WebFetch: %w", err)
	}
	return agent.Plan{
		Ask:      permission.Request{Tool: "WebFetch", Input: permission.Input{URL: u.String()}},
		ReadOnly: true,
		Run: func(ctx context.Context, env agent.CallEnv) (agent.Result, error) {
			text, err := t.fetch(ctx, env, u)
			if ctx.Err() != nil {
				return agent.Result{}, ctx.Err()
			}
			if err != nil {
				return agent.Result{Text: err.Error(), IsError: true}, nil
			}
			if in.Prompt != "" {
				text = "Wanted from this page: " + in.Prompt + "\n\n" + text
			}
			return agent.Result{Text: text}, nil
		},
	}, nil
}

// readURL accepts the address of a page.
func readURL(s string) (*url.URL, error) {
	s = strings.TrimSpace(s)
	if len(s) > maxURL {
		return nil, fmt.Errorf(`"url" has more than %d characters`, maxURL)
	}
	u, err := url.Parse(s)
	if err != nil {
		return nil, fmt.Errorf(`"url" is no address: %w`, errors.Unwrap(err))
	}
	switch {
	case u.Scheme == "":
		return nil, fmt.Errorf(`"url" must begin with https:// or http://, such as "https://%s"`, strings.TrimPrefix(s, "//"))
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf(`"url" must begin with https:// or http://, not %s:; read files with Read`, u.Scheme)
	case u.Hostname() == "":
		return nil, errors.New(`"url" names no host`)
	case u.User != nil:
		return nil, errors.New(`"url" must not hold a user name or password`)
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}
