// Command reference writes the pages of docs/reference, and the schema that the
// skill update-config ships, from the code, so that neither can say what the
// program does not do. Run it in the root of the repository after a change of a
// command, a field, a code, a setting or a hook.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/settings"
)

func main() {
	root := flag.String("root", ".", "root of the repository")
	flag.Parse()
	if err := write(*root); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

// write makes every file below root.
func write(root string) error {
	for name, text := range files() {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// The directories that the files are written to, below the root.
const (
	docsDir  = "docs/reference/"
	skillDir = "source/bundled/skills/update-config/references/"
)

// files returns every file by its name below the root.
func files() map[string]string {
	schema := string(settings.Schema(map[string]json.RawMessage{"hooks": hook.Schema()}))
	return map[string]string{
		docsDir + "commands.md":           commands(),
		docsDir + "fields.md":             fields(),
		docsDir + "codes.md":              codes(),
		docsDir + "security-rules.md":     securityRules(),
		docsDir + "settings.md":           settingsPage(),
		docsDir + "settings.schema.json":  schema,
		skillDir + "settings.schema.json": schema,
	}
}
