package bundled

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// The limits of one skill's files (spec S-15).
const (
	maxFiles = 1_000
	maxBytes = 16 << 20
)

// The directories of processes in the cache: how their names begin, and after
// which time without a change they are taken for left behind.
const (
	prefix = "bundled-"
	maxAge = 7 * 24 * time.Hour
)

// A cache is the directory of one process below a shared one.
type cache struct {
	parent string // empty: in os.UserCacheDir

	mu   sync.Mutex
	root *os.Root // nil until the first extraction
	path string
}

// open returns the process's own directory, made on the first call. Nobody can
// prepare it: its name is random, and it must not exist yet (spec S-15).
func (c *cache) open() (*os.Root, string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.root != nil {
		return c.root, c.path, nil
	}
	parent := c.parent
	if parent == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return nil, "", fmt.Errorf("find the cache directory: %w", err)
		}
		parent = filepath.Join(user, "knack")
	}
	parent, err := filepath.Abs(parent)
	if err != nil {
		return nil, "", fmt.Errorf("find the cache directory: %w", err)
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, "", fmt.Errorf("make the cache directory: %w", err)
	}
	purge(parent, time.Now().Add(-maxAge))
	path := filepath.Join(parent, prefix+rand.Text())
	if err := os.Mkdir(path, 0o700); err != nil {
		return nil, "", fmt.Errorf("make the directory of bundled files: %w", err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, "", fmt.Errorf("open the directory of bundled files: %w", err)
	}
	c.root, c.path = root, path
	return root, path, nil
}

// purge removes what processes that ended without [Source.Close] left behind:
// directories like our own that nobody wrote to since before. It is tidying;
// what cannot be removed now stays for the next process.
func purge(parent string, before time.Time) {
	root, err := os.OpenRoot(parent)
	if err != nil {
		return
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return
	}
	for _, e := range entries {
		fi, err := e.Info()
		if err != nil || !fi.IsDir() || !strings.HasPrefix(e.Name(), prefix) || !fi.ModTime().Before(before) {
			continue
		}
		_ = root.RemoveAll(e.Name())
	}
}

func (c *cache) remove() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.root == nil {
		return nil
	}
	err := errors.Join(c.root.Close(), os.RemoveAll(c.path))
	c.root, c.path = nil, ""
	return err
}

// extract writes the files of sk into a directory of their own and returns it.
// After an error nothing is left behind.
func (c *cache) extract(sk Skill) (string, error) {
	root, path, err := c.open()
	if err != nil {
		return "", err
	}
	name := dirName(sk.ID)
	if err := root.Mkdir(name, 0o700); err != nil {
		return "", fmt.Errorf("make a directory for %s: %w", sk.ID, err)
	}
	x := &extraction{to: root, top: name, seen: make(map[string]bool)}
	if err := fs.WalkDir(sk.Files, ".", func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return x.entry(sk.Files, file, e)
	}); err != nil {
		return "", errors.Join(fmt.Errorf("extract files: %w", err), root.RemoveAll(name))
	}
	return filepath.Join(path, name), nil
}

// dirName makes one harmless directory name of an id. Different ids must not
// meet in one directory, so a changed name carries something random.
func dirName(id string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, id)
	if clean == id && id != "" && len(id) <= 100 {
		return id
	}
	return clean[:min(len(clean), 100)] + "-" + rand.Text()
}

// An extraction is one skill's files on their way to disk.
type extraction struct {
	to    *os.Root // every operation stays below it, links or not
	top   string
	files int
	bytes int64
	seen  map[string]bool // names in lower case
}

// entry writes one file or directory. fs.FS is only an interface, so its names
// and types are checked here (spec S-15).
func (x *extraction) entry(from fs.FS, file string, e fs.DirEntry) error {
	if file == "." {
		return nil
	}
	local := filepath.FromSlash(file)
	if !fs.ValidPath(file) || !filepath.IsLocal(local) || strings.ContainsAny(e.Name(), "/\\\x00") {
		return fmt.Errorf("%q is not a name inside the skill", e.Name())
	}
	// Two such names are one file where the file system ignores case.
	if fold := strings.ToLower(file); x.seen[fold] {
		return fmt.Errorf("%q differs from another name only in case", file)
	} else {
		x.seen[fold] = true
	}
	if x.files++; x.files > maxFiles {
		return fmt.Errorf("more than %d files", maxFiles)
	}
	name := filepath.Join(x.top, local)
	switch {
	case e.IsDir():
		return x.to.Mkdir(name, 0o700)
	case e.Type().IsRegular():
		return x.write(from, file, name)
	}
	return fmt.Errorf("%q is neither a file nor a directory", file)
}

func (x *extraction) write(from fs.FS, file, name string) (err error) {
	in, err := from.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	// With O_EXCL an existing name is refused, and os.Root adds O_NOFOLLOW.
	out, err := x.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	n, err := io.Copy(out, io.LimitReader(in, maxBytes-x.bytes+1))
	if err != nil {
		return err
	}
	if x.bytes += n; x.bytes > maxBytes {
		return fmt.Errorf("more than %d bytes", maxBytes)
	}
	return nil
}
