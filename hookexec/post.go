package hookexec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/knack-skills/knack/hook"
)

// post sends the input to a server and reads the body of its answer.
func (r *Runner) post(ctx context.Context, e Entry, in hook.Input, payload []byte) answer {
	h := e.Handler
	if u, err := url.Parse(h.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return failed("url", "its url is not one of http or https")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(payload))
	if err != nil {
		return failed("url", "its url cannot be used")
	}
	req.Header.Set("Content-Type", "application/json")
	var denied []string
	for name, value := range h.Headers {
		filled, held := r.header(value, h.AllowedEnv)
		denied = append(denied, held...)
		if strings.EqualFold(name, "Host") {
			req.Host = filled
		}
		req.Header.Set(name, filled)
	}
	resp, err := r.opts.HTTP.Do(req)
	if err != nil {
		return failed("connection", "the request failed: %v", bare(err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxOutput+1))
	text := bytes.TrimSpace(body)
	a := answer{stdout: string(body[:min(len(body), maxOutput)])}
	switch {
	case err != nil:
		a.fault, a.kind = "its answer broke off: "+bare(err).Error(), "connection"
	case resp.StatusCode/100 == 3:
		a.fault, a.kind = "the server answered "+resp.Status+"; redirects are not followed", "status"
	case resp.StatusCode/100 != 2:
		a.fault, a.kind = "the server answered "+resp.Status, "status"
	case len(body) > maxOutput:
		a.fault, a.kind = "its answer has more than 1 MiB", "size"
	case len(text) > 0 && (text[0] != '{' || !json.Valid(text)):
		a.fault, a.kind = "its answer is no JSON object", "body"
	default:
		a.outcome, a.faults = hook.ReadOutput(in.Event, text)
	}
	slices.Sort(denied)
	for _, name := range slices.Compact(denied) {
		a.faults = append(a.faults, "its headers name $"+name+", which is not in allowedEnvVars: it is left empty")
	}
	return a
}

// bare is err without the URL, whose query may be secret.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// header fills $NAME and ${NAME} in a header's value, for allowed names alone;
// held are the others, which are left empty.
func (r *Runner) header(value string, allowed []string) (filled string, held []string) {
	filled = regexp.MustCompile(`\$(\w+|\{\w+\})`).ReplaceAllStringFunc(value, func(ref string) string {
		name := strings.Trim(ref, "${}")
		if !slices.Contains(allowed, name) {
			held = append(held, name)
			return ""
		}
		return r.getenv(name)
	})
	return filled, held
}

// getenv returns a variable of the environment of hooks.
func (r *Runner) getenv(name string) string {
	for _, kv := range slices.Backward(r.base()) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}
