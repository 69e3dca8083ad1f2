package knack_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestArchitectureIsWhole: every package of the library stands in the table of
// ARCHITECTURE.md and in its picture, and every file of a policy exists.
func TestArchitectureIsWhole(t *testing.T) {
	doc := read(t, "ARCHITECTURE.md")
	_, table, found := strings.Cut(doc, "\n## Packages\n")
	table, policies, found2 := strings.Cut(table, "\n## Policy is a table\n")
	_, picture, found3 := strings.Cut(doc, "```")
	picture, _, _ = strings.Cut(picture, "```")
	if !found || !found2 || !found3 {
		t.Fatal("ARCHITECTURE.md has lost a section")
	}
	out, err := exec.Command("go", "list", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.FieldsFunc(picture, func(r rune) bool { return strings.ContainsRune(" \n,:()<>", r) })
	for pkg := range strings.FieldsSeq(string(out)) {
		pkg = strings.TrimPrefix(strings.TrimPrefix(pkg, module), "/")
		name := path.Base(cmp.Or(pkg, "knack"))
		if frontEnd(pkg) && pkg != "cmd/knack" || strings.HasSuffix(name, "test") {
			continue // parts of the program, and contract suites
		}
		if !strings.Contains(table, "`"+cmp.Or(pkg, "knack")+"`") {
			t.Errorf("the table of ARCHITECTURE.md has no row for %q", pkg)
		}
		if !slices.ContainsFunc(words, func(w string) bool {
			return w == name || strings.HasSuffix(w, "/"+name) || strings.HasPrefix(w, name+".")
		}) {
			t.Errorf("the picture of ARCHITECTURE.md does not show %q", pkg)
		}
	}
	rows := regexp.MustCompile("(?m)^\\|[^|]*\\| `([^`]+)` \\|$").FindAllStringSubmatch(policies, -1)
	if len(rows) < 8 {
		t.Errorf("only %d policies have a file", len(rows))
	}
	for _, row := range rows {
		if _, err := os.Stat(row[1]); err != nil {
			t.Errorf("ARCHITECTURE.md: %v", err)
		}
	}
}

// TestPromisesAreTested: every promise of SECURITY.md names tests that exist.
func TestPromisesAreTested(t *testing.T) {
	_, promises, _ := strings.Cut(read(t, "SECURITY.md"), "\n## Promises\n")
	promises, _, _ = strings.Cut(promises, "\n## ")
	named := regexp.MustCompile("`([a-z/]*)\\.(Test\\w+)`")
	exist := map[string][]string{}
	rows := 0
	for line := range strings.Lines(promises) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| promise") {
			continue
		}
		rows++
		tests := named.FindAllStringSubmatch(line, -1)
		if len(tests) == 0 {
			t.Errorf("SECURITY.md: no test is named in %s", line)
		}
		for _, m := range tests {
			if exist[m[1]] == nil {
				exist[m[1]] = testsOf(t, m[1])
			}
			if !slices.Contains(exist[m[1]], m[2]) {
				t.Errorf("SECURITY.md: package %q has no test %s", m[1], m[2])
			}
		}
	}
	if rows < 10 {
		t.Errorf("only %d promises were found", rows)
	}
}

// testsOf names the tests of a package.
func testsOf(t *testing.T, dir string) []string {
	t.Helper()
	if dir == "knack" {
		dir = "." // the package of the root
	}
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				out = append(out, fn.Name.Name)
			}
		}
	}
	return out
}

// TestDesignNotes: the notes are numbered without a gap or a double, begin with
// their number, and every mention of one means a note that exists.
func TestDesignNotes(t *testing.T) {
	notes, err := filepath.Glob("docs/design/*.md")
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]string{}
	for i, note := range notes { // Glob sorts
		number := fmt.Sprintf("%03d", i+1)
		numbers[number] = strings.TrimSuffix(filepath.Base(note), ".md")
		if !strings.HasPrefix(filepath.Base(note), number+"-") {
			t.Errorf("%s should have the number %s", note, number)
		}
		if !strings.HasPrefix(read(t, note), "# "+number+": ") {
			t.Errorf("%s should begin with %q", note, "# "+number+": ")
		}
	}
	mention := regexp.MustCompile(`docs/design/(\d{3})(-[a-z-]+)?`)
	eachText(t, func(file, text string) {
		for _, m := range mention.FindAllStringSubmatch(text, -1) {
			if have, ok := numbers[m[1]]; !ok || m[2] != "" && have != m[1]+m[2] {
				t.Errorf("%s mentions %s, which does not exist", file, m[0])
			}
		}
	})
}

// TestLinksLead: every link of a document to a file of this repository leads
// somewhere.
func TestLinksLead(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)]*)?\)`)
	fence := regexp.MustCompile("(?ms)^```.*?^```$")
	eachText(t, func(file, text string) {
		// Skills of tests and of the program speak of files of other places.
		if filepath.Ext(file) != ".md" || strings.HasPrefix(file, "source/") || strings.HasPrefix(file, "internal/") || strings.HasPrefix(file, "agent/") {
			return
		}
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), m[1])); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", file, m[1])
			}
		}
	})
}

// eachText visits the Go files and documents of the repository.
func eachText(t *testing.T, visit func(file, text string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return fs.SkipDir
		case filepath.Ext(p) == ".md" || filepath.Ext(p) == ".go":
			visit(filepath.ToSlash(p), read(t, p))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
