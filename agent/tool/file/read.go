package file

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/permission"
)

//go:embed read.md
var readDoc string

// pageLines is how many lines Read returns unless it is told.
const pageLines = 2000

// maxPage bounds the lines of one call, in bytes: the loop would cut more away.
const maxPage = 256 << 10

// A Read shows a file with line numbers.
type Read struct {
	base tool.Base
	seen *Seen
}

// NewRead returns the tool. What it shows is noted in seen.
func NewRead(base tool.Base, seen *Seen) *Read { return &Read{base, seen} }

func readInput() tool.Input {
	return tool.Input{Tool: "Read", Fields: []tool.Field{
		{Name: "file_path", Type: tool.String, Required: true, Filled: true, Doc: "the file to read, best as an absolute path"},
		{Name: "offset", Type: tool.Integer, Doc: "number of the first line to return, from 1; leave it out to begin at the top"},
		{Name: "limit", Type: tool.Integer, Min: 1, Doc: "how many lines to return; 2000 when left out"},
	}}
}

// Spec implements [agent.Tool].
func (t *Read) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: "Read", Description: readDoc, InputSchema: readInput().Schema()}
}

// Plan implements [agent.Tool].
func (t *Read) Plan(input json.RawMessage) (agent.Plan, error) {
	in := struct {
		Path   string `json:"file_path"`
		Offset int    `json:"offset"`
		Limit  int    `json:"limit"`
	}{Limit: pageLines}
	if err := readInput().Decode(input, &in); err != nil {
		return agent.Plan{}, err
	}
	req, err := request(t.base, "Read", in.Path)
	if err != nil {
		return agent.Plan{}, err
	}
	first := max(in.Offset, 1) // models count from 0 at times
	return agent.Plan{
		Ask:      req,
		ReadOnly: true,
		Touches:  []string{req.Input.Path},
		Run: func(ctx context.Context, env agent.CallEnv) (agent.Result, error) {
			if err := ctx.Err(); err != nil {
				return agent.Result{}, err
			}
			return t.run(env, req, first, in.Limit)
		},
	}, nil
}

// request reads the file_path of a call.
func request(base tool.Base, name, path string) (permission.Request, error) {
	abs, err := base.Abs("file_path", path)
	if err != nil {
		return permission.Request{}, fmt.Errorf("%s: %w", name, err)
	}
	req, err := base.Request(name, abs)
	if err != nil {
		return req, fmt.Errorf("%s: %w", name, err)
	}
	return req, nil
}

func (t *Read) run(env agent.CallEnv, req permission.Request, first, limit int) (agent.Result, error) {
	if err := tool.Unmoved(req); err != nil {
		return failed(err)
	}
	f, err := open(req.Input.RealPath)
	if err != nil {
		return failed(err)
	}
	text, err := t.show(env, req, f, first, limit)
	if err = errors.Join(err, f.Close()); err != nil {
		return failed(err)
	}
	return agent.Result{Text: text}, nil
}

func (t *Read) show(env agent.CallEnv, req permission.Request, f *os.File, first, limit int) (string, error) {
	path := req.Input.Path
	content, big, err := readAll(f)
	if err != nil {
		return "", plain(path, err)
	}
	if err := refuse(path, content); err != nil {
		return "", err
	}
	if big {
		return showBig(path, f, content, first, limit)
	}
	t.seen.note(env.Agent, req.Input.RealPath, stampOf(content))
	body := bytes.TrimPrefix(content, []byte(bom))
	if len(body) == 0 {
		return fmt.Sprintf("[%s is empty]", path), nil
	}
	lines := linesOf(string(body))
	if first > len(lines) {
		return "", fmt.Errorf("%s has %s; offset %d is beyond its end", path, count(len(lines), "line"), first)
	}
	var p page
	i := first - 1
	for ; i < len(lines) && i-first+1 < limit && p.b.Len() < maxPage; i++ {
		p.line(i+1, lines[i])
	}
	if i < len(lines) {
		fmt.Fprintf(&p.b, "[lines %d to %d of %d; go on with offset %d]\n", first, i, len(lines), i+1)
	}
	if !utf8.Valid(body) {
		p.b.WriteString("[some bytes are not valid UTF-8 and are shown as \ufffd]\n")
	}
	return p.b.String(), nil
}

// showBig pages through a file that is too large to hold, without counting its
// lines to the end. head is its beginning.
func showBig(path string, f io.Reader, head []byte, first, limit int) (string, error) {
	r := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(head), f), 64<<10)
	var p page
	for n := 1; ; n++ {
		line, err := readLine(r, n >= first)
		if err == io.EOF && line == "" {
			if n <= first {
				return "", fmt.Errorf("%s has %s; offset %d is beyond its end", path, count(n-1, "line"), first)
			}
			return p.b.String(), nil
		}
		if err != nil && err != io.EOF {
			return "", plain(path, err)
		}
		if n == 1 {
			line = strings.TrimPrefix(line, bom)
		}
		if n >= first {
			p.line(n, line)
		}
		if n >= first && (n-first+1 >= limit || p.b.Len() >= maxPage) {
			fmt.Fprintf(&p.b, "[lines %d to %d of a file with more than %d MiB; go on with offset %d]\n", first, n, maxWhole>>20, n+1)
			return p.b.String(), nil
		}
	}
}

// readLine returns the next line without its end, or its beginning when it is
// long; nothing is kept of a line that is skipped.
func readLine(r *bufio.Reader, keep bool) (string, error) {
	var b strings.Builder
	some := false
	for {
		part, err := r.ReadSlice('\n')
		some = some || len(part) > 0
		if keep && b.Len() < 4*maxLine+4 {
			b.Write(part)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && some:
			return lineOf(b.String()), nil
		case err != nil:
			return "", err
		}
		return lineOf(b.String()), nil
	}
}

func lineOf(s string) string { return strings.TrimSuffix(s, "\n") }
