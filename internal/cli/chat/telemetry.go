package chat

import (
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
