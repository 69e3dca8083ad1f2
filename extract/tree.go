package extract

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// skippedDirs are never copied: they are the history of a directory, not a part
// of it.
var skippedDirs = []string{".git", ".hg", ".svn"}

// Tree copies the directory sub of from. Links are followed as far as they stay
// in from; others are left out, whatever the limits say, since nothing is
// refused that lies on this machine already.
func (w *Writer) Tree(ctx context.Context, from *os.Root, sub string) error {
	top, err := from.Stat(filepath.FromSlash(sub))
	if err != nil {
		return err
	}
	return w.directory(ctx, from, sub, "", []os.FileInfo{top})
}

// directory copies from's directory at to to; above are the directories that it
// lies in, and itself.
func (w *Writer) directory(ctx context.Context, from *os.Root, at, to string, above []os.FileInfo) error {
	entries, err := fs.ReadDir(from.FS(), path.Clean(at))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.entry(ctx, from, path.Join(at, e.Name()), path.Join(to, e.Name()), above); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) entry(ctx context.Context, from *os.Root, at, to string, above []os.FileInfo) error {
	name := filepath.FromSlash(at)
	info, err := from.Lstat(name)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if info, err = from.Stat(name); err != nil {
			w.Skip(to, "is a link that leads out or to nothing")
			return nil
		}
	}
	switch {
	case info.IsDir() && slices.Contains(skippedDirs, path.Base(to)):
		return nil
	case info.IsDir() && slices.ContainsFunc(above, func(o os.FileInfo) bool { return os.SameFile(o, info) }):
		w.Skip(to, "is a link to what it lies in")
		return nil
	case info.IsDir():
		if err := w.Dir(to); err != nil {
			return err
		}
		return w.directory(ctx, from, at, to, append(slices.Clone(above), info))
	case path.Base(to) == ".git": // of a submodule or a worktree
		return nil
	case !info.Mode().IsRegular():
		w.Skip(to, "is no file, directory or link")
		return nil
	}
	// Non-blocking, in case that the file is another one by now.
	f, err := from.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		w.Skip(to, "is no file, directory or link")
		return err
	}
	return w.File(to, info.Mode()&0o111 != 0, f)
}

// Top returns the directory below dir that holds what was packed: dir itself when
// here says so, else its only entry when that is a directory.
func Top(dir string, here func(dir string) bool) string {
	if here(dir) {
		return dir
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return dir
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool {
		return strings.HasPrefix(e.Name(), "__MACOSX") || e.Name() == ".DS_Store"
	})
	if len(entries) == 1 && entries[0].IsDir() {
		return filepath.Join(dir, entries[0].Name())
	}
	return dir
}
