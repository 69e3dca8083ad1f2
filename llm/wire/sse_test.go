package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/knack-skills/knack/llm"
)

func streamOf(r io.Reader) *Stream { return newStream(io.NopCloser(r)) }

// all reads a stream and writes its events down.
func all(s *Stream) (out []string, err error) {
	for {
		e, err := s.Next()
		if err != nil {
			if errors.Is(err, io.EOF) && !errors.Is(err, llm.ErrCut) {
				err = nil
			}
			return out, err
		}
		text := e.Name + "|" + string(e.Data)
		if e.Unterminated {
			text += "|unterminated"
		}
		if e.Whole {
			text += "|whole"
		}
		out = append(out, text)
	}
}

var sseTests = []struct {
	name, in string
	want     []string
}{
	{"empty", "", nil},
	{"one", "data: a\n\n", []string{"|a"}},
	{"named", "event: x\ndata: a\n\ndata: b\n\n", []string{"x|a", "|b"}},
	{"carriage returns", "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []string{"x|a", "|b"}},
	{"only carriage returns", "event: x\rdata: a\r\rdata: b\r\r", []string{"x|a", "|b"}},
	{"mixed ends", "data: a\r\n\ndata: b\n\r\n", []string{"|a", "|b"}},
	{"comments", ": OPENROUTER PROCESSING\n\n:\ndata: a\n: x\n\n", []string{"|a"}},
	{"several lines", "data: {\ndata:  \"a\": 1\ndata: }\n\n", []string{"|{\n \"a\": 1\n}"}},
	{"no space", "data:a\n\n", []string{"|a"}},
	{"only one space goes", "data:  a\n\n", []string{"| a"}},
	{"empty data", "data\n\ndata:\n\n", []string{"|", "|"}},
	{"name without data", "event: ping\n\ndata: a\n\n", []string{"|a"}},
	{"other fields", "id: 1\nretry: 5\nfoo: bar\nfoo\ndata: a\n\n", []string{"|a"}},
	{"colons in data", "data: a: b\n\n", []string{"|a: b"}},
	{"byte order mark", "\ufeffdata: a\n\n", []string{"|a"}},
	{"blank lines first", "\r\n\n \ndata: a\n\n", []string{"|a"}},
	{"no blank line at the end", "data: a\n\ndata: [DONE]\n", []string{"|a", "|[DONE]|unterminated"}},
	{"no line end at the end", "data: a\n\ndata: {\"b\":", []string{"|a", "|{\"b\":|unterminated"}},
	{"json", " {\"error\":\n1}", []string{"|{\"error\":\n1}|whole"}},
	{"json list", "[{}]", []string{"|[{}]|whole"}},
}

func TestEvents(t *testing.T) {
	for _, tt := range sseTests {
		for name, r := range map[string]io.Reader{
			"at once":      strings.NewReader(tt.in),
			"byte by byte": iotest.OneByteReader(strings.NewReader(tt.in)),
		} {
			got, err := all(streamOf(r))
			if err != nil || strings.Join(got, "\x00") != strings.Join(tt.want, "\x00") {
				t.Errorf("%s, %s: %q, %v; want %q", tt.name, name, got, err, tt.want)
			}
		}
	}
}

func TestBrokenStreams(t *testing.T) {
	broken := errors.New("reset")
	got, err := all(streamOf(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(broken))))
	if len(got) != 1 || !errors.Is(err, llm.ErrCut) || !errors.Is(err, broken) {
		t.Errorf("%q, %v", got, err)
	}
	for _, in := range []string{"data: " + strings.Repeat("x", 100) + "\n\n", strings.Repeat("data: xxxxxxxxx\n", 20) + "\n", "{" + strings.Repeat(" ", 100) + "}"} {
		s := streamOf(strings.NewReader(in + "data: b\n\n"))
		s.limit = 50
		got, err := all(s)
		var api *llm.APIError
		if len(got) != 0 || !errors.As(err, &api) || llm.Retryable(err) {
			t.Errorf("%.20q: %q, %v", in, got, err)
		}
		if _, err := s.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("%.20q: after the error: %v", in, err)
		}
	}
	_, err = all(streamOf(strings.NewReader("<html><title>Sign in</title></html>")))
	if err == nil || !strings.Contains(err.Error(), "Sign in") || llm.Retryable(err) {
		t.Errorf("page: %v", err)
	}
}

// FuzzEvents: the division into reads changes nothing, and what was written as
// an event is read as it.
func FuzzEvents(f *testing.F) {
	for _, tt := range sseTests {
		f.Add(tt.in, "x", "data")
	}
	f.Add("", "na\rme", "a\nb\r\nc\rd")
	f.Fuzz(func(t *testing.T, in, name, data string) {
		a, errA := all(streamOf(strings.NewReader(in)))
		b, errB := all(streamOf(iotest.OneByteReader(strings.NewReader(in))))
		if strings.Join(a, "\x00") != strings.Join(b, "\x00") || (errA == nil) != (errB == nil) {
			t.Fatalf("%q: %q, %v and %q, %v", in, a, errA, b, errB)
		}
		lines := strings.NewReplacer("\r\n", "\n", "\r", "\n")
		data, name = lines.Replace(data), strings.ReplaceAll(lines.Replace(name), "\n", "")
		var w bytes.Buffer
		w.WriteString("event: " + name + "\r\n")
		for line := range strings.SplitSeq(data, "\n") {
			w.WriteString("data: " + line + "\n")
		}
		w.WriteString("\n")
		got, err := all(streamOf(&w))
		if err != nil || len(got) != 1 || got[0] != name+"|"+data {
			t.Fatalf("%q, %q: %q, %v", name, data, got, err)
		}
	})
}
