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
	root, name string // the path is the name below the root
	link       string // where it led; empty: it was not there
}

// guard looks before a command runs.
func guard(su setup) watch {
	var w watch
	for _, p := range su.protected {
		fi, err := os.Lstat(p)
		if err == nil && fi.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		link, _ := os.Readlink(p) // one that is gone meanwhile was not there
		for _, root := range su.roots {
			if inside(p, root) {
				name, _ := filepath.Rel(root, p) // it is below
				w = append(w, watched{root, name, link})
			}
		}
	}
	return w
}

// withdraw renames what the command put in place of protected paths, so that no
// program takes it for the real thing, and says so. Nothing is lost by it. It
// works below the roots only: the command may have made links of what lies
// between, to have files renamed that it could not reach.
func (w watch) withdraw() string {
	note := ""
	for _, x := range w {
		root, err := os.OpenRoot(x.root)
		if err != nil {
			continue // the directory is gone, and all in it
		}
		note += x.withdraw(root)
		_ = root.Close() // it was only read
	}
	return note
}

func (x watched) withdraw(root *os.Root) string {
	if _, err := root.Lstat(x.name); err != nil {
		return ""
	}
	if link, err := root.Readlink(x.name); err == nil && link == x.link {
		return ""
	}
	path, to := filepath.Join(x.root, x.name), x.name+".withdrawn-"+rand.Text()[:8]
	if err := root.Rename(x.name, to); err != nil {
		return fmt.Sprintf("[sandbox: this command made %s, a protected path, and it could not be withdrawn: %v]\n", path, err)
	}
	return fmt.Sprintf("[sandbox: this command made %s, a protected path; it was renamed to %s]\n", path, filepath.Base(to))
}
