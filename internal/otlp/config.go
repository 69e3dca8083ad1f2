// Package otlp sends OpenTelemetry spans and metrics of one process to a
// collector, by OTLP over HTTP with JSON. It implements the part of the API that
// package telemetry uses; what else the API has does nothing. It is switched on
// and configured by the standard environment variables alone
// (docs/design/019-telemetry.md).
//
// Memory is bounded: what cannot be sent in time is dropped, and counted.
// Nothing here makes the program wait, but for [Exporter.Close].
package otlp

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A Config says where to send to, and what to say of this process.
type Config struct {
	Traces, Metrics Target
	Resource        []Attribute // in the order in which they were given
	Every           time.Duration
	MetricsEvery    time.Duration
}

// A Target is where one signal goes.
type Target struct {
	URL     string // empty sends nothing
	Headers map[string]string
	Timeout time.Duration
	Gzip    bool
}

// An Attribute is one word about this process.
type Attribute struct{ Key, Value string }

// The defaults of the specification.
const (
	defaultTimeout = 10 * time.Second
	defaultEvery   = 5 * time.Second
	defaultMetrics = 60 * time.Second
	defaultService = "knack"
)

// On reports whether anything is to be sent.
func (c Config) On() bool { return c.Traces.URL != "" || c.Metrics.URL != "" }

// FromEnv reads the environment. Nothing is sent unless an endpoint is named.
// The error names each variable that cannot be read; the others are in force.
func FromEnv(getenv func(string) string) (Config, error) {
	r := reader{getenv: getenv}
	disabled := strings.EqualFold(strings.TrimSpace(getenv("OTEL_SDK_DISABLED")), "true")
	if disabled || r.get("ENDPOINT", "") == "" && r.get("ENDPOINT", "TRACES") == "" && r.get("ENDPOINT", "METRICS") == "" {
		return Config{}, nil
	}
	c := Config{
		Traces:   r.target("TRACES", "v1/traces"),
		Metrics:  r.target("METRICS", "v1/metrics"),
		Resource: r.resource(),
		Every:    defaultEvery, MetricsEvery: r.millis("OTEL_METRIC_EXPORT_INTERVAL", defaultMetrics),
	}
	return c, errors.Join(r.errs...)
}

type reader struct {
	getenv func(string) string
	errs   []error
}

func (r *reader) fail(name, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s: %s", name, fmt.Sprintf(format, args...)))
}

// variable is the name of a variable of the exporter, for one signal or, with
// "", for all.
func variable(what, signal string) string {
	if signal == "" {
		return "OTEL_EXPORTER_OTLP_" + what
	}
	return "OTEL_EXPORTER_OTLP_" + signal + "_" + what
}

func (r *reader) get(what, signal string) string {
	return strings.TrimSpace(r.getenv(variable(what, signal)))
}

// own is a variable of one signal, or else the one of all.
func (r *reader) own(what, signal string) (value, name string) {
	if v := r.get(what, signal); v != "" {
		return v, variable(what, signal)
	}
	return r.get(what, ""), variable(what, "")
}

func (r *reader) target(signal, path string) Target {
	none := "OTEL_" + signal + "_EXPORTER"
	if v := strings.TrimSpace(r.getenv(none)); v == "none" {
		return Target{}
	} else if v != "" && v != "otlp" {
		r.fail(none, "%q is not known here; nothing is sent (known: otlp, none)", v)
		return Target{}
	}
	t := Target{Timeout: defaultTimeout}
	endpoint, name := r.own("ENDPOINT", signal)
	if endpoint == "" {
		return Target{}
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		r.fail(name, "it is not an http or https URL; nothing is sent")
		return Target{}
	}
	if name == variable("ENDPOINT", "") { // the others are taken as they are
		u = u.JoinPath(path)
	}
	t.URL = u.String()
	if v, name := r.own("PROTOCOL", signal); v == "grpc" {
		r.fail(name, "grpc is not spoken here, but http/json, usually on port 4318; nothing is sent")
		return Target{}
	} else if v != "" && v != "http/json" && v != "http/protobuf" {
		r.fail(name, "%q is not known; http/json is used", v)
	}
	if v, name := r.own("TIMEOUT", signal); v != "" {
		t.Timeout = r.millis(name, defaultTimeout)
	}
	switch v, name := r.own("COMPRESSION", signal); v {
	case "", "none":
	case "gzip":
		t.Gzip = true
	default:
		r.fail(name, "%q is not known; nothing is compressed", v)
	}
	v, name := r.own("HEADERS", signal)
	t.Headers = map[string]string{}
	for _, p := range r.pairs(name, v) {
		t.Headers[p.Key] = p.Value
	}
	return t
}

func (r *reader) millis(name string, without time.Duration) time.Duration {
	v := strings.TrimSpace(r.getenv(name))
	if v == "" {
		return without
	}
	n, err := strconv.Atoi(v)
	if err != nil || n <= 0 {
		r.fail(name, "%q is not a positive number of milliseconds; it is %d", v, without.Milliseconds())
		return without
	}
	return time.Duration(n) * time.Millisecond
}

// pairs reads "key=value,key=value", with values as in a URL. What it cannot
// read is named without its value, which may be secret.
func (r *reader) pairs(name, text string) (out []Attribute) {
	for part := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		key, value, ok := strings.Cut(part, "=")
		key = strings.TrimSpace(key)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || key == "" || strings.ContainsAny(key+value, "\r\n\x00") {
			r.fail(name, "entry %d is not key=value, and is left out", len(out)+1)
			continue
		}
		out = append(out, Attribute{key, value})
	}
	return out
}

// resource describes the process. OTEL_SERVICE_NAME beats what the attributes
// say.
func (r *reader) resource() []Attribute {
	const name = "OTEL_RESOURCE_ATTRIBUTES"
	out := r.pairs(name, r.getenv(name))
	service := strings.TrimSpace(r.getenv("OTEL_SERVICE_NAME"))
	found := false
	for i := range out {
		if out[i].Key == "service.name" {
			found = true
			if service != "" {
				out[i].Value = service
			}
		}
	}
	if !found {
		if service == "" {
			service = defaultService
		}
		out = append(out, Attribute{"service.name", service})
	}
	return append(out, Attribute{"telemetry.sdk.language", "go"}, Attribute{"telemetry.sdk.name", "knack"})
}
