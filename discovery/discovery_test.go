package discovery_test

import (
	"testing"

	"github.com/knack-skills/knack/discovery"
	"github.com/knack-skills/knack/skill"
)

func TestActivates(t *testing.T) {
	tests := []struct {
		name     string
		patterns []string
		file     string
		want     string // the pattern, or "" for none
	}{
		{"any depth", []string{"*.ts"}, "/p/a/b/x.ts", "*.ts"},
		{"first of two", []string{"**/*.ts", "**/*.js"}, "/p/a.ts", "**/*.ts"},
		{"second of two", []string{"**/*.ts", "**/*.js"}, "/p/a.js", "**/*.js"},
		{"anchored", []string{"/x.ts"}, "/p/a/x.ts", ""},
		{"directory", []string{"docs/"}, "/p/docs/a.md", "docs/"},
		{"everything", []string{"**"}, "/p/README", "**"},
		{"negated", []string{"*.md", "!README.md"}, "/p/README.md", ""},
		{"outside", []string{"**"}, "/q/a.ts", ""},
		{"sibling with the same prefix", []string{"**"}, "/proj/a.ts", ""},
		{"the base itself", []string{"**"}, "/p", ""},
		{"no usable pattern", nil, "/p/a.ts", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &skill.Skill{Trigger: skill.Trigger{Conditional: true, Paths: tt.patterns}}
			got, ok := discovery.Activates(s, "/p", tt.file)
			if ok != (tt.want != "") || ok && got != tt.want {
				t.Errorf("got %q, %v; want %q", got, ok, tt.want)
			}
		})
	}
	if _, ok := discovery.Activates(&skill.Skill{}, "/p", "/p/x"); ok {
		t.Error("an unconditional skill was activated")
	}
}
