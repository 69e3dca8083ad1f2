package cli_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// zipped makes a zip of files; names and contents alternate.
func zipped(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.Create(files[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, files[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const noted = "---\ndescription: d\n---\nBody.\n"

// TestAddArchives: .skill, .mcpb and .dxt from a file and from a URL (spec X-5),
// and hostile ones refused with nothing left behind.
func TestAddArchives(t *testing.T) {
	bundle := zipped(t, "manifest.json", `{"dxt_version": "0.1", "name": "My Server", "version": "1", "server": {"type": "python", "entry_point": "main.py"},
		"prompts": [{"name": "ask", "description": "Asks", "arguments": ["what"], "text": "Ask ${arguments.what}."}]}`, "main.py", "")
	files := map[string][]byte{
		"/notes.skill":  zipped(t, "notes/SKILL.md", noted, "notes/ref/a.md", "a"),
		"/server.mcpb":  append(bytes.Clone(bundle), []byte("MCPB_SIG_V1 signature MCPB_SIG_END")...),
		"/server.dxt":   bundle,
		"/plugin.zip":   zipped(t, "p/.claude-plugin/plugin.json", `{"name": "zipped"}`, "p/skills/s/SKILL.md", noted),
		"/climb.skill":  zipped(t, "../climb/SKILL.md", noted),
		"/case.skill":   zipped(t, "x/SKILL.md", noted, "X/skill.md", noted),
		"/device.skill": zipped(t, "x/SKILL.md", noted, "x/aux.md", ""),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if data, ok := files[r.URL.Path]; ok {
			_, _ = w.Write(data)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	tests := []struct{ file, id string }{
		{"/notes.skill", "notes"}, {"/server.mcpb", "My-Server:ask"}, {"/server.dxt", "My-Server:ask"}, {"/plugin.zip", "zipped:s"},
		{"/climb.skill", ""}, {"/case.skill", ""}, {"/device.skill", ""}, {"/gone.skill", ""},
	}
	for _, tt := range tests {
		for _, url := range []bool{false, true} {
			w := newWorld(t)
			from := server.URL + tt.file
			if !url {
				from = filepath.Join(w.dir, tt.file)
				if data, ok := files[tt.file]; ok {
					if err := os.WriteFile(from, data, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			out := w.run("add", from, "--yes")
			if tt.id == "" {
				if out.code != 1 && out.code != 2 || out.stdout != "" {
					t.Errorf("%s: %+v", from, out)
				}
				if left, err := os.ReadDir(filepath.Join(w.dir, "state", "plugins", "staging")); err == nil && len(left) > 0 {
					t.Errorf("%s: left behind: %v", from, left)
				}
				continue
			}
			list := w.run("list")
			if out.code != 0 || !strings.Contains(list.stdout, tt.id) {
				t.Errorf("%s: %+v\n%s", from, out, list.stdout)
			}
		}
	}
}

// TestInstallArchive holds an archive against its checksum (spec X-3).
func TestInstallArchive(t *testing.T) {
	w := newWorld(t)
	data := zipped(t, "skills/s/SKILL.md", noted)
	file := filepath.Join(w.dir, "tool.zip")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	if out := w.run("plugin", "install", file, "--yes", "--sha256", strings.Repeat("0", 64)); out.code != 1 || !strings.Contains(out.stderr, "was expected") {
		t.Errorf("%+v", out)
	}
	out := w.run("plugin", "install", file, "--yes", "--json", "--sha256", hex.EncodeToString(sum[:]))
	var got struct {
		ID, Version, Path, Outcome string
		Enabled                    bool
		Needs, Unset               []string
	}
	if err := json.Unmarshal([]byte(out.stdout), &got); err != nil || got.ID != "tool" || got.Version != hex.EncodeToString(sum[:])[:12] || !got.Enabled || got.Needs == nil || got.Unset == nil {
		t.Errorf("%v %+v\n%+v", err, got, out)
	}
	if out := w.run("render", "tool:s"); out.code != 0 || !strings.Contains(out.stdout, "Body.") {
		t.Errorf("%+v", out)
	}
}
