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
	open := &open{}
	err := s.mcp.Run(ctx, &mcp.IOTransport{
		Reader: io.NopCloser(newFilter(ctx, in, s.log, open)), Writer: watched{out, open}, MaxLineLength: maxMessage + 2,
	})
	if errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) {
		return nil
	}
	return err
}

// open counts the calls that are not answered yet.
type open struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed when n is zero; nil when nobody waits
}

func (o *open) add(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n += n; o.n <= 0 && o.none != nil {
		close(o.none)
		o.none = nil
	}
}

// wait returns when every call is answered, or it has been long enough.
func (o *open) wait(ctx context.Context) {
	o.mu.Lock()
	if o.n <= 0 {
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
	_, answers, _ := messages(p)
	w.open.add(-answers)
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
		if calls, _, ok := messages(line); ok {
			f.open.add(calls)
			f.left = append(bytes.TrimSpace(line), '\n')
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

// messages looks at a line. It is ok if it is one message, or a batch of them,
// as old clients send it; calls are those that will be answered.
func messages(line []byte) (calls, answers int, ok bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return 0, 0, false
	}
	all := []json.RawMessage{line}
	if line[0] == '[' && (json.Unmarshal(line, &all) != nil || len(all) == 0) {
		return 0, 0, false
	}
	for _, raw := range all {
		m, err := jsonrpc.DecodeMessage(raw)
		if err != nil {
			return 0, 0, false
		}
		switch m := m.(type) {
		case *jsonrpc.Request:
			if m.IsCall() && m.Method != listenMethod {
				calls++
			}
		case *jsonrpc.Response:
			answers++
		}
	}
	return calls, answers, true
}
