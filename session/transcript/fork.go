package transcript

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/knack-skills/knack/session"
)

// Fork copies a session under a new id (spec M-4, --fork-session). The session
// may be open, here or in another process: the copy has the entries that are
// complete by now. The copy exists as a whole or not at all. The error is
// [ErrNotFound], [ErrExists], a [*HeldError] of the new id, or that of a file.
func (p Project) Fork(from, to string) (err error) {
	if err := checkID(to); err != nil {
		return err
	}
	in, err := p.openToRead(from)
	if err != nil {
		return err
	}
	defer in.Close()
	l, err := acquire(filepath.Join(p.Dir, to+".lock"), to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.release()) }()
	if _, err := os.Lstat(p.file(to)); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("session %s: %w", to, cmp.Or(err, ErrExists))
	}
	if err := p.copy(in, from, to); err != nil {
		return fmt.Errorf("session %s: copying %s: %w", to, from, err)
	}
	return nil
}

// copy writes a file beside the others and gives it its name at the end.
func (p Project) copy(in *os.File, from, to string) error {
	out, err := os.CreateTemp(p.Dir, to+".*.tmp")
	if err != nil {
		return err
	}
	err = p.copyEntries(out, in, from, to)
	err = errors.Join(err, out.Sync(), out.Close())
	if err == nil {
		err = os.Rename(out.Name(), p.file(to))
	}
	if err != nil {
		return errors.Join(err, os.Remove(out.Name()))
	}
	return syncDir(p.Dir)
}

func (p Project) copyEntries(out io.Writer, in *os.File, from, to string) error {
	now := p.Now
	if now == nil {
		now = time.Now
	}
	w := bufio.NewWriter(out)
	begin, err := encode(Entry{Type: typeBegin, Time: now().UTC(), Agent: session.Main},
		Begin{Version: version, ID: to, Project: p.Path, ForkedFrom: from})
	if err != nil {
		return err
	}
	if _, err := w.Write(begin); err != nil {
		return err
	}
	for l, err := range scan(in) {
		if err != nil {
			return err
		}
		if l.err == nil && l.entry.Type == typeBegin || !l.complete && l.err != nil {
			continue
		}
		if _, err := io.Copy(w, io.NewSectionReader(in, l.start, l.end-l.start)); err != nil {
			return err
		}
		if !l.complete {
			if err := w.WriteByte('\n'); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}
