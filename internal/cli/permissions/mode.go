package permissions

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/permission"
)

// free and readOnly are the tools whose plans say so (agent.Plan).
var (
	free     = []string{"Agent", "Task"}
	readOnly = []string{"Agent", "Task", "Read", "Glob", "Grep", "LS", "NotebookRead", "WebFetch", "Skill"}
)

// modeOf is the mode in force and where it comes from: the flag, then the
// settings (spec S-10).
func modeOf(e *knack.Engine, flag string) (mode agent.Mode, from string, err error) {
	if flag != "" && !slices.Contains(agent.Modes(), agent.Mode(flag)) {
		return "", "", output.Usagef("--permission-mode: %q is none of %v", flag, agent.Modes())
	}
	set := e.Settings()
	mode, from = agent.Mode(flag), "--permission-mode"
	if mode == "" {
		mode, from = agent.Mode(set.Permissions.DefaultMode), set.From("permissions.defaultMode")
	}
	mode = cmp.Or(mode, agent.ModeDefault)
	if mode != agent.ModeBypass || set.DisableBypassPermissionsMode != "disable" {
		return mode, from, nil
	}
	if flag != "" {
		return "", "", output.Usagef("--permission-mode: bypassPermissions is disabled by the setting disableBypassPermissionsMode")
	}
	return agent.ModeDefault, set.From("disableBypassPermissionsMode"), nil
}

// applyMode adds what the mode makes of a decision, as the last step.
func applyMode(d permission.Decision, mode agent.Mode, from, tool string, r permission.Request) permission.Decision {
	if mode == agent.ModeDefault && !slices.Contains(free, tool) {
		return d
	}
	after := mode.Judge(d, agent.Plan{Ask: r, Free: slices.Contains(free, tool), ReadOnly: slices.Contains(readOnly, tool)})
	changed := after.Verdict != d.Verdict
	if !changed && mode == agent.ModeDefault {
		return d
	}
	step := permission.Try{List: "mode", Rule: permission.Rule{Text: string(mode), From: from}, Matched: changed, Part: tool}
	if changed {
		if after.Reason == d.Reason {
			after.Reason = fmt.Sprintf("the mode %s makes this %s: %s", mode, after.Verdict, d.Reason)
		}
		after.Rule = nil
	}
	after.Tried = append(slices.Clone(d.Tried), step)
	return after
}
