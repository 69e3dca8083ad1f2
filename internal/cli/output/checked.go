package output

import (
	"io"
	"os"
)

// A Checked passes writes on and keeps the first error, so that a full disk
// fails a command wherever it printed. It is not safe for concurrent use.
type Checked struct {
	W   io.Writer
	Err error
}

// Write writes p to W.
func (c *Checked) Write(p []byte) (int, error) {
	n, err := c.W.Write(p)
	if c.Err == nil {
		c.Err = err
	}
	return n, err
}

// terminal returns the terminal behind w, or nil.
func terminal(w io.Writer) *os.File {
	if c, ok := w.(*Checked); ok {
		w = c.W
	}
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if fi, err := f.Stat(); err != nil || fi.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return f
}
