package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const someHooks = `"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}`

// Whose hooks count (spec H-10).
func TestHooksInForce(t *testing.T) {
	tests := []struct {
		name                   string
		managed, user, project string
		trusted                bool
		want                   string
		left                   string
	}{
		{"all levels, strongest first", someHooks, someHooks, someHooks, true, "managed project user", ""},
		{"untrusted workspace", someHooks, someHooks, someHooks, false, "managed user", "project"},
		{"managed only", `"allowManagedHooksOnly": true, ` + someHooks, someHooks, someHooks, true, "managed", "user project"},
		{"disabled by the user", someHooks, `"disableAllHooks": true, ` + someHooks, someHooks, true, "managed", "user project"},
		{"disabled by the administrator", `"disableAllHooks": true, ` + someHooks, someHooks, "", true, "", "managed user"},
		{"disabled by an untrusted project", "", someHooks, `"disableAllHooks": true`, false, "user", ""},
		{"disabled by a trusted project", "", someHooks, `"disableAllHooks": true`, true, "", "user"},
		{"only a user may not say managed only", "", `"allowManagedHooksOnly": true, ` + someHooks, "", true, "user", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			src := Sources{Managed: []string{dir + "/m"}, UserDir: dir + "/u", ProjectDir: dir + "/p", Home: dir}
			for path, text := range map[string]string{"m/managed-settings.json": tt.managed, "u/settings.json": tt.user, "p/.claude/settings.json": tt.project} {
				file := filepath.Join(dir, path)
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte("{"+text+"}"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			in, left := Load(src).ForTrust(tt.trusted).HooksInForce()
			var levels []string
			for _, h := range in {
				if len(h.Config) != 1 {
					t.Errorf("%s has %d groups", h.Path, len(h.Config))
				}
				levels = append(levels, string(h.Level))
			}
			if got := strings.Join(levels, " "); got != tt.want {
				t.Errorf("in force: %q, want %q", got, tt.want)
			}
			for _, p := range left {
				if !strings.Contains(p.Off, "is set in "+dir) && p.Off != "the workspace is not trusted" {
					t.Errorf("%q does not say who decided", p.Off)
				}
			}
			if len(left) != len(strings.Fields(tt.left)) {
				t.Errorf("left out: %v, want %q", left, tt.left)
			}
		})
	}
}

// A broken entry costs itself, and the message points at it (spec H-9).
func TestBrokenHooks(t *testing.T) {
	const text = `{
  "hooks": {
    "Stop": [{"hooks": [{"type": "command", "command": "true"}]}],
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [
        {"type": "command", "command": "true"},
        {"type": "cmd", "command": "x"}
      ]}
    ],
    "Whenever": []
  }
}`
	s := Load(Sources{Flag: text, Home: t.TempDir()})
	in, _ := s.HooksInForce()
	if len(in) != 1 || len(in[0].Config) != 2 {
		t.Fatalf("in force: %+v", in)
	}
	var got []string
	for _, p := range s.Problems {
		got = append(got, fmt.Sprintf("%s %d:%d", p.Code, p.Line, p.Column))
	}
	if want := "hook-invalid 7:9, hook-unknown-event 10:5"; strings.Join(got, ", ") != want {
		t.Errorf("problems %v, want %s", got, want)
	}
}
