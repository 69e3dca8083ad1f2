package wire

import (
	"net/http"
	"testing"
	"time"

	"github.com/knack-skills/knack/llm"
)

func TestFailure(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   llm.APIError
	}{
		{"openai", 400, `{"error":{"message":"m","type":"invalid_request_error","param":"tools","code":null}}`,
			llm.APIError{Status: 400, Type: "invalid_request_error", Message: "m (tools)"}},
		{"code over type", 429, `{"error":{"message":"m","type":"requests","code":"rate_limit_exceeded"}}`,
			llm.APIError{Status: 429, Type: "rate_limit_exceeded", Message: "m"}},
		{"gemini", 429, `{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x"},{"@type":"y","retryDelay":"7.5s"}]}}`,
			llm.APIError{Status: 429, Type: "RESOURCE_EXHAUSTED", Message: "m", RetryAfter: 7500 * time.Millisecond}},
		{"gemini list", 400, `[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]`,
			llm.APIError{Status: 400, Type: "INVALID_ARGUMENT", Message: "m"}},
		{"number as code in an answer", 200, `{"error":{"message":"m","code":502}}`, llm.APIError{Status: 502, Message: "m"}},
		{"a router", 429, `{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"slow\ndown"}}}`,
			llm.APIError{Status: 429, Message: "Provider returned error: slow down"}},
		{"text as error", 404, `{"error":"model not found"}`, llm.APIError{Status: 404, Message: "model not found"}},
		{"message at the top", 400, `{"object":"error","message":"m","code":400}`, llm.APIError{Status: 400, Message: "m"}},
		{"detail", 422, `{"detail":[{"loc":["body","x"]}]}`, llm.APIError{Status: 422, Message: `[{"loc":["body","x"]}]`}},
		{"odd types", 400, `{"error":{"message":{"a":1},"type":5}}`, llm.APIError{Status: 400, Message: `{"a":1}`}},
		{"page", 502, "<html>\n<b>Bad gateway</b>", llm.APIError{Status: 502, Message: "<html> <b>Bad gateway</b>"}},
		{"nothing", 503, "", llm.APIError{Status: 503, Message: "service unavailable"}},
		{"empty error", 500, `{"error":{}}`, llm.APIError{Status: 500, Message: `{"error":{}}`}},
	} {
		if got := *Failure(tt.status, nil, []byte(tt.body)); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestIsFailure(t *testing.T) {
	for body, want := range map[string]bool{
		`{"error":{"message":"m"}}`: true, `{"error":"m"}`: true, `[{"error":{}}]`: true,
		`{"error":null}`: false, `{"choices":[]}`: false, `[]`: false, `5`: false, ``: false,
	} {
		if got := IsFailure([]byte(body)); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	const date = "Sun, 06 Nov 1994 08:49:37 GMT"
	for _, tt := range []struct {
		header map[string]string
		want   time.Duration
	}{
		{nil, 0},
		{map[string]string{"Retry-After": "7"}, 7 * time.Second},
		{map[string]string{"Retry-After": "0.5"}, 500 * time.Millisecond},
		{map[string]string{"Retry-After": "7", "Retry-After-Ms": "250"}, 250 * time.Millisecond},
		{map[string]string{"Retry-After": "-3"}, 0},
		{map[string]string{"Retry-After": "NaN"}, 0},
		{map[string]string{"Retry-After": "1e300"}, 24 * time.Hour},
		{map[string]string{"Retry-After": "soon"}, 0},
		{map[string]string{"Retry-After": "Sun, 06 Nov 1994 08:50:07 GMT", "Date": date}, 30 * time.Second},
		{map[string]string{"Retry-After": date, "Date": "Sun, 06 Nov 1994 08:50:07 GMT"}, 0},
		{map[string]string{"Retry-After": date}, 0},
	} {
		h := http.Header{}
		for k, v := range tt.header {
			h.Set(k, v)
		}
		if got := retryAfter(h); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.header, got, tt.want)
		}
	}
}
