package knack_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/knack-skills/knack"

// arrows lists, for each package, what else of this module it may import. It
// is the architecture; change it on purpose. *core stands for every package of
// the core, *any for everything.
var arrows = map[string]string{
	// Words and measures.
	"text":      "",
	"hook":      "",
	"gitignore": "",
	"schema":    "",
	"shell":     "",
	"skill":     "hook",
	"turn":      "",
	"audit":     "",
	// What changes.
	"watch":          "",
	"watch/fsnotify": "watch",
	// What is there.
	"frontmatter":    "skill hook text",
	"source/index":   "skill hook",
	"source/dir":     "skill frontmatter source/index",
	"source/bundled": "skill frontmatter",
	"source/plugin":  "skill hook frontmatter source/dir",
	"source/mcp":     "skill frontmatter text",
	"catalog":        "skill text",
	"discovery":      "skill gitignore",
	"listing":        "skill text",
	"search":         "text",
	// Run one.
	"permission": "skill gitignore",
	"prompt":     "skill shell",
	"session":    "skill hook permission text",
	"invoke":     "skill turn catalog permission prompt session shell hook audit text",
	// Engines: libraries on top.
	"state":    "",
	"usage":    "state",
	"settings": "skill hook permission text state",
	"slash":    "",
	"hookexec": "hook permission shell text audit gitignore",
	"sandbox":  "shell",
	// Plugins: kept, fetched, unpacked.
	"extract":      "",
	"plugin":       "skill hook text frontmatter source/dir source/plugin settings state extract agentdef",
	"plugin/fetch": "plugin extract",
	"approval":     "skill state text",
	// Servers of others: which there are, and the connections to them.
	"mcpconfig":       "skill state",
	"mcpclient":       "mcpconfig source/mcp state text",
	"mcpclient/sdk":   "mcpclient source/mcp",
	"mcpclient/oauth": "mcpclient mcpconfig state text",
	"scan":            "skill frontmatter hook permission prompt text catalog",
	"telemetry":       "*core llm agent",
	"lint":            "skill frontmatter prompt permission text catalog gitignore listing",
	// Models.
	"llm":           "",
	"llm/wire":      "llm",
	"llm/choose":    "text",
	"llm/scripted":  "llm",
	"llm/anthropic": "llm llm/wire",
	"llm/openai":    "llm llm/wire",
	"llm/gemini":    "llm llm/wire",
	"llm/offline":   "skill invoke search",
	// The agent.
	"agent":               "*core llm agentdef",
	"agent/skilltool":     "agent agent/tool listing llm search",
	"agent/agenttool":     "agent agent/tool invoke llm permission",
	"agent/tool":          "*core agent llm",
	"agent/tool/file":     "*core agent agent/tool llm",
	"agent/tool/find":     "*core agent agent/tool llm",
	"agent/tool/bash":     "*core agent agent/tool llm",
	"agent/tool/web":      "*core agent agent/tool llm",
	"agent/tool/todo":     "*core agent agent/tool llm",
	"agent/tool/question": "*core agent agent/tool llm",
	"agent/tool/remote":   "*core agent agent/tool llm mcpclient mcpconfig",
	"agentdef":            "skill hook frontmatter permission text",
	"memory":              "skill text",
	"session/transcript":  "session skill permission text state",
	// The façade wires the core, the settings and what is remembered.
	"": "*core settings state usage approval plugin agentdef mcpconfig",
	// Contract suites, imported by tests alone.
	"catalog/sourcetest":  "skill catalog",
	"shell/shelltest":     "shell",
	"llm/llmtest":         "llm",
	"agent/tool/tooltest": "agent llm",
}

var core = strings.Fields(`text hook gitignore shell skill turn audit watch frontmatter
	source/index source/dir source/bundled source/plugin source/mcp catalog discovery watch
	listing search permission prompt session invoke`)

// external lists the modules that a core package may use besides the standard
// library; docs/design/002-dependencies.md argues for each.
var external = map[string]string{
	"text":        "github.com/clipperhouse/uax29/v2 github.com/clipperhouse/displaywidth",
	"search":      "github.com/clipperhouse/uax29/v2",
	"frontmatter": "go.yaml.in/yaml/v4",
	"catalog":     "golang.org/x/text",
	"permission":  "mvdan.cc/sh/v3",
	"shell":       "golang.org/x/sys",
	"source/dir":  "golang.org/x/sys",
}

func TestArrows(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		checkPackage(t, strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/"), p.Imports)
	}
}

// heavy lists what no package of the program may import, with the reason.
var heavy = map[string]string{
	"text/template": "it calls methods by name, so the linker keeps every method of every type: the program doubles",
	"html/template": "see text/template",
}

func checkPackage(t *testing.T, from string, imports []string) {
	for _, i := range imports {
		if why := heavy[i]; why != "" && !strings.HasPrefix(from, "internal/lab") {
			t.Errorf("%q may not import %q: %s", from, i, why)
		}
	}
	if frontEnd(from) {
		return // may import anything; nothing imports it, see below
	}
	may, known := arrows[from]
	if !known {
		t.Errorf("package %q has no line in arrows", from)
		return
	}
	allowed := strings.Fields(strings.ReplaceAll(may, "*core", strings.Join(core, " ")))
	for _, i := range imports {
		if to, ours := strings.CutPrefix(i, module); ours {
			to = strings.TrimPrefix(to, "/")
			if frontEnd(to) || !slices.Contains(allowed, to) {
				t.Errorf("%q may not import %q", from, to)
			}
			continue
		}
		foreign := strings.Contains(strings.SplitN(i, "/", 2)[0], ".")
		if foreign && slices.Contains(core, from) && !usable(from, i) {
			t.Errorf("core package %q may not import %q", from, i)
		}
	}
}

// frontEnd reports whether a package is a program or a part of one.
func frontEnd(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return slices.Contains([]string{"cmd", "internal", "bench", "examples", "mcpserver"}, first)
}

func usable(from, path string) bool {
	return slices.ContainsFunc(strings.Fields(external[from]), func(m string) bool {
		return path == m || strings.HasPrefix(path, m+"/")
	})
}

// TestPackageComments: every package says what it does (docs/design/001).
func TestPackageComments(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}\t{{.Doc}}", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		path, doc, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if doc == "" {
			t.Errorf("%s has no package comment", path)
		}
	}
}

// The size limits of a file and of a function, in lines.
const (
	maxFile     = 400
	maxFunction = 60
)

// TestHouseRules: small files, small functions, no init, in all product code.
func TestHouseRules(t *testing.T) {
	productCode(t, func(fset *token.FileSet, path string, f *ast.File) {
		if n := fset.File(f.Pos()).LineCount(); n > maxFile {
			t.Errorf("%s has %d lines; is there a second noun in it?", path, n)
		}
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if fn.Name.Name == "init" && fn.Recv == nil {
				t.Errorf("%s has an init function", path)
			}
			if n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1; n > maxFunction {
				t.Errorf("%s: %s has %d lines", path, fn.Name.Name, n)
			}
		}
	})
}

// productCode visits the files of the module that are no tests.
func productCode(t *testing.T, visit func(fset *token.FileSet, path string, f *ast.File)) {
	t.Helper()
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err == nil {
			visit(fset, path, f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
