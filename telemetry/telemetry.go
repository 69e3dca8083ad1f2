// Package telemetry tells OpenTelemetry what an agent does: spans and metrics
// for turns, model calls, tool calls, invocations of skills and hooks (spec
// I-13), by the semantic conventions for generative AI.
//
// It works over the providers that a host gives it and sends nothing itself. A
// nil [*Recorder] is one that is switched off: its methods return what they
// were given, so that nothing costs anything. What people, models and files say
// is never part of a span; names, sizes, durations and the first line of an
// error are. Everything here is safe for concurrent use.
package telemetry

import (
	"cmp"
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// Options says where telemetry goes.
type Options struct {
	Tracers trace.TracerProvider // nil records no spans
	Meters  metric.MeterProvider // nil records no metrics

	Session  string // the conversation
	Provider string // of the session's model: anthropic, openai, gemini, …
	Version  string // of the program
	Now      func() time.Time
}

// A Recorder records one conversation.
type Recorder struct {
	tracer   trace.Tracer
	session  attribute.KeyValue
	provider attribute.KeyValue
	now      func() time.Time

	operation, tool, invocation, hook metric.Float64Histogram
	tokens, invocationTokens          metric.Int64Histogram
}

// New returns a recorder, or nil when there is nowhere to record to. The error
// is that of a provider which refuses an instrument.
func New(o Options) (*Recorder, error) {
	if o.Tracers == nil && o.Meters == nil {
		return nil, nil
	}
	if o.Tracers == nil {
		o.Tracers = tracenoop.NewTracerProvider()
	}
	if o.Meters == nil {
		o.Meters = metricnoop.NewMeterProvider()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &Recorder{
		tracer:   o.Tracers.Tracer(scope, trace.WithInstrumentationVersion(o.Version)),
		session:  attribute.String(keyConversation, o.Session),
		provider: attribute.String(keyProvider, cmp.Or(providerNames[o.Provider], o.Provider)),
		now:      o.Now,
	}
	m := o.Meters.Meter(scope, metric.WithInstrumentationVersion(o.Version))
	return r, r.instruments(m)
}

func (r *Recorder) instruments(m metric.Meter) error {
	var failed []error
	seconds := func(name, of string) metric.Float64Histogram {
		h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(of), metric.WithExplicitBucketBoundaries(secondBounds...))
		failed = append(failed, err)
		return h
	}
	count := func(name, of string) metric.Int64Histogram {
		h, err := m.Int64Histogram(name, metric.WithUnit("{token}"), metric.WithDescription(of), metric.WithExplicitBucketBoundaries(tokenBounds...))
		failed = append(failed, err)
		return h
	}
	r.operation = seconds(metricOperation, "Duration of model calls.")
	r.tokens = count(metricTokens, "Tokens of model calls.")
	r.tool = seconds(metricTool, "Duration of tool calls.")
	r.invocation = seconds(metricInvocation, "Duration of invocations of skills.")
	r.invocationTokens = count(metricInvocationTokens, "Tokens that invocations of skills took.")
	r.hook = seconds(metricHook, "Duration of hooks.")
	return errors.Join(failed...)
}

// since is how long something took, in seconds.
func (r *Recorder) since(began time.Time) float64 { return r.now().Sub(began).Seconds() }

// start begins a span.
func (r *Recorder) start(ctx context.Context, name string, kind trace.SpanKind, attrs ...attribute.KeyValue) (context.Context, trace.Span) {
	return r.tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(append(attrs, r.session)...))
}

// fail marks a span as failed.
func fail(s trace.Span, kind, message string) {
	s.SetAttributes(attribute.String(keyErrorType, kind))
	s.SetStatus(codes.Error, brief(message))
}

// Message frames everything that one message of a person leads to, so that it
// is one trace. end is called once.
func (r *Recorder) Message(ctx context.Context) (inside context.Context, end func(error)) {
	if r == nil {
		return ctx, func(error) {}
	}
	ctx, span := r.start(ctx, "knack.message", trace.SpanKindInternal)
	return ctx, func(err error) {
		if err != nil {
			fail(span, errorType(err), err.Error())
		}
		span.End()
	}
}

// Hook frames one handler of a hook: the event, the handler's type, and who
// declares it. end is told how it ended, in a word, and what went wrong, or "".
func (r *Recorder) Hook(ctx context.Context, event, handler, owner string) (inside context.Context, end func(outcome, fault string)) {
	if r == nil {
		return ctx, func(string, string) {}
	}
	began := r.now()
	attrs := []attribute.KeyValue{attribute.String(keyHookEvent, event), attribute.String(keyHookType, handler)}
	ctx, span := r.start(ctx, "hook "+event, trace.SpanKindInternal, append(attrs, attribute.String(keyHookOwner, owner))...)
	return ctx, func(outcome, fault string) {
		attrs := append(attrs[:len(attrs):len(attrs)], attribute.String(keyOutcome, outcome))
		span.SetAttributes(attrs[len(attrs)-1])
		if fault != "" {
			fail(span, "hook_failed", fault)
		}
		span.End()
		r.hook.Record(ctx, r.since(began), metric.WithAttributes(attrs...))
	}
}
