package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/sandbox"
)

// sandboxes tries what the sandbox of this machine holds (spec S-13). What is
// not enforced is said; with all, every promise has a line.
func sandboxes(ctx context.Context, e *knack.Engine, all bool) ([]Finding, error) {
	box, ok := e.Env().Shell.(*sandbox.Sandbox)
	if !ok {
		return nil, nil // a host of its own
	}
	r, err := box.Probe(ctx)
	if err != nil {
		return nil, fmt.Errorf("trying the sandbox: %w", err)
	}
	out := []Finding{setting(e.Settings().Sandbox, r), selfTest(r)}
	for _, c := range r.Checks {
		f := Finding{Area: "sandbox", Name: string(c.Promise), Status: "ok", Detail: c.Detail}
		if !c.Enforced {
			f.Status, f.Detail = "missing", "not enforced: "+c.Detail
		}
		if all || !c.Enforced && r.Mechanism != "" {
			out = append(out, f)
		}
	}
	return out, nil
}

// setting says what follows from the setting here.
func setting(mode string, r sandbox.Report) Finding {
	f := Finding{Area: "sandbox", Name: "setting", Status: "ok"}
	refused := r.Unavailable()
	switch {
	case mode == "" || mode == string(sandbox.Off):
		f.Status, f.Detail = "missing", "off: commands run with your rights; permission rules decide what may start"
		f.Fix = `set "sandbox" to "on" or "required" to bind inline commands, hooks and Bash`
	case mode == string(sandbox.Required) && refused != nil:
		f.Status, f.Detail = "bad", refused.Error()
		f.Fix = "mend what the self-test names, or accept less with \"on\""
	case r.Mechanism == "":
		f.Status, f.Detail = "missing", mode+": there is no sandbox here, so commands run with your rights"
		f.Fix = `set "sandbox" to "required" to refuse them instead`
	default:
		f.Detail = mode + ": inline commands, hooks and Bash write in the workspace and their temporary directory only, without network"
	}
	return f
}

func selfTest(r sandbox.Report) Finding {
	f := Finding{Area: "sandbox", Name: "self-test", Status: "ok"}
	missing := len(r.Missing())
	switch {
	case r.Mechanism == "":
		f.Status, f.Detail = "missing", "nothing is enforced: "+strings.Join(r.Tried, "; ")
		f.Fix = "on Linux: allow user namespaces, install bubblewrap, or use a kernel with Landlock"
	case missing > 0:
		f.Status, f.Detail = "missing", fmt.Sprintf("%s: %d of %d promises hold (%s)",
			r.Mechanism, len(r.Checks)-missing, len(r.Checks), strings.Join(r.Tried, "; "))
	default:
		f.Detail = fmt.Sprintf("%s: all %d promises hold", r.Mechanism, len(r.Checks))
	}
	return f
}
