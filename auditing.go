package knack

import (
	"github.com/knack-skills/knack/audit"
)

// openAudit decides where the records of this engine go (spec S-12): to the
// host's own sink, or into the log of the state directory. Without either there
// is no log.
func (e *Engine) openAudit() {
	if e.audit = e.opts.Audit; e.audit != nil {
		return
	}
	path := e.stateDir(audit.FileName)
	if path == "" {
		return
	}
	e.log = &audit.Log{Path: path}
	e.audit = audit.Tell(e.log, func(err error) {
		if e.opts.AuditLost != nil {
			e.opts.AuditLost(err)
		}
	})
}

// Audit returns where what is decided and run in this workspace is written
// down; nil if nowhere.
func (e *Engine) Audit() audit.Sink { return e.audit }
