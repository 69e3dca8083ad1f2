// Package index keeps in one file what was read of the skill files of one root,
// so that a later process need not read those that did not change.
//
// An index is a memory, not an authority. It is asked about a file that was
// found on disk, and answers only with what that file said when it had the same
// stamp; where the file is, whose it is and what it may do are decided anew. An
// index that is damaged, of another program or another root, or open to other
// people is as good as none. It holds no bodies.
//
// Which files there are is the business of package source/dir. A [File] never
// changes and is safe for concurrent use; several processes may write one path.
package index

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/knack-skills/knack/skill"
)

// MaxSize is the size up to which an index is read and written, in bytes.
const MaxSize = 256 << 20

// ErrUnusable says that a file is no index that may be used here: damaged, of
// another program or root, or not this person's alone.
var ErrUnusable = errors.New("the index cannot be used")

// A Stamp is how a file looked when it was read. Two equal stamps of one path
// mean the same bytes, unless the file changed within a tick of its clock.
type Stamp struct {
	Size          int64
	ModTime       int64  // nanoseconds since 1970
	ChangeTime    int64  // of the inode; 0 where there is none
	Device, Inode uint64 // both 0 where there is none
}

// A Record is what one file said.
type Record struct {
	Path  string // as found below the root; the key
	Real  string // where the file really is, when that differs
	Stamp Stamp
	// Skill is what the file itself says. ID, Origin, Enabled and Body are not
	// stored: they follow from where the file lies.
	Skill    *skill.Skill
	Fields   int             // number of frontmatter entries
	Problems []skill.Problem // without their paths
}

// An Identity says whose index a file is.
type Identity struct {
	Build string // the program; another one may read files in another way
	Root  string // the directory, as found
	Kind  string // what else the records depend on
}

func (id Identity) sum() [sha256.Size]byte {
	return sha256.Sum256([]byte(fmt.Sprintf("%q %q %q", id.Build, id.Root, id.Kind)))
}

// The layout: header, table, records. Numbers in the header are little-endian.
//
//	magic    8   with the number of the format
//	identity 32
//	records  4
//	slots    4   of the table; a power of two
//	length   4   of everything behind the header
//	sum      4   CRC-32C of all the rest of the file
//
// The table is open addressing by the hash of the path: offset of the record
// behind the table, plus one.
const (
	magic      = "knackix\x01"
	headerSize = 8 + sha256.Size + 16
	slotSize   = 4
)

// A File is an index that was read.
type File struct {
	count   int
	mask    uint32
	table   string
	records string
}

// Open reads the index at path. It returns [ErrUnusable] for what is not an
// index of id, and the error of the file system when there is no file.
func Open(path string, id Identity) (*File, error) {
	f, err := openPlain(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > MaxSize || st.Size() < headerSize || !private(st) {
		return nil, ErrUnusable
	}
	text, err := read(f, st.Size())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	return parse(text, id)
}

// read returns size bytes of r as a string, in memory of just that size.
func read(r io.Reader, size int64) (string, error) {
	var b strings.Builder
	b.Grow(int(size))
	_, err := io.CopyBuffer(onlyWriter{&b}, io.LimitReader(r, size), make([]byte, 256<<10))
	return b.String(), err
}

// An onlyWriter hides that a builder takes strings, so that one buffer serves.
type onlyWriter struct{ io.Writer }

// parse checks text and takes it apart. Records are read when they are asked for.
func parse(text string, id Identity) (*File, error) {
	if len(text) < headerSize || text[:len(magic)] != magic {
		return nil, ErrUnusable
	}
	sum := id.sum()
	at := len(magic) + len(sum)
	if text[len(magic):at] != string(sum[:]) {
		return nil, ErrUnusable
	}
	count, slots, length, crc := u32(text[at:]), u32(text[at+4:]), u32(text[at+8:]), u32(text[at+12:])
	rest := text[headerSize:]
	if uint64(length) != uint64(len(rest)) || slots == 0 || slots&(slots-1) != 0 ||
		uint64(slots)*slotSize > uint64(len(rest)) || count > slots/2 {
		return nil, ErrUnusable
	}
	if checksum(text[:headerSize-4], rest) != crc {
		return nil, ErrUnusable
	}
	return &File{count: int(count), mask: slots - 1, table: rest[:slots*slotSize], records: rest[slots*slotSize:]}, nil
}

// checksum is the CRC-32C of parts.
func checksum(parts ...string) (crc uint32) {
	table := crc32.MakeTable(crc32.Castagnoli)
	var buf [16 << 10]byte // a string cannot be summed without a copy
	for _, s := range parts {
		for len(s) > 0 {
			n := copy(buf[:], s)
			crc = crc32.Update(crc, table, buf[:n])
			s = s[n:]
		}
	}
	return crc
}

// Len is the number of records.
func (f *File) Len() int { return f.count }

// Find returns the record of path. Its strings share the memory of the file.
func (f *File) Find(path string) (Record, bool) {
	h := hash(path)
	for i := uint32(0); i <= f.mask; i++ { // at most once around, whatever the table says
		slot := (h + i) & f.mask
		offset := u32(f.table[slot*slotSize:])
		if offset == 0 || uint64(offset) > uint64(len(f.records)) {
			return Record{}, false
		}
		d := decoder{s: f.records[offset-1:]}
		if d.string() == path && !d.bad {
			rec := d.record(path)
			return rec, !d.bad
		}
	}
	return Record{}, false
}

func u32(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// hash is FNV-1a.
func hash(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}
