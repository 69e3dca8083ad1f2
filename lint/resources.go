package lint

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/knack-skills/knack/skill"
)

// missingResources reports relative links of the body whose file is not there.
// A link may be relative to the skill or to the project it lies in, because
// both are written. Text in code and links that only look like files are left
// alone: a false alarm teaches people to ignore the true ones.
func missingResources(f *file, _ Options) []skill.Problem {
	if f.Origin.Path == "" || f.Origin.Remote() {
		return nil
	}
	bases := []string{filepath.Dir(f.Origin.Path)}
	if parent := filepath.Dir(f.Origin.Root); f.Origin.Root != "" {
		if b := filepath.Base(parent); b == ".claude" || b == ".agents" {
			bases = append(bases, filepath.Dir(parent))
		}
	}
	var found []skill.Problem
	for _, l := range links(f.body) {
		name, ok := l.file()
		if !ok || existsBelow(bases, name) {
			continue
		}
		line, column := f.inBody(l.line, l.column)
		found = append(found, skill.Problem{
			Code: "missing-resource", Severity: skill.Warning, Path: f.Origin.Path, Line: line, Column: column,
			Message: fmt.Sprintf("the link leads to %s, which does not exist", name),
			Fix:     "add the file, or correct the link; it is relative to the skill's directory",
		})
	}
	return found
}

// existsBelow reports whether name exists below one of the directories. When
// that cannot be found out, it counts as existing.
func existsBelow(dirs []string, name string) bool {
	for _, dir := range dirs {
		_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return true
		}
	}
	return false
}

var (
	scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)
	host   = regexp.MustCompile(`^(www\.|[A-Za-z0-9-]+\.(com|org|net|io|dev|ai|app)(/|$))`)
	suffix = regexp.MustCompile(`\.[A-Za-z0-9]{1,8}$`)
)

// file returns the relative path of a file that the link leads to. It reports
// false for addresses, anchors, absolute paths and placeholders.
func (l link) file() (string, bool) {
	t, _, _ := strings.Cut(l.target, "#")
	t, _, _ = strings.Cut(t, "?")
	switch {
	case t == "", strings.ContainsAny(t[:1], `/\~$@%`), scheme.MatchString(t), host.MatchString(t):
		return "", false
	case strings.ContainsAny(t, "{}<>$*|…[]\"'`"), strings.Contains(t, "..."),
		strings.Contains(t, "path/to"), strings.HasPrefix(strings.ToLower(t), "your"):
		return "", false
	case !suffix.MatchString(t) && !strings.Contains(t, "/"):
		return "", false
	}
	if decoded, err := url.PathUnescape(t); err == nil {
		t = decoded
	}
	return t, !strings.ContainsRune(t, 0)
}

// Limits of the search for nested skills, so that a checkout below a skill
// does not take forever.
const (
	maxNestedDepth   = 4
	maxNestedEntries = 2000
)

// exampleDirs hold files of the skill that are no skills of their own, even
// if they are named SKILL.md.
var exampleDirs = map[string]bool{
	"assets": true, "templates": true, "template": true, "examples": true, "example": true,
	"references": true, "reference": true, "evals": true, "tests": true, "testdata": true, "fixtures": true,
	"node_modules": true, ".git": true,
}

// nestedSkills reports each SKILL.md below the skill's own directory: a skill's
// subfolders are never searched for skills (spec C-3).
func nestedSkills(f *file, _ Options) []skill.Problem {
	if f.Origin.Dir == "" || f.Origin.Remote() || f.Origin.Source == skill.Legacy {
		return nil
	}
	var found []skill.Problem
	entries := 0
	root := os.DirFS(f.Origin.Dir)
	// The error is always nil: what cannot be read is passed over, because
	// loading has reported unreadable skills.
	_ = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if entries++; entries > maxNestedEntries {
			return fs.SkipAll
		}
		switch {
		case err != nil && d != nil && d.IsDir():
			return fs.SkipDir
		case err != nil:
			return nil
		case d.IsDir() && name != "." && (exampleDirs[d.Name()] || strings.Count(name, "/") >= maxNestedDepth):
			return fs.SkipDir
		case !d.IsDir() && d.Name() == "SKILL.md" && strings.Contains(name, "/"):
			found = append(found, skill.Problem{
				Code: "nested-skill-ignored", Severity: skill.Warning,
				Path:    filepath.Join(f.Origin.Dir, filepath.FromSlash(name)),
				Message: "not loaded as a skill: it lies inside the directory of the skill " + f.ID,
				Fix:     "move its directory beside " + filepath.Base(f.Origin.Dir),
			})
		}
		return nil
	})
	return found
}
