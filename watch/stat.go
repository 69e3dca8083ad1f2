package watch

import (
	"io/fs"
	"os"
)

func lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }

// isLink reports whether the mode is that of a link; Windows calls junctions
// irregular.
func isLink(m fs.FileMode) bool { return m&(fs.ModeSymlink|fs.ModeIrregular) != 0 }

// printOf returns the print of a file. It leaves out the numbers that a network
// file system may make up anew.
func (w *Watcher) printOf(path string, info fs.FileInfo) print {
	p := print{kind: other, perm: uint16(info.Mode().Perm()), size: info.Size(), mtime: info.ModTime().UnixNano()}
	if info.Mode().IsRegular() {
		p.kind = file
	}
	if n := idOf(info); !w.remote(n, path) {
		p.dev, p.ino = n.dev, n.ino
	}
	return p
}
