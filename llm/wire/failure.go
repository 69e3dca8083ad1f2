package wire

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/knack-skills/knack/llm"
)

// Failure reads the body of an error, which is JSON in one of several shapes,
// or text. Header may be nil.
func Failure(status int, header http.Header, body []byte) *llm.APIError {
	e := &llm.APIError{Status: status, RetryAfter: retryAfter(header)}
	if _, text, ok := failure(body); ok {
		e.Type, e.Message = text.Type, text.Message
		if text.RetryAfter > 0 {
			e.RetryAfter = text.RetryAfter
		}
		if status == http.StatusOK && text.Type == "" && text.Status != 0 {
			e.Status = text.Status // all that says of what kind it is
		}
	} else {
		e.Message = excerpt(body)
	}
	if e.Message == "" && e.Type == "" {
		e.Message = strings.ToLower(http.StatusText(e.Status))
	}
	return e
}

// IsFailure reports whether a JSON value is an error, as some servers send it in
// place of an answer or of a part of it.
func IsFailure(body []byte) bool {
	is, _, _ := failure(body)
	return is
}

// failureBody covers what OpenAI, Gemini and the servers that imitate them send.
type failureBody struct {
	Error   json.RawMessage `json:"error"`
	Message any             `json:"message"`
	Detail  any             `json:"detail"`
}

type failureError struct {
	Message  any             `json:"message"`
	Type     any             `json:"type"`
	Code     any             `json:"code"`   // a word, or the HTTP status
	Status   any             `json:"status"` // Gemini's word
	Param    any             `json:"param"`  // the field that is wrong
	Details  []failureDetail `json:"details"`
	Metadata struct {
		Raw any `json:"raw"` // a router's: what the provider behind it said
	} `json:"metadata"`
}

type failureDetail struct {
	RetryDelay string `json:"retryDelay"`
}

// failure reads an error. Is says that it has the shape of one, readable that
// there is something to say.
func failure(body []byte) (is bool, e llm.APIError, readable bool) {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var b failureBody
	if json.Unmarshal(body, &b) != nil {
		return false, e, false
	}
	is = len(b.Error) > 0 && string(b.Error) != "null"
	var text string
	if json.Unmarshal(b.Error, &text) == nil && text != "" {
		return is, llm.APIError{Message: text}, true
	}
	var f failureError
	// Fields of unforeseen types leave the others readable.
	_ = json.Unmarshal(b.Error, &f)
	e.Message = first(f.Message, b.Message, b.Detail)
	if raw := first(f.Metadata.Raw); raw != "" && !strings.Contains(e.Message, raw) {
		e.Message += ": " + excerpt([]byte(raw))
	}
	if param := first(f.Param); param != "" && !strings.Contains(e.Message, param) {
		e.Message += " (" + param + ")"
	}
	e.Type = first(f.Status, f.Code, f.Type)
	if code, ok := f.Code.(float64); ok {
		e.Status = int(code)
	}
	for _, d := range f.Details {
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			e.RetryAfter = wait
		}
	}
	return is, e, e.Message != "" || e.Type != "" || e.Status != 0
}

// first returns the first value that says something.
func first(values ...any) string {
	for _, v := range values {
		switch v := v.(type) {
		case string:
			if v != "" {
				return v
			}
		case map[string]any, []any:
			if b, err := json.Marshal(v); err == nil {
				return string(b)
			}
		}
	}
	return ""
}

// retryAfter reads how long a server asks to wait: milliseconds or seconds, or
// a date, which counts from the date of the response.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return span(ms / 1000)
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return span(s)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, at.Sub(now))
}

// span is a number of seconds, within what a wait can be.
func span(seconds float64) time.Duration {
	const day = 24 * 60 * 60
	if !(seconds > 0) { // neither is what is not a number
		return 0
	}
	return time.Duration(min(seconds, day) * float64(time.Second))
}
