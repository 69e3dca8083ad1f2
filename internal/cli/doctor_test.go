package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/approval"
)

// TestDoctorApprovals: doctor names approvals that do not hold any more, because
// a skill changed or is gone (spec S-14, K-14), and no others.
func TestDoctorApprovals(t *testing.T) {
	w := newWorld(t)
	skill := w.skill("kept", described("kept"))
	w.skill("changed", described("changed"))
	e, err := knack.New(t.Context(), knack.Options{Dir: w.repo, Home: w.path("../home"), StateDir: w.path("../state"),
		Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	store := e.Approvals()
	for _, name := range []string{"kept", "changed"} {
		entry, err := e.Snapshot().Resolve(name)
		if err != nil {
			t.Fatal(err)
		}
		in, err := entry.Content.Body.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c, err := approval.Read(t.Context(), entry.Origin, entry.Run, in)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{entry.Qualified, "project:gone-" + name} {
			if err := store.Approve(approval.Key{Workspace: w.repo, Skill: id}, c); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.skill("changed", described("something else"))
	out := w.run("doctor").stdout
	var lines []string
	for line := range strings.Lines(out) {
		if strings.Contains(line, " approval: ") {
			lines = append(lines, line)
		}
	}
	said := strings.Join(lines, "")
	if len(lines) != 3 || strings.Contains(said, ":kept") || strings.Count(said, "there is no such skill any more") != 2 ||
		!strings.Contains(said, "project:changed, approved on ") || !strings.Contains(said, "SKILL.md") {
		t.Errorf("%s\nof\n%s", said, out)
	}
	if err := os.RemoveAll(filepath.Dir(skill)); err != nil {
		t.Fatal(err)
	}
	if out := w.run("doctor").stdout; strings.Count(out, "there is no such skill any more") != 3 {
		t.Errorf("%s", out)
	}
}
