// Package transcript writes a session down and brings it back (spec M-4). A
// transcript is a file of JSON lines: every entry is one write, so that a crash
// at any byte costs at most the last one; [Transcript.Sync] at the end of a turn
// makes what was written survive the machine.
//
// A session is open in one process at a time, which holds its lock. Listing,
// reading and copying need no lock. What messages hold is left to the host.
package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/state"
)

const (
	version  = 1        // of the format
	suffix   = ".jsonl" // of a transcript
	maxEntry = 16 << 20 // bytes of one line
	maxID    = 128      // bytes of a session id
)

// ErrExists and ErrNotFound tell whether there is a session of some id.
var (
	ErrExists   = errors.New("a session of this id exists already")
	ErrNotFound = errors.New("there is no session of this id")
)

// A Project is the directory that holds the transcripts of one project. It is
// safe for concurrent use, also by several processes.
type Project struct {
	Dir  string           // where the transcripts lie; made when it is needed
	Path string           // link-free path of the project
	Now  func() time.Time // clock of the entries; nil means time.Now
}

// At returns the place of a project's transcripts below the state directory
// (spec M-5). Its name is a hash of the project's path, which tells nothing.
func At(stateDir, project string) (Project, error) {
	if stateDir == "" {
		return Project{}, state.ErrNoDirectory
	}
	real, err := state.RealPath(project)
	if err != nil {
		return Project{}, fmt.Errorf("transcripts of %s: %w", project, err)
	}
	sum := sha256.Sum256([]byte(real))
	return Project{Dir: filepath.Join(stateDir, "projects", hex.EncodeToString(sum[:16])), Path: real}, nil
}

// A Transcript is a session that is open for writing. It is safe for concurrent
// use: entries of several agents do not mix.
type Transcript struct {
	ID   string // of the session
	Path string
	now  func() time.Time
	lock lock

	mu     sync.Mutex // guards the fields below
	file   *os.File
	size   int64 // up to the end of the last entry
	synced bool
	broken error // why nothing can be written any more
}

// Create begins the transcript of a new session. The error is [ErrExists] when
// there is one, and a [*HeldError] when it is just being made.
func (p Project) Create(id string) (*Transcript, error) {
	t, err := p.open(id, os.O_CREATE|os.O_EXCL|os.O_WRONLY)
	if err != nil {
		return nil, err
	}
	err = t.Append(session.Main, Begin{Version: version, ID: id, Project: p.Path})
	if err == nil {
		err = errors.Join(t.Sync(), syncDir(p.Dir))
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// open locks a session and opens its file.
func (p Project) open(id string, flags int) (*Transcript, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	path := p.file(id)
	if flags&os.O_CREATE == 0 {
		if fi, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("session %s: %w", id, ErrNotFound)
		} else if err == nil && !fi.Mode().IsRegular() {
			return nil, fmt.Errorf("session %s: %w", id, state.ErrNotPlain)
		}
	}
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("session %s: %w: %w", id, state.ErrNoDirectory, err)
	}
	l, err := acquire(filepath.Join(p.Dir, id+".lock"), id)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, flags, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		err = ErrExists
	case errors.Is(err, fs.ErrNotExist):
		err = ErrNotFound
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("session %s: %w", id, err), l.release())
	}
	now := p.Now
	if now == nil {
		now = time.Now
	}
	return &Transcript{ID: id, Path: path, now: now, lock: l, file: f, synced: true}, nil
}

func (p Project) file(id string) string { return filepath.Join(p.Dir, id+suffix) }

// checkID keeps names of files apart from everything else.
func checkID(id string) error {
	ok := id != "" && len(id) <= maxID && id[0] != '.' && id[0] != '-'
	for _, c := range []byte(id) {
		ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_')
	}
	if !ok {
		return fmt.Errorf("%.40q is no session id: use up to %d letters, digits, \".\", \"-\" and \"_\"", id, maxID)
	}
	return nil
}

// Append writes one entry of an agent; an empty agent is the main one. When
// writing fails, for want of space, nothing of the entry is left behind.
func (t *Transcript) Append(agent session.AgentID, p Payload) error {
	if agent == "" {
		agent = session.Main
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken != nil {
		return t.fail(p, t.broken)
	}
	line, err := encode(Entry{Type: p.entryType(), Time: t.now().UTC(), Agent: agent}, p)
	if err != nil {
		return t.fail(p, err)
	}
	t.synced = false
	if _, err = t.file.WriteAt(line, t.size); err == nil {
		t.size += int64(len(line))
		return nil
	}
	// Half a line would spoil the next entry.
	if undo := t.file.Truncate(t.size); undo != nil {
		t.broken = errors.Join(err, undo)
	}
	return t.fail(p, err)
}

func (t *Transcript) fail(p Payload, err error) error {
	return fmt.Errorf("session %s: writing a %s: %w", t.ID, p.entryType(), err)
}

// encode writes an entry as one line.
func encode(e Entry, p Payload) ([]byte, error) {
	var data, line bytes.Buffer
	write := func(b *bytes.Buffer, v any) error {
		enc := json.NewEncoder(b)
		enc.SetEscapeHTML(false)
		return enc.Encode(v)
	}
	if err := write(&data, p); err != nil {
		return nil, err
	}
	if data.Len() > maxEntry-1000 { // some room for the rest of the line
		return nil, state.ErrTooLarge
	}
	e.Data = bytes.TrimSuffix(data.Bytes(), []byte("\n"))
	if err := write(&line, e); err != nil {
		return nil, err
	}
	return line.Bytes(), nil
}

// Sync makes everything that was written survive a crash of the machine. It is
// called at the end of a turn.
func (t *Transcript) Sync() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.synced || t.broken != nil {
		return t.broken
	}
	if err := t.file.Sync(); err != nil {
		return fmt.Errorf("session %s: %w", t.ID, err)
	}
	t.synced = true
	return nil
}

// errClosed is what is wrong with a transcript after Close.
var errClosed = errors.New("its transcript is closed")

// Close ends the session in this process. Closing again does nothing.
func (t *Transcript) Close() error {
	err := t.Sync()
	t.mu.Lock()
	defer t.mu.Unlock()
	if errors.Is(t.broken, errClosed) {
		return nil
	}
	t.broken = errClosed
	return errors.Join(err, t.file.Close(), t.lock.release())
}

// syncDir makes a new name survive a crash of the machine.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" { // does it by itself
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
