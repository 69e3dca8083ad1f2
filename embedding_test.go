package knack_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEmbeddingIsShort: skills cost a program with a loop of its own at most
// maxExample lines (spec A-10). A line counts when it names something of Knack:
// a package, or the field, variable or result in which something of it lies.
func TestEmbeddingIsShort(t *testing.T) {
	programs, err := filepath.Glob("examples/*/main.go")
	if err != nil || len(programs) < 3 {
		t.Fatalf("the programs are %q, %v", programs, err)
	}
	for _, program := range programs {
		lines := linesOfKnack(t, program)
		if len(lines) > maxExample || len(lines) < 10 {
			t.Errorf("%s has %d lines of Knack:\n%s", program, len(lines), strings.Join(lines, "\n"))
		}
	}
}

func linesOfKnack(t *testing.T, file string) (out []string) {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ours := []string{"engine", "skills", "p"} // p is what was typed
	for _, i := range f.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(path, module) {
			ours = append(ours, path[strings.LastIndex(path, "/")+1:])
		}
	}
	var at []int
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && slices.Contains(ours, id.Name) {
				at = append(at, fset.Position(id.Pos()).Line)
			}
			return true
		})
	}
	slices.Sort(at)
	all := strings.Split(string(src), "\n")
	for _, line := range slices.Compact(at) {
		out = append(out, strings.TrimSpace(all[line-1]))
	}
	return out
}
