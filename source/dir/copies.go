package dir

import (
	"slices"
	"sync"
	"time"

	"github.com/knack-skills/knack/source/index"
)

// maxShelf is how many files with several names are remembered. More are an odd
// tree or a long life; then remembering begins anew, and they are read again.
const maxShelf = 4096

// A shelf keeps what files with several names (hard links) said, so that each
// is read and parsed once, whichever roots have the names (spec C-7, C-11). A
// file with one name costs nothing here: opening it has told how many it has.
type shelf struct {
	mu    sync.Mutex
	files map[fileID]*volume
}

// A fileID tells files apart. A command file is read in another way than the
// skill it may be a copy of.
type fileID struct {
	device, inode uint64
	legacy        bool
}

// A volume is one file of a shelf.
type volume struct {
	mu      sync.Mutex // held while the file is read: the others wait for it
	rd      reading    // its skill does not change; nil: not read yet
	settled bool       // an equal stamp means equal bytes
}

// copies is a shelf in the hands of one load.
type copies struct {
	*shelf
	began int64 // in nanoseconds since 1970
}

// copies begins a load. Without a Cache it has a shelf of its own.
func (c *Cache) copies() *copies {
	own := &copies{began: time.Now().UnixNano()}
	if c != nil {
		own.shelf = &c.shared
	} else {
		own.shelf = new(shelf)
	}
	return own
}

// read returns what the file at p says. It calls parse unless the same file was
// read since this load began, or has not changed since it was read.
func (c *copies) read(p place, in *info, parse func() reading) reading {
	v := c.volume(fileID{in.Device, in.Inode, p.legacy})
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.rd.skill == nil || !v.current(in.Stamp, c.began) {
		rd := parse()
		if rd.skill == nil {
			return rd // failing may be a matter of the moment
		}
		v.rd, v.settled = rd, settled(rd.stamp, rd.at)
	}
	rd, sk := v.rd, *v.rd.skill
	sk.Origin = p.origin(rd.stamp)
	rd.skill, rd.problems = &sk, slices.Clone(rd.problems)
	for i := range rd.problems {
		rd.problems[i].Path = p.path
	}
	return rd
}

// current reports whether a load that began at a time may have what v says of a
// file that looks like now.
func (v *volume) current(now index.Stamp, began int64) bool {
	return v.rd.stamp == now && (v.settled || v.rd.at >= began)
}

func (s *shelf) volume(id fileID) *volume {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.files[id]
	if v == nil {
		if s.files == nil || len(s.files) >= maxShelf {
			s.files = map[fileID]*volume{}
		}
		v = new(volume)
		s.files[id] = v
	}
	return v
}
