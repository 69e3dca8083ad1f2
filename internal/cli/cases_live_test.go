package cli_test

import (
	"strings"
	"testing"
)

// TestCasesConditional: every way in which people write paths, and which files
// activate the skill then (D-3, D-4).
func TestCasesConditional(t *testing.T) {
	files := []string{"a.ts", "b.js", "src/x.tsx", "src/y.md", "5", "z"}
	for _, tt := range []struct{ paths, active string }{
		{"paths:\n  - \"**/*.ts\"\n  - \"**/*.js\"", "a.ts b.js"},
		{"paths:\n  - \"**/*.js\"\n  - \"**/*.ts\"", "a.ts b.js"},
		{`paths: "**/*.ts, **/*.js"`, "a.ts b.js"},
		{`paths: ["**/*.ts", "**/*.js"]`, "a.ts b.js"},
		{"paths: src/*.{ts,tsx}", "src/x.tsx"},
		{"paths: src/**/*.tsx", "src/x.tsx"},
		{"paths: *.ts", "a.ts"}, // YAML takes the star for an alias
		{"paths: **/*.ts", "a.ts"},
		{"paths: 5", "5"},
		{"paths: {a: b}", ""}, // a slip must not show the skill to everybody
		{`paths: [1, null, "src/**"]`, "src/x.tsx src/y.md"},
		{`paths: ["**"]`, "a.ts b.js src/x.tsx src/y.md 5 z"},
		{"paths: /src/", "src/x.tsx src/y.md"},
		{`paths: ["src/**", "!*.md"]`, "src/x.tsx"},
	} {
		w := newWorld(t)
		w.skill("bound", "---\ndescription: a\n"+tt.paths+"\n---\nB\n")
		var active []string
		for _, f := range files {
			if strings.Contains(w.run("explain", "bound", "--by", "model", "--touch", f).stdout, " activated ") {
				active = append(active, f)
			}
		}
		if got := strings.Join(active, " "); got != tt.active {
			t.Errorf("%s: %q activate it, want %q", tt.paths, got, tt.active)
		}
	}
}
