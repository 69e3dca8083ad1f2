//go:build unix

package cli_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/settings"
)

// A probe shows what a setting does: what it returns differs with the setting
// and without.
type probe struct {
	value string                       // of the setting, as JSON
	see   func(w *world) (seen string) // what becomes different
	set   func(w *world)               // what there is besides; nil is nothing
}

// minutes are what a model is told of the time of an invocation: it goes on
// between two runs.
var minutes = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d UTC`)

// seen is what a command prints.
func seen(args ...string) func(*world) string {
	return func(w *world) string { return w.run(args...).stdout }
}

func probes() map[string]probe {
	servers := `{"mcpServers":{"one":{"command":"touch","args":["served"]}}}`
	served := func(w *world) string {
		w.acts(nil, "-p", "go", "--trust")
		return fmt.Sprint(w.exists("served"))
	}
	long := func(w *world) {
		for _, name := range []string{"one", "two", "three"} {
			w.skill(name, described(name+strings.Repeat(" long", 60)))
		}
	}
	ranked := func(w *world) {
		long(w)
		w.run("render", "two")
		w.run("-p", "/two")
		w.run("-p", "/two")
	}
	compacted := func(w *world) string {
		w.requests(`{"steps":[{"text":"one"}]}`, "-p", "/aaa")
		w.requests(`{"steps":[{"text":"summary"}]}`, "-p", "/compact", "--continue")
		_, asked := w.requests(`{"steps":[{"text":"two"}]}`, "-p", "go on", "--continue")
		return fmt.Sprintf("%+v", asked[0].Messages)
	}
	echo := func(w *world) string {
		results, _ := w.acts([]string{bash(`echo "[$HOUSE]"`)}, "-p", "go", "--allowedTools", "Bash")
		return strings.Join(results, "")
	}
	script := func(w *world) { w.file("../script.json", `{"steps":[{"text":"SCRIPTED"}]}`) }
	return map[string]probe{
		"permissions.additionalDirectories": {value: `["../more"]`, see: seen("list"), set: func(w *world) {
			w.file("../more/.claude/skills/more/SKILL.md", described("more"))
		}},
		"disableBundledSkills":       {value: `true`, see: seen("list", "--by", "user")},
		"skillListing":               {value: `"ranked"`, set: ranked, see: seen("listing", "--settings", `{"skillListingBudget":700,"disableBundledSkills":true}`)},
		"skillListingBudget":         {value: `500`, set: long, see: seen("listing")},
		"skillListingBudgetFraction": {value: `0.0005`, set: long, see: seen("listing")},
		"skillListingMaxDescChars":   {value: `20`, set: long, see: seen("listing")},
		"afterCompaction":            {value: `"none"`, see: compacted},
		"argumentBase": {value: `1`, see: seen("render", "numbers", "a b"), set: func(w *world) {
			w.skill("numbers", "---\ndescription: d\narguments: [x, y]\n---\nFirst $1.\n")
		}},
		"skillKeywords": {value: `{"letsgo":"aaa"}`, see: seen("-p", "now letsgo please")},
		"model":         {value: `"scripted:../script.json"`, set: script, see: seen("-p", "hi")},
		"modelAliases":  {value: `{"ours":"offline"}`, see: seen("-p", "hi", "--model", "ours")},
		"effort": {value: `"high"`, see: seen("render", "tells"), set: func(w *world) {
			w.skill("tells", "---\ndescription: d\n---\nEffort ${CLAUDE_EFFORT}.\n")
		}},
		"enabledMcpjsonServers": {value: `["one"]`, see: served, set: func(w *world) { w.file(".mcp.json", servers) }},
		"disabledMcpjsonServers": {value: `["one"]`, see: served, set: func(w *world) {
			w.file(".mcp.json", servers)
			w.file("../managed/managed-settings.json", `{"enabledMcpjsonServers":["one"]}`)
		}},
		"mcpInline": {value: `true`, see: func(w *world) string {
			results, _ := w.acts([]string{skillCall("other:there", "")}, "-p", "go", "--allowedTools", "Skill", "--mcp-config",
				`{"mcpServers":{"other":{"command":"knack","args":["mcp","-C",`+quoted(w.path("../served"))+`]}}}`)
			return strings.Join(results, "")
		}, set: func(w *world) { w.file("../served/.claude/skills/there/SKILL.md", described("there")) }},
		"env": {value: `{"HOUSE":"ours"}`, see: echo},
		"permissions.ask": {value: `["Bash(ls *)"]`, see: func(w *world) string {
			results, _ := w.acts([]string{bash("ls .")}, "-p", "go")
			return strings.Join(results, "")
		}},
	}
}

// TestEverySettingCounts: each key of the type does something that can be seen.
// Those that the policy of the guide shows are proved there.
func TestEverySettingCounts(t *testing.T) {
	proved := map[string]bool{}
	for key := range promises() {
		name, _, _ := strings.Cut(strings.TrimPrefix(key, "incident: "), " ")
		proved[name] = true
		for i := range name {
			if name[i] == '.' {
				proved[name[:i]] = true // of an object
			}
		}
	}
	all := probes()
	for _, k := range settings.Keys() {
		p, ok := all[k.Name]
		switch {
		case !ok && !proved[k.Name]:
			t.Errorf("nothing shows that %s does anything", k.Name)
			continue
		case !ok:
			continue
		}
		delete(all, k.Name)
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			see := func(text string) string {
				w := newWorld(t)
				w.file("../home/.claude/settings.json", text)
				if p.set != nil {
					p.set(w)
				}
				return minutes.ReplaceAllString(strings.ReplaceAll(p.see(w), w.dir, "~"), "TIME")
			}
			text := p.value
			for _, part := range slices.Backward(strings.Split(k.Name, ".")) {
				text = "{" + quoted(part) + ":" + text + "}"
			}
			if !json.Valid([]byte(text)) {
				t.Fatal(text)
			}
			without, with := see(`{}`), see(text)
			if again := see(`{}`); again != without {
				t.Fatalf("it is not the same twice: %q and %q", without, again)
			}
			if with == without {
				t.Errorf("%s changes nothing: %q", text, with)
			}
		})
	}
	for key := range all {
		t.Errorf("there is no setting %s", key)
	}
}
