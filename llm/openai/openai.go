// Package openai is a small client of the two APIs of OpenAI: Responses, and
// Chat Completions, which many servers imitate. Both are used without state on
// the server: each request holds the whole conversation. The package leaves
// retries to [llm.Retry], and reads no environment.
package openai

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/wire"
)

// DefaultBaseURL is OpenAI's own address.
const DefaultBaseURL = "https://api.openai.com/v1"

// ChatPrefix in front of a model id asks for Chat Completions.
const ChatPrefix = "openai-chat/"

// An API is one of the two that a client can speak.
type API string

// The APIs.
const (
	Auto      API = ""          // Responses with OpenAI itself, Chat with any other server
	Responses API = "responses" // unless the model id begins with [ChatPrefix]
	Chat      API = "chat"
)

// Options says where to send requests.
type Options struct {
	BaseURL    string       // up to and with the version, such as http://localhost:11434/v1; empty means [DefaultBaseURL]
	Key        string       // empty sends none
	API        API          // empty means [Auto]
	HTTPClient *http.Client // nil means [http.DefaultClient]; redirects are never followed
	// Silence is how long the server may send nothing in the middle of an answer,
	// and half of how long until the answer begins. Zero means
	// [wire.DefaultSilence], five minutes; below zero means for ever.
	Silence time.Duration
}

// A Client is an [llm.Model]. It is safe for concurrent use.
type Client struct {
	http   *http.Client
	base   *url.URL
	header http.Header
	api    API
	own    bool // the server is OpenAI's: it takes fields that others refuse
}

// New returns a client. It sends nothing.
func New(o Options) (*Client, error) {
	if o.BaseURL == "" {
		o.BaseURL = DefaultBaseURL
	}
	base, err := wire.BaseURL(o.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	c := &Client{http: wire.Client(o.HTTPClient, o.Silence), base: base, header: http.Header{}, api: o.API}
	host := base.Hostname()
	c.own = host == "api.openai.com" || strings.HasSuffix(host, ".api.openai.com") // regions have a prefix
	switch o.API {
	case Auto:
		c.api = Chat
		if c.own {
			c.api = Responses
		}
	case Responses:
		c.own = true
	case Chat:
	default:
		return nil, fmt.Errorf("openai: there is no API %q; there are %q and %q", o.API, Responses, Chat)
	}
	if o.Key != "" {
		c.header.Set("Authorization", "Bearer "+o.Key)
	}
	return c, nil
}

// Stream implements [llm.Model].
func (c *Client) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	api := c.api
	if model, ok := strings.CutPrefix(r.Model, ChatPrefix); ok {
		r.Model, api = model, Chat
	}
	if api == Responses {
		return wire.Answer(ctx,
			func() (*wire.Stream, error) { return c.open(ctx, "responses", responsesRequest(r)) },
			func() wire.Decoder { return newResponses(r.Model) })
	}
	return wire.Answer(ctx,
		func() (*wire.Stream, error) { return c.open(ctx, "chat/completions", chatRequest(r, c.own)) },
		func() wire.Decoder { return newChat(r.Model) })
}

// A body is a request in the form of one API.
type body interface {
	// giveWay changes the body after a server refused it with this message. It
	// reports false when there is nothing that the server could take better.
	giveWay(message string) bool
}

// open sends a request. Servers refuse optional fields that they do not know,
// and models some that others understand; there is no list that stays true, so
// the body gives way to what the refusal names.
func (c *Client) open(ctx context.Context, path string, b body) (*wire.Stream, error) {
	address := c.base.JoinPath(path).String()
	for {
		raw, err := wire.Encode(b)
		if err != nil {
			return nil, fmt.Errorf("openai: request: %w", err)
		}
		s, err := wire.Post(ctx, c.http, address, c.header, raw)
		refusal, refused := errors.AsType[*llm.APIError](err)
		if !refused || refusal.Status != http.StatusBadRequest && refusal.Status != http.StatusUnprocessableEntity {
			return s, err
		}
		if !b.giveWay(refusal.Message) {
			return nil, err
		}
	}
}
