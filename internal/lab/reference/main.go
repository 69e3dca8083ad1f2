// Command reference writes the reference pages of docs/reference from the code,
// so that a page cannot say what the program does not do. Run it in the root
// of the repository after a change of a command, a field, a code or a setting.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	dir := flag.String("dir", filepath.Join("docs", "reference"), "directory of the pages")
	flag.Parse()
	if err := write(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

// write makes every page in dir.
func write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, page := range pages() {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(page), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pages returns every page by its file name.
func pages() map[string]string {
	return map[string]string{
		"commands.md": commands(),
		"fields.md":   fields(),
		"codes.md":    codes(),
		"settings.md": settingsPage(),
	}
}
