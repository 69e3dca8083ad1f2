package index

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// suffix ends the names of all files of a directory of indexes, also of those
// that are being written.
const suffix = ".index"

// Path is where the index of a root lies in dir. Programs that differ take
// turns with one file.
func Path(dir, root, kind string) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%q %q", root, kind)))
	return filepath.Join(dir, hex.EncodeToString(sum[:16])+suffix)
}

// Writable makes dir, and says why no index can be written there. It spares
// those who cannot keep an index the work of making one.
func Writable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "*"+suffix)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Clean removes the indexes of dir that were not written since before: their
// roots may be gone, and if they are not, a new index costs one reading.
func Clean(dir string, before time.Time) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != suffix || !e.Type().IsRegular() {
			continue
		}
		if st, serr := e.Info(); serr == nil && st.ModTime().Before(before) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// A Writer collects the records of one index. It is not safe for concurrent use.
type Writer struct {
	id      Identity
	encoder encoder
	offsets []uint32
	hashes  []uint32
}

// NewWriter begins an index.
func NewWriter(id Identity) *Writer { return &Writer{id: id} }

// Len is the number of records that were taken.
func (w *Writer) Len() int { return len(w.offsets) }

// Add takes a record with a path of its own. It reports false for one that
// cannot be kept exactly, which is then read from its file each time.
func (w *Writer) Add(rec *Record) bool {
	start := len(w.encoder.b)
	w.encoder.bad = false
	w.encoder.string(rec.Path)
	w.encoder.record(rec)
	if w.encoder.bad || len(w.encoder.b) > MaxSize {
		w.encoder.b = w.encoder.b[:start]
		return false
	}
	w.offsets = append(w.offsets, uint32(start))
	w.hashes = append(w.hashes, hash(rec.Path))
	return true
}

// bytes lays the index out.
func (w *Writer) bytes() []byte {
	slots := uint32(2)
	for int(slots) < 2*len(w.offsets) {
		slots *= 2
	}
	out := make([]byte, headerSize, headerSize+int(slots)*slotSize+len(w.encoder.b))
	table := make([]byte, int(slots)*slotSize)
	for i, offset := range w.offsets {
		slot := w.hashes[i] & (slots - 1)
		for get32(table[slot*slotSize:]) != 0 {
			slot = (slot + 1) & (slots - 1)
		}
		put32(table[slot*slotSize:], offset+1)
	}
	out = append(append(out, table...), w.encoder.b...)
	sum := w.id.sum()
	at := copy(out, magic)
	at += copy(out[at:], sum[:])
	put32(out[at:], uint32(len(w.offsets)))
	put32(out[at+4:], slots)
	put32(out[at+8:], uint32(len(out)-headerSize))
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	put32(out[at+12:], crc32.Update(crc32.Checksum(out[:at+12], castagnoli), castagnoli, out[headerSize:]))
	return out
}

// Write puts the index at path, in a directory that is [Writable], so that readers see the old one or the new one.
// It is not forced to the disk: after a crash it is damaged or old, and both
// are noticed.
func (w *Writer) Write(path string) error {
	out := w.bytes()
	if len(out) > MaxSize {
		return fmt.Errorf("%s: an index of %d bytes is too large", path, len(out))
	}
	return replace(path, out)
}

func get32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func put32(b []byte, v uint32) {
	b[0], b[1], b[2], b[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
}

// replace writes a file of the person alone, by way of a temporary one beside it.
func replace(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "*"+suffix)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
