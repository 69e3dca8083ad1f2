package llm

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrCut says that an answer stopped without its end, so that nobody takes half
// an answer for a whole one. Providers wrap it.
var ErrCut = errors.New("the answer was cut off before its end")

// An APIError is an error that the provider reported, as the status of the
// response or as an event in the middle of an answer.
type APIError struct {
	Status     int           // HTTP status; 200 when it came in the middle of an answer
	Type       string        // the provider's word for it, such as overloaded_error; may be empty
	Message    string        // the provider's explanation; may be empty
	RetryAfter time.Duration // how long the provider asks to wait; zero when it does not say
}

// Error names status, type and explanation, as far as they are known.
func (e *APIError) Error() string {
	var b strings.Builder
	b.WriteString("the model's provider answered with an error")
	if e.Status != 0 && e.Status != 200 {
		fmt.Fprintf(&b, " (status %d)", e.Status)
	}
	for _, s := range []string{e.Type, e.Message} {
		if s != "" {
			b.WriteString(": " + s)
		}
	}
	return b.String()
}

// The types that decide, whatever the status: an error inside an answer comes
// with status 200, and a quota that is used up comes with 429.
var (
	passingTypes = []string{"overloaded_error", "rate_limit_error", "api_error", "timeout_error",
		"server_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED", "UNAVAILABLE", "INTERNAL", "DEADLINE_EXCEEDED"}
	lastingTypes = []string{"insufficient_quota", "billing_error", "billing_hard_limit_reached",
		"contract_spend_limit_reached", "enforced_spend_limit_reached"}
)

// Retryable reports whether the same request may succeed later.
func (e *APIError) Retryable() bool {
	switch {
	case slices.Contains(lastingTypes, e.Type):
		return false
	case slices.Contains(passingTypes, e.Type):
		return true
	}
	return e.Status == 408 || e.Status == 429 || e.Status >= 500 && e.Status != 501
}

// Retryable reports whether the request that ended in err may succeed when it
// is sent again: an [APIError] that says so, a connection that failed, an
// answer that was cut off. An end of the context is final, and so is a
// certificate that does not hold.
func Retryable(err error) bool {
	var (
		api  *APIError
		cert *tls.CertificateVerificationError
		conn net.Error
	)
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.As(err, &cert):
		return false
	case errors.As(err, &api):
		return api.Retryable()
	case errors.Is(err, ErrCut), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return true
	}
	return errors.As(err, &conn)
}

// RetryAfter reads how long a response asks to wait, from the headers
// Retry-After-Ms and Retry-After (seconds or a date); zero when it does not say.
func RetryAfter(header func(name string) string, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(header("Retry-After-Ms"), 64); err == nil {
		return clamp(ms * float64(time.Millisecond))
	}
	after := strings.TrimSpace(header("Retry-After"))
	if s, err := strconv.ParseFloat(after, 64); err == nil {
		return clamp(s * float64(time.Second))
	}
	if at, err := time.Parse("Mon, 02 Jan 2006 15:04:05 GMT", after); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// clamp keeps what a server says within what a Duration can hold.
func clamp(ns float64) time.Duration {
	const longest = 1000 * time.Hour
	if !(ns > 0) {
		return 0
	}
	return time.Duration(min(ns, float64(longest)))
}
