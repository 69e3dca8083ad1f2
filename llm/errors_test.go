package llm_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/knack-skills/knack/llm"
)

func TestRetryable(t *testing.T) { // spec A-1: 429, 5xx, overload, connections
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("something else"), false},
		{&llm.APIError{Status: 400, Type: "invalid_request_error"}, false},
		{&llm.APIError{Status: 401}, false},
		{&llm.APIError{Status: 403}, false},
		{&llm.APIError{Status: 404}, false},
		{&llm.APIError{Status: 408}, true},
		{&llm.APIError{Status: 413}, false},
		{&llm.APIError{Status: 429}, true},
		{&llm.APIError{Status: 429, Type: "insufficient_quota"}, false},
		{&llm.APIError{Status: 429, Type: "contract_spend_limit_reached"}, false},
		{&llm.APIError{Status: 429, Type: "ramp_limit_exceeded"}, true},
		{&llm.APIError{Status: 500}, true},
		{&llm.APIError{Status: 501}, false},
		{&llm.APIError{Status: 503}, true},
		{&llm.APIError{Status: 529}, true},
		{&llm.APIError{Status: 200, Type: "overloaded_error"}, true},
		{&llm.APIError{Status: 200, Type: "invalid_request_error"}, false},
		{fmt.Errorf("asking: %w", &llm.APIError{Status: 529}), true},
		{fmt.Errorf("asking: %w", llm.ErrCut), true},
		{fmt.Errorf("reading: %w", io.ErrUnexpectedEOF), true},
		{&net.OpError{Op: "dial", Err: errors.New("connection refused")}, true},
		{fmt.Errorf("%w: %w", llm.ErrCut, context.Canceled), false},
		{context.DeadlineExceeded, false},
		{&net.OpError{Op: "remote error", Err: &tls.CertificateVerificationError{Err: errors.New("unknown authority")}}, false},
	} {
		if got := llm.Retryable(tt.err); got != tt.want {
			t.Errorf("Retryable(%v) = %v", tt.err, got)
		}
	}
}

func TestAPIErrorText(t *testing.T) {
	for _, tt := range []struct {
		err  llm.APIError
		want string
	}{
		{llm.APIError{Status: 529, Type: "overloaded_error", Message: "Overloaded"}, "(status 529): overloaded_error: Overloaded"},
		{llm.APIError{Status: 200, Message: "Overloaded"}, "error: Overloaded"},
		{llm.APIError{Status: 502}, "(status 502)"},
	} {
		if got := tt.err.Error(); !strings.HasSuffix(got, tt.want) {
			t.Errorf("%q does not end in %q", got, tt.want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		name, value string
		want        time.Duration
	}{
		{"X-Other", "7", 0},
		{"Retry-After", "7", 7 * time.Second},
		{"Retry-After", "0.5", 500 * time.Millisecond},
		{"Retry-After", "-1", 0},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "1e300", 1000 * time.Hour},
		{"Retry-After", "soon", 0},
		{"Retry-After", "Fri, 02 Jan 2026 03:04:35 GMT", 30 * time.Second},
		{"Retry-After", "Fri, 02 Jan 2026 03:04:00 GMT", 0},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
	} {
		h := http.Header{}
		h.Set(tt.name, tt.value)
		if got := llm.RetryAfter(h.Get, now); got != tt.want {
			t.Errorf("%s: %s = %v, want %v", tt.name, tt.value, got, tt.want)
		}
	}
}
