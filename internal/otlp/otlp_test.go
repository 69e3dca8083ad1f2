package otlp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/knack-skills/knack/internal/lab/collector"
	"github.com/knack-skills/knack/internal/otlp"
)

// start begins an exporter as the environment says.
func start(t *testing.T, env map[string]string) *otlp.Exporter {
	t.Helper()
	c, err := otlp.FromEnv(func(k string) string { return env[k] })
	if err != nil || !c.On() {
		t.Fatal(c, err)
	}
	return otlp.Start(c, nil)
}

func endpoint(url string) map[string]string {
	return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": url}
}

func TestFromEnv(t *testing.T) {
	const base = "http://host:4318"
	for name, tt := range map[string]struct {
		env             map[string]string
		traces, metrics string
		fault           string
	}{
		"nothing":      {},
		"only headers": {env: map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "a=b", "OTEL_SERVICE_NAME": "x"}},
		"endpoint":     {env: endpoint(base), traces: base + "/v1/traces", metrics: base + "/v1/metrics"},
		"with a path":  {env: endpoint(base + "/otlp/"), traces: base + "/otlp/v1/traces", metrics: base + "/otlp/v1/metrics"},
		"traces alone, as it is": {env: map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": base + "/in"},
			traces: base + "/in"},
		"metrics elsewhere": {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": base, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "https://other/m"},
			traces: base + "/v1/traces", metrics: "https://other/m"},
		"disabled":       {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": base, "OTEL_SDK_DISABLED": "TRUE"}},
		"not disabled":   {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": base, "OTEL_SDK_DISABLED": "1"}, traces: base + "/v1/traces", metrics: base + "/v1/metrics"},
		"no metrics":     {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": base, "OTEL_METRICS_EXPORTER": "none"}, traces: base + "/v1/traces"},
		"other exporter": {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": base, "OTEL_TRACES_EXPORTER": "zipkin"}, metrics: base + "/v1/metrics", fault: `OTEL_TRACES_EXPORTER: "zipkin" is not known`},
		"grpc": {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": base, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
			fault: "OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not spoken here"},
		"no URL":      {env: endpoint("host:4318"), fault: "OTEL_EXPORTER_OTLP_ENDPOINT: it is not an http or https URL"},
		"bad timeout": {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": base, "OTEL_EXPORTER_OTLP_TIMEOUT": "10s"}, traces: base + "/v1/traces", metrics: base + "/v1/metrics", fault: `OTEL_EXPORTER_OTLP_TIMEOUT: "10s"`},
		"bad header":  {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": base, "OTEL_EXPORTER_OTLP_HEADERS": "key=secret%0d%0aX: y"}, traces: base + "/v1/traces", metrics: base + "/v1/metrics", fault: "OTEL_EXPORTER_OTLP_HEADERS: entry 1"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := otlp.FromEnv(func(k string) string { return tt.env[k] })
			if c.Traces.URL != tt.traces || c.Metrics.URL != tt.metrics || c.On() != (tt.traces+tt.metrics != "") {
				t.Errorf("traces %q, metrics %q", c.Traces.URL, c.Metrics.URL)
			}
			if (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) || err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestSpans: what was recorded arrives, in the form that the protocol asks for.
func TestSpans(t *testing.T) {
	s := collector.Start(t)
	env := endpoint(s.URL)
	env["OTEL_EXPORTER_OTLP_HEADERS"] = "Authorization=Bearer%20abc, X-Team = a%2Cb"
	env["OTEL_EXPORTER_OTLP_COMPRESSION"] = "gzip"
	env["OTEL_SERVICE_NAME"] = "mine"
	env["OTEL_RESOURCE_ATTRIBUTES"] = "service.name=other,deployment.environment.name=test%20bed"
	e := start(t, env)
	tr := e.Tracers().Tracer("scope", trace.WithInstrumentationVersion("1"))
	ctx, parent := tr.Start(t.Context(), "parent", trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attribute.Int("n", 7), attribute.String("twice", "1")))
	_, child := tr.Start(ctx, "child")
	child.SetAttributes(attribute.Bool("b", true), attribute.Float64("f", 0.5), attribute.StringSlice("list", []string{"x", "y"}), attribute.IntSlice("ints", []int{1}))
	child.SetStatus(codes.Error, "broken")
	child.SetStatus(codes.Unset, "")
	child.End()
	child.SetName("too late")
	child.End()
	parent.SetAttributes(attribute.String("twice", "2"))
	parent.SetName("renamed")
	_, other := tr.Start(ctx, "other", trace.WithNewRoot())
	if !other.IsRecording() || child.IsRecording() {
		t.Error("IsRecording is wrong")
	}
	other.End()
	parent.End()
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans := s.Spans()
	want := []collector.Span{
		{Name: "renamed", Kind: 3, Attributes: map[string]string{"n": "7", "twice": "2"}},
		{Name: "child", Kind: 1, Status: 2, Message: "broken", Attributes: map[string]string{"b": "true", "f": "0.5", "list": "x,y", "ints": "[1]"}},
		{Name: "other", Kind: 1, Attributes: map[string]string{}},
	}
	if diff := cmp.Diff(want, spans, cmpopts.IgnoreFields(collector.Span{}, "Trace", "ID", "Parent", "Start", "End")); diff != "" {
		t.Fatal(diff)
	}
	if spans[1].Parent != spans[0].ID || spans[1].Trace != spans[0].Trace || spans[2].Trace == spans[0].Trace || spans[2].Parent != "" {
		t.Errorf("%+v", spans)
	}
	resource := map[string]string{"service.name": "mine", "deployment.environment.name": "test bed",
		"telemetry.sdk.language": "go", "telemetry.sdk.name": "knack"}
	if diff := cmp.Diff(resource, s.Resource()); diff != "" {
		t.Error(diff)
	}
	if _, h := s.Requests(); len(h) != 1 || h[0].Get("Authorization") != "Bearer abc" || h[0].Get("X-Team") != "a,b" {
		t.Errorf("headers %v", h)
	}
}

// TestMetrics: values are counted in buckets, for each set of attributes.
func TestMetrics(t *testing.T) {
	s := collector.Start(t)
	e := start(t, endpoint(s.URL))
	m := e.Meters().Meter("scope")
	f, err := m.Float64Histogram("seconds", metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	again, _ := m.Float64Histogram("seconds", metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(1, 2))
	n, _ := m.Int64Histogram("tokens")
	a := metric.WithAttributes(attribute.String("k", "a"))
	for _, v := range []float64{0.5, 1, 1.5, 9} {
		f.Record(t.Context(), v, a)
	}
	again.Record(t.Context(), 2, metric.WithAttributes(attribute.String("k", "b")))
	n.Record(t.Context(), 42)
	unused, _ := m.Int64Counter("counted elsewhere")
	unused.Add(t.Context(), 1)
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []collector.Point{
		{Metric: "seconds", Unit: "s", Attributes: map[string]string{"k": "a"}, Count: 4, Sum: 12, Buckets: []uint64{2, 1, 1}, Bounds: []float64{1, 2}},
		{Metric: "seconds", Unit: "s", Attributes: map[string]string{"k": "b"}, Count: 1, Sum: 2, Buckets: []uint64{0, 1, 0}, Bounds: []float64{1, 2}},
	}
	got := s.Points()
	if len(got) != 3 {
		t.Fatalf("%+v", got)
	}
	byAttribute := cmpopts.SortSlices(func(a, b collector.Point) bool { return a.Attributes["k"] < b.Attributes["k"] })
	if diff := cmp.Diff(want, got[:2], byAttribute); diff != "" || got[2].Sum != 42 {
		t.Error(diff, got[2])
	}
}

// TestManySpans: a full batch goes out at once, from a goroutine of its own,
// and nothing is lost between many writers.
func TestManySpans(t *testing.T) {
	s := collector.Start(t)
	e := start(t, endpoint(s.URL))
	tr := e.Tracers().Tracer("scope")
	var group sync.WaitGroup
	for range 5 {
		group.Go(func() {
			for range 300 {
				_, span := tr.Start(context.Background(), "one")
				span.End()
			}
		})
	}
	group.Wait()
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(s.Spans()); n != 1500 {
		t.Errorf("%d spans of 1500", n)
	}
	_, late := tr.Start(context.Background(), "late")
	late.End() // nobody listens any more
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestCollectors: whatever the collector does, the end is bounded, and says
// what was lost.
func TestCollectors(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	elsewhere := collector.Start(t)
	for name, tt := range map[string]struct {
		handler http.HandlerFunc
		url     string
		fault   string
	}{
		"refuses": {handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }, fault: "answers 400"},
		"is busy": {handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, fault: "answers 503"},
		"leads away": {handler: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}, fault: "answers 307"},
		"hangs":        {handler: func(_ http.ResponseWriter, _ *http.Request) { <-release }, fault: "context deadline exceeded"},
		"is not there": {url: "http://127.0.0.1:1", fault: "connect"}, // no port that somebody may open meanwhile
	} {
		t.Run(name, func(t *testing.T) {
			if tt.handler != nil {
				web := httptest.NewServer(tt.handler)
				t.Cleanup(web.CloseClientConnections)
				tt.url = web.URL
			}
			e := start(t, endpoint(strings.Replace(tt.url, "http://", "http://me:secret@", 1)))
			tr := e.Tracers().Tracer("scope")
			for range 3000 { // more than is kept
				_, span := tr.Start(context.Background(), "one")
				span.End()
			}
			wait := time.Minute
			if name == "hangs" {
				wait = 10 * time.Millisecond
			}
			ctx, stop := context.WithTimeout(t.Context(), wait)
			defer stop()
			err := e.Close(ctx)
			if err == nil || !strings.Contains(err.Error(), tt.fault) || !strings.Contains(err.Error(), "3000 spans are lost") || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v", err)
			}
		})
	}
	if paths, _ := elsewhere.Requests(); len(paths) > 0 {
		t.Error("a redirect was followed")
	}
}

// TestManySeries: attributes without end do not fill the memory.
func TestManySeries(t *testing.T) {
	s := collector.Start(t)
	e := start(t, endpoint(s.URL))
	h, _ := e.Meters().Meter("scope").Int64Histogram("n")
	for i := range 5000 {
		h.Record(t.Context(), 1, metric.WithAttributes(attribute.String("k", fmt.Sprint(i))))
	}
	_, span := e.Tracers().Tracer("scope").Start(t.Context(), "wide")
	for i := range 1000 {
		span.SetAttributes(attribute.Int(fmt.Sprint(i), i))
	}
	span.End()
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var sum uint64
	for _, p := range s.Points() {
		sum += p.Count
	}
	if n := len(s.Points()); n != 2001 || sum != 5000 {
		t.Errorf("%d series, %d values", n, sum)
	}
	if n := len(s.Spans()[0].Attributes); n != 128 {
		t.Errorf("%d attributes", n)
	}
}
