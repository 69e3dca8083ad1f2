package approval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/skill"
)

// What is read of a skill in order to bind an approval to it. A larger one can
// be allowed, and is asked about each time.
const (
	maxFiles = 5_000
	maxBytes = 256 << 20
)

// What is kept of its text files, so that a change can be shown.
const (
	maxCopy   = 64 << 10  // bytes of one file
	maxCopies = 512 << 10 // bytes of all of them
)

// A Content is what a skill consists of at one moment: every file, by its hash.
type Content struct {
	// Hash is the SHA-256 over the sorted list of relative paths and their
	// SHA-256s, in hexadecimal (spec S-14).
	Hash string
	// Terms is the SHA-256 of what holds of the frontmatter. It was read when
	// the skill was loaded, and the file may be another one by now.
	Terms string
	Files map[string]File // by relative path, with slashes
	// Loose says why no approval can be bound to this; empty if it can.
	Loose string
}

// A File is one file of a skill. A link counts as a file that holds its target.
type File struct {
	Sum  string `json:"sum"`            // SHA-256 in hexadecimal
	Text string `json:"text,omitempty"` // of a text file that is not too large
	Kept bool   `json:"kept,omitempty"` // Text is the whole file
	Size int64  `json:"size"`           // bytes
}

// Read reads the files of a skill. in are its instructions as they will run:
// SKILL.md is taken from them and not from the disk, so that what is hashed is
// what is compiled. origin tells where the skill lies.
func Read(ctx context.Context, origin skill.Origin, run skill.Run, in skill.Instructions) (Content, error) {
	r := reader{ctx: ctx, limited: true, copies: maxCopies}
	if err := r.skill(origin, in); err != nil {
		return Content{}, err
	}
	return Content{Hash: sumOf(r.files), Terms: termsOf(run), Files: r.files, Loose: r.loose}, nil
}

// A Resource is a file beside SKILL.md.
type Resource struct {
	Path  string
	Bytes int64
}

// Hash returns the hash of a skill of any size, and its files but for SKILL.md,
// by path.
func Hash(ctx context.Context, origin skill.Origin, in skill.Instructions) (hash string, resources []Resource, err error) {
	r := reader{ctx: ctx}
	if err := r.skill(origin, in); err != nil {
		return "", nil, err
	}
	main := mainFile(origin, in)
	for _, p := range slices.Sorted(maps.Keys(r.files)) {
		if p != main {
			resources = append(resources, Resource{p, r.files[p].Size})
		}
	}
	return sumOf(r.files), resources, nil
}

type reader struct {
	ctx     context.Context
	limited bool
	files   map[string]File
	bytes   int64
	copies  int // bytes that may still be kept
	loose   string
}

const skillFile = "SKILL.md"

// mainFile is the relative path of the file that holds the instructions.
func mainFile(o skill.Origin, in skill.Instructions) string {
	if in.Dir == "" || o.Path == "" {
		return skillFile
	}
	rel, err := filepath.Rel(in.Dir, o.Path)
	if err != nil || !filepath.IsLocal(rel) {
		return skillFile
	}
	return filepath.ToSlash(rel)
}

func (r *reader) skill(o skill.Origin, in skill.Instructions) error {
	source := in.Source
	if source == "" {
		source = in.Text // of a server, which has no files
	}
	main := mainFile(o, in)
	r.files = map[string]File{main: r.file([]byte(source))}
	if in.Dir == "" {
		return nil
	}
	root, err := os.OpenRoot(in.Dir)
	if err != nil {
		return fmt.Errorf("reading the files of %s: %w", in.Dir, err)
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case r.ctx.Err() != nil:
			return r.ctx.Err()
		case p == main || d.IsDir():
			return nil
		case r.limited && (len(r.files) >= maxFiles || r.bytes > maxBytes):
			r.loose = fmt.Sprintf("it has more than %d files or %d MiB", maxFiles, maxBytes>>20)
			return fs.SkipAll
		case d.Type()&fs.ModeSymlink != 0:
			return r.link(root, p)
		case !d.Type().IsRegular():
			return nil
		}
		return r.regular(root, p)
	})
	if err != nil {
		return fmt.Errorf("reading the files of %s: %w", in.Dir, err)
	}
	return nil
}

// link notes where a link leads. What it leads to outside of the skill can
// change without anything of the skill changing.
func (r *reader) link(root *os.Root, p string) error {
	to, err := root.Readlink(filepath.FromSlash(p))
	if err != nil {
		return err
	}
	to = filepath.ToSlash(to)
	if path.IsAbs(to) || filepath.IsAbs(to) || !filepath.IsLocal(filepath.FromSlash(path.Join(path.Dir(p), to))) {
		r.loose = fmt.Sprintf("its link %s leads out of its directory", p)
	}
	f := r.file([]byte("link to " + to))
	r.files[p] = f
	return nil
}

func (r *reader) regular(root *os.Root, p string) error {
	f, err := root.OpenFile(filepath.FromSlash(p), os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil {
		return err
	} else if !fi.Mode().IsRegular() {
		return errors.New(p + " is another file by now")
	}
	// The beginning is held in memory in case that a copy is kept.
	head, err := io.ReadAll(io.LimitReader(f, maxCopy+1))
	if err != nil {
		return err
	}
	if len(head) <= maxCopy {
		r.files[p] = r.file(head)
		return nil
	}
	h := sha256.New()
	h.Write(head)
	var rest io.Reader = f
	if r.limited {
		rest = io.LimitReader(f, maxBytes+1)
	}
	n, err := io.Copy(h, rest)
	r.bytes += int64(len(head)) + n
	r.files[p] = File{Sum: hex.EncodeToString(h.Sum(nil)), Size: int64(len(head)) + n}
	if r.limited && r.bytes > maxBytes {
		r.loose = fmt.Sprintf("it has more than %d MiB", maxBytes>>20)
	}
	return err
}

// file describes a file that is in memory.
func (r *reader) file(data []byte) File {
	f := File{Sum: sum(data), Size: int64(len(data))}
	r.bytes += f.Size
	if len(data) <= min(maxCopy, r.copies) && isText(data) {
		f.Text, f.Kept = string(data), true
		r.copies -= len(data)
	}
	return f
}

func isText(data []byte) bool {
	return utf8.Valid(data) && !slices.Contains(data, 0)
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

func sumOf(files map[string]File) string {
	lines := make([]string, 0, len(files))
	for p, f := range files {
		lines = append(lines, p+"\x00"+f.Sum+"\n")
	}
	slices.Sort(lines)
	return sum([]byte(strings.Join(lines, "")))
}
