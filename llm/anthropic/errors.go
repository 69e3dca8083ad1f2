package anthropic

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/knack-skills/knack/llm"
)

// refused is the error of a request that got no stream.
func (m *Model) refused(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if api := apiError(err); api != nil {
		return api
	}
	return fmt.Errorf("cannot reach the model at %s: %w", m.host, err)
}

// broken is the error of a stream that ended without its end; err is the SDK's,
// and nil when the stream ended in peace.
func broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if api := apiError(err); api != nil {
		return api
	}
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case err == nil:
		return llm.ErrCut
	case errors.As(err, &syntax), errors.As(err, &typed), errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("the model's provider sent an event that cannot be read: %w", err)
	}
	return fmt.Errorf("%w: %w", llm.ErrCut, err)
}

// apiError returns nil when err is no error that the provider reported.
func apiError(err error) *llm.APIError {
	var e *sdk.Error
	if !errors.As(err, &e) {
		return nil
	}
	api := &llm.APIError{Status: e.StatusCode, Type: string(e.Type()), Message: e.Message}
	if code := e.ErrorCode(); code != "" && e.StatusCode == 429 {
		api.Type = string(code) // of these some pass, and some last until somebody pays
	}
	if api.Message == "" {
		api.Message = brief(e.RawJSON())
	}
	if e.Response != nil {
		api.RetryAfter = llm.RetryAfter(e.Response.Header.Get, time.Now())
	}
	return api
}

// brief is the first line of what something between us and the API answered.
func brief(body string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
	if r := []rune(line); len(r) > 200 {
		return string(r[:199]) + "…"
	}
	return line
}
