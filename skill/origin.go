package skill

// A Source is the mechanism that delivered a skill (spec C-1). Its text form
// is the value of "source" in every JSON output.
type Source string

// The sources, in default order of precedence (catalog/precedence.go decides).
const (
	Bundled    Source = "bundled"
	Managed    Source = "managed"
	User       Source = "user"
	Project    Source = "project"
	Additional Source = "additional"
	Legacy     Source = "legacy"
	Workflow   Source = "workflow"
	Plugin     Source = "plugin"
	MCP        Source = "mcp"
)

// Origin records provenance. Trust is decided from it and nothing else.
type Origin struct {
	Source Source
	Scope  Source // Legacy and Plugin: whose it is (User, Project, Additional; a plugin also Managed); otherwise empty
	Owner  string // plugin or MCP server name
	// OwnerDir is the directory of the plugin (spec P-7); empty without one.
	OwnerDir string
	Root     string // the skills directory it was found in, as scanned
	// Distance orders skills of one source: project roots by distance from the
	// working directory (0 is nearest), additional roots by flag order.
	Distance int
	Below    string // nested skills: slash-separated directory below the working directory (spec D-1)
	Category string // slash-separated path of category directories between Root and the skill
	Dir      string // directory of the skill as found (not resolved); empty if none
	Path     string // SKILL.md as found; empty if none
	Real     string // symlink-free Path; equal for one file reached twice (spec C-7)
	Device   uint64 // device and inode of the file; both zero when unknown
	Inode    uint64
	Linked   bool // reached through a link below Root
}

// Remote reports whether the text comes from another machine. Remote text
// never runs shell commands, never sees local paths and never registers hooks
// (spec C-13, X-7).
func (o Origin) Remote() bool { return o.Source == MCP }

// FromWorkspace reports whether the skill came with the repository, so that
// workspace trust decides what it may do (spec S-9).
func (o Origin) FromWorkspace() bool {
	switch o.Source {
	case Project, Additional, Workflow:
		return true
	case Legacy:
		return o.Scope != User
	}
	return false
}

// ShippedOrManaged reports whether the skill is exempt from switches that
// restrict other people's skills (spec P-13, S-6).
func (o Origin) ShippedOrManaged() bool { return o.Source == Bundled || o.Source == Managed }

// Administered reports whether the administrator put it there: as a skill, or in
// a plugin that managed settings switch on. Its hooks are managed ones (spec
// H-10); switches that restrict other people's skills still hold for a plugin.
func (o Origin) Administered() bool {
	return o.Source == Managed || o.Source == Plugin && o.Scope == Managed
}
