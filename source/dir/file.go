package dir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/index"
)

// skillFile is the name of the file that makes a directory a skill (spec F-1).
const skillFile = "SKILL.md"

// firstRead is how many bytes of a file are read at first: frontmatter and
// first paragraph of nearly every skill fit.
const firstRead = 4 << 10

// info is what a file says about itself.
type info struct {
	regular bool
	links   uint64 // how many names it has; 0 where that is not told
	index.Stamp
}

// A reader reads files into one buffer, again and again. Each worker has one.
type reader struct{ buf []byte }

// head opens path, which is free of links, and returns as much of it as
// enough wants, at most the whole. The bytes are valid until the next call.
func (r *reader) head(path string, in *info, enough func([]byte) bool) ([]byte, error) {
	h, err := openRegular(path, in)
	if err != nil {
		return nil, err
	}
	defer h.close()
	return r.fill(h, in, enough)
}

// openRegular opens path, which is free of links, if it is a file that may be
// read.
func openRegular(path string, in *info) (handle, error) {
	h, err := openFile(path)
	if err != nil {
		return h, err
	}
	err = h.stat(in)
	switch {
	case err != nil:
	case !in.regular: // it may block or never end (spec C-11)
		err = refuse(notRegular, "%s is not a regular file", filepath.Base(path))
	case in.Size > frontmatter.MaxFile:
		err = refuse(tooLarge, "the file has %d bytes; the limit is %d", in.Size, frontmatter.MaxFile)
	}
	if err != nil {
		h.close()
	}
	return h, err
}

// fill is head for an open file.
func (r *reader) fill(h handle, in *info, enough func([]byte) bool) ([]byte, error) {
	if r.buf == nil {
		r.buf = make([]byte, firstRead)
	}
	n := 0
	for want := firstRead; ; want *= 2 {
		if want > len(r.buf) {
			r.buf = append(r.buf, make([]byte, want-len(r.buf))...)
		}
		end := false
		for n < want && !end {
			m, err := h.read(r.buf[n:want])
			if err != nil {
				return nil, err
			}
			n += m
			end = m == 0 || int64(n) == in.Size
		}
		if n > frontmatter.MaxFile { // it grew since
			return nil, refuse(tooLarge, "the file has more than %d bytes", frontmatter.MaxFile)
		}
		data := r.buf[:n]
		if end || enough(data) {
			return data, nil
		}
	}
}

// whole is an "enough" that is never satisfied.
func whole([]byte) bool { return false }

// A place is where one file was found.
type place struct {
	path   string // as found
	real   string // without links
	linked bool
	legacy bool
}

// A reading is what one file says.
type reading struct {
	skill    *skill.Skill // without an id, and with no more of an Origin than the file itself tells; nil with one problem
	fields   int          // number of frontmatter entries
	problems []skill.Problem
	stamp    index.Stamp // zero when the file could not be opened
	at       int64       // when it was read, in nanoseconds since 1970
	blank    bool        // there is nothing in the file
	stored   bool        // it is from the index
}

// parse reads the file at p up to what loading needs (spec F-9); a file with
// several names only at the first of them, if c remembers.
func (r *reader) parse(p place, c *copies) reading {
	at := time.Now().UnixNano()
	var in info
	h, err := openRegular(p.real, &in)
	if err != nil {
		return reading{at: at, stamp: in.Stamp, problems: []skill.Problem{problemOf(p.path, err)}}
	}
	defer h.close()
	if c != nil && in.links > 1 {
		return c.read(p, &in, func() reading { return r.understand(p, h, &in, at) })
	}
	return r.understand(p, h, &in, at)
}

// understand reads the open file h, which was found at p and opened at a time.
func (r *reader) understand(p place, h handle, in *info, at int64) reading {
	out := reading{at: at, stamp: in.Stamp}
	data, err := r.fill(h, in, frontmatter.Enough)
	if err != nil {
		out.problems = []skill.Problem{problemOf(p.path, err)}
		return out
	}
	doc, problems := frontmatter.Parse(p.path, data)
	if out.problems = problems; doc.Refused != "" {
		return out
	}
	sk := new(skill.Skill)
	out.skill, out.fields = sk, len(doc.Fields())
	out.blank = out.fields == 0 && strings.TrimSpace(doc.Body) == ""
	out.problems = append(problems, doc.Fill(sk, p.legacy)...)
	// An estimate: bytes that are no UTF-8 make doc.Body longer than they were.
	sk.Content.Bytes = min(max(0, in.Size-int64(len(data)-len(doc.Body))), in.Size)
	sk.Origin = p.origin(in.Stamp)
	return out
}

// origin is what the file at p tells of its origin.
func (p *place) origin(st index.Stamp) skill.Origin {
	return skill.Origin{Path: p.path, Real: p.real, Linked: p.linked, Device: st.Device, Inode: st.Inode}
}

// identity makes an id of a directory name. Ids are valid UTF-8, because they
// travel through JSON; anything else would not be found again.
func identity(name string) string { return strings.ToValidUTF8(name, "\uFFFD") }

// printable reports whether a person can type the name.
func printable(name string) bool {
	for _, r := range name {
		if r == utf8.RuneError || !unicode.IsGraphic(r) {
			return false
		}
	}
	return true
}

// list returns the entries of a directory in byte order. With an error come
// the entries that could be read.
func list(dir string) ([]os.DirEntry, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|listFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	sortEntries(entries)
	if err != nil {
		return entries, fmt.Errorf("list %s: %w", dir, err)
	}
	return entries, nil
}
