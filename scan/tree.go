package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/knack-skills/knack/skill"
)

// The limits of what is read of one tree. Reaching one is a finding.
const (
	MaxFile  = 4 << 20  // bytes of one file
	MaxBytes = 64 << 20 // bytes of all files of a tree
	MaxFiles = 5_000
	maxDepth = 24
)

// A visit is one walk through the files of a skill or a plugin.
type visit struct {
	s        *Scanner
	root     *os.Root
	dir      string // as given
	boundary string // without links
	skip     func(path string) bool
	files    int
	bytes    int64
	found    []Finding
}

// tree scans all files below dir. Links are looked at and never followed.
func (s *Scanner) tree(ctx context.Context, dir, boundary string, skip func(path string) bool) ([]Finding, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return []Finding{whole(notScanned, skill.Warning, dir, InResources, "the directory cannot be read: "+reason(err))}, ctx.Err()
	}
	defer root.Close()
	v := &visit{s: s, root: root, dir: dir, boundary: boundary, skip: skip}
	if real, err := filepath.EvalSymlinks(boundary); err == nil {
		v.boundary = real
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return v.entry(name, d, err)
	})
	return v.found, err
}

func (v *visit) add(rule string, sev skill.Severity, path, message string) {
	v.found = append(v.found, whole(rule, sev, path, InResources, message))
}

// entry looks at one entry of a directory.
func (v *visit) entry(name string, d fs.DirEntry, err error) error {
	path := filepath.Join(v.dir, filepath.FromSlash(name))
	switch {
	case err != nil:
		v.add(notScanned, skill.Warning, path, "it cannot be read: "+reason(err))
		if d != nil && d.IsDir() {
			return fs.SkipDir
		}
		return nil
	case name != "." && v.skip != nil && v.skip(path):
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
		v.add(notScanned, skill.Info, path, "this directory is not looked at")
		return fs.SkipDir
	case d.IsDir() && strings.Count(name, "/") >= maxDepth:
		v.add(notScanned, skill.Warning, path, fmt.Sprintf("directories below this one lie deeper than %d levels", maxDepth))
		return fs.SkipDir
	case d.IsDir():
		return nil
	}
	if v.files++; v.files > MaxFiles {
		v.add(notScanned, skill.Warning, v.dir, fmt.Sprintf("there are more than %d files; the rest is not looked at", MaxFiles))
		return fs.SkipAll
	}
	switch {
	case d.Type()&fs.ModeSymlink != 0:
		v.link(name, path)
		return nil
	case !d.Type().IsRegular():
		v.add(notScanned, skill.Warning, path, "a pipe, a socket or a device")
		return nil
	}
	return v.file(name, path)
}

// link judges where a link leads. What it leads to inside is scanned there.
func (v *visit) link(name, path string) {
	target, _ := v.root.Readlink(filepath.FromSlash(name))
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) || !leaves(v.dir, v.boundary, filepath.Dir(path), target) {
			v.add(notScanned, skill.Info, path, "a link that leads to nothing: "+visible(target))
			return
		}
		real = target
	}
	if rel, err := filepath.Rel(v.boundary, real); err == nil && filepath.IsLocal(rel) {
		return
	}
	sev, message := skill.Warning, "the link leads out of the skill, to "+visible(target)
	if lexica().credentialIn(target+" ") != "" || lexica().credentialIn(real+" ") != "" {
		sev, message = skill.Error, "the link leads to a credential, "+visible(target)
	}
	v.add(linkLeavesSkill, sev, path, message)
}

// leaves reports whether a link of dir to target leads out of the tree, for
// targets that do not exist.
func leaves(tree, boundary, dir, target string) bool {
	if filepath.IsAbs(target) {
		rel, err := filepath.Rel(boundary, target)
		return err != nil || !filepath.IsLocal(rel)
	}
	rel, err := filepath.Rel(tree, filepath.Join(dir, target))
	return err != nil || !filepath.IsLocal(rel)
}

// file scans one regular file.
func (v *visit) file(name, path string) error {
	data, size, err := v.read(name)
	switch {
	case err != nil:
		v.add(notScanned, skill.Warning, path, "it cannot be read: "+reason(err))
		return nil
	case data == nil && size > MaxFile:
		v.add(notScanned, skill.Warning, path, fmt.Sprintf("it has more than %d MiB", MaxFile>>20))
		return nil
	}
	if v.bytes += int64(len(data)); v.bytes > MaxBytes {
		v.add(notScanned, skill.Warning, v.dir, fmt.Sprintf("the files have more than %d MiB together; the rest is not looked at", MaxBytes>>20))
		return fs.SkipAll
	}
	if kind, sev := binary(path, data); kind != "" {
		v.add(executableFile, sev, path, kind)
		return nil
	}
	if media(data) {
		return nil
	}
	if isSkillFile(path) { // a template, or a skill inside a skill
		v.found = append(v.found, v.s.skillFile(fromText(path, string(data)), data)...)
		return nil
	}
	v.found = append(v.found, scanFile(path, data, strings.Count(name, "/"))...)
	return nil
}

// read returns a file's content; nil data with a size means too large.
func (v *visit) read(name string) (data []byte, size int64, err error) {
	f, err := v.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if st.Size() > MaxFile {
		head := make([]byte, 512)
		n, _ := io.ReadFull(f, head)
		if kind, _ := binary(name, head[:n]); kind != "" || media(head[:n]) {
			return head[:n], st.Size(), nil
		}
		return nil, st.Size(), nil
	}
	data, err = io.ReadAll(io.LimitReader(f, MaxFile))
	if data == nil {
		data = []byte{}
	}
	return data, st.Size(), err
}

// readFile reads the file of a skill for [Scanner.Skill]; note says why not.
func readFile(path string) (data []byte, note string) {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, "it cannot be read: " + reason(err)
	case !st.Mode().IsRegular():
		return nil, "it is not a regular file"
	case st.Size() > MaxFile:
		return nil, fmt.Sprintf("it has more than %d MiB", MaxFile>>20)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, "it cannot be read: " + reason(err)
	}
	defer f.Close()
	if data, err = io.ReadAll(io.LimitReader(f, MaxFile)); err != nil {
		return nil, "it cannot be read: " + reason(err)
	}
	return data, ""
}

// unreadable says why data is no text, or "".
func unreadable(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return "it is UTF-16"
	case bytes.IndexByte(data, 0) >= 0:
		return "it is a binary file of an unknown kind"
	}
	return ""
}

// reason is an error without the path, which the finding has.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	if errors.Is(err, syscall.ELOOP) {
		return "it became a link"
	}
	return err.Error()
}
