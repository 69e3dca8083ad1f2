package schema_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knack-skills/knack/schema"
)

// refused are groups of the suite that need what this package refuses on
// purpose, by a piece of the reason.
var refused = []string{"nothing is fetched", "is not supported; use $ref", "is no dialect that is known"}

// TestSuite runs the official suite, as a module of the build carries it.
func TestSuite(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/jsonschema-go").Output()
	dir := filepath.Join(strings.TrimSpace(string(out)), "jsonschema", "testdata")
	if _, serr := os.Stat(dir); err != nil || serr != nil {
		t.Skip("the module with the suite is not here")
	}
	ran, left := 0, 0
	for _, draft := range []string{"draft2020-12", "draft7"} {
		files, err := filepath.Glob(filepath.Join(dir, draft, "*.json"))
		if err != nil || len(files) < 30 {
			t.Fatalf("%d files, %v", len(files), err)
		}
		for _, file := range files {
			r, l := suite(t, file)
			ran, left = ran+r, left+l
		}
	}
	if ran < 1500 || left > 120 {
		t.Errorf("%d tests ran, %d were left out", ran, left)
	}
}

func suite(t *testing.T, file string) (ran, left int) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var groups []struct {
		Description string
		Schema      json.RawMessage
		Tests       []struct {
			Description string
			Data        json.RawMessage
			Valid       bool
		}
	}
	if err := json.Unmarshal(data, &groups); err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(filepath.Dir(file)) + "/" + filepath.Base(file)
	for _, g := range groups {
		text := string(g.Schema)
		if rest, ok := strings.CutPrefix(text, "{"); ok && strings.HasPrefix(name, "draft7/") && !strings.Contains(text, "$schema") && len(text) > 2 {
			text = `{"$schema":"http://json-schema.org/draft-07/schema#",` + rest
		}
		s, err := schema.Parse([]byte(text))
		if err != nil {
			known := false
			for _, r := range refused {
				known = known || strings.Contains(err.Error(), r)
			}
			if !known {
				t.Errorf("%s: %s: %v", name, g.Description, err)
			}
			left += len(g.Tests)
			continue
		}
		for _, c := range g.Tests {
			ran++
			found, err := s.Check(c.Data)
			if err != nil || (len(found) == 0) != c.Valid {
				t.Errorf("%s: %s: %s: valid is %v; %v, %v", name, g.Description, c.Description, c.Valid, found, err)
			}
		}
	}
	return ran, left
}
