package sandbox

import (
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// protectedNames are what later runs by itself, or is read by what does, when it
// lies in a directory that is written (spec S-10). What they hold would run
// outside the sandbox. The list is that of the permission rules.
var protectedNames = []string{
	".git", ".claude", ".agents", ".vscode", ".idea", ".husky",
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile",
	".zshrc", ".zprofile", ".zshenv", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".inputrc",
	".mcp.json", ".claude.json", ".gitconfig", ".gitmodules",
}

func protectedPaths(dirs []string) []string {
	var out []string
	for _, d := range dirs {
		for _, n := range protectedNames {
			out = append(out, filepath.Join(d, n))
		}
	}
	return out
}

// A watch remembers the protected paths that no mount can hold: those that are
// not there, and links, which can be replaced.
type watch []watched

type watched struct {
	path string
	link string // where it led; empty: it was not there
}

// guard looks before a command runs.
func guard(su setup) watch {
	var w watch
	for _, p := range su.protected {
		fi, err := os.Lstat(p)
		switch {
		case err != nil:
			w = append(w, watched{path: p})
		case fi.Mode()&fs.ModeSymlink != 0:
			link, _ := os.Readlink(p) // one that is gone meanwhile was not there
			w = append(w, watched{p, link})
		}
	}
	return w
}

// withdraw renames what the command put in place of protected paths, so that no
// program takes it for the real thing, and says so. Nothing is lost by it.
func (w watch) withdraw() string {
	note := ""
	for _, x := range w {
		if _, err := os.Lstat(x.path); err != nil {
			continue
		}
		if link, err := os.Readlink(x.path); err == nil && link == x.link {
			continue
		}
		to := x.path + ".withdrawn-" + rand.Text()[:8]
		if err := os.Rename(x.path, to); err != nil {
			note += fmt.Sprintf("[sandbox: this command made %s, a protected path, and it could not be withdrawn: %v]\n", x.path, err)
			continue
		}
		note += fmt.Sprintf("[sandbox: this command made %s, a protected path; it was renamed to %s]\n", x.path, filepath.Base(to))
	}
	return note
}
