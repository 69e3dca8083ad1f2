package knack_test

import (
	"go/ast"
	"go/token"
	"testing"
)

// TestHomeIsAsked: nobody reads HOME, which Windows does not set; home is what
// os.UserHomeDir says (spec C-2).
func TestHomeIsAsked(t *testing.T) {
	readers := map[string]bool{"Getenv": true, "LookupEnv": true, "getenv": true}
	homes := map[string]bool{`"HOME"`: true, `"USERPROFILE"`: true, `"HOMEPATH"`: true}
	asked := 0
	productCode(t, func(fset *token.FileSet, _ string, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name := ""
			switch fn := call.Fun.(type) {
			case *ast.SelectorExpr:
				name = fn.Sel.Name
			case *ast.Ident:
				name = fn.Name
			}
			if name == "UserHomeDir" {
				asked++
			}
			if readers[name] && len(call.Args) == 1 {
				if arg, ok := call.Args[0].(*ast.BasicLit); ok && homes[arg.Value] {
					t.Errorf("%s reads %s; ask os.UserHomeDir", fset.Position(call.Pos()), arg.Value)
				}
			}
			return true
		})
	})
	if asked == 0 {
		t.Error("nobody asks for the home directory: the test looks in the wrong place")
	}
}
