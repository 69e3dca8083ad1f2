package telemetry

import (
	"cmp"
	"context"
	"iter"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/knack-skills/knack/llm"
)

// Model records each request that m answers. Put it outside of [llm.Retry], so
// that one span is one request, however often it is sent.
func (r *Recorder) Model(m llm.Model) llm.Model {
	if r == nil {
		return m
	}
	return model{m, r}
}

type model struct {
	llm.Model
	r *Recorder
}

// Stream implements [llm.Model].
func (m model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		call := m.r.chat(ctx, req)
		var failed error
		var done *llm.Done
		defer func() { call.end(done, failed) }()
		for e, err := range m.Model.Stream(call.ctx, req) {
			failed = err
			if d, ok := e.(llm.Done); ok {
				done = &d
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// A chat is one model call.
type chat struct {
	r      *Recorder
	ctx    context.Context // of the span
	span   trace.Span
	attrs  []attribute.KeyValue // of the metrics
	finish func() float64
}

func (r *Recorder) chat(ctx context.Context, req llm.Request) chat {
	began := r.now()
	attrs := []attribute.KeyValue{attribute.String(keyOperation, opChat), r.provider, attribute.String(keyRequestModel, req.Model)}
	ctx, span := r.start(ctx, opChat+" "+req.Model, trace.SpanKindClient, append(attrs[:3:3],
		attribute.String(keyAgentID, cmp.Or(req.AgentID, mainAgentName)),
		attribute.String(keyPurpose, string(cmp.Or(req.Purpose, llm.Turn))))...)
	return chat{r: r, ctx: ctx, span: span, attrs: attrs, finish: func() float64 { return r.since(began) }}
}

// end ends a call. An answer that nobody wanted to hear to its end has neither
// a Done nor an error.
func (c chat) end(done *llm.Done, failed error) {
	attrs := c.attrs[:len(c.attrs):len(c.attrs)]
	switch {
	case failed != nil:
		attrs = append(attrs, attribute.String(keyErrorType, errorType(failed)))
		fail(c.span, errorType(failed), failed.Error())
	case done == nil:
		attrs = append(attrs, attribute.String(keyErrorType, "cancelled"))
		fail(c.span, "cancelled", "")
	default:
		c.span.SetAttributes(append(usage(done.Usage), attribute.String(keyResponseModel, done.Model),
			attribute.StringSlice(keyFinishReasons, []string{string(done.Stop)}))...)
		c.r.tokens.Record(c.ctx, int64(input(done.Usage)), metric.WithAttributes(append(c.attrs[:3:3], attribute.String(keyTokenType, "input"))...))
		c.r.tokens.Record(c.ctx, int64(done.Usage.OutputTokens), metric.WithAttributes(append(c.attrs[:3:3], attribute.String(keyTokenType, "output"))...))
	}
	c.span.End()
	c.r.operation.Record(c.ctx, c.finish(), metric.WithAttributes(attrs...))
}

// input is what the conventions call input: with what was read from a cache.
func input(u llm.Usage) int {
	return u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens
}

func usage(u llm.Usage) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.Int(keyInput, input(u)), attribute.Int(keyOutput, u.OutputTokens),
		attribute.Int(keyCacheRead, u.CacheReadInputTokens), attribute.Int(keyCacheCreation, u.CacheCreationInputTokens),
	}
}
