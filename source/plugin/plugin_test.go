package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/knack-skills/knack/catalog/sourcetest"
	"github.com/knack-skills/knack/skill"
)

// tree writes files below a new directory "my-plugin" and returns it, without
// links. Names are map keys; "a -> b" makes a link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	dir := filepath.Join(top, "my-plugin")
	must(t, os.Mkdir(dir, 0o755))
	for name, data := range files {
		name, target, link := strings.Cut(name, " -> ")
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if link {
			must(t, os.Symlink(target, path))
		} else {
			must(t, os.WriteFile(path, []byte(data), 0o644))
		}
	}
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const (
	manifestFile = ".claude-plugin/plugin.json"
	described    = "---\ndescription: d\n---\ntext\n"
)

// TestLoad covers what a plugin brings and what it is called (spec X-1, C-6).
func TestLoad(t *testing.T) {
	tests := []struct {
		name     string
		files    map[string]string
		ids      string
		problems string // codes
	}{
		{"no manifest", map[string]string{"skills/s/SKILL.md": described, "commands/c.md": described},
			"my-plugin:s my-plugin:c", ""},
		{"named by the manifest", map[string]string{manifestFile: `{"name": "other", "unknown": [1], "version": "1"}`, "skills/s/SKILL.md": described},
			"other:s", ""},
		{"byte order mark", map[string]string{manifestFile: "\uFEFF" + `{"name": "other"}`, "skills/s/SKILL.md": described},
			"other:s", ""},
		{"a display name keeps the namespace", map[string]string{"skills/s/SKILL.md": "---\nname: fancy\ndescription: d\n---\n"},
			"my-plugin:s", ""},
		{"no doubled namespace", map[string]string{"skills/my-plugin:s/SKILL.md": described},
			"my-plugin:s", ""},
		{"categories", map[string]string{"skills/a/x/SKILL.md": described, "skills/b/x/SKILL.md": described},
			"my-plugin:x my-plugin:b:x", ""},
		{"commands in directories", map[string]string{"commands/git/push.md": described, "commands/x/SKILL.md": described},
			"my-plugin:git:push my-plugin:x", ""},
		{"root skill with a name", map[string]string{"SKILL.md": "---\nname: fancy\ndescription: d\n---\n"},
			"my-plugin:fancy", ""},
		{"root skill with the whole name", map[string]string{"SKILL.md": "---\nname: my-plugin:fancy\ndescription: d\n---\n"},
			"my-plugin:fancy", ""},
		{"root skill without", map[string]string{"SKILL.md": described},
			"my-plugin:my-plugin", ""},
		{"root skill with a title", map[string]string{"SKILL.md": "---\nname: Two words\ndescription: d\n---\n"},
			"my-plugin:my-plugin", ""},
		{"root skill that is declared", map[string]string{manifestFile: `{"skills": ["./"]}`, "SKILL.md": described},
			"my-plugin:my-plugin", ""},
		{"skills are added", map[string]string{manifestFile: `{"skills": ["./extra", "./one", "./skills"]}`,
			"skills/s/SKILL.md": described, "extra/e/SKILL.md": described, "one/SKILL.md": described},
			"my-plugin:s my-plugin:e my-plugin:one", ""},
		{"one path", map[string]string{manifestFile: `{"skills": "./extra"}`, "extra/e/SKILL.md": described},
			"my-plugin:e", ""},
		{"commands are replaced", map[string]string{manifestFile: `{"commands": ["./cmd", "./single.md"]}`,
			"commands/c.md": described, "cmd/d.md": described, "single.md": described},
			"my-plugin:d my-plugin:single", ""},
		{"no commands at all", map[string]string{manifestFile: `{"commands": []}`, "commands/c.md": described}, "", ""},
		{"null is absent", map[string]string{manifestFile: `{"commands": null, "name": null}`, "commands/c.md": described},
			"my-plugin:c", ""},
		{"paths", map[string]string{manifestFile: `{"skills": ["../x", "/etc", "skills", "./a/../../x", "./gone", "./ok"]}`, "ok/e/SKILL.md": described},
			"my-plugin:e", "plugin-path plugin-path plugin-path plugin-path plugin-path"},
		{"links out", map[string]string{"skills/s -> /etc": "", "skills/p/SKILL.md -> /etc/passwd": "", "skills/ok/SKILL.md": described,
			"commands/c.md -> /etc/passwd": "", "SKILL.md -> /etc/passwd": ""},
			"my-plugin:ok", "link-leaves-root link-leaves-root link-leaves-root link-leaves-root"},
		{"links inside", map[string]string{"shared/SKILL.md": described, "skills/s -> ../shared": ""},
			"my-plugin:s", ""},
		{"skills directory leads out", map[string]string{"skills -> /etc": ""}, "", "link-leaves-root"},
		{"declared directory leads out", map[string]string{manifestFile: `{"skills": "./l"}`, "l -> /etc": ""}, "", "link-leaves-root"},
		{"one bad skill", map[string]string{"skills/a/SKILL.md": "\x00", "skills/b/SKILL.md": described}, "my-plugin:b", "binary"},
		{"empty", nil, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := tree(t, tt.files)
			skills, problems, err := Source{Dir: dir, Scope: skill.Project}.Load(t.Context())
			must(t, err)
			var ids, codes []string
			for _, s := range skills {
				ids = append(ids, s.ID)
				o := s.Origin
				owner, _, _ := strings.Cut(s.ID, ":")
				if o.Source != skill.Plugin || o.Owner != owner || o.Scope != skill.Project || !strings.HasPrefix(o.Path, dir) {
					t.Errorf("%s: origin %+v", s.ID, o)
				}
				if _, err := s.Content.Body.Load(t.Context()); err != nil {
					t.Error(err)
				}
			}
			for _, p := range problems {
				codes = append(codes, p.Code)
				if p.Message == "" || p.Path == "" || p.Severity == "" {
					t.Errorf("incomplete %+v", p)
				}
			}
			if got := strings.Join(ids, " "); got != tt.ids {
				t.Errorf("ids %q, want %q", got, tt.ids)
			}
			if got := strings.Join(codes, " "); got != tt.problems {
				t.Errorf("problems %v, want %q", problems, tt.problems)
			}
		})
	}
}

// TestBrokenManifest loads nothing, for one stated reason (spec X-1).
func TestBrokenManifest(t *testing.T) {
	tests := []struct{ data, reason string }{
		{`{"name": 7}`, `"name" must be a string`},
		{`{"skills": {"a": 1}}`, `"skills" must be a string or an array of strings`},
		{`{"skills": [1]}`, `"skills" must be a string or an array of strings`},
		{`{"commands": true}`, `"commands" must be`},
		{`{"keywords": "a"}`, `"keywords" must be an array of strings`},
		{`{"author": 1}`, `"author" must be a string or an object`},
		{`{"defaultEnabled": "yes"}`, `"defaultEnabled" must be true or false`},
		{`{"name": "a:b"}`, `cannot be a name`},
		{`{"name": "a b"}`, `cannot be a name`},
		{`{"name": "a\nb"}`, `cannot be a name`},
		{`[]`, `no JSON object`},
		{``, `no JSON object`},
		{"{\n  \"name\": \"é\" x}", `no JSON object`},
	}
	for _, tt := range tests {
		dir := tree(t, map[string]string{manifestFile: tt.data, "skills/s/SKILL.md": described})
		skills, problems, err := Source{Dir: dir}.Load(t.Context())
		if err != nil || len(skills) > 0 || len(problems) != 1 {
			t.Errorf("%s: %v %v %v", tt.data, skills, problems, err)
			continue
		}
		p := problems[0]
		if p.Code != "plugin-manifest" || !strings.Contains(p.Message, tt.reason) || p.Path != filepath.Join(dir, manifestFile) {
			t.Errorf("%s: %v, want %q", tt.data, p, tt.reason)
		}
		if strings.HasSuffix(tt.data, "x}") && (p.Line != 2 || p.Column != 15) {
			t.Errorf("position %d:%d, want 2:15", p.Line, p.Column)
		}
	}
}

func TestGivenName(t *testing.T) {
	dir := tree(t, map[string]string{manifestFile: `{"name": "other"}`, "skills/s/SKILL.md": described})
	skills, _, err := Source{Name: "mine", Dir: dir}.Load(t.Context())
	if err != nil || len(skills) != 1 || skills[0].ID != "mine:s" || skills[0].Origin.Owner != "mine" {
		t.Errorf("%+v, %v", skills, err)
	}
}

// TestCommandTrust keeps command files of plugins apart from a person's own.
func TestCommandTrust(t *testing.T) {
	dir := tree(t, map[string]string{"commands/c.md": described})
	skills, _, err := Source{Dir: dir}.Load(t.Context())
	must(t, err)
	if o := skills[0].Origin; o.Source != skill.Plugin || o.FromWorkspace() || !skills[0].Content.Positional {
		t.Errorf("%+v", skills[0])
	}
}

// TestContract is what every source promises to the catalog.
func TestContract(t *testing.T) {
	sourcetest.Run(t, Source{Dir: tree(t, map[string]string{
		manifestFile: `{"skills": ["./extra", "../x"]}`, "skills/s/SKILL.md": described, "extra/e/skill.md": described,
		"commands/c.md": described, "SKILL.md": described,
	})})
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := (Source{Dir: t.TempDir()}).Load(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestLocalPath holds for all paths: what is accepted stays inside.
func TestLocalPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{".", "..", "a", "b c", "", "...", "..a", `\`})).Draw(t, "parts")
		p := rapid.SampledFrom([]string{"", "./", "/", "../"}).Draw(t, "start") + strings.Join(parts, "/")
		rel, err := localPath(p)
		if err != nil {
			return
		}
		if !filepath.IsLocal(rel) || slices.Contains(strings.Split(filepath.ToSlash(rel), "/"), "..") || !strings.HasPrefix(p, ".") {
			t.Fatalf("localPath(%q) = %q", p, rel)
		}
	})
}

// FuzzManifest: any bytes give either a usable manifest or one reason.
func FuzzManifest(f *testing.F) {
	for _, s := range []string{`{}`, `{"name":"a","skills":["./x"]}`, `{"skills":"../x"}`, `[`, "\uFEFF{}", `{"name":null}`} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &Manifest{Dir: dir}
		problems, ok := m.parse("plugin.json", data, nil)
		if !ok && (len(problems) != 1 || problems[0].Code != "plugin-manifest") {
			t.Fatalf("%q: %v", data, problems)
		}
		if ok && !json.Valid([]byte(strings.TrimPrefix(string(data), "\uFEFF"))) {
			t.Fatalf("%q accepted", data)
		}
		if m.Name != "" && !PlainName(m.Name) {
			t.Fatalf("%q: name %q", data, m.Name)
		}
		for _, p := range slices.Concat(m.parts.skills, m.parts.commands, m.parts.agents) {
			if !filepath.IsLocal(p) {
				t.Fatalf("%q: path %q", data, p)
			}
		}
	})
}

// TestHidden: what only a model would see is taken out of a stranger's text, and
// the person is told how much it was.
func TestHidden(t *testing.T) {
	dir := tree(t, map[string]string{"skills/a/SKILL.md": described + "x\U000E0049\u202Ey\n", "skills/b/SKILL.md": described})
	skills, _, err := Source{Dir: dir}.Load(t.Context())
	must(t, err)
	for i, want := range []string{"text\nxy\n", "text\n"} {
		in, err := skills[i].Content.Body.Load(t.Context())
		if err != nil || in.Text != want || (in.Note != "") != (i == 0) || in.Dir == "" {
			t.Errorf("%+v %v", in, err)
		}
	}
}
