// Package anthropic is the provider of the Anthropic Messages API, and of
// servers that speak it (spec A-2). The official SDK carries the requests,
// reads the event stream and the errors; the bodies are written here, since the
// prompt cache compares bytes (docs/design/012-model-port.md).
package anthropic

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/ssestream"

	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/wire"
)

// Options say where the model is. Nothing is read from the environment or from
// files: that is for the caller to do.
type Options struct {
	Key string // API key; may be empty with a BaseURL that needs none
	// BaseURL is the server, without /v1; empty is Anthropic's own.
	BaseURL string
	// Client sends the requests. Nil means [http.DefaultClient].
	Client *http.Client
	// Silence is how long the server may send nothing in the middle of an answer,
	// and half of how long until the answer begins. Zero means
	// [wire.DefaultSilence], five minutes; below zero means for ever.
	Silence time.Duration
}

// Model implements [llm.Model]. It is safe for concurrent use.
type Model struct {
	client sdk.Client
	host   string
}

// New returns a model. It fails when the options cannot work.
func New(o Options) (*Model, error) {
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithMaxRetries(0), // llm.Retry does it, for all providers alike
	}
	host := "api.anthropic.com"
	switch {
	case o.BaseURL == "" && o.Key == "":
		return nil, errors.New("the Anthropic API needs a key")
	case o.BaseURL != "":
		u, err := wire.BaseURL(o.BaseURL)
		if err != nil {
			return nil, fmt.Errorf("anthropic: %w", err)
		}
		host = u.Host
		opts = append(opts, option.WithBaseURL(o.BaseURL))
		if o.Key != "" {
			// The SDK sends a bearer token; many servers that speak the protocol
			// know only the older header.
			opts = append(opts, option.WithHeader("x-api-key", o.Key))
		}
	}
	if o.Key != "" {
		opts = append(opts, option.WithAPIKey(o.Key))
	}
	opts = append(opts, option.WithHTTPClient(wire.Client(o.Client, o.Silence)))
	return &Model{client: sdk.NewClient(opts...), host: host}, nil
}

// Stream implements [llm.Model].
func (m *Model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if err := m.stream(ctx, r, func(e llm.Event) bool { return yield(e, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

// stream reports nil when the answer is complete or the reader has left.
func (m *Model) stream(ctx context.Context, r llm.Request, yield func(llm.Event) bool) error {
	body, beta, err := encode(r)
	if err != nil {
		return err
	}
	var opts []option.RequestOption
	if beta != "" {
		opts = append(opts, option.WithHeader("anthropic-beta", beta))
	}
	var res *http.Response
	if err := m.client.Execute(ctx, http.MethodPost, "v1/messages", body, &res, opts...); err != nil {
		return m.refused(ctx, err)
	}
	events := ssestream.NewStream[event](ssestream.NewDecoder(res), nil)
	defer events.Close()
	if res.StatusCode >= 300 {
		return &llm.APIError{Status: res.StatusCode, Message: "a redirection, which is not followed, since the request carries a key"}
	}
	a := answer{yield: yield, blocks: map[int]*block{}}
	for events.Next() {
		if e := events.Current(); !a.take(&e) {
			return nil
		}
	}
	return broken(ctx, events.Err())
}
