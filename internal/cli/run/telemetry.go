package run

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/knack-skills/knack/internal/cli/version"
	"github.com/knack-skills/knack/internal/otlp"
	"github.com/knack-skills/knack/text"
)

// flushFor is how long the end of a run waits for a collector.
const flushFor = time.Second

// export begins to collect telemetry, if the environment says where to send it
// (spec I-13). end sends what is left; that a collector cannot be reached is
// said with -v alone, since it is nothing that the person did.
func (o *Options) export(getenv func(string) string, stderr io.Writer) (to *otlp.Exporter, end func()) {
	config, err := otlp.FromEnv(getenv)
	if err != nil {
		fmt.Fprintln(stderr, "notice: "+text.TerminalBlock(err.Error()))
	}
	if !config.On() {
		return nil, func() {}
	}
	config.Resource = append(config.Resource, otlp.Attribute{Key: "service.version", Value: version.Version})
	to = otlp.Start(config, nil)
	return to, func() {
		ctx, stop := context.WithTimeout(context.Background(), flushFor)
		defer stop()
		if err := to.Close(ctx); err != nil && o.Flags.Verbose {
			fmt.Fprintln(stderr, "notice: "+text.Terminal(err.Error()))
		}
	}
}
