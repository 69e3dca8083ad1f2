package knack

import "github.com/knack-skills/knack/catalog"

// OnChange calls f with every later snapshot; see [catalog.Catalog.OnChange].
func (e *Engine) OnChange(f func(*catalog.Snapshot)) { e.catalog.OnChange(f) }
