package find

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/permission"
)

// maxSearched is the largest file that is searched.
const maxSearched = 32 << 20

// The search is done in parts of this many files, by this many goroutines at
// most: what is found of one part is held in memory.
const (
	partSize   = 256
	maxWorkers = 8
)

// A search is one Grep call.
type search struct {
	o      Options
	req    permission.Request
	q      query
	filter filter
	mode   string
	limit  int
}

// A searched is what one file gave.
type searched struct {
	result
	path                          string
	at                            time.Time
	binary, large, failed, hidden bool
}

// run does the search.
func (s search) run(ctx context.Context, env agent.CallEnv) (agent.Result, error) {
	info, err := start(s.req)
	if err != nil {
		return failed(err)
	}
	var w walk
	var files []string // below the start; "" is the start itself
	switch {
	case info.IsDir():
		w.hidden = s.filter.hidden
		w.visit = func(rel string, d fs.DirEntry) {
			if d.Type().IsRegular() && s.filter.wants(rel) {
				files = append(files, rel)
			}
		}
		if err := w.run(ctx, s.req.Input.RealPath, s.o.Base.Home); err != nil {
			return agent.Result{}, err
		}
	case !info.Mode().IsRegular():
		return failed(fmt.Errorf("%s is no regular file", s.req.Input.Path))
	default:
		files = []string{""}
	}
	var found []searched
	var skipped tally
	for part := range slices.Chunk(files, partSize) {
		for _, one := range s.part(ctx, env, part) {
			if skipped.count(&one); one.count > 0 && !one.hidden {
				found = append(found, one)
			}
		}
		if err := ctx.Err(); err != nil {
			return agent.Result{}, err
		}
		if s.mode == modeContent && linesIn(found) > s.limit {
			break
		}
	}
	return agent.Result{Text: s.show(found, &w, &skipped, !info.IsDir())}, nil
}

// part searches some files at once.
func (s *search) part(ctx context.Context, env agent.CallEnv, files []string) []searched {
	out := make([]searched, len(files))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(maxWorkers, runtime.GOMAXPROCS(0), len(files)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(files) {
					return
				}
				out[i] = s.file(env, files[i])
			}
		})
	}
	wg.Wait()
	return out
}

// file searches one file.
func (s *search) file(env agent.CallEnv, rel string) searched {
	out := searched{path: under(s.req, rel)}
	content, at, err := read(filepath.Join(s.req.Input.RealPath, filepath.FromSlash(rel)), rel == "")
	switch {
	case errors.Is(err, errLarge):
		out.large = true
	case errors.Is(err, fs.ErrNotExist): // gone since it was listed
	case err != nil:
		out.failed = true
	case bytes.IndexByte(content, 0) >= 0:
		out.binary = true
	default:
		out.at = at
		out.result = s.q.search(bytes.TrimPrefix(content, []byte("\ufeff")))
		out.hidden = out.count > 0 && s.o.refused(env.Agent, out.path)
	}
	return out
}

var errLarge = errors.New("the file is too large to be searched")

// read returns a regular file that is not too large. It does not wait for a
// pipe that took its place. named says that the caller was told this very file
// and knows that it is regular once links are followed.
func read(path string, named bool) (content []byte, at time.Time, err error) {
	stat := os.Lstat
	if named {
		stat = os.Stat
	}
	if info, err := stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, at, errors.Join(err, fs.ErrInvalid)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, at, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, at, err
	}
	if !info.Mode().IsRegular() {
		return nil, at, fs.ErrInvalid
	}
	var b bytes.Buffer
	b.Grow(int(min(info.Size(), maxSearched)) + bytes.MinRead)
	if _, err = b.ReadFrom(io.LimitReader(f, maxSearched+1)); err != nil {
		return nil, at, err
	}
	if b.Len() > maxSearched {
		return nil, at, errLarge
	}
	return b.Bytes(), info.ModTime(), nil
}

// A tally counts the files that were left out.
type tally struct{ binary, large, failed, hidden int }

func (t *tally) count(one *searched) {
	for n, is := range map[*int]bool{&t.binary: one.binary, &t.large: one.large, &t.failed: one.failed, &t.hidden: one.hidden} {
		if is {
			*n++
		}
	}
}

func (t *tally) explain(n *notes, empty bool) {
	if t.large > 0 {
		n.add("not searched because they are larger than %d MiB: %s", maxSearched>>20, count(t.large, "file"))
	}
	if t.failed > 0 {
		n.add("could not be read: %s", count(t.failed, "file"))
	}
	if t.hidden > 0 {
		n.add("not shown because of permission rules: %s", count(t.hidden, "file"))
	}
	if empty && t.binary > 0 {
		n.add("not searched because they are binary: %s", count(t.binary, "file"))
	}
}

func linesIn(found []searched) int {
	n := 0
	for i := range found {
		n += len(found[i].hits)
	}
	return n
}

// show writes the result of a search.
func (s *search) show(found []searched, w *walk, t *tally, single bool) string {
	var b strings.Builder
	var n notes
	switch s.mode {
	case modeContent:
		s.content(&b, &n, found, single)
	case modeCount:
		s.counts(&b, &n, found)
	default:
		s.files(&b, &n, found)
	}
	w.explain(&n, len(found) == 0)
	t.explain(&n, len(found) == 0)
	if len(found) == 0 {
		return n.below(s.nothing())
	}
	return n.below(b.String())
}

func (s *search) content(b *strings.Builder, n *notes, found []searched, single bool) {
	left, more := s.limit, false
	for i, one := range found {
		name := s.o.Base.Show(one.path)
		if i > 0 && s.q.before+s.q.after > 0 && left > 0 {
			b.WriteString("--\n")
		}
		for _, h := range one.hits {
			if left--; left < 0 {
				more = true
				break
			}
			if h.gap && s.q.before+s.q.after > 0 {
				b.WriteString("--\n")
			}
			mark := "-"
			if h.match {
				mark = ":"
			}
			if !single {
				b.WriteString(name + mark)
			}
			if s.q.numbers {
				fmt.Fprintf(b, "%d%s", h.number, mark)
			}
			b.WriteString(h.text + "\n")
		}
		more = more || one.more
	}
	if more {
		n.add("the first %d lines are shown; there are more: narrow the search or raise head_limit", s.limit)
	}
}

func (s *search) counts(b *strings.Builder, n *notes, found []searched) {
	total := 0
	for i, one := range found {
		total += one.count
		if i < s.limit {
			fmt.Fprintf(b, "%s:%d\n", s.o.Base.Show(one.path), one.count)
		}
	}
	n.add("%d in %s", total, count(len(found), "file"))
	if len(found) > s.limit {
		n.add("the first %d files are shown: narrow the search or raise head_limit", s.limit)
	}
}

func (s *search) files(b *strings.Builder, n *notes, found []searched) {
	slices.SortStableFunc(found, func(a, b searched) int { return b.at.Compare(a.at) })
	for i, one := range found {
		if i < s.limit {
			b.WriteString(s.o.Base.Show(one.path) + "\n")
		}
	}
	if len(found) > s.limit {
		n.add("%d files match; the %d most recently changed are shown: narrow the search or raise head_limit", len(found), s.limit)
	}
}
