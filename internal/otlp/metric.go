package otlp

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// Meters is for whoever measures. Of the instruments histograms count.
func (e *Exporter) Meters() metric.MeterProvider { return meters{e: e} }

type meters struct {
	noop.MeterProvider
	e *Exporter
}

func (p meters) Meter(name string, opts ...metric.MeterOption) metric.Meter {
	c := metric.NewMeterConfig(opts...)
	return meter{e: p.e, scope: scope{name, c.InstrumentationVersion()}}
}

type meter struct {
	noop.Meter
	e     *Exporter
	scope scope
}

func (m meter) Float64Histogram(name string, opts ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	c := metric.NewFloat64HistogramConfig(opts...)
	return floats{h: m.e.histogram(m.scope, name, c.Unit(), c.Description(), c.ExplicitBucketBoundaries())}, nil
}

func (m meter) Int64Histogram(name string, opts ...metric.Int64HistogramOption) (metric.Int64Histogram, error) {
	c := metric.NewInt64HistogramConfig(opts...)
	return ints{h: m.e.histogram(m.scope, name, c.Unit(), c.Description(), c.ExplicitBucketBoundaries())}, nil
}

type floats struct {
	noop.Float64Histogram
	h *histogram
}

func (f floats) Enabled(context.Context) bool { return true }

func (f floats) Record(_ context.Context, v float64, opts ...metric.RecordOption) {
	f.h.record(v, metric.NewRecordConfig(opts).Attributes())
}

type ints struct {
	noop.Int64Histogram
	h *histogram
}

func (i ints) Enabled(context.Context) bool { return true }

func (i ints) Record(_ context.Context, v int64, opts ...metric.RecordOption) {
	i.h.record(float64(v), metric.NewRecordConfig(opts).Attributes())
}

// A histogram counts values in buckets, for each set of attributes.
type histogram struct {
	scope                   scope
	name, unit, description string
	bounds                  []float64

	mu     sync.Mutex // guards points
	points map[attribute.Distinct]*point
}

type point struct {
	attrs    attribute.Set
	count    uint64
	sum      float64
	min, max float64
	buckets  []uint64
}

// maxPoints bounds the sets of attributes of one histogram, as the
// specification advises. What is more is counted together.
const maxPoints = 2000

// defaultBounds are those of the specification.
var defaultBounds = []float64{0, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10000}

func newHistogram(s scope, name, unit, description string, bounds []float64) *histogram {
	if len(bounds) == 0 {
		bounds = defaultBounds
	}
	return &histogram{scope: s, name: name, unit: unit, description: description,
		bounds: slices.Clone(bounds), points: map[attribute.Distinct]*point{}}
}

func (h *histogram) record(v float64, attrs attribute.Set) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.points[attrs.Equivalent()]
	if p == nil && len(h.points) >= maxPoints {
		attrs = attribute.NewSet(attribute.Bool("otel.metric.overflow", true))
		p = h.points[attrs.Equivalent()]
	}
	if p == nil {
		p = &point{attrs: attrs, min: v, max: v, buckets: make([]uint64, len(h.bounds)+1)}
		h.points[attrs.Equivalent()] = p
	}
	p.count++
	p.sum += v
	p.min, p.max = min(p.min, v), max(p.max, v)
	i, _ := slices.BinarySearch(h.bounds, v) // a bound belongs to the bucket below it
	p.buckets[i]++
}

// encode is the histogram as OTLP has it; nil without any values.
func (h *histogram) encode(began, now time.Time) *jsonMetric {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.points) == 0 {
		return nil
	}
	m := &jsonMetric{Name: h.name, Unit: h.unit, Description: h.description}
	m.Histogram.Temporality = cumulative
	for _, p := range h.points {
		j := jsonPoint{Attributes: attributes(p.attrs.ToSlice()), Start: nanos(began), Time: nanos(now),
			Count: number(p.count), Sum: p.sum, Min: p.min, Max: p.max, Bounds: h.bounds}
		for _, n := range p.buckets {
			j.Buckets = append(j.Buckets, number(n))
		}
		m.Histogram.Points = append(m.Histogram.Points, j)
	}
	return m
}
