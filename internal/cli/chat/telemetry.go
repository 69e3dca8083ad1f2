package chat

import (
	"context"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/hookexec"
	"github.com/knack-skills/knack/internal/cli/version"
	"github.com/knack-skills/knack/internal/otlp"
	"github.com/knack-skills/knack/llm/choose"
	"github.com/knack-skills/knack/telemetry"
)

// NewRecorder returns what records a session's work for a collector; nil
// without one.
func NewRecorder(to *otlp.Exporter, session string, model choose.Choice) (*telemetry.Recorder, error) {
	if to == nil {
		return nil, nil
	}
	return telemetry.New(telemetry.Options{Tracers: to.Tracers(), Meters: to.Meters(), Session: session,
		Provider: string(model.Provider), Version: version.Version})
}

// Frame records the handlers of hooks; a nil recorder records none.
func Frame(to *telemetry.Recorder) func(context.Context, hookexec.Entry, hook.Input) (context.Context, func(hookexec.Result)) {
	return func(ctx context.Context, e hookexec.Entry, in hook.Input) (context.Context, func(hookexec.Result)) {
		ctx, end := to.Hook(ctx, string(in.Event), string(e.Handler.Type), e.Owner)
		return ctx, func(r hookexec.Result) { end(r.Verdict, r.Err) }
	}
}
