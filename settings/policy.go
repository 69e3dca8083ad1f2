package settings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/knack-skills/knack/skill"
)

// Keys that this package itself speaks of.
const (
	keySandbox     = "sandbox"
	keyNoShell     = "disableSkillShellExecution"
	keyNoBypass    = "disableBypassPermissionsMode"
	keyManagedHook = "allowManagedHooksOnly"
	keyManagedRule = "allowManagedPermissionRulesOnly"
	keyArgBase     = "argumentBase"
	keyHooks       = "hooks"
	keyPrecedence  = "skillPrecedence"
	keyDirectories = "permissions.additionalDirectories"
	keyDefaultMode = "permissions.defaultMode"
	keyPlugins     = "enabledPlugins"
	keyEnv         = "env"
	keyPluginOnly  = "strictPluginOnlyCustomization"
	keyMarkets     = "strictKnownMarketplaces"
	keyNoMarkets   = "blockedMarketplaces"
)

// A bound says which levels may set a key, or one value of it.
type bound struct {
	key    string
	value  string // empty means any
	levels []Level
	why    string
}

var (
	managedOnly = []Level{ManagedLevel}
	notProject  = []Level{ManagedLevel, CommandLineLevel, UserLevel}
)

// bounds lists what not every file may say. The local file is treated as the
// project's, because a repository can carry one. Not listed, although they are
// about safety, are keys that can only make things stricter at any level:
// disableBypassPermissionsMode has one value, and disableSkillShellExecution
// holds when any level says true.
var bounds = []bound{
	{keyManagedHook, "", managedOnly, "it is a policy of the organisation"},
	{keyManagedRule, "", managedOnly, "it is a policy of the organisation"},
	{keyPluginOnly, "", managedOnly, "it is a policy of the organisation"},
	{keyMarkets, "", managedOnly, "it is a policy of the organisation"},
	{keyNoMarkets, "", managedOnly, "it is a policy of the organisation"},
	// Instructions from another machine would enter the person's conversation (I-12).
	{"mcpInline", "", notProject, "a repository must not let MCP skills into your conversation"},
	// A repository must not start programs by its own word.
	{"enabledMcpjsonServers", "", notProject, "a repository must not approve the MCP servers that it brings"},
	// Asking for more is welcome; see raiseSandbox.
	{keySandbox, "off", notProject, "a repository must not switch your sandbox off"},
	{keyDefaultMode, "bypassPermissions", notProject, "a repository must not stop the questions"},
	// They are read by whatever starts, also by what puts a command into its sandbox (S-13).
	{"env.LD_*", "", notProject, "a repository must not load code into programs"},
	{"env.DYLD_*", "", notProject, "a repository must not load code into programs"},
}

// boundOf returns the bound that l violates by setting n to value.
func boundOf(n id, value string, l Level) (bound, bool) {
	for _, b := range bounds {
		prefix, wild := strings.CutSuffix(b.key, "*")
		if (b.key == n.rule || wild && strings.HasPrefix(n.key, prefix)) && (b.value == "" || b.value == value) {
			return b, !slices.Contains(b.levels, l)
		}
	}
	return bound{}, false
}

// restricting lists the keys that [Settings.Policies] tells of.
var restricting = []string{
	"skillOverrides", "disableBundledSkills", keyNoShell, "disableAllHooks", keySandbox, "disabledMcpjsonServers",
	keyManagedHook, keyManagedRule, keyPluginOnly, keyNoBypass, keyMarkets, keyNoMarkets,
}

// waiting lists keys of the project and local level that count only in a
// trusted workspace (spec S-9). Allow rules wait too: see [Settings.Rules].
var waiting = []string{
	keyDirectories,         // more files may be read and written
	keyDefaultMode,         // fewer questions are asked
	keyEnv,                 // PATH and the like decide what a command runs
	keyHooks,               // commands (H-10)
	"disableAllHooks",      // the person's own guards would go
	"allowBundledOverride", // a skill of the repository could pose as a bundled one (C-5)
	keyPrecedence,          // or as one of the person
	keyPlugins,             // plugins bring hooks and servers
	"skillKeywords",        // a word of the person would start a skill of the repository (I-1)
}

func waits(key string) bool { return under(waiting, key) }

// rulesOnly lists keys of the project and of the local level that do not count
// where only managed allow rules do, trusted or not: with PATH a repository
// would choose the program that an administrator allowed by its name (spec S-6).
var rulesOnly = []string{keyEnv}

// under reports whether key is one of the list, or lies in one.
func under(list []string, key string) bool {
	for _, w := range list {
		if key == w || strings.HasPrefix(key, w+".") || strings.HasPrefix(key, w+"[") {
			return true
		}
	}
	return false
}

// skips returns which keys of a file do not count: those that wait for trust, and
// those that an administrator keeps to himself.
func skips(f *File, trusted, managedRules bool) func(key string) bool {
	return func(key string) bool {
		return f.Level.fromWorkspace() && (!trusted && waits(key) || managedRules && under(rulesOnly, key))
	}
}

// onlyManaged reports whether a managed file lets only managed rules count.
func onlyManaged(files []File) bool {
	return slices.ContainsFunc(files, func(f File) bool {
		b := f.Values.AllowManagedPermissionRulesOnly
		return b != nil && *b // no other file may say it
	})
}

// notInForce names, for each file of the workspace, which keys of a list do not
// count, and why.
func notInForce(files []File, list []string, code, why, fix string) []skill.Problem {
	var problems []skill.Problem
	for _, f := range files {
		if !f.Level.fromWorkspace() {
			continue
		}
		var keys []string
		for _, w := range list {
			if _, ok := f.places[w]; ok {
				keys = append(keys, w)
			}
		}
		if len(keys) == 0 {
			continue
		}
		at := f.places[keys[0]]
		problems = append(problems, skill.Problem{
			Code: code, Severity: skill.Warning, Path: f.Path, Line: at.line, Column: at.column,
			Message: fmt.Sprintf("not in force, because %s: %s", why, strings.Join(keys, ", ")),
			Fix:     fix,
		})
	}
	return problems
}

const fixTrust = "read the settings, then trust the workspace: `knack doctor --trust`, or --trust for one run"

// choices lists the values of keys that have a fixed set. "*" stands for any
// key of an object or item of a list.
var choices = map[string][]string{
	"skillListing":     {"equal", "ranked"},
	"afterCompaction":  {"names", "none", "full"},
	keySandbox:         sandboxOrder,
	keyDefaultMode:     {"default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"},
	keyNoBypass:        {"disable"},
	"skillOverrides.*": {"on", "name-only", "user-invocable-only", "off"},
	keyPrecedence + ".*": {
		string(skill.Bundled), string(skill.Managed), string(skill.User), string(skill.Project), string(skill.Additional),
		string(skill.Legacy), string(skill.Workflow), string(skill.Plugin), string(skill.MCP),
	},
}

// customizations are the kinds that strictPluginOnlyCustomization may name.
var customizations = []string{"skills", "hooks", "agents", "mcp"}

// sandboxOrder is from the loosest to the strictest (spec S-13).
var sandboxOrder = []string{"off", "on", "required"}

// A limit is the range of a number, both ends included; above excludes min.
type limit struct {
	min, max float64
	above    bool
	say      string
}

// limits are the ranges of numbers (spec L-2).
var limits = map[string]limit{
	"skillListingBudget":         {min: 0, max: 1e9, say: "a number of characters from 0"},
	"skillListingMaxDescChars":   {min: 0, max: 1e9, above: true, say: "a number of characters from 1"},
	"skillListingBudgetFraction": {min: 0, max: 1, above: true, say: "a fraction above 0, at most 1"},
}

func (l limit) allows(f float64) bool { return f <= l.max && (f > l.min || !l.above && f == l.min) }

// failClosed is what a managed file means when it cannot be read (spec S-11),
// as JSON: bypass off, managed-only on.
var failClosed = map[string]string{
	keyManagedHook: "true",
	keyManagedRule: "true",
	keyNoBypass:    `"disable"`,
}

// failClosedKey is what one key of a managed file means when its value is
// wrong: the strictest thing its author can have meant.
var failClosedKey = map[string]string{
	keyManagedHook: "true",
	keyManagedRule: "true",
	keyNoBypass:    `"disable"`,
	keyNoShell:     "true",
	keySandbox:     `"required"`,
	keyPluginOnly:  "true",
	keyMarkets:     "[]",    // no marketplace at all
	keyNoMarkets:   `["*"]`, // every marketplace
}

// safeValues are what a value that nobody knows is taken for at any level:
// whoever wrote it wanted less than what holds without it (spec C-9, F-5).
var safeValues = map[string]string{
	"skillOverrides.*": `"user-invocable-only"`,
}

// aliases are other places where a key may stand.
var aliases = map[string]string{
	"permissions.disableBypassPermissionsMode": keyNoBypass,
}

// ignored are keys that mean nothing and are no mistake.
var ignored = []string{"$schema"}
