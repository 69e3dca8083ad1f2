package settings

import (
	"os"
	"path/filepath"
	"testing"
)

func TestEffortValue(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "low": "low", " High ": "high", "xhigh": "xhigh", "max": "max", "quick": "low", "standard": "medium", "4096": "4096", "007": "7",
	} {
		v := Values{Effort: in}
		if got, ok := v.EffortValue(); got != want || !ok {
			t.Errorf("%q: %q, %t", in, got, ok)
		}
	}
	for _, in := range []string{"huge", "0", "-1", "1.5"} {
		v := Values{Effort: in}
		if got, ok := v.EffortValue(); got != "" || ok {
			t.Errorf("%q: %q, %t", in, got, ok)
		}
	}
}

func TestModelFromWorkspace(t *testing.T) { // spec S-9
	user, project := t.TempDir(), t.TempDir()
	put := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(user, "settings.json"), `{"model": "opus"}`)
	src := Sources{UserDir: user, ProjectDir: project}
	if Load(src).ModelFromWorkspace() || Load(Sources{}).ModelFromWorkspace() {
		t.Error("taken for the workspace's")
	}
	put(filepath.Join(project, ".claude", "settings.json"), `{"model": "sonnet"}`)
	if !Load(src).ModelFromWorkspace() {
		t.Error("not taken for the workspace's")
	}
	src.Flag = `{"model": "haiku"}`
	if Load(src).ModelFromWorkspace() {
		t.Error("the command line is stronger")
	}
}
