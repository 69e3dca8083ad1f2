package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxMessage is the length of the longest message that is read, in bytes.
const maxMessage = 4 << 20

// lastCalls is how long calls may go on after the input has ended.
const lastCalls = 10 * time.Second

// ServeStdio serves one client on in and out, until in ends, the client leaves,
// or ctx ends. Nothing but messages of the protocol is written to out, and what
// was asked before in ended is answered.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	defer s.counting.Wait()
	defer s.interests.wait()
	open := &open{ids: map[jsonrpc.ID]bool{}}
	err := s.mcp.Run(ctx, &mcp.IOTransport{
		Reader: io.NopCloser(newFilter(ctx, in, s.log, open)), Writer: watched{out, open}, MaxLineLength: maxMessage + 2,
	})
	if errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) {
		return nil
	}
	return err
}

// open holds the calls that are not answered yet, by their ids: of two with the
// same id, one is answered.
type open struct {
	mu   sync.Mutex
	ids  map[jsonrpc.ID]bool
	none chan struct{} // closed when ids is empty; nil when nobody waits
}

func (o *open) add(ids []jsonrpc.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range ids {
		o.ids[id] = true
	}
}

func (o *open) remove(ids []jsonrpc.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range ids {
		delete(o.ids, id)
	}
	if len(o.ids) == 0 && o.none != nil {
		close(o.none)
		o.none = nil
	}
}

// wait returns when every call is answered, or it has been long enough.
func (o *open) wait(ctx context.Context) {
	o.mu.Lock()
	if len(o.ids) == 0 {
		o.mu.Unlock()
		return
	}
	none := make(chan struct{})
	o.none = none
	o.mu.Unlock()
	timer := time.NewTimer(lastCalls)
	defer timer.Stop()
	select {
	case <-none:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// A watched writer sees answers go by. It is not closed, since it belongs to
// whoever gave it.
type watched struct {
	io.Writer
	open *open
}

// Write implements io.Writer. The library writes whole messages.
func (w watched) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	_, _, answers := messages(p)
	w.open.remove(answers)
	return n, err
}

// Close implements io.Closer.
func (watched) Close() error { return nil }

// A filter passes the lines on that are messages. The library ends a session at
// the first line that is none, and wrappers of programs like to say hello.
type filter struct {
	ctx  context.Context // of the session, which is all that a filter lives for
	in   *bufio.Reader
	log  *slog.Logger
	open *open
	left []byte // of the current line
}

func newFilter(ctx context.Context, in io.Reader, log *slog.Logger, o *open) *filter {
	return &filter{ctx: ctx, in: bufio.NewReaderSize(in, 64<<10), log: log, open: o}
}

// Read implements io.Reader.
func (f *filter) Read(p []byte) (int, error) {
	for len(f.left) == 0 {
		line, err := f.line()
		if all, calls, _ := messages(line); len(all) > 0 {
			f.open.add(calls)
			// Batches are taken apart: the library ends a session at one, unless
			// the protocol is old, and answers name the call anyway.
			f.left = append(bytes.Join(all, []byte("\n")), '\n')
		} else if n := len(bytes.TrimSpace(line)); n > 0 {
			f.log.Warn("a line on standard input is no message and is left out", "bytes", n, "begins", string(line[:min(len(line), 80)]))
		}
		if err != nil && len(f.left) == 0 {
			f.open.wait(f.ctx)
			return 0, err
		}
	}
	n := copy(p, f.left)
	f.left = f.left[n:]
	return n, nil
}

// line reads a line. Of one that is too long only the beginning is kept, which
// is no message.
func (f *filter) line() (line []byte, err error) {
	for {
		part, err := f.in.ReadSlice('\n')
		if len(line) <= maxMessage {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if len(line) > maxMessage {
				line = line[:maxMessage]
			}
			return line, err
		}
	}
}

// listenMethod is a call that is not answered as long as the client listens.
const listenMethod = "subscriptions/listen"

// messages returns what a line consists of: one message, or a batch of them, as
// old clients send it, or nothing if it is neither. calls are the ids of
// those that will be answered, answers those of answers.
func messages(line []byte) (all [][]byte, calls, answers []jsonrpc.ID) {
	line = bytes.TrimSpace(line)
	if !json.Valid(line) { // DecodeMessage lets more follow, which ends the session
		return nil, nil, nil
	}
	parts := []json.RawMessage{line}
	if line[0] == '[' {
		var batch []json.RawMessage // one of its own: Unmarshal writes into what is there
		if json.Unmarshal(line, &batch) != nil {
			return nil, nil, nil
		}
		parts = batch
	}
	for _, raw := range parts {
		m, err := jsonrpc.DecodeMessage(raw)
		if err != nil {
			return nil, nil, nil
		}
		switch m := m.(type) {
		case *jsonrpc.Request:
			if m.IsCall() && m.Method != listenMethod {
				calls = append(calls, m.ID)
			}
		case *jsonrpc.Response:
			answers = append(answers, m.ID)
		}
		all = append(all, raw)
	}
	return all, calls, answers
}
