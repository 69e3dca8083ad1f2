package plugin

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/skill"
)

// TestRead covers what a plugin brings besides skills (spec X-1).
func TestRead(t *testing.T) {
	const hooks = `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}}`
	tests := []struct {
		name     string
		files    map[string]string
		hooks    int
		servers  string
		problems string
	}{
		{"none", map[string]string{"skills/s/SKILL.md": described}, 0, "", ""},
		{"files", map[string]string{"hooks/hooks.json": hooks, ".mcp.json": `{"mcpServers": {"a": {"command": "x"}}}`}, 1, "a", ""},
		{"flat servers", map[string]string{".mcp.json": `{"$schema": "x", "a": {"command": "x"}, "b": {"url": "y"}}`}, 0, "a b", ""},
		{"inline", map[string]string{manifestFile: `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}, "mcpServers": {"a": {"command": "x"}}}`}, 1, "a", ""},
		{"paths are added", map[string]string{manifestFile: `{"hooks": "./more.json", "mcpServers": "./servers.json"}`,
			"hooks/hooks.json": hooks, "more.json": hooks, ".mcp.json": `{"a": {}}`, "servers.json": `{"mcpServers": {"b": {}}}`}, 2, "a b", ""},
		{"the standard file, named", map[string]string{manifestFile: `{"hooks": "./hooks/hooks.json"}`, "hooks/hooks.json": hooks}, 1, "", ""},
		{"lists", map[string]string{manifestFile: `{"hooks": ["./one.json", {"Stop": [{"hooks": [{"type": "command", "command": "b"}]}]}], "mcpServers": ["./s.json", 7]}`,
			"one.json": hooks, "s.json": `{"a": {}}`}, 2, "a", "plugin-part"},
		{"paths out", map[string]string{manifestFile: `{"hooks": "../x.json", "mcpServers": "/etc/passwd"}`}, 0, "", "plugin-path plugin-path"},
		{"links out", map[string]string{"hooks/hooks.json -> /etc/passwd": "", ".mcp.json -> /etc/passwd": ""}, 0, "", "plugin-part plugin-part"},
		{"broken files", map[string]string{"hooks/hooks.json": `{`, ".mcp.json": `[]`, "skills/s/SKILL.md": described}, 0, "", "plugin-part plugin-part"},
		{"broken hook", map[string]string{"hooks/hooks.json": `{"hooks": {"Nope": [], "Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}}`}, 1, "", "hook-unknown-event"},
		{"broken server", map[string]string{".mcp.json": `{"a": 7, "b": {}}`}, 0, "b", "plugin-part"},
		{"an option in a shell", map[string]string{"hooks/hooks.json": `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x ${user_config.k}"},
			{"type": "command", "command": "x", "args": ["${user_config.k}"]}]}]}}`}, 2, "", "plugin-part"},
		{"missing file", map[string]string{manifestFile: `{"hooks": "./gone.json"}`}, 0, "", "plugin-path"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, problems := Read(tree(t, tt.files), nil)
			if m == nil {
				t.Fatal(problems)
			}
			n := 0
			for _, g := range m.Hooks {
				n += len(g.Handlers)
			}
			var codes []string
			for _, p := range problems {
				codes = append(codes, p.Code)
			}
			if servers := strings.Join(slices.Sorted(maps.Keys(m.Servers)), " "); n != tt.hooks || servers != tt.servers || strings.Join(codes, " ") != tt.problems {
				t.Errorf("%d hooks, servers %q, %v", n, servers, problems)
			}
		})
	}
}

// TestOptions reads what a plugin asks for, and needs (spec ).
func TestOptions(t *testing.T) {
	m, problems := Read(tree(t, map[string]string{manifestFile: `{"name": "p", "defaultEnabled": false,
		"userConfig": {"b": {"type": "number", "title": "B", "min": 1, "max": 2.5, "default": 2}, "a_1": {"type": "string", "sensitive": true, "multiple": true}},
		"dependencies": ["x", {"name": "y", "version": "^1", "marketplace": "m"}]}`}), nil)
	if m == nil || len(problems) > 0 || !m.DefaultOff {
		t.Fatal(m, problems)
	}
	if len(m.Options) != 2 || m.Options[0].Key != "a_1" || m.Options[0].Title != "a_1" || !m.Options[0].Sensitive || *m.Options[1].Max != 2.5 {
		t.Errorf("%+v", m.Options)
	}
	if !slices.Equal(m.Dependencies, []Dependency{{Name: "x"}, {Name: "y", Version: "^1", Marketplace: "m"}}) {
		t.Errorf("%+v", m.Dependencies)
	}
	for _, data := range []string{
		`{"userConfig": []}`, `{"userConfig": {"a": 1}}`, `{"userConfig": {"a": {"type": "text"}}}`, `{"userConfig": {"a-b": {"type": "string"}}}`,
		`{"userConfig": {"a": {"type": "string", "required": "yes"}}}`, `{"dependencies": "x"}`, `{"dependencies": [7]}`, `{"dependencies": ["../x"]}`,
		`{"hooks": 7}`, `{"mcpServers": true}`, `{"agents": {"a": 1}}`,
	} {
		if m, problems := Read(tree(t, map[string]string{manifestFile: data}), nil); m != nil || len(problems) != 1 || problems[0].Code != "plugin-manifest" {
			t.Errorf("%s: %v %v", data, m, problems)
		}
	}
}

// TestEntry lays an entry of a marketplace over the manifest (spec X-4).
func TestEntry(t *testing.T) {
	files := map[string]string{"skills/a/SKILL.md": described, "skills/b/SKILL.md": described, "pool/c/SKILL.md": described, "commands/x.md": described, "cmd/y.md": described}
	with := func(manifest string) map[string]string {
		all := maps.Clone(files)
		if manifest != "" {
			all[manifestFile] = manifest
		}
		return all
	}
	tests := []struct {
		name, manifest, fields string
		loose                  bool
		ids                    string
	}{
		{"nothing", "", `{}`, false, "e:a e:b e:x"},
		{"a list replaces discovery", "", `{"skills": ["./skills/b", "./pool"]}`, false, "e:b e:c e:x"},
		{"and adds to the manifest", `{"name": "p", "skills": "./pool"}`, `{"skills": ["./skills/a"]}`, false, "e:c e:a e:x"},
		{"commands add", `{"name": "p", "commands": "./cmd"}`, `{"commands": ["./commands"]}`, false, "e:a e:b e:y e:x"},
		{"everything is in the entry", "", `{"skills": ["./pool"], "commands": []}`, true, "e:c"},
		{"a manifest without parts is fine", `{"name": "p", "version": "1"}`, `{"skills": ["./pool"]}`, true, "e:c e:x"},
		{"a manifest with parts is not", `{"name": "p", "commands": "./cmd"}`, `{}`, true, ""},
		{"a wrong type", "", `{"skills": 7}`, false, ""},
	}
	for _, tt := range tests {
		entry := &Entry{Path: "marketplace.json", Fields: json.RawMessage(tt.fields), Loose: tt.loose}
		dir := tree(t, with(tt.manifest))
		skills, problems, err := Source{Name: "e", Dir: dir, Entry: entry}.Load(t.Context())
		must(t, err)
		var ids []string
		for _, s := range skills {
			ids = append(ids, s.ID)
		}
		if got := strings.Join(ids, " "); got != tt.ids || (tt.ids == "") != slices.ContainsFunc(problems, func(p skill.Problem) bool { return p.Code == "plugin-manifest" }) {
			t.Errorf("%s: %q, %v", tt.name, got, problems)
		}
	}
	m, _ := Read(tree(t, with(`{"agents": ["./agents/one.md"]}`)), nil)
	if m == nil || len(m.AgentPaths()) != 0 { // it is not there
		t.Errorf("%+v", m)
	}
	m, _ = Read(tree(t, files), nil)
	if m == nil || len(m.AgentPaths()) != 1 || m.AgentPaths()[0] != filepath.Join(m.Dir, "agents") || !m.Nameless {
		t.Errorf("%+v", m)
	}
}
