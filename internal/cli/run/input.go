package run

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

// form is what a line of --input-format stream-json looks like (spec A-7).
const form = `{"type":"user","message":{"role":"user","content":"…"}}`

// serve answers one message after the other, each with a result of its own. A
// message that fails does not keep the next from being answered; a line that
// cannot be read ends the run, since nobody knows what it was to say. The
// error is the first one.
func (o *Options) serve(ctx context.Context, in io.Reader, out *writer, answer func(string) (outcome, error)) error {
	var first error
	for message, err := range messages(ctx, o.Prompt, in) {
		var a outcome
		if err == nil {
			a, err = answer(message)
		}
		if ended := ctx.Err(); ended != nil {
			return ended // however the model or a tool put it
		}
		if werr := out.result(a, err); werr != nil {
			return werr
		}
		if first == nil {
			first = err
		}
	}
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	return first
}

// messages yields the prompt, if there is one, then the message of each line.
// After an error nothing follows.
func messages(ctx context.Context, prompt string, in io.Reader) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if strings.TrimSpace(prompt) != "" && !yield(prompt, nil) {
			return
		}
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		lines := make(chan line)
		// Reading has a goroutine of its own, because a read cannot be
		// interrupted and ctx must end the run all the same.
		go read(ctx, in, lines)
		for {
			select {
			case <-ctx.Done():
				return
			case l, more := <-lines:
				if !more {
					return
				}
				message, err := l.message()
				if !yield(message, err) || err != nil {
					return
				}
			}
		}
	}
}

// A line of standard input, or why it could not be read.
type line struct {
	number int
	text   []byte
	err    error
}

// read sends the lines of in that are not empty, until ctx ends.
func read(ctx context.Context, in io.Reader, to chan<- line) {
	defer close(to)
	s := bufio.NewScanner(in)
	s.Buffer(nil, maxStdin)
	send := func(l line) bool {
		select {
		case to <- l:
			return true
		case <-ctx.Done():
			return false
		}
	}
	n := 1
	for ; s.Scan(); n++ {
		if text := bytes.TrimSpace(s.Bytes()); len(text) > 0 && !send(line{number: n, text: bytes.Clone(text)}) {
			return
		}
	}
	err := s.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("it is over %d MiB; put the text into a file and name the file in the message", maxStdin>>20)
	}
	if err != nil {
		send(line{number: n, err: err})
	}
}

// message is what the line says.
func (l line) message() (string, error) {
	text, err := "", l.err
	if err == nil {
		text, err = decode(l.text)
	}
	if err != nil {
		return "", fmt.Errorf("standard input, line %d: %w", l.number, err)
	}
	return text, nil
}

func decode(data []byte) (string, error) {
	var m struct {
		Type    string
		Message struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(data, &m); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return "", fmt.Errorf("it is not JSON: %w", err)
		}
		return "", fmt.Errorf("it does not have the form %s", form)
	}
	if m.Type != "user" {
		return "", fmt.Errorf(`type is %q and has to be "user"; the form is %s`, m.Type, form)
	}
	if m.Message.Role != "user" {
		return "", fmt.Errorf(`message.role is %q and has to be "user"; the form is %s`, m.Message.Role, form)
	}
	text, err := content(m.Message.Content)
	if err == nil && strings.TrimSpace(text) == "" {
		err = errors.New("the message is empty")
	}
	return text, err
}

// content is a string, or the text of blocks.
func content(data json.RawMessage) (string, error) {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return text, nil
	}
	var blocks []struct {
		Type string
		Text string
	}
	if json.Unmarshal(data, &blocks) != nil {
		return "", errors.New("message.content is neither a string nor a list of text blocks")
	}
	texts := make([]string, len(blocks))
	for i, b := range blocks {
		if b.Type != "text" {
			return "", fmt.Errorf("block %d of message.content is of type %q; only text is read", i+1, b.Type)
		}
		texts[i] = b.Text
	}
	return strings.Join(texts, "\n"), nil
}
