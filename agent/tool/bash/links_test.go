//go:build unix

package bash_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/agent/tool/bash"
	"github.com/knack-skills/knack/permission"
)

// TestLinks: a rule about a file holds for a command that names a link to it
// (spec S-8).
func TestLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": "secret", "further": "link", "lost": "lost"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	rules := permission.Rules{Deny: []permission.Rule{{Tool: "Read", HasSpec: true, Specifier: "secret"}}}
	s := bash.NewShells(bash.Options{Base: tool.Base{Dir: dir}})
	for line, want := range map[string]permission.Verdict{
		"cat secret": permission.Deny, "cat link": permission.Deny, "cat further": permission.Deny, "cat < link": permission.Deny,
		"cd . && head link": permission.Deny, "cat other": permission.Allow, "cat lost": permission.Allow,
	} {
		input, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Tools()[0].Plan(input)
		if err != nil {
			t.Fatal(err)
		}
		if d := rules.Decide(p.Ask); d.Verdict != want {
			t.Errorf("%q: %s (%s)", line, d.Verdict, d.Reason)
		}
	}
}
