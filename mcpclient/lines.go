package mcpclient

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"

	words "github.com/knack-skills/knack/text"
)

// maxLine is the longest message of a process, in bytes. It leaves room for the
// largest text that is used, as JSON may write it.
const maxLine = 12 << 20

// lines lets only messages through. Servers print banners and logs where only
// messages belong; the protocol's reader would end at the first of them.
type lines struct {
	r    *bufio.Reader
	said io.Writer // gets the others
	rest []byte    // of the message that is being read
}

func newLines(r io.Reader, said io.Writer) *lines {
	return &lines{r: bufio.NewReaderSize(r, 64<<10), said: said}
}

// Read implements [io.Reader].
func (l *lines) Read(b []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.next()
		if len(line) > 0 && isMessage(line) {
			l.rest = append(line, '\n')
			break
		}
		if len(bytes.TrimSpace(line)) > 0 {
			_, _ = l.said.Write(append(line[:min(len(line), 2000)], '\n')) // a ring takes everything
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(b, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// next reads one line. One that is too long is none, and is read over.
func (l *lines) next() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := l.r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long {
			line = []byte("[a line of more than 12 MiB was dropped]")
		}
		return bytes.TrimRight(line, "\r\n"), err
	}
}

// isMessage reports whether a line is JSON-RPC, one message or several.
func isMessage(line []byte) bool {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' && line[0] != '[' {
		return false
	}
	type message struct {
		Version string `json:"jsonrpc"`
	}
	if line[0] == '{' {
		var m message
		return json.Unmarshal(line, &m) == nil && m.Version == "2.0"
	}
	var list []message
	if json.Unmarshal(line, &list) != nil || len(list) == 0 {
		return false
	}
	for _, m := range list {
		if m.Version != "2.0" {
			return false
		}
	}
	return true
}

// A ring keeps the end of what was written to it. It is safe for concurrent use.
type ring struct {
	mu  sync.Mutex
	end []byte
}

const maxSaid = 4 << 10

// Write implements [io.Writer].
func (r *ring) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end = append(r.end, b[max(0, len(b)-maxSaid):]...)
	if n := len(r.end) - maxSaid; n > 0 {
		r.end = append(r.end[:0], r.end[n:]...)
	}
	return len(b), nil
}

const maxTail = 400 // characters

// tail is the end as one line for a person.
func (r *ring) tail() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := []rune(words.Terminal(strings.ToValidUTF8(string(r.end), "\uFFFD")))
	if len(all) <= maxTail {
		return string(all)
	}
	return "…" + string(all[len(all)-maxTail:])
}
