package usage_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/knack-skills/knack/usage"
)

// BenchmarkScores reads the largest file that there can be.
func BenchmarkScores(b *testing.B) {
	s, project := usage.Store{Dir: b.TempDir()}, b.TempDir()
	if err := s.Record(project, "a", monday); err != nil {
		b.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(s.Dir, "usage", "*.json"))
	if err != nil || len(files) != 1 {
		b.Fatal(files, err)
	}
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, `, "team-tools:skill-%04d": {"score": 1.25, "at": %q}`, i, monday.Format(time.RFC3339))
	}
	if err := os.WriteFile(files[0], []byte(`{"project": "x", "skills": {`+text.String()[2:]+`}}`), 0o600); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if got, err := s.Scores(project, monday); err != nil || len(got) != 2000 {
			b.Fatal(len(got), err)
		}
	}
}
