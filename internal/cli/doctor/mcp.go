package doctor

import (
	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/internal/cli/servers"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/mcpclient"
)

// mcpServers says how each MCP server is, and which ones wait for the person.
func mcpServers(e *knack.Engine, f *workspace.Flags, set *servers.Set) (out []Finding) {
	for _, s := range set.Status() {
		r := Finding{Area: "mcp", Name: s.Name, Status: "ok", Detail: "connected (" + string(s.Scope) + ")"}
		switch s.Status {
		case mcpclient.Connected:
			if set.SignedIn(s.Name) {
				r.Detail = "connected (" + string(s.Scope) + "), and you are signed in"
			}
		case mcpclient.Connecting:
			r.Status, r.Detail, r.Fix = "missing", "it has not answered yet", "try again, or start it by hand to see what it says"
		default:
			r.Status, r.Detail, r.Fix = "missing", "not available: "+s.Error, "start it by hand to see what it says"
			if s.Denied {
				r.Fix = "do what it says; `knack mcp login` signs in at servers that issue tokens"
			}
		}
		out = append(out, r)
	}
	for _, s := range e.MCPServers(f.MCPConfig).Waiting {
		out = append(out, Finding{Area: "mcp", Name: s.Name, Status: "missing", Detail: "waits for approval: " + servers.Starts(s),
			Fix: "read " + s.Path + ", then `knack mcp approve " + s.Name + "`"})
	}
	return out
}
