package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

const (
	maxOutput = 30_000 // characters of one stream that enter the text (spec P-11)
	// memoryLimit bytes hold at least maxOutput characters: what is longer than
	// that has passed into a file.
	memoryLimit = maxOutput * utf8.UTFMax
)

func (c *compiler) spillDir() string {
	if c.env.SpillDir == "" {
		return os.TempDir()
	}
	return c.env.SpillDir
}

// inserted returns what of a stream enters the text: valid UTF-8, without one
// newline at the end, the head alone when it is long (spec P-11).
func (c *compiler) inserted(stream []byte, file string) string {
	text := strings.ToValidUTF8(string(stream), "\uFFFD")
	if file == "" {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	}
	head := firstCharacters(text, maxOutput)
	if head == text && file == "" {
		return text
	}
	note := "the rest could not be saved"
	if name, size, err := c.keep(stream, file); err == nil {
		note = fmt.Sprintf("all %d bytes: %s", size, name)
	}
	return fmt.Sprintf("%s\n[output cut after %d characters; %s]", head, maxOutput, note)
}

// firstCharacters returns the first n characters of s.
func firstCharacters(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// keep saves the full stream, which is in memory or in file, under a name made
// from its content, so that the same output gives the same text (spec P-16).
func (c *compiler) keep(stream []byte, file string) (name string, size int64, err error) {
	if file == "" {
		if file, err = save(c.spillDir(), stream); err != nil {
			return "", 0, err
		}
	}
	f, err := os.Open(file)
	if err != nil {
		return "", 0, err
	}
	h := sha256.New()
	size, err = io.Copy(h, f)
	if err := f.Close(); err != nil {
		return "", 0, err
	}
	if err != nil {
		return "", 0, err
	}
	name = filepath.Join(filepath.Dir(file), "output-"+hex.EncodeToString(h.Sum(nil)[:8])+".txt")
	if os.Rename(file, name) != nil {
		// Somebody else's file has that name, in a directory for all: keep ours.
		name = file
	}
	return name, size, nil
}

// save writes b to a new file that only its owner can read.
func save(dir string, b []byte) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, "output-*.txt") // mode 0600
	if err != nil {
		return "", err
	}
	if _, err := f.Write(b); err != nil {
		f.Close()
		return "", err
	}
	return f.Name(), f.Close()
}
