package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/settings"
)

// TestFiles: what is on disk is what the code makes.
func TestFiles(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	want := files()
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(string(got), text); diff != "" {
			t.Errorf("%s is out of date (go run ./internal/lab/reference):\n%s", name, diff)
		}
	}
	for _, dir := range []string{docsDir, skillDir} {
		entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(dir)))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if _, ok := want[dir+e.Name()]; !ok {
				t.Errorf("%s is made by nothing", dir+e.Name())
			}
		}
	}
}

// TestCommandsPage: every command that the help names is on the page.
func TestCommandsPage(t *testing.T) {
	page := commands()
	for _, want := range []string{"## knack\n", "## knack render\n", "## knack permissions explain\n", "## knack completion bash\n",
		"| `-C`, `--directory DIR` | workspace DIR (default `.`) |", "| `--touch FILE` |", "knack check --fix"} {
		if !strings.Contains(page, want) {
			t.Errorf("commands.md lacks %q", want)
		}
	}
}

// TestLaterSettings: a setting is marked "later" exactly as long as the façade
// and the commands do not use it, so that the page stays honest.
func TestLaterSettings(t *testing.T) {
	var code strings.Builder
	for _, pattern := range []string{"*.go", "internal/cli/*.go", "internal/cli/*/*.go", "settings/rules.go", "settings/hooks.go", "settings/plugins.go", "plugin/*.go"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			// What the doctor only shows is not used.
			if strings.HasSuffix(f, "_test.go") || strings.HasSuffix(f, "doctor.go") {
				continue
			}
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(data)
		}
	}
	// The environment of an invocation is not the setting of that name.
	text := strings.NewReplacer("invoke.Env", "", ".Env()", "").Replace(code.String())
	for _, k := range settings.Keys() {
		name := k.Name[strings.LastIndex(k.Name, ".")+1:]
		used := regexp.MustCompile(`\.(?i:`+name+`)(Value\(\)|[^A-Za-z0-9_(])`).FindAllString(text, -1)
		if k.Later == (len(used) > 0) {
			t.Errorf("%s: later is %v, and it is used %d times (%q)", k.Name, k.Later, len(used), used)
		}
	}
}
