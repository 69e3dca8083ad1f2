package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack/internal/cli"
	measure "github.com/knack-skills/knack/text"
)

// TestHelpFits: every page of help fits into 80 columns and has an example
// (spec A-8).
func TestHelpFits(t *testing.T) {
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		args := append(strings.Fields(c.CommandPath())[1:], "--help")
		var out bytes.Buffer
		if code := cli.Main(args, strings.NewReader(""), &out, &out); code != 0 {
			t.Errorf("%q: exit %d", args, code)
		}
		for line := range strings.Lines(out.String()) {
			if w := measure.Width(strings.TrimRight(line, "\n")); w > 80 && !strings.HasPrefix(line, "Use \"") { // that one is the library's
				t.Errorf("%q: %d columns: %s", args, w, line)
			}
		}
		if c.Example == "" {
			t.Errorf("%q has no example", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(cli.Root())
}
