package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/knack-skills/knack/llm"
)

// maxEvent is how long a line, or the data of an event, may be in bytes.
const maxEvent = 32 << 20

// An Event is one server-sent event.
type Event struct {
	Name string // empty when the server names none
	Data []byte // its lines joined with \n; valid until the next event
	// Unterminated says that the stream ended without the blank line that ends
	// an event. Some servers leave that out after their last event; in all
	// other cases the event was cut.
	Unterminated bool
	// Whole says that the response was no event stream but one JSON value:
	// servers that cannot stream answer so, and proxies that report an error.
	Whole bool
}

// A Stream reads the events of a response. It is not safe for concurrent use.
type Stream struct {
	body  io.Closer
	in    *bufio.Reader
	limit int

	begun bool   // the beginning has been looked at
	ended bool   // nothing more can come
	line  []byte // buffer of one line
	rest  []byte // what is left of line behind a carriage return
	more  bool   // rest counts, even if it is empty
	data  []byte
}

func newStream(body io.ReadCloser) *Stream {
	return &Stream{body: body, in: bufio.NewReaderSize(body, 64<<10), limit: maxEvent}
}

// Close ends the request.
func (s *Stream) Close() {
	_ = s.body.Close() // whatever it says, the answer is over
}

// Next returns the next event that has data. At the end of the stream it
// returns io.EOF; any other error wraps [llm.ErrCut] or is an [llm.APIError].
func (s *Stream) Next() (Event, error) {
	if !s.begun {
		s.begun = true
		if e, done, err := s.begin(); done || err != nil {
			s.ended = true
			return e, err
		}
	}
	if s.ended {
		return Event{}, io.EOF
	}
	var e Event
	found := false
	s.data = s.data[:0]
	for {
		line, err := s.next()
		switch {
		case errors.Is(err, io.EOF):
			s.ended = true
			if !found {
				return Event{}, io.EOF
			}
			e.Data, e.Unterminated = s.data, true
			return e, nil
		case err != nil:
			s.ended = true
			return Event{}, fmt.Errorf("%w: %w", llm.ErrCut, err)
		case len(line) == 0 && found:
			e.Data = s.data
			return e, nil
		case len(line) == 0:
			e = Event{} // an event without data is none
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			e.Name = string(value)
		case "data":
			if found {
				s.data = append(s.data, '\n')
			}
			found = true
			s.data = append(s.data, value...)
			if len(s.data) > s.limit {
				s.ended = true
				return Event{}, s.tooLong()
			}
		} // comments, ids, times to reconnect and unknown fields mean nothing here
	}
}

// begin looks at the first byte, which tells an event stream from JSON and from
// the web page of some proxy.
func (s *Stream) begin() (e Event, done bool, err error) {
	if bom, _ := s.in.Peek(3); bytes.Equal(bom, []byte("\ufeff")) {
		_, _ = s.in.Discard(3) // just seen
	}
	for {
		b, err := s.in.Peek(1)
		if err != nil {
			return Event{}, false, nil // the reading of lines reports it
		}
		switch b[0] {
		case ' ', '\t', '\r', '\n':
			_, _ = s.in.Discard(1) // just seen
		case '{', '[':
			data, err := io.ReadAll(io.LimitReader(s.in, int64(s.limit)+1))
			switch {
			case err != nil:
				return Event{}, true, fmt.Errorf("%w: %w", llm.ErrCut, err)
			case len(data) > s.limit:
				return Event{}, true, s.tooLong()
			}
			return Event{Data: data, Whole: true}, true, nil
		case '<':
			page, _ := io.ReadAll(io.LimitReader(s.in, maxErrorBody)) // what came of it is enough
			return Event{}, true, &llm.APIError{Status: http.StatusOK, Message: "not an event stream but a page: " + excerpt(page)}
		default:
			return Event{}, false, nil
		}
	}
}

// next returns the next line without its end, which is \n, \r\n or \r.
func (s *Stream) next() ([]byte, error) {
	if !s.more {
		if err := s.fill(); err != nil {
			return nil, err
		}
	}
	line, rest, found := bytes.Cut(s.rest, []byte("\r"))
	s.rest, s.more = rest, found
	return line, nil
}

// fill reads up to a line feed.
func (s *Stream) fill() error {
	s.line = s.line[:0]
	for {
		piece, err := s.in.ReadSlice('\n')
		s.line = append(s.line, piece...)
		switch {
		case len(s.line) > s.limit:
			return s.tooLong()
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(s.line) > 0, err == nil:
			s.rest = bytes.TrimSuffix(bytes.TrimSuffix(s.line, []byte("\n")), []byte("\r"))
			s.more = true
			return nil
		}
		return err
	}
}

func (s *Stream) tooLong() error {
	return &llm.APIError{Status: http.StatusOK, Message: fmt.Sprintf("an event of the answer is longer than %d bytes", s.limit)}
}
