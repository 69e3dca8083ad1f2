package dir

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/skill"
)

// tree writes an archive below a new directory and returns that, without links.
// A line "-- NAME --" starts a file. A name "a -> b" makes a symbolic link; a
// name that ends in a slash makes a directory.
func tree(t testing.TB, archive string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	name, data := "", ""
	for line := range strings.Lines(archive + "-- /end --\n") {
		next, starts := strings.CutPrefix(line, "-- ")
		next, ends := strings.CutSuffix(next, " --\n")
		if !starts || !ends {
			data += line
			continue
		}
		if name != "" {
			grow(t, top, name, []byte(data))
		}
		name, data = next, ""
	}
	return top
}

func grow(t testing.TB, top, name string, data []byte) {
	t.Helper()
	name, target, link := strings.Cut(name, " -> ")
	path := filepath.Join(top, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	switch {
	case link:
		must(t, os.Symlink(strings.ReplaceAll(target, "$TOP", top), path))
	case strings.HasSuffix(name, "/"):
		must(t, os.MkdirAll(path, 0o755))
	default:
		must(t, os.WriteFile(path, data, 0o644))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// load runs a root and returns what it found.
func load(t testing.TB, r Root) ([]*skill.Skill, []skill.Problem) {
	t.Helper()
	skills, problems, err := r.Load(t.Context())
	must(t, err)
	for _, p := range problems {
		if p.Code == "" || p.Severity == "" || p.Message == "" || p.Path == "" || p.Fix == "" {
			t.Errorf("incomplete problem: %#v", p)
		}
	}
	return skills, problems
}

func ids(skills []*skill.Skill) string {
	var out []string
	for _, s := range skills {
		out = append(out, s.ID)
	}
	return strings.Join(out, " ")
}

// codes lists problems as "code path", with slashes, relative to top.
func codes(top string, problems []skill.Problem) string {
	var out []string
	for _, p := range problems {
		rel, err := filepath.Rel(top, p.Path)
		if err != nil {
			rel = p.Path
		}
		out = append(out, p.Code+" "+filepath.ToSlash(rel))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// dump prints skills completely, for comparing whole results.
func dump(skills []*skill.Skill) string {
	var b strings.Builder
	for _, s := range skills {
		c := s.Content
		c.Body = nil
		fmt.Fprintf(&b, "%+v %+v %+v %+v %+v\n", s.Summary, s.Trigger, s.Run, s.Origin, c)
	}
	return b.String()
}
