package otlp

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// Tracers is for whoever makes spans.
func (e *Exporter) Tracers() trace.TracerProvider { return tracers{e: e} }

// The types of the API gain methods; those that are not known yet do nothing.
type tracers struct {
	noop.TracerProvider
	e *Exporter
}

func (p tracers) Tracer(name string, opts ...trace.TracerOption) trace.Tracer {
	c := trace.NewTracerConfig(opts...)
	return tracer{p: p, scope: scope{name, c.InstrumentationVersion()}}
}

type tracer struct {
	noop.Tracer
	p     tracers
	scope scope
}

// maxAttributes bounds what one span holds, as the specification advises.
const maxAttributes = 128

// Start begins a span below the one of ctx, or a new trace.
func (t tracer) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	c := trace.NewSpanStartConfig(opts...)
	s := &span{t: t, name: name, kind: trace.ValidateSpanKind(c.SpanKind()), begin: c.Timestamp()}
	if s.begin.IsZero() {
		s.begin = t.p.e.now()
	}
	var ids trace.SpanContextConfig
	ids.TraceFlags = trace.FlagsSampled
	if parent := trace.SpanContextFromContext(ctx); parent.IsValid() && !c.NewRoot() {
		s.parent, ids.TraceID, ids.TraceState = parent.SpanID(), parent.TraceID(), parent.TraceState()
	} else {
		_, _ = rand.Read(ids.TraceID[:]) // never fails
	}
	_, _ = rand.Read(ids.SpanID[:])
	s.context = trace.NewSpanContext(ids)
	s.SetAttributes(c.Attributes()...)
	return trace.ContextWithSpan(ctx, s), s
}

// A span is one thing that takes time, until it ends.
type span struct {
	noop.Span
	t       tracer
	context trace.SpanContext
	parent  trace.SpanID
	kind    trace.SpanKind
	begin   time.Time

	mu      sync.Mutex // guards the fields below
	name    string
	attrs   []attribute.KeyValue
	dropped int
	code    codes.Code
	message string
	end     time.Time // zero while it goes on; nothing changes afterwards
}

func (s *span) SpanContext() trace.SpanContext       { return s.context }
func (s *span) TracerProvider() trace.TracerProvider { return s.t.p }

func (s *span) IsRecording() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end.IsZero()
}

func (s *span) SetName(name string) { s.change(func() { s.name = name }) }

// change does f unless the span has ended.
func (s *span) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end.IsZero() {
		f()
	}
}

// SetStatus sets the status. By the rules of the API Ok is final, and an error
// is not taken back.
func (s *span) SetStatus(code codes.Code, message string) {
	s.change(func() {
		if s.code == codes.Ok || code == codes.Unset {
			return
		}
		s.code, s.message = code, ""
		if code == codes.Error {
			s.message = message
		}
	})
}

// SetAttributes sets attributes; of a key the last value counts.
func (s *span) SetAttributes(attrs ...attribute.KeyValue) {
	s.change(func() {
	next:
		for _, a := range attrs {
			if !a.Valid() {
				s.dropped++
				continue
			}
			for i := range s.attrs {
				if s.attrs[i].Key == a.Key {
					s.attrs[i] = a
					continue next
				}
			}
			if len(s.attrs) == maxAttributes {
				s.dropped++
				continue
			}
			s.attrs = append(s.attrs, a)
		}
	})
}

// End ends the span and queues it.
func (s *span) End(opts ...trace.SpanEndOption) {
	c := trace.NewSpanEndConfig(opts...)
	at := c.Timestamp()
	if at.IsZero() {
		at = s.t.p.e.now()
	}
	first := false
	s.change(func() { s.end, first = at, true })
	if first {
		s.t.p.e.queue(s)
	}
}
