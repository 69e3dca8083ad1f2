package dir

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/knack-skills/knack/skill"
)

// FuzzSkillFile: any bytes give one skill, or one reason why not; and its
// sibling loads (spec F-3).
func FuzzSkillFile(f *testing.F) {
	for _, s := range []string{
		"", "text", "---\ndescription: d\n---\ntext", "---\n", "---\nname: [\n---\n", "../x/SKILL.md", "\xff\xfe", "\xa1", "\x00", "\uFEFF---\r\nname: x\r\n---\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		top := t.TempDir()
		grow(t, top, "r/x/SKILL.md", data)
		grow(t, top, "r/sibling/SKILL.md", []byte("text"))
		skills, problems := load(t, Root{Path: filepath.Join(top, "r"), Source: skill.User})
		switch got := ids(skills); got {
		case "sibling x":
			x := skills[1]
			if x.Content.Bytes < 0 || x.Content.Bytes > int64(len(data)) {
				t.Errorf("Bytes = %d of %d", x.Content.Bytes, len(data))
			}
			in, err := x.Content.Body.Load(t.Context())
			if err != nil && !strings.Contains(err.Error(), "NUL") {
				t.Error(err)
			}
			if !utf8.ValidString(in.Text) {
				t.Errorf("body %q", in.Text)
			}
		case "sibling":
			if len(problems) != 1 || problems[0].Severity != skill.Error {
				t.Errorf("problems %v", problems)
			}
		default:
			t.Errorf("ids %q", got)
		}
	})
}

// TestRandomTrees compares the scan of random trees with what C-3 says, told
// in another way: from each SKILL.md upwards.
func TestRandomTrees(t *testing.T) {
	name := rapid.SampledFrom([]string{"a", "b", "cat", ".dot", "node_modules"})
	rapid.Check(t, func(rt *rapid.T) {
		top := t.TempDir()
		paths := rapid.SliceOfDistinct(rapid.SliceOfN(name, 1, 4), func(p []string) string { return strings.Join(p, "/") }).Draw(rt, "paths")
		isSkill := map[string]bool{}
		for _, p := range paths {
			rel := strings.Join(p, "/")
			grow(t, top, "r/"+rel+"/SKILL.md", []byte("about "+rel))
			isSkill[rel] = true
		}
		want := map[string]bool{}
		for _, p := range paths {
			ok := len(p) <= maxDepth
			for i, part := range p {
				ok = ok && !strings.HasPrefix(part, ".") && part != "node_modules" && (i == len(p)-1 || !isSkill[strings.Join(p[:i+1], "/")])
			}
			if ok {
				want[strings.Join(p, "/")] = true
			}
		}
		skills, _ := load(t, Root{Path: filepath.Join(top, "r")})
		taken := map[string]bool{}
		for _, s := range skills {
			rel, err := filepath.Rel(filepath.Join(top, "r"), s.Origin.Dir)
			if err != nil || !want[filepath.ToSlash(rel)] {
				rt.Errorf("%s should not be found", rel)
			}
			delete(want, filepath.ToSlash(rel))
			if taken[s.ID] {
				rt.Errorf("id %s twice", s.ID)
			}
			taken[s.ID] = true
		}
		if len(want) > 0 {
			rt.Errorf("not found: %v", want)
		}
	})
}

// TestCorpus reads real files, if there are any.
func TestCorpus(t *testing.T) {
	corpus := os.Getenv("KNACK_CORPUS")
	if corpus == "" {
		t.Skip("KNACK_CORPUS is not set")
	}
	files := 0
	err := filepath.WalkDir(corpus, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.EqualFold(filepath.Ext(path), ".md") {
			return err
		}
		files++
		sk, problems := LoadFile(path)
		if sk == nil {
			if len(problems) != 1 || problems[0].Severity != skill.Error {
				t.Errorf("%s: refused with %v", path, problems)
			}
			t.Logf("refused: %v", problems)
			return nil
		}
		if _, err := sk.Content.Body.Load(t.Context()); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		return nil
	})
	must(t, err)
	t.Logf("%d files", files)
}
