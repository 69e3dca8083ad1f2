package audit

import (
	"bytes"
	"io"
)

// backBlock is how much is read at once from the end of a log.
const backBlock = 64 << 10

// A backReader reads lines of any length from the end to the beginning, in
// constant memory.
type backReader struct {
	in   io.ReaderAt
	from int64  // where buf begins in the file
	buf  []byte // read, and not yet handed out: all of it before what was
	end  bool   // the next line is the last of the file, whose newline may be missing
}

func newBackReader(in io.ReaderAt, size int64) *backReader {
	return &backReader{in: in, from: size, end: true}
}

// at is the offset of the line that next returned last.
func (r *backReader) at() int64 { return r.from + int64(len(r.buf)) }

// next returns the line before the last one, valid until the next call, or
// io.EOF before the first. Of a line that is too long only the beginning is
// returned, longer than any line may be.
func (r *backReader) next() (line []byte, whole bool, err error) {
	whole = true
	if r.end {
		r.end = false
		if err := r.fill(); err != nil {
			return nil, false, err
		}
		whole = bytes.HasSuffix(r.buf, []byte("\n"))
	}
	if r.at() == 0 {
		return nil, false, io.EOF
	}
	if whole && len(r.buf) == 0 {
		if err := r.fill(); err != nil {
			return nil, false, err
		}
	}
	r.buf = bytes.TrimSuffix(r.buf, []byte("\n"))
	for {
		if i := bytes.LastIndexByte(r.buf, '\n'); i >= 0 || r.from == 0 {
			line = r.buf[i+1:]
			r.buf = r.buf[:i+1]
			break
		}
		if len(r.buf) > tooLong {
			r.buf = r.buf[:tooLong+1] // its beginning is still to come, and is enough
		}
		if err := r.fill(); err != nil {
			return nil, false, err
		}
	}
	return line, whole, nil
}

// fill puts the block before buf in front of it.
func (r *backReader) fill() error {
	n := min(r.from, backBlock)
	block := make([]byte, n, int(n)+len(r.buf))
	if got, err := r.in.ReadAt(block, r.from-n); int64(got) < n {
		return err
	}
	r.from -= n
	r.buf = append(block, r.buf...)
	return nil
}
