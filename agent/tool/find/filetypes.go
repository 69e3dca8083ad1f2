package find

import (
	"maps"
	"slices"
	"strings"
)

// fileTypes says which names the "type" of a search stands for, as in ripgrep.
var fileTypes = map[string]string{
	"c":       "*.c *.h",
	"cpp":     "*.cpp *.cc *.cxx *.hpp *.hh *.hxx *.h *.inl",
	"cs":      "*.cs",
	"css":     "*.css *.scss *.sass *.less",
	"csv":     "*.csv *.tsv",
	"dart":    "*.dart",
	"docker":  "Dockerfile Dockerfile.* *.dockerfile",
	"elixir":  "*.ex *.exs *.eex *.heex",
	"erlang":  "*.erl *.hrl",
	"go":      "*.go",
	"haskell": "*.hs *.lhs",
	"html":    "*.html *.htm *.xhtml",
	"java":    "*.java *.jsp",
	"js":      "*.js *.jsx *.mjs *.cjs *.vue",
	"json":    "*.json *.jsonl *.json5 *.ipynb",
	"kotlin":  "*.kt *.kts",
	"lua":     "*.lua",
	"make":    "Makefile makefile GNUmakefile *.mk *.mak",
	"md":      "*.md *.markdown *.mdx",
	"nix":     "*.nix",
	"perl":    "*.pl *.pm *.t",
	"php":     "*.php *.phtml",
	"proto":   "*.proto",
	"ps":      "*.ps1 *.psm1 *.psd1",
	"py":      "*.py *.pyi",
	"r":       "*.r *.R *.Rmd",
	"rb":      "*.rb *.erb *.rake *.gemspec Gemfile Rakefile",
	"rust":    "*.rs",
	"scala":   "*.scala *.sbt",
	"sh":      "*.sh *.bash *.zsh *.fish .bashrc .zshrc .profile",
	"sql":     "*.sql",
	"svelte":  "*.svelte",
	"swift":   "*.swift",
	"tf":      "*.tf *.tfvars",
	"toml":    "*.toml",
	"ts":      "*.ts *.tsx *.mts *.cts",
	"txt":     "*.txt",
	"vue":     "*.vue",
	"xml":     "*.xml *.xsd *.xsl *.svg",
	"yaml":    "*.yaml *.yml",
	"zig":     "*.zig",
}

// otherNames are what the types are also called.
var otherNames = map[string]string{
	"golang": "go", "python": "py", "javascript": "js", "typescript": "ts", "tsx": "ts", "jsx": "js", "rs": "rust",
	"markdown": "md", "yml": "yaml", "ruby": "rb", "kt": "kotlin", "shell": "sh", "bash": "sh", "csharp": "cs", "terraform": "tf",
}

// typePatterns returns the patterns of a type; known lists the types when there
// is no such one.
func typePatterns(name string) (patterns []string, known string) {
	if other, ok := otherNames[name]; ok {
		name = other
	}
	if names, ok := fileTypes[name]; ok {
		return strings.Fields(names), ""
	}
	return nil, strings.Join(slices.Sorted(maps.Keys(fileTypes)), ", ")
}
