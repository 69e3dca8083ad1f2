package lint_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/knack-skills/knack/lint"
)

// word is what a code looks like.
var word = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// emitted is one code that the source of a package can give to a problem.
type emitted struct {
	code string
	at   token.Position
}

// moduleRoot returns the directory of go.mod.
func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
}

// packages parses the product code of the module, by directory. Nested modules
// are left out.
func packages(t *testing.T, root string) (*token.FileSet, map[string][]*ast.File) {
	t.Helper()
	fset, all := token.NewFileSet(), map[string][]*ast.File{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if path != root && (err == nil || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		all[filepath.Dir(path)] = append(all[filepath.Dir(path)], file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fset, all
}

// problemType reports whether the type of a composite literal may be
// skill.Problem; elements of a []skill.Problem have no type of their own.
func problemType(e ast.Expr) bool {
	switch e := e.(type) {
	case nil:
		return true
	case *ast.Ident:
		return e.Name == "Problem"
	case *ast.SelectorExpr:
		return e.Sel.Name == "Problem"
	}
	return false
}

// A scan finds the codes of one package: what is stored in a field Code of a
// problem, and what is passed for a parameter, or returned as a result, that
// is called code.
type scan struct {
	fset   *token.FileSet
	consts map[string]string // string constants and variables of the package
	params map[string][]int  // functions with a parameter "code string": its index in each
	found  []emitted
}

func scanPackage(fset *token.FileSet, files []*ast.File) []emitted {
	s := &scan{fset: fset, consts: map[string]string{}, params: map[string][]int{}}
	for _, f := range files {
		ast.Inspect(f, s.declare)
	}
	for _, f := range files {
		ast.Inspect(f, s.use)
	}
	return s.found
}

func (s *scan) declare(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ValueSpec:
		for i, name := range n.Names {
			if i < len(n.Values) {
				if lit, ok := n.Values[i].(*ast.BasicLit); ok && lit.Kind == token.STRING {
					s.consts[name.Name], _ = strconv.Unquote(lit.Value)
				}
			}
		}
	case *ast.FuncDecl:
		s.parameters(n.Name.Name, n.Type)
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if name, ok := left.(*ast.Ident); ok && len(n.Lhs) == len(n.Rhs) {
				if lit, ok := n.Rhs[i].(*ast.FuncLit); ok {
					s.parameters(name.Name, lit.Type)
				}
			}
		}
	}
	return true
}

// parameters records where a function takes a code.
func (s *scan) parameters(function string, t *ast.FuncType) {
	if i := codeIndex(t.Params); i >= 0 {
		s.params[function] = append(s.params[function], i)
	}
}

// codeIndex returns the index of "code string" in a parameter or result list,
// or -1.
func codeIndex(list *ast.FieldList) int {
	if list == nil {
		return -1
	}
	i := 0
	for _, field := range list.List {
		typ, ok := field.Type.(*ast.Ident)
		for _, name := range field.Names {
			if ok && name.Name == "code" && typ.Name == "string" {
				return i
			}
			i++
		}
	}
	return -1
}

func (s *scan) use(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if i := codeIndex(n.Type.Results); i >= 0 {
			ast.Inspect(n, func(n ast.Node) bool {
				if r, ok := n.(*ast.ReturnStmt); ok && i < len(r.Results) {
					s.add(r.Results[i])
				}
				return true
			})
		}
	case *ast.CompositeLit:
		if !problemType(n.Type) {
			return true
		}
		for _, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "Code" {
					s.add(kv.Value)
				}
			}
		}
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if sel, ok := left.(*ast.SelectorExpr); ok && sel.Sel.Name == "Code" && len(n.Lhs) == len(n.Rhs) {
				s.add(n.Rhs[i])
			}
		}
	case *ast.CallExpr:
		name := ""
		switch fun := n.Fun.(type) {
		case *ast.Ident:
			name = fun.Name
		case *ast.SelectorExpr:
			name = fun.Sel.Name
		}
		for _, i := range s.params[name] {
			if i < len(n.Args) {
				s.add(n.Args[i])
			}
		}
	}
	return true
}

func (s *scan) add(e ast.Expr) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if code, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			s.found = append(s.found, emitted{code, s.fset.Position(e.Pos())})
		}
	case *ast.Ident:
		if code, ok := s.consts[e.Name]; ok {
			s.found = append(s.found, emitted{code, s.fset.Position(e.Pos())})
		}
	}
}

// Every code that the project gives to a problem is in the table, so that the
// documentation made from it is complete.
func TestEveryCodeIsListed(t *testing.T) { // spec K-1
	root := moduleRoot(t)
	fset, all := packages(t, root)
	listed := map[string]string{}
	for _, c := range lint.Codes() {
		listed[c.Name] = c.From
	}
	seen := map[string]bool{}
	for dir, files := range all {
		rel, err := filepath.Rel(root, dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range scanPackage(fset, files) {
			if !word.MatchString(e.code) {
				continue // another kind of code, such as a terminal colour
			}
			seen[e.code] = true
			if _, ok := listed[e.code]; !ok {
				t.Errorf("%s: code %q of %s is not in lint.Codes", e.at, e.code, filepath.ToSlash(rel))
			}
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d codes found: the scan is broken", len(seen))
	}
}

// Every code of the table stands in the source of the package it is from.
func TestEveryListedCodeExists(t *testing.T) {
	root := moduleRoot(t)
	_, all := packages(t, root)
	literals := map[string]map[string]bool{}
	for dir, files := range all {
		rel, err := filepath.Rel(root, dir)
		if err != nil {
			t.Fatal(err)
		}
		in := map[string]bool{}
		for _, f := range files {
			if strings.HasSuffix(f.Name.Name, "_test") {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if s, err := strconv.Unquote(lit.Value); err == nil {
						in[s] = true
					}
				}
				return true
			})
		}
		literals[filepath.ToSlash(rel)] = in
	}
	for _, c := range lint.Codes() {
		for from := range strings.SplitSeq(c.From, ", ") {
			if !literals[from][c.Name] {
				t.Errorf("%s: package %s does not contain it", c.Name, from)
			}
		}
	}
}

func TestCodesAreWellFormed(t *testing.T) { // spec K-1: stable words
	all := lint.Codes()
	if !slices.IsSortedFunc(all, func(a, b lint.Code) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not sorted by name")
	}
	seen := map[string]bool{}
	for _, c := range all {
		if !word.MatchString(c.Name) || seen[c.Name] {
			t.Errorf("%q is no word, or listed twice", c.Name)
		}
		seen[c.Name] = true
		if !strings.HasSuffix(c.Meaning, ".") || strings.Count(c.Meaning, "\n") > 0 || c.From == "" {
			t.Errorf("%s: meaning %q from %q: want one sentence and a package", c.Name, c.Meaning, c.From)
		}
	}
}
