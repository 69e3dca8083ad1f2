// Package gemini is a small client of the Gemini API: generateContent as a
// stream. It leaves retries to [llm.Retry], and reads no environment.
package gemini

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

// DefaultBaseURL is Google's own address.
const DefaultBaseURL = "https://generativelanguage.googleapis.com/v1beta"

// Options says where to send requests.
type Options struct {
	BaseURL    string       // up to and with the version; empty means [DefaultBaseURL]
	Key        string       // empty sends none
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
}

// New returns a client. It sends nothing.
func New(o Options) (*Client, error) {
	if o.BaseURL == "" {
		o.BaseURL = DefaultBaseURL
	}
	base, err := wire.BaseURL(o.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("gemini: %w", err)
	}
	c := &Client{http: wire.Client(o.HTTPClient, o.Silence), base: base, header: http.Header{}}
	if o.Key != "" {
		c.header.Set("X-Goog-Api-Key", o.Key)
	}
	return c, nil
}

// Stream implements [llm.Model].
func (c *Client) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return wire.Answer(ctx,
		func() (*wire.Stream, error) { return c.open(ctx, r) },
		func() wire.Decoder { return &decoder{model: r.Model} })
}

// open sends a request. What a model takes depends on its version and on the
// proxy in front of it; where one refuses an optional field, the request gives
// way to what the refusal names.
func (c *Client) open(ctx context.Context, r llm.Request) (*wire.Stream, error) {
	address, err := c.address(r.Model)
	if err != nil {
		return nil, err
	}
	b := newBody(r)
	for {
		raw, err := wire.Encode(b)
		if err != nil {
			return nil, fmt.Errorf("gemini: request: %w", err)
		}
		s, err := wire.Post(ctx, c.http, address, c.header, raw)
		refusal, refused := errors.AsType[*llm.APIError](err)
		if !refused || refusal.Status != http.StatusBadRequest {
			return s, err
		}
		if !b.giveWay(refusal.Message) {
			return nil, err
		}
	}
}

// address is where the answers of a model come from. The id becomes a part of a
// path, so it must not lead elsewhere.
func (c *Client) address(model string) (string, error) {
	if model == "" || strings.Contains(model, "..") {
		return "", fmt.Errorf("gemini: %q is no model id", model)
	}
	if !strings.Contains(model, "/") {
		model = "models/" + model
	}
	u := c.base.JoinPath(model + ":streamGenerateContent")
	q := u.Query()
	q.Set("alt", "sse")
	u.RawQuery = q.Encode()
	return u.String(), nil
}
