// Package collector is a loopback OpenTelemetry collector for tests: it takes
// OTLP over HTTP with JSON, is strict about its form, and keeps what it gets.
package collector

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A Span is one that arrived. Attributes are text, lists joined by commas.
type Span struct {
	Trace, ID, Parent, Name string
	Kind, Status            int
	Message                 string
	Start, End              int64 // nanoseconds
	Attributes              map[string]string
}

// A Point is the last state of one series of a histogram that arrived.
type Point struct {
	Metric, Unit string
	Attributes   map[string]string
	Count        uint64
	Sum          float64
	Buckets      []uint64
	Bounds       []float64
}

// A Server is a running collector.
type Server struct {
	URL string
	// Status answers requests; zero is 200.
	Status func(r *http.Request) int

	t        testing.TB
	mu       sync.Mutex // guards the fields below
	spans    []Span
	points   []Point
	resource map[string]string
	headers  []http.Header
	paths    []string
}

// Start starts a collector. What it cannot read is an error of the test. It
// stops in a cleanup of t.
func Start(t testing.TB) *Server {
	s := &Server{t: t}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	s.URL = web.URL
	return s
}

// Spans returns what has arrived so far, by the time of its beginning.
func (s *Server) Spans() []Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.Clone(s.spans)
	slices.SortStableFunc(out, func(a, b Span) int { return int(a.Start - b.Start) })
	return out
}

// Points returns the series of the metrics as they came last.
func (s *Server) Points() []Point {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.points)
}

// Resource returns the words about the process.
func (s *Server) Resource() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resource
}

// Requests returns the paths and headers of the requests.
func (s *Server) Requests() ([]string, []http.Header) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.paths), slices.Clone(s.headers)
}

// Tree shows spans nested as their parents say, as "name", two blanks a level.
func Tree(spans []Span) string {
	var b strings.Builder
	ids := map[string]bool{}
	for _, s := range spans {
		ids[s.ID] = true
	}
	var show func(parent string, depth int)
	show = func(parent string, depth int) {
		for _, s := range spans {
			if s.Parent == parent || parent == "" && !ids[s.Parent] {
				fmt.Fprintf(&b, "%s%s\n", strings.Repeat("  ", depth), s.Name)
				show(s.ID, depth+1)
			}
		}
	}
	show("", 0)
	return b.String()
}

// ServeHTTP takes one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paths, s.headers = append(s.paths, r.URL.Path), append(s.headers, r.Header.Clone())
	if s.Status != nil {
		if code := s.Status(r); code != 0 && code != http.StatusOK {
			w.WriteHeader(code)
			return
		}
	}
	if err := s.take(r); err != nil {
		s.t.Errorf("%s: %v", r.URL.Path, err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, "{}")
}

func (s *Server) take(r *http.Request) error {
	if got := r.Header.Get("Content-Type"); r.Method != http.MethodPost || got != "application/json" {
		return fmt.Errorf("%s with %q", r.Method, got)
	}
	var in io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(in)
		if err != nil {
			return err
		}
		in = z
	}
	body, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if strings.HasSuffix(r.URL.Path, "traces") {
		var t traces
		if err := dec.Decode(&t); err != nil {
			return fmt.Errorf("%w in %s", err, body)
		}
		return s.takeSpans(t)
	}
	var m metrics
	if err := dec.Decode(&m); err != nil {
		return fmt.Errorf("%w in %s", err, body)
	}
	return s.takePoints(m)
}

var hex = regexp.MustCompile(`^[0-9a-f]*$`)

func (s *Server) takeSpans(t traces) error {
	for _, res := range t.ResourceSpans {
		s.resource = words(res.Resource.Attributes)
		for _, sc := range res.ScopeSpans {
			for _, j := range sc.Spans {
				if len(j.TraceID) != 32 || len(j.SpanID) != 16 || len(j.ParentSpanID)%16 != 0 || !hex.MatchString(j.TraceID+j.SpanID+j.ParentSpanID) ||
					sc.Scope.Name == "" || j.Name == "" || j.Kind < 1 || j.Kind > 5 {
					return fmt.Errorf("bad span %s %s of kind %d, id %s below %q", j.Name, j.TraceID, j.Kind, j.SpanID, j.ParentSpanID)
				}
				start, err1 := strconv.ParseInt(j.StartTimeUnixNano, 10, 64)
				end, err2 := strconv.ParseInt(j.EndTimeUnixNano, 10, 64)
				if err1 != nil || err2 != nil || start <= 0 || end < start {
					return fmt.Errorf("bad times %q %q", j.StartTimeUnixNano, j.EndTimeUnixNano)
				}
				s.spans = append(s.spans, Span{Trace: j.TraceID, ID: j.SpanID, Parent: j.ParentSpanID, Name: j.Name, Kind: j.Kind,
					Status: j.Status.Code, Message: j.Status.Message, Start: start, End: end, Attributes: words(j.Attributes)})
			}
		}
	}
	return nil
}

func (s *Server) takePoints(m metrics) error {
	s.points = nil // sums are cumulative: the last request says all
	for _, res := range m.ResourceMetrics {
		s.resource = words(res.Resource.Attributes)
		for _, sc := range res.ScopeMetrics {
			for _, j := range sc.Metrics {
				for _, p := range j.Histogram.DataPoints {
					out := Point{Metric: j.Name, Unit: j.Unit, Attributes: words(p.Attributes), Sum: p.Sum, Bounds: p.ExplicitBounds}
					var total uint64
					for _, b := range p.BucketCounts {
						n, err := strconv.ParseUint(b, 10, 64)
						if err != nil {
							return err
						}
						total += n
						out.Buckets = append(out.Buckets, n)
					}
					var err error
					if out.Count, err = strconv.ParseUint(p.Count, 10, 64); err != nil || out.Count != total ||
						len(p.BucketCounts) != len(p.ExplicitBounds)+1 || j.Histogram.AggregationTemporality != 2 || p.Min > p.Max {
						return fmt.Errorf("bad point %+v of %s", p, j.Name)
					}
					s.points = append(s.points, out)
				}
			}
		}
	}
	return nil
}
