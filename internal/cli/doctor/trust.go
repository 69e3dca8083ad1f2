package doctor

import (
	"context"
	"fmt"

	"github.com/knack-skills/knack"
)

// approvals counts the skills of this workspace that are approved for good.
func approvals(e *knack.Engine) Finding {
	f := Finding{Area: "trust", Name: "approvals", Status: "ok"}
	list, err := e.Approvals().List(context.Background())
	if err != nil {
		f.Status, f.Detail, f.Fix = "bad", err.Error(), "remove the damaged file; you are asked about its skill again"
		return f
	}
	here := 0
	for _, r := range list {
		if r.Workspace == e.ProjectDir() {
			here++
		}
	}
	f.Detail = fmt.Sprintf("%d skills are approved for good here", here)
	if here > 0 {
		f.Detail += " (`knack permissions approvals`)"
	}
	return f
}
