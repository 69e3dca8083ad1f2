package knack_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/slash"
)

func TestTouch(t *testing.T) { // spec D-3, D-4
	l := newLab(t, map[string]string{
		"repo/.claude/skills/ts/SKILL.md":    doc("TypeScript rules", `paths: "web/**/*.ts"`),
		"repo/.claude/skills/any/SKILL.md":   doc("Any", `paths: "**"`),
		"repo/.claude/skills/never/SKILL.md": doc("Never", `paths: "*.zig"`),
		"repo/.claude/skills/plain/SKILL.md": doc("Plain"),
		"repo/web/x.ts":                      "",
		"outside/web/y.ts":                   "",
	})
	if err := os.Symlink(l.base+"/repo", l.base+"/link"); err != nil {
		t.Fatal(err)
	}
	open := func(dir string) *knack.Engine {
		return l.open(func(o *knack.Options) { o.Dir = filepath.Join(l.base, dir) })
	}
	for _, tt := range []struct {
		dir, file string
		want      []string
	}{
		{"repo", "web/x.ts", []string{"any", "ts"}},
		{"repo", "web/new/deep.ts", []string{"any", "ts"}}, // need not exist
		{"repo", l.base + "/repo/web/x.ts", []string{"any", "ts"}},
		{"repo", "README.md", []string{"any"}},
		{"repo", "../outside/web/y.ts", nil},
		{"repo", "web/../../repo/web/x.ts", []string{"any", "ts"}},
		{"repo/web", "x.ts", []string{"any", "ts"}}, // patterns start at the root of the project
		{"link", "web/x.ts", []string{"any", "ts"}},
		{"link", l.base + "/repo/web/x.ts", []string{"any", "ts"}},
		{"repo", l.base + "/link/web/x.ts", []string{"any", "ts"}},
		{"repo", "", nil},
	} {
		e := open(tt.dir)
		equal(t, "before", listed(e), []string{"plain"})
		got := e.Touch(tt.file)
		slices.Sort(got)
		equal(t, tt.dir+" touches "+tt.file, got, tt.want)
		equal(t, "listed", listed(e), slices.Sorted(slices.Values(append([]string{"plain"}, tt.want...))))
		if again := e.Touch(tt.file); len(again) > 0 {
			t.Errorf("activated again: %q", again)
		}
		if _, err := e.Refresh(t.Context()); err != nil || len(listed(e)) != len(tt.want)+1 {
			t.Errorf("a reload lost what was active: %q, %v", listed(e), err)
		}
	}
	e := open("repo")
	entry, err := e.Snapshot().Resolve("ts")
	if err != nil {
		t.Fatal(err)
	}
	if f, p := e.TouchedBy(entry, "a.go", "web/b.ts", "web/c.ts"); f != "web/b.ts" || p != "web/**/*.ts" {
		t.Errorf("TouchedBy = %q, %q", f, p)
	}
	if f, p := e.TouchedBy(entry, "a.go"); f != "" || p != "" || e.Session().Active("ts") {
		t.Errorf("TouchedBy = %q, %q", f, p)
	}
}

func TestSearch(t *testing.T) { // spec L-8
	enabled := true
	l := newLab(t, map[string]string{
		"repo/.claude/skills/deploy/SKILL.md": "---\ndescription: Ships it.\n---\n# Rollback plan\n",
		"repo/.claude/skills/hidden/SKILL.md": doc("Ships secretly", "disable-model-invocation: true"),
		"repo/.claude/skills/ts/SKILL.md":     doc("TypeScript rules", `paths: "*.ts"`),
		"repo/.claude/skills/denied/SKILL.md": doc("Ships denied"),
		"repo/.claude/settings.json":          `{"permissions": {"deny": ["Skill(denied)"]}}`,
	})
	e := l.open(func(o *knack.Options) {
		o.NoBundled = false
		o.Bundled = flagged(&enabled)
	})
	find := func(query string) []string {
		t.Helper()
		hits, err := e.Search(t.Context(), query, 0)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, h := range hits {
			ids = append(ids, h.ID)
		}
		return ids
	}
	equal(t, "description", find("ships"), []string{"deploy"})
	equal(t, "heading", find("rollback"), []string{"deploy"})
	equal(t, "not active", find("typescript"), nil)
	e.Touch("a.ts")
	equal(t, "active", find("typescript"), []string{"ts"})
	equal(t, "enabled", find("flagged"), []string{"flagged"})
	enabled = false
	equal(t, "switched off", find("flagged"), nil)
	l.write("repo/.claude/skills/new/SKILL.md", doc("Ships more"))
	equal(t, "before the reload", find("more"), nil)
	if _, err := e.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "after the reload", find("more"), []string{"new"})
	if hits, err := e.Search(t.Context(), "ships", 1); err != nil || len(hits) != 1 {
		t.Errorf("limit 1: %v, %v", hits, err)
	}
}

func TestAnnounce(t *testing.T) { // spec L-6
	l := newLab(t, map[string]string{
		"repo/.claude/skills/a/SKILL.md":  doc("First"),
		"repo/.claude/skills/ts/SKILL.md": doc("TypeScript rules", `paths: "*.ts"`),
	})
	e := l.open()
	next := func(agent session.AgentID) string {
		t.Helper()
		m, ok := e.Announce(agent)
		if ok != (m.Text != "") || ok && !m.Meta {
			t.Errorf("%+v, %v", m, ok)
		}
		return m.Text
	}
	equal(t, "first", next(session.Main), e.Listing().Text)
	equal(t, "no news", next(session.Main), "")
	e.Touch("x.ts")
	if got := next(session.Main); !strings.Contains(got, "New:\n- ts: TypeScript rules") || strings.Contains(got, "- a") {
		t.Errorf("activated: %q", got)
	}
	l.write("repo/.claude/skills/a/SKILL.md", doc("Better"))
	if _, err := e.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := next(session.Main); !strings.Contains(got, "Changed") || !strings.Contains(got, "- a: Better") || strings.Contains(got, "- ts") {
		t.Errorf("changed: %q", got)
	}
	if err := os.RemoveAll(l.base + "/repo/.claude/skills/a"); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := next(session.Main); !strings.Contains(got, "Removed") || !strings.Contains(got, "\n- a\n") {
		t.Errorf("removed: %q", got)
	}
	equal(t, "no news", next(session.Main), "")
	equal(t, "another agent", next("worker"), e.Listing().Text)
}

func TestCommand(t *testing.T) { // spec I-4
	l := newLab(t, map[string]string{
		"repo/.claude/skills/a/SKILL.md":    doc("A"),
		"repo/.claude/skills/b/SKILL.md":    doc("B"),
		"repo/.claude/skills/fork/SKILL.md": doc("Fork", "context: fork"),
		"repo/.claude/skills/tool/SKILL.md": doc("Tool", "user-invocable: false"),
		"repo/.claude/skills/x/SKILL.md":    doc("X", "name: Same"),
		"repo/.claude/skills/y/SKILL.md":    doc("Y", "name: Same"),
		"home/.claude/skills/a/SKILL.md":    doc("Mine"),
		"repo/.claude/skills/off/SKILL.md":  doc("Off"),
		"repo/.claude/settings.json":        `{"skillOverrides": {"off": "off"}}`,
	})
	e := l.open()
	for name, want := range map[string][2]bool{
		"a": {true, true}, "project:a": {true, true}, "fork": {true, false}, "tool": {true, false}, "Same": {true, false},
		"off": {true, false}, "nobody": {false, false}, "../a": {false, false},
	} {
		exists, stackable := e.Command(name)
		equal(t, name, [2]bool{exists, stackable}, want)
	}
	p := slash.Parse("/a /b /fork now", e, nil)
	if p.Kind != slash.Calls || len(p.Calls) != 2 || p.Calls[1].Args != "/fork now" {
		t.Errorf("%+v", p)
	}
}

// The files of a bundled skill are written when it is first invoked, and not
// when it is listed, searched, checked or explained.
func TestExtraction(t *testing.T) { // spec B-2
	l := newLab(t, nil)
	t.Setenv("XDG_CACHE_HOME", l.base+"/cache")
	t.Setenv("HOME", l.base+"/home") // the cache of other systems lies there
	e := l.open(func(o *knack.Options) { o.NoBundled = false })
	extracted := func() (dirs []string) {
		err := filepath.WalkDir(l.base, func(p string, d os.DirEntry, err error) error {
			if err == nil && strings.HasPrefix(d.Name(), "bundled-") {
				dirs = append(dirs, p)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return dirs
	}
	e.Listing()
	if hits, err := e.Search(t.Context(), "author a skill", 5); err != nil || len(hits) == 0 {
		t.Errorf("%v, %v", hits, err)
	}
	for _, by := range []invoke.Caller{invoke.ByUser, invoke.ByModel} {
		if err := invoke.Check(t.Context(), invoke.Request{Name: "create-skill", By: by}, e.Env()); err != nil {
			t.Error(err)
		}
	}
	if _, err := e.Invoke(t.Context(), invoke.Request{Name: "simplify", By: invoke.ByUser}); err != nil {
		t.Error(err)
	}
	if got := extracted(); len(got) > 0 {
		t.Fatalf("extracted before the first invocation: %q", got)
	}
	var wg sync.WaitGroup
	texts := make([]string, 8)
	for i := range texts {
		wg.Go(func() {
			r, err := e.Invoke(t.Context(), invoke.Request{Name: "create-skill", By: invoke.ByModel})
			if err != nil {
				t.Error(err)
				return
			}
			texts[i] = r.Text
		})
	}
	wg.Wait()
	dirs := extracted()
	if len(dirs) != 1 || len(slices.Compact(texts)) != 1 {
		t.Fatalf("extracted to %q, texts %q", dirs, slices.Compact(texts))
	}
	if !strings.HasPrefix(texts[0], "Base directory for this skill: "+filepath.ToSlash(dirs[0])) {
		t.Errorf("text begins with %.200q", texts[0])
	}
	if found, err := filepath.Glob(dirs[0] + "/create-skill/references/*"); err != nil || len(found) == 0 {
		t.Errorf("files: %q, %v", found, err)
	}
	if err := e.Close(); err != nil || len(extracted()) > 0 {
		t.Errorf("after Close: %q, %v", extracted(), err)
	}
}

// One engine serves many goroutines, also while it reloads.
func TestConcurrentUse(t *testing.T) { // spec M-6, C-12
	l := newLab(t, map[string]string{
		"repo/.claude/skills/a/SKILL.md":  doc("First"),
		"repo/.claude/skills/ts/SKILL.md": doc("TypeScript rules", `paths: "*.ts"`),
	})
	e := l.open(trusted)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if _, err := e.Invoke(t.Context(), invoke.Request{Name: "a", Args: "x", By: invoke.ByModel}); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if _, err := e.Search(t.Context(), "first", 3); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() { e.Touch("a.ts"); e.Listing(); e.Problems() })
		wg.Go(func() { e.Announce(session.AgentID([]string{"p", "q"}[i%2] + strings.Repeat("x", i))) })
		if i%5 == 0 {
			wg.Go(func() {
				if _, err := e.Refresh(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	equal(t, "recorded", len(e.Session().Invoked(session.Main)), 20)
}

// maxExported is how many names a reader of the façade has to know.
const maxExported = 15

func TestFacadeIsSmall(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			names = append(names, exported(d)...)
		}
	}
	if !slices.Contains(names, "New") || len(names) > maxExported {
		t.Errorf("%d exported names: %q", len(names), names)
	}
}

// maxExample is how many lines it takes to get the skills of a directory (spec
//
const maxExample = 20

func TestExampleIsShort(t *testing.T) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "example_test.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != "Example" {
			continue
		}
		last := fn.Body.List[len(fn.Body.List)-1]
		if n := fset.Position(last.End()).Line - fset.Position(fn.Body.Lbrace).Line; n > maxExample {
			t.Errorf("the body of Example has %d lines", n)
		}
		return
	}
	t.Error("there is no Example")
}

func exported(d ast.Decl) (names []string) {
	add := func(id *ast.Ident) {
		if id.IsExported() {
			names = append(names, id.Name)
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			add(d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				add(s.Name)
			case *ast.ValueSpec:
				for _, id := range s.Names {
					add(id)
				}
			}
		}
	}
	return names
}
