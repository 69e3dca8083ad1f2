package shell

import (
	"fmt"
	"io"
	"os"
)

const (
	defaultLimit = 1 << 20
	// maxSpill bounds the file of one stream. A command that floods its output
	// is not killed for it, it may have work to do; the time limit ends it. The
	// rest of the stream is read and dropped.
	maxSpill = 64 << 20
)

// A capture takes one output stream: the head in memory, all of it in a file
// once the head is full. It is used by one goroutine at a time.
type capture struct {
	limit  int
	dir    string
	follow io.Writer
	head   []byte
	file   *os.File
	size   int64 // bytes in file
	lost   bool
}

func newCapture(c Command) *capture {
	limit := c.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	return &capture{limit: limit, dir: c.Spill}
}

// Write never fails: a full disk must not end a command with a broken pipe.
func (c *capture) Write(p []byte) (int, error) {
	n := len(p)
	if c.follow != nil {
		_, _ = c.follow.Write(p) // its reader's trouble is not the command's
	}
	if room := c.limit - len(c.head); room > 0 {
		k := min(room, len(p))
		c.head = append(c.head, p[:k]...)
		p = p[k:]
	}
	if len(p) == 0 || c.lost {
		return n, nil
	}
	if c.file == nil && !c.open() {
		c.lost = true
		return n, nil
	}
	if room := maxSpill - c.size; int64(len(p)) > room {
		p = p[:room]
		c.lost = true
	}
	k, err := c.file.Write(p)
	c.size += int64(k)
	if err != nil {
		c.lost = true
	}
	return n, nil
}

// open creates the file, readable by its owner alone, with the head in it.
func (c *capture) open() bool {
	if c.dir == "" || os.MkdirAll(c.dir, 0o700) != nil {
		return false
	}
	f, err := os.CreateTemp(c.dir, "output-*.txt") // mode 0600
	if err != nil {
		return false
	}
	c.file = f
	k, err := f.Write(c.head)
	c.size = int64(k)
	return err == nil
}

// close ends the stream and returns the head and the name of the file, if any.
// A file that does not hold everything says so in its last line.
func (c *capture) close() (head []byte, name string) {
	if c.file == nil {
		return c.head, ""
	}
	if c.lost {
		fmt.Fprintf(c.file, "\n[output beyond %d bytes was not saved]\n", c.size)
	}
	if c.file.Close() != nil {
		c.lost = true
	}
	return c.head, c.file.Name()
}
