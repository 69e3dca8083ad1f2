package plugin

import (
	"fmt"
	"strings"

	"github.com/knack-skills/knack/internal/cli/ask"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/plugin"
)

// maxShown is how many lines of one kind are shown before consent.
const maxShown = 30

// summary is what a person is shown before they agree: everything that it brings,
// what runs first.
func summary(p *plugin.Prepared) string {
	var b strings.Builder
	r, brings := p.Record, p.Brings
	verb := "installs"
	if p.Before != nil {
		verb = "replaces " + p.Before.Version + " of"
	}
	fmt.Fprintf(&b, "This %s the plugin %s, version %s\n", verb, show(r.ID), show(r.Version))
	b.WriteString(ask.Lines("from ", 3, r.From()))
	if brings.Description != "" {
		b.WriteString(ask.Lines("", 4, brings.Description))
	}
	fmt.Fprintf(&b, "%d files, %s\n", brings.Files, size(brings.Bytes))
	for _, part := range []struct {
		title string
		items []string
	}{
		{"Hooks, which run by themselves:", brings.Hooks}, {"MCP servers, which are started or called:", brings.Servers},
		{"Skills:", brings.Skills}, {"Commands:", brings.Commands}, {"Agents:", brings.Agents}, {"Left out:", brings.Skipped},
	} {
		if len(part.items) > 0 {
			b.WriteString(part.title + "\n" + ask.Lines("  ", maxShown, part.items...))
		}
	}
	if len(brings.Options) > 0 {
		var options []string
		for _, o := range brings.Options {
			words := []string{o.Type}
			if o.Required {
				words = append(words, "required")
			}
			if o.Sensitive {
				words = append(words, "secret")
			}
			options = append(options, fmt.Sprintf("%s: %s (%s)", o.Key, o.Title, strings.Join(words, ", ")))
		}
		b.WriteString("Options, with --config KEY=VALUE:\n" + ask.Lines("  ", maxShown, options...))
	}
	for _, problem := range brings.Problems {
		b.WriteString(output.Problem(problem) + "\n")
	}
	return b.String()
}

func show(s string) string { return strings.TrimSuffix(ask.Lines("", 1, s), "\n") }

func size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", (n+1023)>>10)
	}
	return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20)
}

// consent asks the person, unless --yes says that they agree.
func (p place) consent(text, question string) error {
	if p.o.yes {
		if !p.o.flags.JSON {
			fmt.Fprint(p.cmd.ErrOrStderr(), text)
		}
		return nil
	}
	t := ask.Open(p.cmd.ErrOrStderr(), p.o.flags.NoColor)
	if t == nil {
		fmt.Fprint(p.cmd.ErrOrStderr(), text)
		return &output.DeniedError{Text: "nobody can be asked here; read what it brings, and say --yes if you agree"}
	}
	defer t.Close()
	yes, _, err := t.Confirm(p.cmd.Context(), text, question)
	if err != nil {
		return err
	}
	if !yes {
		return &output.DeniedError{Text: "nothing was changed"}
	}
	return nil
}
