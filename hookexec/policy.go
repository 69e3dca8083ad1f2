package hookexec

// Facts say where a hook comes from, as its loader recorded it. Nothing here is
// worked out from a name: a skill may call itself "plugin:x".
type Facts struct {
	Managed   bool // of managed settings, a managed skill, or a plugin that managed settings enable
	Bundled   bool // of a skill that ships with the program
	Plugin    bool // of a plugin, or of a skill or agent in one
	Workspace bool // it, or the skill, agent or plugin that declares it, came with the workspace
	Remote    bool // of a skill that an MCP server offers
}

// Policy is what settings and trust say of hooks (spec H-10).
type Policy struct {
	Trusted         bool // the workspace is
	ManagedOnly     bool // allowManagedHooksOnly
	Disabled        bool // disableAllHooks, of any level
	DisabledManaged bool // disableAllHooks of the managed settings
	PluginOnly      bool // strictPluginOnlyCustomization for hooks
}

// refusals are tried in order; the first one that holds decides.
var refusals = []struct {
	why   string
	holds func(f Facts, p Policy) bool
}{
	{"hooks of skills from MCP servers are never registered",
		func(f Facts, _ Policy) bool { return f.Remote }},
	{"disableAllHooks is set by the administrator",
		func(_ Facts, p Policy) bool { return p.DisabledManaged }},
	{"disableAllHooks is set",
		func(f Facts, p Policy) bool { return p.Disabled && !f.Managed }},
	{"allowManagedHooksOnly is set by the administrator",
		func(f Facts, p Policy) bool { return p.ManagedOnly && !f.Managed && !f.Bundled }},
	{"strictPluginOnlyCustomization is set by the administrator",
		func(f Facts, p Policy) bool { return p.PluginOnly && !f.Managed && !f.Bundled && !f.Plugin }},
	{"the workspace is not trusted",
		func(f Facts, p Policy) bool { return !p.Trusted && f.Workspace && !f.Managed }},
}

// Admit reports whether a hook of a level may run, or why not (spec H-10).
// Managed hooks yield to managed settings alone. The level adds to the facts:
// managed hooks are managed, and project and local settings lie in the
// workspace.
func Admit(level string, f Facts, p Policy) (ok bool, why string) {
	f.Managed = f.Managed || level == Managed
	f.Plugin = f.Plugin || level == Plugin
	f.Workspace = f.Workspace || level == Project || level == Local
	for _, r := range refusals {
		if r.holds(f, p) {
			return false, r.why
		}
	}
	return true, ""
}
