package run

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

const hello = `{"type":"user","message":{"role":"user","content":"hello"}}` + "\n"

func TestMessagesTooLong(t *testing.T) {
	in := io.MultiReader(strings.NewReader(hello), bytes.NewReader(bytes.Repeat([]byte("x"), maxStdin+1)))
	var got []string
	var last error
	for m, err := range messages(t.Context(), "", in) {
		if last = err; err == nil {
			got = append(got, m)
		}
	}
	if len(got) != 1 || got[0] != "hello" {
		t.Errorf("messages before it: %q", got)
	}
	if last == nil || !strings.Contains(last.Error(), "line 2: it is over 4 MiB") {
		t.Errorf("error: %v", last)
	}
}

// An endless input has one line, then calls waits and never returns.
type endless struct {
	line  *strings.Reader
	waits func()
}

func (e endless) Read(p []byte) (int, error) {
	if e.line.Len() > 0 {
		return e.line.Read(p)
	}
	e.waits()
	select {}
}

// TestServeEnds: a run that is cancelled ends although its input stays open.
func TestServeEnds(t *testing.T) {
	t.Run("waiting for a line", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		err := new(Options).serve(ctx, endless{strings.NewReader(""), cancel}, nil, func(string) (outcome, error) {
			t.Error("a message was answered after the end")
			return outcome{}, nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	t.Run("in a message", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		err := new(Options).serve(ctx, endless{strings.NewReader(hello), func() {}}, nil, func(string) (outcome, error) {
			cancel()
			return outcome{}, errors.New("broken off")
		})
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
