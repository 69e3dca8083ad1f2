package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/knack-skills/knack/internal/cli"
)

const generated = "<!-- Made by go run ./internal/lab/reference; changes here are lost. -->\n\n"

// commands describes the whole command tree.
func commands() string {
	root := cli.Root()
	// What cobra adds when a program runs belongs to the page as well.
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var b strings.Builder
	b.WriteString("# Commands\n\n" + generated)
	walk(root, func(c *cobra.Command) {
		fmt.Fprintf(&b, "- [%s](#%s): %s\n", c.CommandPath(), strings.ReplaceAll(c.CommandPath(), " ", "-"), c.Short)
	})
	walk(root, func(c *cobra.Command) { command(&b, c) })
	return b.String()
}

// walk calls visit for c and all that people see below it.
func walk(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			walk(sub, visit)
		}
	}
}

func command(b *strings.Builder, c *cobra.Command) {
	fmt.Fprintf(b, "\n## %s\n\n", c.CommandPath())
	long := c.Long
	if long == "" {
		long = c.Short + "."
	}
	// The shells' own pages start each line of an example with tabs.
	fmt.Fprintf(b, "%s\n\n```\n%s\n```\n", indentCode(strings.TrimSpace(long)), c.UseLine())
	if c.Example != "" {
		fmt.Fprintf(b, "\nExamples:\n\n```\n%s\n```\n", undent(c.Example))
	}
	own := c.NonInheritedFlags()
	if !c.HasParent() {
		table(b, "Flags", c.LocalNonPersistentFlags())
		table(b, "Flags of every command", c.PersistentFlags())
		return
	}
	table(b, "Flags", own)
}

// table lists flags. -h is everywhere and says nothing.
func table(b *strings.Builder, title string, flags *pflag.FlagSet) {
	var rows strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "`--" + f.Name
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		if value != "" {
			name += " " + value
		}
		if def := f.DefValue; def != "" && def != "false" && def != "[]" {
			usage += " (default `" + def + "`)"
		}
		fmt.Fprintf(&rows, "| %s` | %s |\n", name, cell(usage))
	})
	if rows.Len() > 0 {
		fmt.Fprintf(b, "\n%s:\n\n| flag | meaning |\n|---|---|\n%s", title, rows.String())
	}
}

// cell makes s fit into a cell of a table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(s)
}

func undent(s string) string {
	lines := strings.Split(strings.Trim(s, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}

// indentCode turns lines that start with a tab into Markdown code.
func indentCode(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "\t") {
			lines[i] = "    " + strings.TrimSpace(l)
		}
	}
	return strings.Join(lines, "\n")
}
