package permission

import (
	"slices"
	"strings"
)

// subcommands are programs whose first argument says what they do, so that a
// rule for all of the program would be too wide.
var subcommands = set("git npm pnpm yarn bun deno go cargo docker podman kubectl helm terraform pip pip3 uv poetry brew apt " +
	"apt-get systemctl gh glab mvn gradle dotnet bundle rails composer aws gcloud az rustup nix")

// suggest returns rules that together would allow the request; nil when no
// rule would.
func (d *decider) suggest(v *verdict, all []verdict) []string {
	switch d.req.Tool {
	case bashTool:
		return d.suggestShell(all)
	case "Skill":
		if id := d.req.Input.Skill; id != "" {
			return checked("Skill("+id+")", "Skill("+id+":*)")
		}
		return nil
	case "Agent", "Task":
		return checked(d.req.Tool + "(" + d.req.Input.Agent + ")")
	case "WebFetch":
		if host := hostOf(d.req.Input.URL); host != "" {
			return checked("WebFetch(domain:" + host + ")")
		}
		return nil
	}
	if isPathTool(d.req.Tool) {
		return v.part.place.suggest(d.req.Tool)
	}
	return checked(d.req.Tool)
}

// suggestShell gives one rule for each part that lacks one. Where a part
// cannot be allowed by itself, the line as it stands can.
func (d *decider) suggestShell(all []verdict) []string {
	var out []string
	whole := false
	for i := range all {
		p := all[i].part
		if all[i].Verdict != Ask {
			continue
		}
		var s []string
		switch {
		case all[i].rule != nil || p.unread || p.blind != "" && d.rules.refusesSome(bashTool) || p.firm != "":
			return nil // no rule would help
		case p.loose != "":
		case p.tool != bashTool:
			s = p.place.suggest(p.tool)
		case p.cmd != nil:
			s = p.cmd.suggest()
		}
		whole = whole || s == nil
		for _, one := range s {
			if !slices.Contains(out, one) {
				out = append(out, one)
			}
		}
	}
	if whole {
		return d.wholeLine(all[0].part.line)
	}
	return out
}

func (d *decider) wholeLine(line string) []string {
	if strings.Contains(line, "*") {
		return nil // it would be read as a wildcard
	}
	return checked("Bash(" + line + ")")
}

// suggest returns the rule for a command: its program, with the subcommand
// where there is one, and any arguments.
func (c *command) suggest() []string {
	if c.demand.away {
		return nil // the whole line says where it runs
	}
	words := c.forms[len(c.forms)-1]
	if c.whole || !plainWord(words[0]) {
		if strings.Contains(c.text, "*") {
			return nil
		}
		return checked("Bash(" + c.text + ")")
	}
	rule := words[0].value
	if subcommands[rule] && len(words) > 1 && plainWord(words[1]) && words[1].value[0] != '-' {
		rule += " " + words[1].value
	}
	return checked("Bash(" + rule + ":*)")
}

// plainWord reports whether a word can stand in a rule without quotes.
func plainWord(w word) bool {
	return w.static && w.value != "" && !strings.ContainsFunc(w.value, func(c rune) bool {
		return c <= ' ' || strings.ContainsRune("\"'`\\$*?[]{}()<>|&;~#!", c)
	})
}

// suggest returns the path rule for exactly this place.
func (p place) suggest(tool string) []string {
	if p.unknown || len(p.paths) == 0 {
		return nil
	}
	if slices.Contains(editTools, tool) {
		tool = "Edit"
	} else {
		tool = "Read"
	}
	for _, one := range p.paths[1:] {
		if one != p.paths[0] {
			return nil // one rule cannot cover all the places it may be
		}
	}
	if strings.ContainsAny(p.paths[0], `*?[]\{}`) || strings.HasSuffix(p.paths[0], " ") {
		return nil
	}
	return checked(tool + "(/" + p.paths[0] + ")")
}

// checked leaves out what would not be read back as the same rule.
func checked(rules ...string) []string {
	var out []string
	for _, text := range rules {
		if _, err := ParseRule(text); err == nil {
			out = append(out, text)
		}
	}
	return out
}
