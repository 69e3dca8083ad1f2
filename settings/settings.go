// Package settings reads settings files into plain values, merges their levels
// (spec S-1, S-11), and keeps the answer to workspace trust (spec S-9).
//
// What a file may say, who may say it, and what waits for trust stands in
// tables in policy.go. Nothing here runs, asks or decides anything.
package settings

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/skill"
)

// A Level is where a settings file stands (spec S-1), strongest first.
type Level string

// The levels.
const (
	ManagedLevel     Level = "managed"
	CommandLineLevel Level = "command-line"
	LocalLevel       Level = "local"
	ProjectLevel     Level = "project"
	UserLevel        Level = "user"
)

// fromWorkspace reports whether the file comes with the repository, so that
// workspace trust decides what it may do (spec S-9). The local file counts: a
// repository can carry one.
func (l Level) fromWorkspace() bool { return l == LocalLevel || l == ProjectLevel }

// Permissions is the "permissions" object.
type Permissions struct {
	Allow                 []string `json:"allow"`
	Ask                   []string `json:"ask"`
	Deny                  []string `json:"deny"`
	DefaultMode           string   `json:"defaultMode"`
	AdditionalDirectories []string `json:"additionalDirectories"` // absolute, "~" expanded
}

// Values is the typed schema of one settings file. Pointers are nil when the
// key is absent.
type Values struct {
	Permissions                     Permissions       `json:"permissions"`
	SkillOverrides                  map[string]string `json:"skillOverrides"`
	SkillPrecedence                 []string          `json:"skillPrecedence"`
	AllowBundledOverride            *bool             `json:"allowBundledOverride"`
	DisableBundledSkills            *bool             `json:"disableBundledSkills"`
	EnabledPlugins                  map[string]bool   `json:"enabledPlugins"`
	SkillListing                    string            `json:"skillListing"`       // equal or ranked
	SkillListingBudget              *int              `json:"skillListingBudget"` // characters
	SkillListingBudgetFraction      *float64          `json:"skillListingBudgetFraction"`
	SkillListingMaxDescChars        *int              `json:"skillListingMaxDescChars"`
	AfterCompaction                 string            `json:"afterCompaction"` // names, none or full
	ArgumentBase                    json.RawMessage   `json:"argumentBase"`    // 0, 1 or "auto"
	SkillKeywords                   map[string]string `json:"skillKeywords"`
	DisableSkillShellExecution      *bool             `json:"disableSkillShellExecution"`
	DisableAllHooks                 *bool             `json:"disableAllHooks"`
	Hooks                           json.RawMessage   `json:"hooks"`
	Model                           string            `json:"model"`
	ModelAliases                    map[string]string `json:"modelAliases"`
	Effort                          string            `json:"effort"`
	Sandbox                         string            `json:"sandbox"` // off, on or required
	MCPInline                       *bool             `json:"mcpInline"`
	EnabledMcpjsonServers           []string          `json:"enabledMcpjsonServers"`
	DisabledMcpjsonServers          []string          `json:"disabledMcpjsonServers"`
	Env                             map[string]string `json:"env"`
	AllowManagedHooksOnly           *bool             `json:"allowManagedHooksOnly"`
	AllowManagedPermissionRulesOnly *bool             `json:"allowManagedPermissionRulesOnly"`
	StrictPluginOnlyCustomization   json.RawMessage   `json:"strictPluginOnlyCustomization"`
	DisableBypassPermissionsMode    string            `json:"disableBypassPermissionsMode"`
	StrictKnownMarketplaces         json.RawMessage   `json:"strictKnownMarketplaces"`
	BlockedMarketplaces             json.RawMessage   `json:"blockedMarketplaces"`
}

// A File is one settings file that was looked for. Its values are those that
// hold: what has the wrong type or may not be said at its level is left out.
type File struct {
	Level  Level
	Path   string
	Exists bool
	Values Values

	// places has the position of each key that holds, and of list items by
	// number: "permissions.allow", "permissions.allow[2]", "env.PATH".
	places  map[string]place
	hooks   hook.Config
	refused bool // it could not be read; nothing in it counts
}

// A place is a position in a file, both from 1, the column in characters.
type place struct{ line, column int }

// Sources says where settings are.
type Sources struct {
	Managed    []string // managed directories: managed-settings.json and managed-settings.d/*.json in each
	UserDir    string   // ~/.claude or what replaces it
	ProjectDir string   // the repository root or working directory that holds .claude
	WorkDir    string   // below ProjectDir: its files, and those of the directories between, count too; empty means none
	Flag       string   // --settings FILE, or a JSON object
	Only       []Level  // --setting-sources; nil means all; managed and command line always apply
	Home       string   // what "~" stands for; empty means the home directory of the user

	// Before is what the same process loaded before. A file that could be read
	// then, and cannot be now, still says what it said; a managed one fails closed.
	Before *Settings
	// Held are files that say what they said in Before, whatever they hold now.
	// Managed ones are not held.
	Held []string
}

// Settings is the merged result. It is immutable.
type Settings struct {
	Values                   // merged: managed > command line > local > project > user; see [Settings.ForTrust]
	Files    []File          // strongest first, also the missing ones
	Problems []skill.Problem // unknown keys (info), wrong types (error), unparseable files (error)
	Root     string          // what is trusted or not: the repository root, else the working directory

	src     Sources
	trusted bool
	found   []skill.Problem // Problems without those about trust
}

// ManagedParts is the directory, in a managed one, of further settings files.
const ManagedParts = "managed-settings.d"

// Load reads all levels. A broken file costs only itself; a broken managed
// file fails closed (spec S-11). The result is that of a workspace that is not
// trusted; see [Settings.ForTrust].
func Load(src Sources) *Settings {
	s := &Settings{Root: src.ProjectDir, src: src}
	l := loader{src: src}
	l.managed()
	l.flag()
	dirs := src.projectDirs()
	for _, d := range dirs {
		l.file(LocalLevel, filepath.Join(d, ".claude", "settings.local.json"))
	}
	for _, d := range dirs {
		if project := filepath.Join(d, ".claude", "settings.json"); !src.isUserFile(project) {
			l.file(ProjectLevel, project)
		}
	}
	if src.UserDir != "" {
		l.file(UserLevel, filepath.Join(src.UserDir, "settings.json"))
	}
	s.Files, s.found = l.files, l.problems
	return s.ForTrust(false)
}

// projectDirs are the directories whose files are the project's, nearest first.
// A part of a repository has the skills of every directory on the way up (spec
// C-2), so what it says about permissions must not be passed over there.
func (src Sources) projectDirs() []string {
	if src.ProjectDir == "" {
		return nil
	}
	rel, err := filepath.Rel(src.ProjectDir, src.WorkDir)
	if src.WorkDir == "" || err != nil || rel == "." || !filepath.IsLocal(rel) {
		return []string{src.ProjectDir}
	}
	var dirs []string
	for d := filepath.Clean(src.WorkDir); len(d) > len(filepath.Clean(src.ProjectDir)); d = filepath.Dir(d) {
		dirs = append(dirs, d)
	}
	return append(dirs, src.ProjectDir)
}

// ForTrust returns the settings as they are in a workspace that is trusted or
// not (spec S-9). Until it is, some keys of the project and of the local level
// are left out (policy.go lists them) and named in Problems. s is not changed.
func (s *Settings) ForTrust(trusted bool) *Settings {
	out := &Settings{Files: s.Files, Root: s.Root, src: s.src, trusted: trusted, found: s.found}
	out.Values = mergeFiles(s.Files, trusted)
	out.Problems = slices.Clone(s.found)
	if onlyManaged(s.Files) {
		out.Problems = append(out.Problems, notInForce(s.Files, rulesOnly, "setting-not-managed",
			"managed settings let only their own allow rules count (allowManagedPermissionRulesOnly)",
			"ask the administrator to add it to the managed settings")...)
	}
	if !trusted {
		out.Problems = append(out.Problems, notInForce(s.Files, waiting, "setting-untrusted", "the workspace is not trusted", fixTrust)...)
	}
	slices.SortStableFunc(out.Problems, skill.CompareProblems)
	return out
}

// From returns the path of the strongest file that sets key
// ("skillOverrides.deploy"), or "". A file whose word does not hold, because of
// its level or of trust, does not count.
func (s *Settings) From(key string) string {
	for i := range s.Files {
		f := &s.Files[i]
		if _, ok := f.places[key]; ok && s.holds(f, key) {
			return f.Path
		}
	}
	return ""
}

// holds reports whether what f says about key is what the merged values say.
func (s *Settings) holds(f *File, key string) bool {
	if skips(f, s.trusted, onlyManaged(s.Files))(key) {
		return false
	}
	switch key {
	case keySandbox:
		return f.Values.Sandbox == s.Sandbox
	case keyNoShell:
		return *f.Values.DisableSkillShellExecution == *s.DisableSkillShellExecution
	}
	return true
}

// ArgumentBaseValue returns 0, 1 or -1 for auto (spec P-4).
func (s *Settings) ArgumentBaseValue() int {
	switch string(s.ArgumentBase) {
	case "1":
		return 1
	case `"auto"`:
		return -1
	}
	return 0
}
