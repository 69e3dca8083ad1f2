// Package settings reads settings files into plain values, merges their levels
// (spec S-1, S-11), and keeps the answer to workspace trust (spec S-9).
package settings

import (
	"encoding/json"

	"github.com/knack-skills/knack/permission"
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

// Permissions is the "permissions" object.
type Permissions struct {
	Allow                 []string `json:"allow"`
	Ask                   []string `json:"ask"`
	Deny                  []string `json:"deny"`
	DefaultMode           string   `json:"defaultMode"`
	AdditionalDirectories []string `json:"additionalDirectories"`
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
	Env                             map[string]string `json:"env"`
	AllowManagedHooksOnly           *bool             `json:"allowManagedHooksOnly"`
	AllowManagedPermissionRulesOnly *bool             `json:"allowManagedPermissionRulesOnly"`
	StrictPluginOnlyCustomization   json.RawMessage   `json:"strictPluginOnlyCustomization"`
	DisableBypassPermissionsMode    string            `json:"disableBypassPermissionsMode"`
	StrictKnownMarketplaces         json.RawMessage   `json:"strictKnownMarketplaces"`
	BlockedMarketplaces             json.RawMessage   `json:"blockedMarketplaces"`
}

// A File is one settings file that was looked for.
type File struct {
	Level  Level
	Path   string
	Exists bool
	Values Values
}

// Sources says where settings are.
type Sources struct {
	Managed    []string // managed directories: managed-settings.json and managed-settings.d/*.json in each
	UserDir    string   // ~/.claude or what replaces it
	ProjectDir string   // the repository root or working directory that holds .claude
	Flag       string   // --settings FILE, or a JSON object
	Only       []Level  // --setting-sources; nil means all; managed and command line always apply
}

// Settings is the merged result. It is immutable.
type Settings struct {
	Values                   // merged: managed > command line > local > project > user
	Files    []File          // strongest first, also the missing ones
	Problems []skill.Problem // unknown keys (info), wrong types (error), unparseable files (error)
	Root     string          // what is trusted or not: the repository root, else the working directory
}

// Load reads all levels. A broken file costs only itself; a broken managed
// file fails closed (spec S-11).
func Load(src Sources) *Settings { panic("to be written") }

// From returns the path of the strongest file that sets key ("skillOverrides.deploy").
func (s *Settings) From(key string) string { panic("to be written") }

// Rules returns the merged permission rules. Allow rules of the project level
// and of the local level are left out until the workspace is trusted (spec
// S-9); deny and ask rules of all levels always hold. Rules that do not parse
// are problems.
func (s *Settings) Rules(trusted bool) (permission.Rules, []skill.Problem) { panic("to be written") }

// ArgumentBaseValue returns 0, 1 or -1 for auto (spec P-4).
func (s *Settings) ArgumentBaseValue() int { panic("to be written") }

// A TrustStore remembers which workspaces are trusted, in the state directory
// (spec S-9, M-5). It is safe for concurrent use, also by several processes.
type TrustStore struct{ Dir string }

// Trusted returns the stored answer for root; known is false when nobody was asked.
func (t TrustStore) Trusted(root string) (trusted, known bool, err error) { panic("to be written") }

// Store keeps the answer for root.
func (t TrustStore) Store(root string, trusted bool) error { panic("to be written") }

// StateDir returns $KNACK_STATE_DIR, else $XDG_STATE_HOME/knack, else
// ~/.local/state/knack (spec M-5).
func StateDir() (string, error) { panic("to be written") }
