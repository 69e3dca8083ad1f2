package chat

import (
	"cmp"
	"path/filepath"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/skill"
)

func (h *Host) noBypass() bool { return h.Engine.Settings().DisableBypassPermissionsMode == "disable" }

// mode is what the flag says, else the settings (spec S-10).
func (h *Host) mode() (agent.Mode, error) {
	mode := cmp.Or(h.o.Mode, agent.Mode(h.Engine.Settings().Permissions.DefaultMode), agent.ModeDefault)
	if mode != agent.ModeBypass || !h.noBypass() {
		return mode, nil
	}
	if h.o.Mode == agent.ModeBypass {
		return "", output.Usagef("--permission-mode: bypassPermissions is disabled by the setting disableBypassPermissionsMode")
	}
	h.problem = append(h.problem, skill.Problem{Code: "bad-value", Severity: skill.Warning,
		Message: "permissions.defaultMode is bypassPermissions, which disableBypassPermissionsMode forbids; the mode is default",
		Fix:     "remove defaultMode"})
	return agent.ModeDefault, nil
}

func (h *Host) spill() string { return SpillDir(h.Engine) }

// SpillDir is where results of a session that are too long are saved; empty
// without a state directory.
func SpillDir(e *knack.Engine) string {
	dir := e.TrustStore().Dir
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "output", e.Session().ID)
}

// InitialPrompt is what the type of the main agent begins a new session with
// (spec I-1).
func (h *Host) InitialPrompt() string {
	if h.main == nil || len(h.Talk.History()) > 0 {
		return ""
	}
	return h.main.Run.InitialPrompt
}
