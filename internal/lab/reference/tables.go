package main

import (
	"fmt"
	"strings"

	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/lint"
	"github.com/knack-skills/knack/settings"
)

// fields describes the frontmatter.
func fields() string {
	var b strings.Builder
	b.WriteString("# Frontmatter fields\n\n" + generated)
	b.WriteString(`Each field is optional. A key may be written in kebab, snake or camel case; the
spelling here is the usual one. Empty and ` + "`null`" + ` mean the same as an absent
field. Booleans take true, false, yes, no, on, off, 1 and 0 in any case, quoted
or not. Unknown keys are kept and shown by ` + "`knack show`" + `.

A field marked *guards* restricts or grants: when its value cannot be read, the
skill loads and no model may start it.

`)
	b.WriteString("| field | value | without it | meaning |\n|---|---|---|---|\n")
	for _, f := range frontmatter.KnownFields() {
		name := "`" + f.Name + "`"
		if f.Security {
			name += " *guards*"
		}
		unset := f.Default
		if unset == "" {
			unset = "–"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, cell(f.Value), cell(unset), cell(f.Meaning))
	}
	return b.String()
}

// codes describes what problems can be reported.
func codes() string {
	var b strings.Builder
	b.WriteString("# Problem codes\n\n" + generated)
	b.WriteString("Codes are stable: scripts and CI may rely on them. Each problem also has a\nseverity, a place and a fix.\n\n")
	b.WriteString("| code | reported by | meaning |\n|---|---|---|\n")
	for _, c := range lint.Codes() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.Name, reporters(c.From), cell(c.Meaning))
	}
	return b.String()
}

// reporters names packages; "." is the root one.
func reporters(from string) string {
	list := strings.Split(from, ", ")
	for i, p := range list {
		if p == "." {
			list[i] = "knack"
		}
	}
	return strings.Join(list, ", ")
}

// settingsPage describes the settings files.
func settingsPage() string {
	var b strings.Builder
	b.WriteString("# Settings\n\n" + generated)
	b.WriteString(`Settings are JSON objects in files, strongest first: managed
(` + "`managed-settings.d/*.json`, the later name first, then `managed-settings.json`" + `),
` + "`--settings`" + ` on the command line, local (` + "`.claude/settings.local.json`" + ` of the
project), project (` + "`.claude/settings.json`" + `), user (` + "`~/.claude/settings.json`" + `). A
single value comes from the strongest file that has one; objects are merged key
by key, and lists are joined.

*Trust* marks what waits, in the two files of the project, until the workspace is
trusted. *Later* marks what is read and checked and has no effect in this
release.

| key | type | who may set it | meaning |
|---|---|---|---|
`)
	for _, k := range settings.Keys() {
		name := "`" + k.Name + "`"
		if k.Trusted {
			name += " *trust*"
		}
		if k.Later {
			name += " *later*"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, cell(k.Type), cell(k.Who), cell(k.Meaning))
	}
	return b.String()
}
