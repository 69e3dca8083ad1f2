package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// What is read of a skill's files.
const (
	maxFile    = 1 << 20  // bytes of one file that is sent
	maxListed  = 512      // files of one skill
	maxSkill   = 16 << 20 // bytes of the files of one skill
	mainFile   = "SKILL.md"
	markdown   = "text/markdown"
	binaryType = "application/octet-stream"
)

// errNoFile reports a file that a skill does not have.
var errNoFile = errors.New("there is no such file")

// A file is one file of a skill, with its content.
type file struct {
	Path string // relative to the skill, with slashes
	Data []byte
}

// mimeType tells what a file is by its name, or by its content.
func (f file) mimeType() string {
	switch ext := strings.ToLower(path.Ext(f.Path)); {
	case ext == ".md":
		return markdown
	case mime.TypeByExtension(ext) != "":
		t, _, _ := mime.ParseMediaType(mime.TypeByExtension(ext))
		return t
	case f.isText():
		return "text/plain"
	}
	return binaryType
}

func (f file) isText() bool { return utf8.Valid(f.Data) && !bytes.Contains(f.Data, []byte{0}) }

// The files of one skill, read through its own directory alone.
type folder struct {
	main string   // SKILL.md as it was read for this
	root *os.Root // nil for a skill without a directory
}

func openFolder(ctx context.Context, e *catalog.Entry) (*folder, error) {
	in, err := e.Content.Body.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading skill %q: %w", calledBy(e), err)
	}
	f := &folder{main: sourceOf(in)}
	if in.Dir == "" {
		return f, nil
	}
	if f.root, err = os.OpenRoot(in.Dir); err != nil {
		return nil, fmt.Errorf("reading skill %q: %w", calledBy(e), err)
	}
	return f, nil
}

// sourceOf is the text of SKILL.md; what has none, such as a skill of a server,
// is its instructions.
func sourceOf(in skill.Instructions) string {
	if in.Source == "" {
		return in.Text
	}
	return in.Source
}

func (f *folder) close() {
	if f.root != nil {
		_ = f.root.Close() // it was only read
	}
}

// clean makes name relative to the skill, or says why it is no name of a file.
func clean(name string) (string, error) {
	p := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	if p == "." || !filepath.IsLocal(filepath.FromSlash(p)) || strings.ContainsRune(p, 0) {
		return "", fmt.Errorf("%q is not a file of the skill: give a path relative to its directory, without leading out of it", name)
	}
	return p, nil
}

// read returns one file, if it has no more than limit bytes. A link may lead to
// another file of the skill and nowhere else.
func (f *folder) read(name string, limit int64) (file, error) {
	p, err := clean(name)
	switch {
	case err != nil:
		return file{}, err
	case p == mainFile && int64(len(f.main)) > limit:
		return file{}, fmt.Errorf("%q has %d bytes; more than %d are not sent", name, len(f.main), limit)
	case p == mainFile:
		return file{p, []byte(f.main)}, nil
	case f.root == nil:
		return file{}, fmt.Errorf("%q: %w; the skill has no directory", name, errNoFile)
	}
	h, err := f.root.OpenFile(filepath.FromSlash(p), os.O_RDONLY|nonBlocking, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return file{}, fmt.Errorf("%q: %w", name, errNoFile)
	}
	if err != nil {
		return file{}, fmt.Errorf("%q cannot be read: %w", name, reason(err))
	}
	defer h.Close()
	fi, err := h.Stat()
	switch {
	case err != nil:
		return file{}, fmt.Errorf("%q cannot be read: %w", name, reason(err))
	case fi.IsDir():
		return file{}, fmt.Errorf("%q is a directory", name)
	case !fi.Mode().IsRegular():
		return file{}, fmt.Errorf("%q is not a regular file", name)
	case fi.Size() > limit:
		return file{}, fmt.Errorf("%q has %d bytes; more than %d are not sent", name, fi.Size(), limit)
	}
	data, err := io.ReadAll(io.LimitReader(h, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	if err != nil {
		return file{}, fmt.Errorf("%q cannot be read: %w", name, reason(err))
	}
	return file{p, data}, nil
}

// reason takes the paths of this machine out of an error, which is for a client.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// list returns the paths of all files, in byte order, SKILL.md among them, and
// whether there are more than max.
func (f *folder) list(ctx context.Context, max int) (paths []string, more bool, err error) {
	paths = []string{mainFile}
	if f.root == nil {
		return paths, false, nil
	}
	err = fs.WalkDir(f.root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return nil // what cannot be looked into has no files for anybody
		case d.IsDir() || p == mainFile:
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			if fi, err := f.root.Stat(filepath.FromSlash(p)); err != nil || !fi.Mode().IsRegular() {
				return nil // it leads out of the skill, or nowhere
			}
		case !d.Type().IsRegular():
			return nil
		}
		if len(paths) == max {
			more = true
			return fs.SkipAll
		}
		paths = append(paths, p)
		return nil
	})
	slices.Sort(paths)
	return paths, more, err
}

// mayRead applies the rules for the tool Read to one file of a skill. Only what
// they say in so many words counts: a skill's files are part of the skill.
func (s *Server) mayRead(e *catalog.Entry, p string) error {
	if e.Origin.Dir == "" {
		return nil
	}
	req := s.engine.PermissionRequest("Read")
	req.Input = permission.Input{Path: filepath.Join(e.Origin.Dir, filepath.FromSlash(p))}
	d := s.engine.Rules().Decide(req)
	if d.Verdict == permission.Allow || d.Rule == nil {
		return nil
	}
	fix := "change that rule if clients should read it"
	if d.Verdict == permission.Ask {
		fix = "nobody is here to ask: " + fix
	}
	return fmt.Errorf("%q of skill %q may not be read: %s; %s", p, calledBy(e), d.Reason, fix)
}

// line is what others wrote, on one line of ours.
func line(s string) string { return text.Line(s) }
