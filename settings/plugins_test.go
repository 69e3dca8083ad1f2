package settings

import (
	"os"
	"path/filepath"
	"testing"
)

// TestEnable: one plugin changes, and everything else stays as it is written.
func TestEnable(t *testing.T) {
	tests := []struct {
		name, before, id, value, want string
	}{
		{"no file", "", "a@m", "true", "{\n  \"enabledPlugins\": {\n    \"a@m\": true\n  }\n}\n"},
		{"first", "{ \"model\": \"x\" }\n", "a", "true", "{ \"enabledPlugins\": {\n    \"a\": true\n  }, \"model\": \"x\" }\n"},
		{"another", "{\"enabledPlugins\": {\"b\": true}}", "a", "false", "{\"enabledPlugins\": {\"a\": false, \"b\": true}}"},
		{"other value", "{\"enabledPlugins\": {\"a\" :  true , \"b\": true}}", "a", "false", "{\"enabledPlugins\": {\"a\" :  false , \"b\": true}}"},
		{"same value", "{\"enabledPlugins\":{\"a\":true}}", "a", "true", "{\"enabledPlugins\":{\"a\":true}}"},
		{"empty object", "{\"enabledPlugins\": {}}", "a", "true", "{\"enabledPlugins\": {\n    \"a\": true\n}}"},
		{"remove the only one", "{\"enabledPlugins\": {\"a\": true}}", "a", "", "{\"enabledPlugins\": {}}"},
		{"remove the first", "{\"enabledPlugins\": {\"a\": true, \"b\": true}}", "a", "", "{\"enabledPlugins\": { \"b\": true}}"},
		{"remove the last", "{\"enabledPlugins\": {\"a\": true, \"b\": true}}", "b", "", "{\"enabledPlugins\": {\"a\": true}}"},
		{"remove the middle", "{\"enabledPlugins\": {\"a\": true, \"b\": true, \"c\": false}}", "b", "", "{\"enabledPlugins\": {\"a\": true, \"c\": false}}"},
		{"remove what is not there", "{\"x\": 1}", "b", "", "{\"x\": 1}"},
	}
	for _, tt := range tests {
		dir := t.TempDir()
		w := Writer{Path: filepath.Join(dir, ".claude", "settings.json"), Lock: filepath.Join(dir, "lock")}
		if tt.before != "" {
			if err := os.MkdirAll(filepath.Dir(w.Path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(w.Path, []byte(tt.before), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		if tt.value == "" {
			err = w.Forget(tt.id)
		} else {
			err = w.Enable(tt.id, tt.value == "true")
		}
		got, rerr := os.ReadFile(w.Path)
		if err != nil || rerr != nil || string(got) != tt.want {
			t.Errorf("%s: %q, %v %v; want %q", tt.name, got, err, rerr, tt.want)
		}
	}
}

// TestEnableRefuses leaves alone what cannot be understood.
func TestEnableRefuses(t *testing.T) {
	for _, text := range []string{`{"enabledPlugins": [1]}`, `{"enabledPlugins": {"a": true, "a": true}, "b": }`, `[]`, `{"enabledPlugins": null}`} {
		path := filepath.Join(t.TempDir(), "settings.json")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		err := Writer{Path: path, Lock: path + ".lock"}.Enable("x", true)
		if got, rerr := os.ReadFile(path); err == nil || rerr != nil || string(got) != text {
			t.Errorf("%s: %v, %q %v", text, err, got, rerr)
		}
	}
}

// TestPluginOnly covers strictPluginOnlyCustomization (spec S-11): what it
// switches off, and that a wrong value in a managed file closes.
func TestPluginOnly(t *testing.T) {
	tests := []struct {
		value, kinds string
		problems     int
	}{
		{`true`, "skills hooks agents mcp", 0},
		{`false`, "", 0},
		{`["hooks", "mcp"]`, "hooks mcp", 0},
		{`[]`, "", 0},
		{`["hook"]`, "skills hooks agents mcp", 1},
		{`"skills"`, "skills hooks agents mcp", 1},
	}
	for _, tt := range tests {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "managed-settings.json"),
			[]byte(`{"strictPluginOnlyCustomization": `+tt.value+`, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}}`), 0o644); err != nil {
			t.Fatal(err)
		}
		user := filepath.Join(dir, "user")
		if err := os.MkdirAll(user, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(user, "settings.json"),
			[]byte(`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "b"}]}]}}`), 0o644); err != nil {
			t.Fatal(err)
		}
		s := Load(Sources{Managed: []string{dir}, UserDir: user})
		var kinds string
		for _, k := range customizations {
			if _, on := s.PluginOnly(k); on {
				kinds += " " + k
			}
		}
		if kinds != "" {
			kinds = kinds[1:]
		}
		if kinds != tt.kinds || len(s.Problems) != tt.problems {
			t.Errorf("%s: %q, %v", tt.value, kinds, s.Problems)
		}
		on, off := s.HooksInForce()
		_, strict := s.PluginOnly("hooks")
		if strict && (len(on) != 1 || on[0].Level != ManagedLevel || len(off) != 1 || off[0].Off == "") || !strict && len(on) != 2 {
			t.Errorf("%s: hooks %v, off %v", tt.value, on, off)
		}
	}
}
