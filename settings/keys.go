package settings

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A Key describes one setting for people. The reference page is made of it.
type Key struct {
	Name    string // with its object: "permissions.allow"
	Type    string // what it takes
	Who     string // which files may set it
	Trusted bool   // in files of the workspace it waits for trust
	Meaning string // one sentence
	Later   bool   // it is read and checked, and has no effect in this release
}

// Keys lists every setting, in the order of [Values]. Callers own the result.
func Keys() []Key { return keysOf(reflect.TypeFor[Values](), "") }

func keysOf(t reflect.Type, prefix string) []Key {
	var out []Key
	for i, name := range names(t) {
		key, ft := prefix+name, t.Field(i).Type
		if ft.Kind() == reflect.Struct {
			out = append(out, keysOf(ft, key+".")...)
			continue
		}
		out = append(out, Key{
			Name: key, Type: typeOf(ft, key), Who: whoMaySet(key), Trusted: waits(key) || key == keyAllow,
			Meaning: keyMeanings[key], Later: slices.Contains(notYet, key),
		})
	}
	return out
}

// typeOf says what a key takes.
func typeOf(t reflect.Type, key string) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	items := ""
	if set, ok := choices[key+".*"]; ok {
		items = ", each one of " + quotedList(set)
	}
	switch l, bounded := limits[key]; {
	case key == keyArgBase:
		return "`0`, `1` or `\"auto\"`"
	case key == keyHooks:
		return "object"
	case key == keyPluginOnly:
		return "true or false, or a list of " + quotedList(customizations)
	case key == keyMarkets || key == keyNoMarkets:
		return "list of sources"
	case t == rawType:
		return "any JSON"
	case choices[key] != nil:
		return "one of " + quotedList(choices[key])
	case t == listType:
		return "list of texts" + items
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Bool:
		return "object of true or false"
	case t.Kind() == reflect.Map:
		return "object of texts" + items
	case t.Kind() == reflect.Bool:
		return "true or false"
	case bounded:
		return strings.TrimPrefix(l.say, "a ")
	}
	return "text"
}

func quotedList(set []string) string {
	out := make([]string, len(set))
	for i, s := range set {
		out[i] = "`" + s + "`"
	}
	return strings.Join(out, ", ")
}

// whoMaySet says it from the table of bounds.
func whoMaySet(key string) string {
	var parts []string
	for _, b := range bounds {
		if b.key != key {
			continue
		}
		who := strings.ReplaceAll(levelNames(b.levels), " or ", ", ")
		if b.value == "" {
			return "only " + who
		}
		parts = append(parts, fmt.Sprintf("`%s` only %s", b.value, who))
	}
	if len(parts) == 0 {
		return "anybody"
	}
	return "anybody; " + strings.Join(parts, "; ")
}

const keyAllow = "permissions.allow"

// notYet are the keys whose part of the program does not exist yet. They are
// read and checked, so that a file can be written for both.
var notYet = []string{}

// keyMeanings has one sentence for each key.
var keyMeanings = map[string]string{
	keyAllow:                     "What may be done without a question.",
	"permissions.ask":            "What always needs a question, whatever allows it.",
	"permissions.deny":           "What is never done; a deny anywhere holds.",
	keyDefaultMode:               "How much is done without a question when no rule decides.",
	keyDirectories:               "Further directories whose skills count and whose files belong to the workspace.",
	"skillOverrides":             "What is shown of a skill, by its id.",
	keyPrecedence:                "Who wins when two skills have one name; sources that are not named follow in the usual order.",
	"allowBundledOverride":       "Whether a managed, user or project skill may replace a bundled one of its name.",
	"disableBundledSkills":       "Whether the skills in the binary are left out.",
	keyPlugins:                   "Which installed plugins are on, by name or name@marketplace. It installs nothing.",
	"skillListing":               "How a listing over its budget is shared out: equally, or by rank.",
	"skillListingBudget":         "Fixed budget of the listing.",
	"skillListingBudgetFraction": "Budget of the listing as a part of the model's context window; 0.01 without it.",
	"skillListingMaxDescChars":   "How much of each description the listing shows; 250 without it.",
	"afterCompaction":            "What a model is told of the skills after its conversation was compacted.",
	keyArgBase:                   "Number of the first argument in `$N`; auto takes 1 for a text that uses $1 and never $0.",
	"skillKeywords":              "Skills that a word starts, with the message as arguments: a whole word of what the person writes, outside quotes and code.",
	keyNoShell:                   "Whether inline commands of skills are replaced by a note; true at any level holds. Bundled and managed skills are exempt.",
	"disableAllHooks":            "Whether no hook runs at all.",
	keyHooks:                     "Hooks of this level.",
	"model":                      "Model of the session.",
	"modelAliases":               "Names for models that a skill's `model` may use.",
	"effort":                     "Effort of the session, also `${CLAUDE_EFFORT}`.",
	keySandbox:                   "Whether inline commands, hooks and Bash run in a sandbox: `on` where there is one, with `required` not at all where it does not hold everything. The workspace can only ask for more.",
	"mcpInline":                  "Whether skills of MCP servers enter the conversation instead of running as forks.",
	"enabledMcpjsonServers":      "MCP servers of a repository's .mcp.json, by name, that are started without a question.",
	"disabledMcpjsonServers":     "MCP servers of a repository's .mcp.json, by name, that are never started.",
	keyEnv:                       "Environment variables of inline commands, hooks and Bash. A repository sets none whose name begins with LD_ or DYLD_, and none at all under allowManagedPermissionRulesOnly.",
	keyManagedHook:               "Whether only managed and bundled hooks run.",
	keyManagedRule:               "Whether only managed allow rules, and the grants of managed and bundled skills, count.",
	keyPluginOnly:                "Which kinds of customisation may come from plugins only.",
	keyNoBypass:                  "Whether the mode bypassPermissions is refused.",
	keyMarkets:                   "The only marketplaces that plugins may come from.",
	keyNoMarkets:                 "Marketplaces that plugins may not come from.",
}
