package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/state"
)

// A line is one line of a file of entries.
type line struct {
	number     int // from 1
	start, end int64
	entry      Entry
	err        error // why there is no entry
	complete   bool  // it ends with a newline
}

// scan reads lines in order, or of those that we wrote only the ones of some
// types. The error is that of r, and nothing follows it.
func scan(r io.Reader, types ...string) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		var l line
		for {
			l = line{number: l.number + 1, start: l.end, end: l.end}
			text, err := l.read(in)
			if err != nil && !errors.Is(err, io.EOF) {
				yield(line{}, err)
				return
			}
			if l.end == l.start {
				return
			}
			if len(types) > 0 && !begins(text, types) {
				if err != nil {
					return
				}
				continue
			}
			if l.err == nil {
				l.err = decode(text, &l.entry)
			}
			if !yield(l, nil) || err != nil {
				return
			}
		}
	}
}

// read returns the text of a line. The rest of one that is too long is passed
// over.
func (l *line) read(in *bufio.Reader) (text []byte, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		l.end += int64(len(piece))
		if l.end-l.start <= maxEntry {
			text = append(text, piece...)
		} else {
			text, l.err = nil, state.ErrTooLarge
		}
		l.complete = err == nil
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, err
		}
	}
}

// begins reports whether a line begins as an entry of one of these types does.
func begins(text []byte, types []string) bool {
	rest, ok := bytes.CutPrefix(text, []byte(`{"type":"`))
	word, _, _ := bytes.Cut(rest, []byte(`"`))
	return ok && slices.Contains(types, string(word))
}

func decode(text []byte, e *Entry) error {
	if e.cut(text) {
		return nil
	}
	if err := json.Unmarshal(text, e); err != nil {
		return err
	}
	if e.Type == "" {
		return errors.New("it is no entry: it has no type")
	}
	return nil
}

// cut reads a line that looks as we write it, in half the time.
func (e *Entry) cut(text []byte) bool {
	rest := bytes.TrimSuffix(text, []byte("\n"))
	field := func(before string) string {
		after, ok := bytes.CutPrefix(rest, []byte(before))
		i := bytes.IndexAny(after, `"\`)
		if !ok || i < 0 || after[i] != '"' {
			rest = nil
			return ""
		}
		rest = after[i+1:]
		return string(after[:i])
	}
	kind, at, agent := field(`{"type":"`), field(`,"time":"`), field(`,"agent_id":"`)
	data, ok := bytes.CutPrefix(rest, []byte(`,"data":`))
	data, closed := bytes.CutSuffix(data, []byte("}"))
	when, err := time.Parse(time.RFC3339Nano, at)
	if !ok || !closed || err != nil || kind == "" || !utf8.ValidString(kind) || !utf8.ValidString(agent) || !json.Valid(data) {
		return false
	}
	*e = Entry{kind, when, session.AgentID(agent), data}
	return true
}

// Entries reads a transcript from its beginning, without its lock. A damaged
// line is an error after which others follow.
func (p Project) Entries(id string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		f, err := p.openToRead(id)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		defer f.Close()
		for l, err := range scan(f) {
			switch {
			case err != nil:
				err = fmt.Errorf("session %s: %w", id, err)
			case l.err != nil:
				err = fmt.Errorf("%s:%d: %w", f.Name(), l.number, l.err)
			}
			if !yield(l.entry, err) {
				return
			}
		}
	}
}

func (p Project) openToRead(id string) (*os.File, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	f, err := openPlain(p.file(id))
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	return f, nil
}

// openPlain opens a file, and nothing that somebody may have put in its place.
func openPlain(path string) (*os.File, error) {
	if fi, err := os.Stat(path); err != nil {
		return nil, err
	} else if !fi.Mode().IsRegular() {
		return nil, state.ErrNotPlain
	}
	return os.Open(path)
}
