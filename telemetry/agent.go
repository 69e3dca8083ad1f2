package telemetry

import (
	"cmp"
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/invoke"
)

// Tracer is for [agent.Options]: it records turns, tool calls and invocations,
// nested as they run.
func (r *Recorder) Tracer() agent.Tracer {
	if r == nil {
		return nil
	}
	return tracer{r}
}

type tracer struct{ r *Recorder }

// Begin implements [agent.Tracer].
func (t tracer) Begin(ctx context.Context, began agent.Event) (context.Context, func(agent.Event)) {
	at := t.r.now()
	switch e := began.(type) {
	case agent.TurnStarted:
		return t.r.turn(ctx, e)
	case agent.ToolStarted:
		return t.r.call(ctx, e, at)
	case agent.InvocationStarted:
		ctx, end := t.r.Invocation(ctx, invoke.Request{Name: e.Name, By: e.By, Agent: e.Agent})
		return ctx, func(ended agent.Event) {
			if i, ok := ended.(agent.Invoked); ok {
				end(i.Result, i.Err)
			}
		}
	}
	return ctx, func(agent.Event) {}
}

// turn records one turn of an agent: of the main one, or all that a subagent is.
func (r *Recorder) turn(ctx context.Context, e agent.TurnStarted) (context.Context, func(agent.Event)) {
	name := cmp.Or(e.Type, mainAgentName)
	attrs := []attribute.KeyValue{attribute.String(keyOperation, opInvokeAgent), r.provider,
		attribute.String(keyAgentID, string(e.Agent)), attribute.String(keyAgentName, name)}
	if e.Skill != "" {
		attrs = append(attrs, attribute.String(keySkill, e.Skill))
	}
	ctx, span := r.start(ctx, opInvokeAgent+" "+name, trace.SpanKindInternal, attrs...)
	return ctx, func(ended agent.Event) {
		if t, ok := ended.(agent.TurnEnded); ok {
			span.SetAttributes(usage(t.Answer.Usage)...)
			if t.Err != nil {
				fail(span, errorType(t.Err), t.Err.Error())
			}
		}
		span.End()
	}
}

// call records one tool call.
func (r *Recorder) call(ctx context.Context, e agent.ToolStarted, began time.Time) (context.Context, func(agent.Event)) {
	attrs := []attribute.KeyValue{attribute.String(keyOperation, opExecuteTool), attribute.String(keyToolName, e.Name)}
	ctx, span := r.start(ctx, opExecuteTool+" "+e.Name, trace.SpanKindInternal, append(attrs[:2:2], attribute.String(keyToolType, "function"),
		attribute.String(keyToolCallID, e.ID), attribute.String(keyAgentID, string(e.Agent)))...)
	return ctx, func(ended agent.Event) {
		if t, ok := ended.(agent.ToolEnded); ok && t.IsError {
			kind := "tool_error"
			if err := ctx.Err(); err != nil {
				kind = errorType(err)
			}
			attrs = append(attrs, attribute.String(keyErrorType, kind))
			fail(span, kind, "")
		}
		span.End()
		r.tool.Record(ctx, r.since(began), metric.WithAttributes(attrs...))
	}
}

// Invocation records one invocation (spec I-13), for hosts without an agent
// loop of ours. end is called once, with what [invoke.Invoke] returned.
func (r *Recorder) Invocation(ctx context.Context, req invoke.Request) (inside context.Context, end func(*invoke.Result, error)) {
	if r == nil {
		return ctx, func(*invoke.Result, error) {}
	}
	began := r.now()
	by := attribute.String(keyBy, string(req.By))
	ctx, span := r.start(ctx, "invoke_skill", trace.SpanKindInternal, by,
		attribute.String(keyAgentID, cmp.Or(string(req.Agent), mainAgentName)))
	return ctx, func(res *invoke.Result, err error) {
		attrs := []attribute.KeyValue{by, attribute.String(keyOutcome, invoke.Outcome(err))}
		switch {
		case err != nil:
			kind := errorType(err)
			attrs = append(attrs, attribute.String(keyErrorType, kind))
			if kind != unknownSkill { // else the name may be anything
				attrs = append(attrs, attribute.String(keySkill, invoke.Named(req.Name)))
			}
			fail(span, kind, err.Error())
		case res != nil:
			attrs = append(attrs, attribute.String(keySkill, res.Entry.ID), attribute.String(keySource, string(res.Entry.Origin.Source)),
				attribute.String(keyMode, string(res.Mode)))
			span.SetName("invoke_skill " + res.Entry.ID)
			span.SetAttributes(attribute.Int(keyTokens, res.Tokens()))
			r.invocationTokens.Record(ctx, int64(res.Tokens()), metric.WithAttributes(attrs...))
		}
		span.SetAttributes(attrs...)
		span.End()
		r.invocation.Record(ctx, r.since(began), metric.WithAttributes(attrs...))
	}
}
