package frontmatter

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/knack-skills/knack/skill"
)

// corpus returns the directory of shared test data, or skips the test.
func corpus(tb testing.TB) string {
	dir := os.Getenv("KNACK_CORPUS")
	if dir == "" {
		tb.Skip("KNACK_CORPUS is not set")
	}
	return dir
}

// differs lists the fixtures whose suggested value the spec overrules.
var differs = map[string]map[string]any{
	"glob-braces":          {"paths": []any{"src/**/*.ts", "src/**/*.tsx", "lib/**"}}, // fields table: braces expand
	"block-indicator-text": {"description": "| Use when asked"},                       // F-4: the bar stays
	"bool-maybe":           {"disable-model-invocation": true},                        // F-5: the safe value
	"nul":                  {"name": "", "description": ""},                           // F-7: refused
}

// TestExamples checks the fixtures of the shared corpus against their
// suggested values.
func TestExamples(t *testing.T) {
	dir := filepath.Join(corpus(t), "examples")
	data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected map[string]struct {
		Want map[string]any `json:"want"`
	}
	if err := json.Unmarshal(data, &expected); err != nil {
		t.Fatal(err)
	}
	if len(expected) < 100 {
		t.Fatalf("only %d fixtures", len(expected))
	}
	for name, fixture := range expected {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name, "SKILL.md")
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			doc, problems := Parse(path, data)
			var s skill.Skill
			problems = append(problems, doc.Fill(&s, false)...)
			want := fixture.Want
			for key, value := range differs[name] {
				want[key] = value
			}
			for key, value := range want {
				if got := observed(doc, &s, key); !reflect.DeepEqual(got, value) {
					t.Errorf("%s = %#v, want %#v", key, got, value)
				}
			}
			for _, p := range problems {
				t.Log(p)
			}
		})
	}
}

// observed returns the value of a field in the shape of expected.json.
func observed(doc *Document, s *skill.Skill, key string) any {
	anys := func(list []string) any {
		all := make([]any, len(list))
		for i, item := range list {
			all[i] = item
		}
		return all
	}
	switch key {
	case "name":
		return s.Name
	case "description":
		return s.Description
	case "argument-hint":
		return s.ArgumentHint
	case "version":
		return s.Version
	case "allowed-tools":
		return anys(s.Run.AllowedTools)
	case "paths":
		return anys(s.Trigger.Paths)
	case "disable-model-invocation":
		return s.Trigger.HiddenFromModel
	case "body_starts":
		return firstLine(doc.Body)
	}
	for _, f := range doc.Fields() {
		if f.Key == key {
			return f.Value
		}
	}
	return nil
}

// TestCorpus reads the archive of real files and checks what must hold for any
// file.
func TestCorpus(t *testing.T) {
	archive := filepath.Join(corpus(t), "permissive.tar.zst")
	root := t.TempDir()
	if out, err := exec.Command("tar", "--zstd", "-xf", archive, "-C", root).CombinedOutput(); err != nil {
		t.Skipf("cannot unpack %s: %v\n%s", archive, err, out)
	}
	files, recovered, plain := 0, 0, 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		if strings.Contains(codes(checkParse(t, data)), "yaml-recovered") {
			recovered++
		}
		if c := cut(string(data)); c.closed {
			if _, ok := fast(string(data[c.head:c.headEnd]), nil); ok {
				plain++
			}
		}
		checkFix(t, data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 500 || plain < files/3 || recovered > files/5 {
		t.Errorf("%d files, %d by the fast path, %d recovered", files, plain, recovered)
	}
	t.Logf("%d files, %d by the fast path, %d recovered", files, plain, recovered)
}
