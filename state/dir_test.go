package state_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knack-skills/knack/state"
)

func TestDir(t *testing.T) { // spec M-5
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ knack, xdg, home, want string }{
		{"/k", "/x", "/h", "/k"},
		{"/k", "/x", "", "/k"},
		{"rel", "/x", "/h", filepath.Join(wd, "rel")},
		{"", "/x", "/h", "/x/knack"},
		{"", "/x", "", "/x/knack"},
		{"", "rel", "/h", "/h/.local/state/knack"},
		{"", "", "/h", "/h/.local/state/knack"},
	} {
		env := map[string]string{"KNACK_STATE_DIR": tt.knack, "XDG_STATE_HOME": tt.xdg}
		got, err := state.Dir(func(k string) string { return env[k] }, tt.home)
		if err != nil || filepath.ToSlash(got) != filepath.ToSlash(tt.want) {
			t.Errorf("%+v: got %s %v", tt, got, err)
		}
	}
	got, err := state.Dir(func(string) string { return "" }, "")
	if err == nil || !strings.Contains(err.Error(), "KNACK_STATE_DIR") {
		t.Errorf("without a home: %s %v", got, err)
	}
}

func TestRealPath(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(base, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(base)
	want := filepath.Join(base, "real")
	for _, dir := range []string{want, "real", "link", base + "/link/", base + "/link/../link", "./real/."} {
		if got, err := state.RealPath(dir); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", dir, got, err, want)
		}
	}
	for _, dir := range []string{"", "none", "link/none"} {
		if got, err := state.RealPath(dir); err == nil {
			t.Errorf("%q: %s, without an error", dir, got)
		}
	}
}
