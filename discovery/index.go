package discovery

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"
)

// An index holds the names of the files that git tracks, in byte order.
type index struct{ names []string }

// readIndex reads the index of a worktree, versions 2 to 4. One that cannot be
// read tracks nothing: then what looks ignored is.
func readIndex(files Files, dir string, hashSize int) *index {
	x := new(index)
	data, err := files.Read(filepath.Join(dir, "index"))
	if err != nil || len(data) < 12 || string(data[:4]) != "DIRC" {
		return x
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	fixed := 40 + hashSize + 2 // what stands before the name
	at, name := 12, []byte(nil)
	for range count {
		if version < 2 || version > 4 || at+fixed+2 > len(data) {
			return x
		}
		start := at
		extended := version >= 3 && data[at+40+hashSize]&0x40 != 0
		at += fixed
		if extended {
			at += 2
		}
		keep := 0
		if version == 4 { // the name repeats the beginning of the one before
			strip, n := offset(data[at:])
			if n == 0 || strip > len(name) {
				return x
			}
			at, keep = at+n, len(name)-strip
		}
		end := bytes.IndexByte(data[at:], 0)
		if end < 0 {
			return x
		}
		name = append(name[:keep], data[at:at+end]...)
		x.names = append(x.names, string(name))
		at += end + 1
		if version < 4 { // padded to a multiple of eight
			at = start + (at-1-start+8)/8*8
		}
	}
	slices.Sort(x.names) // it is sorted, but nothing depends on that
	return x
}

// offset reads a number as in the entries of version 4; n is its length in
// bytes, or zero.
func offset(data []byte) (value, n int) {
	for n < len(data) && n < 5 {
		b := data[n]
		if n > 0 {
			value++
		}
		value = value<<7 | int(b&0x7f)
		n++
		if b&0x80 == 0 {
			return value, n
		}
	}
	return 0, 0
}

// tracks reports whether a file, or one below a directory, is tracked. In a
// sparse index a directory stands for all below it, with a slash at its end.
func (x *index) tracks(path string) bool {
	if x == nil {
		return false
	}
	if _, found := slices.BinarySearch(x.names, path); found {
		return true
	}
	for dir := path; ; {
		i, ok := slices.BinarySearch(x.names, dir+"/")
		if ok || dir == path && i < len(x.names) && strings.HasPrefix(x.names[i], dir+"/") {
			return true
		}
		slash := strings.LastIndexByte(dir, '/')
		if slash < 0 {
			return false
		}
		dir = dir[:slash]
	}
}
