package memory

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/skill"
)

// errs of reading that callers tell apart.
var (
	errMissing = errors.New("there is no such file")
	errBinary  = errors.New("it is not text")
)

// textFile reads a regular file of text. What is beyond limit bytes is counted
// and not kept.
func textFile(path string, limit int) (text string, rest int64, err error) {
	// Looked at before opening: opening a pipe would wait for ever.
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", 0, errMissing
	case err != nil:
		return "", 0, reason(err)
	case !info.Mode().IsRegular():
		return "", 0, fmt.Errorf("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return "", 0, reason(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return "", 0, reason(err)
	}
	if kind := binaryKind(data); kind != "" {
		return "", 0, fmt.Errorf("%w: %s (%d bytes)", errBinary, kind, info.Size())
	}
	text = strings.ToValidUTF8(strings.TrimPrefix(string(data), "\uFEFF"), "\uFFFD")
	head, left := cut(text, limit)
	if left > 0 || int64(len(data)) < info.Size() {
		rest = max(info.Size()-int64(len(head)), 1)
	}
	return head, rest, nil
}

// signatures are the first bytes of files that people refer to often and that
// are no text.
var signatures = []struct{ head, kind string }{
	{"\x89PNG", "a PNG image"}, {"\xff\xd8\xff", "a JPEG image"}, {"GIF8", "a GIF image"}, {"%PDF-", "a PDF document"},
	{"PK\x03\x04", "a zip archive or office document"}, {"\x1f\x8b", "compressed data"}, {"\x7fELF", "a program"},
	{"\xff\xfe", "UTF-16 text"}, {"\xfe\xff", "UTF-16 text"},
}

// binaryKind says what data is, if it is not text.
func binaryKind(data []byte) string {
	for _, s := range signatures {
		if bytes.HasPrefix(data, []byte(s.head)) {
			return s.kind
		}
	}
	head := data[:min(len(data), 8<<10)]
	if bytes.IndexByte(head, 0) >= 0 {
		return "binary data"
	}
	// Latin-1 text has some bytes that are no UTF-8, data has many.
	bad := 0
	for rest := head; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 && len(rest) >= utf8.UTFMax {
			bad++
		}
		rest = rest[n:]
	}
	if bad > 8 && bad > len(head)/10 {
		return "binary data"
	}
	return ""
}

// reason is an error without the path, which the message has already.
func reason(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// physical resolves the links of path, or of the directories above it.
func physical(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(physical(dir), filepath.Base(path))
	}
	return path
}

// within reports whether path is dir or lies below it.
func within(path, dir string) bool {
	if dir == "" {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// absolute expands a leading ~/ and makes path absolute, relative to base.
func absolute(path, base, home string) string {
	path = filepath.FromSlash(path)
	if rest, ok := skill.CutHome(path); ok && home != "" {
		return filepath.Join(home, rest)
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}
