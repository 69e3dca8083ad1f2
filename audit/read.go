package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
)

// An Entry is one line of a log: a record, or what is wrong with the line.
type Entry struct {
	Line   int    // from 1; empty lines count
	Raw    []byte // as stored, without the newline; cut when it is too long
	Record Record // zero when Damage is not empty
	Damage string // why the line is no record; empty for one that is
}

// tooLong is the length from which on a line is damage: nothing that this
// package writes, and memory must not depend on what is in a file.
const tooLong = 1 << 20

// Read yields the records that f wants, oldest first, and every damaged line,
// of which nobody knows whether f would want it. A log that does not exist is
// empty. An error ends the sequence. Raw and Record are valid until the next
// entry.
func Read(ctx context.Context, path string, f Filter) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		file, err := openRead(path)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(Entry{}, fmt.Errorf("reading the audit log: %w", err))
			return
		}
		defer file.Close()
		readFrom(ctx, file, f)(yield)
	}
}

// readFrom is [Read] of an open log.
func readFrom(ctx context.Context, in io.Reader, f Filter) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		lines := lineReader{in: bufio.NewReaderSize(in, 64<<10)}
		for n := 1; ; n++ {
			if n%256 == 0 && ctx.Err() != nil {
				yield(Entry{}, ctx.Err())
				return
			}
			raw, whole, err := lines.next()
			if err != nil && !errors.Is(err, io.EOF) {
				yield(Entry{}, fmt.Errorf("reading the audit log: %w", err))
				return
			}
			if e := parse(raw, whole); wanted(&e, &f) {
				e.Line = n
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}
}

// wanted reports whether an entry is to be yielded: neither an empty line nor a
// record that f does not want.
func wanted(e *Entry, f *Filter) bool {
	return len(e.Raw) > 0 && (e.Damage != "" || f.Wants(&e.Record))
}

// A lineReader reads lines of any length in constant memory.
type lineReader struct {
	in  *bufio.Reader
	buf []byte // a line that does not fit into the reader's own
}

// next returns a line without its newline, valid until the next call. whole
// reports that the newline was there. At the end the error is io.EOF, possibly
// with a last line.
func (r *lineReader) next() (line []byte, whole bool, err error) {
	r.buf = r.buf[:0]
	for {
		part, err := r.in.ReadSlice('\n')
		if err == nil && len(r.buf) == 0 {
			return part[:len(part)-1], true, nil
		}
		// One byte more than allowed tells that it is too long.
		r.buf = append(r.buf, part[:min(len(part), tooLong+2-len(r.buf))]...)
		switch {
		case err == nil:
			return bytes.TrimSuffix(r.buf, []byte("\n")), true, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return r.buf, false, err
		}
	}
}

// parse reads one line.
func parse(raw []byte, whole bool) Entry {
	e := Entry{Raw: bytes.TrimRight(raw, "\r ")}
	if len(e.Raw) == 0 {
		return e
	}
	if len(raw) > tooLong {
		e.Raw = raw[:tooLong]
		e.Damage = fmt.Sprintf("it is longer than %d KiB, which no record is", tooLong>>10)
		return e
	}
	err := json.Unmarshal(e.Raw, &e.Record)
	switch {
	case err != nil && !whole:
		e.Damage = "its end is missing: it is being written, or its writer was killed"
	case err != nil:
		e.Damage = fmt.Sprintf("it is no record: %v", err)
	case e.Record.Time.IsZero() || e.Record.Kind == "":
		e.Damage = "it is no record: it has no time, or no kind"
	}
	if e.Damage != "" {
		e.Record = Record{}
	}
	return e
}

// openRead opens a log. A pipe in place of it is refused, not waited for.
func openRead(path string) (*os.File, error) {
	return plain(os.OpenFile(path, os.O_RDONLY|readFlags, 0))
}

// Last returns the last n records that f wants, oldest first, with the damaged
// lines among them, which do not count. It reads from the end, only as far as
// it has to.
func Last(ctx context.Context, path string, f Filter, n int) ([]Entry, error) {
	file, err := openRead(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	defer file.Close()
	out, err := last(ctx, file, f, n)
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	return out, nil
}

func last(ctx context.Context, file *os.File, f Filter, n int) ([]Entry, error) {
	fi, err := file.Stat()
	if err != nil {
		return nil, err
	}
	var out []Entry
	back := newBackReader(file, fi.Size())
	count := 0 // of lines after the one being looked at
	var after []int
	for n > 0 {
		raw, whole, err := back.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && count%256 == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		e := parse(raw, whole)
		if wanted(&e, &f) {
			e.Raw = bytes.Clone(e.Raw)
			out, after = append(out, e), append(after, count)
			if e.Damage == "" {
				n--
			}
		}
		count++
	}
	before, err := countLines(io.NewSectionReader(file, 0, back.at()))
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].Line = before + count - after[i]
	}
	slices.Reverse(out)
	return out, nil
}

// countLines counts newlines.
func countLines(in io.Reader) (n int, err error) {
	buf := make([]byte, 64<<10)
	for {
		got, err := in.Read(buf)
		n += bytes.Count(buf[:got], []byte{'\n'})
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}
