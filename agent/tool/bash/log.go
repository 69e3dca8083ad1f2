package bash

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxLog is how much output of a background command waits to be read, in bytes.
// What is older is dropped.
const maxLog = 1 << 20

// A log takes the output of a background command and gives each piece of it out
// once.
type log struct {
	mu      sync.Mutex // guards what follows
	text    []byte
	dropped int
	ended   bool
}

// Write implements io.Writer and never fails.
func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	if n := len(l.text) - maxLog; n > 0 {
		l.text = append(l.text[:0], l.text[n:]...)
		l.dropped += n
	}
	return len(p), nil
}

// end adds what came outside the log and marks it complete.
func (l *log) end(rest []byte) {
	if len(rest) > 0 {
		_, _ = l.Write(rest) // never fails
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
}

// take returns what is new. While the command runs, a character that is not
// complete yet waits for the next time, and with whole so does a line.
func (l *log) take(whole bool) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.text)
	if !l.ended {
		n = complete(l.text, whole)
	}
	text := strings.ToValidUTF8(string(l.text[:n]), string(utf8.RuneError))
	l.text = append(l.text[:0], l.text[n:]...)
	if l.dropped > 0 {
		text = fmt.Sprintf("[%d bytes of older output were dropped]\n%s", l.dropped, text)
		l.dropped = 0
	}
	return text
}

// complete is how much of a text can be given out.
func complete(text []byte, whole bool) int {
	if whole {
		return bytes.LastIndexByte(text, '\n') + 1
	}
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if last := text[len(text)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return len(text) - i
			}
			break
		}
	}
	return len(text)
}
