//go:build unix

package mcpconfig_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/knack-skills/knack/mcpconfig"
)

// TestPipes: a pipe in the place of a file of servers is a problem, and nobody
// waits for its writer.
func TestPipes(t *testing.T) {
	for _, name := range []string{"flag.json", "repo/.mcp.json", "home/.claude.json", "etc/managed-mcp.json"} {
		dir := tree(t, map[string]string{"repo/x": "", "home/x": "", "etc/x": ""})
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
		src := sources(dir)
		src.Managed = []string{filepath.Join(dir, "etc")}
		if name == "flag.json" {
			src.Flags = []string{filepath.Join(dir, name)}
		}
		set := mcpconfig.Load(src)
		if len(set.Problems) != 1 || set.Problems[0].Code != "mcp-config" || !strings.Contains(set.Problems[0].Message, "no plain file") {
			t.Errorf("%s: %v", name, set.Problems)
		}
	}
	// A link to a plain file is one.
	dir := tree(t, map[string]string{"repo/real.json": `{"mcpServers": {"a": {"command": "x"}}}`})
	if err := os.Symlink("real.json", filepath.Join(dir, "repo", ".mcp.json")); err != nil {
		t.Fatal(err)
	}
	if set := mcpconfig.Load(sources(dir)); len(set.Servers) != 1 {
		t.Error(set)
	}
}
