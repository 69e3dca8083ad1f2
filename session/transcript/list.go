package transcript

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// An Info describes a session in a list.
type Info struct {
	ID         string
	Path       string
	Modified   time.Time // when the last entry was written
	Size       int64     // bytes
	Prompt     string    // the first one, shortened to one line; empty when nothing was said near the beginning
	Meta       Meta      // as far as it stands near the beginning or the end
	ForkedFrom string
}

// What is read of a file for a list, in bytes.
const (
	headBytes = 1 << 20 // at most; reading ends with the first prompt
	tailBytes = 64 << 10
	maxPrompt = 200 // characters
)

// List returns the sessions of a project, the one that was used last first, at
// most limit of them; zero means all. It reads only the beginning and the end
// of a file. A file that cannot be read is a problem; the error is that of the
// directory, or of ctx.
func (p Project) List(ctx context.Context, limit int) ([]Info, []skill.Problem, error) {
	all, problems, err := p.files()
	if err != nil {
		return nil, nil, fmt.Errorf("sessions of %s: %w", p.Path, err)
	}
	var out []Info
	for _, info := range all {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if limit > 0 && len(out) == limit {
			break
		}
		if err := info.read(); err != nil {
			problems = append(problems, unreadable(info.Path, err))
			continue
		}
		out = append(out, info)
	}
	return out, problems, nil
}

func unreadable(path string, err error) skill.Problem {
	return skill.Problem{
		Code: "transcript-unreadable", Severity: skill.Warning, Path: path,
		Message: fmt.Sprintf("the session cannot be read and is left out: %v", err),
	}
}

// files finds the transcripts, the one that was written last first.
func (p Project) files() (all []Info, problems []skill.Problem, err error) {
	files, err := os.ReadDir(p.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), suffix)
		if !ok || checkID(id) != nil {
			continue
		}
		fi, err := os.Stat(p.file(id))
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed by now
		case err != nil:
			problems = append(problems, unreadable(p.file(id), err))
		default:
			all = append(all, Info{ID: id, Path: p.file(id), Modified: fi.ModTime(), Size: fi.Size()})
		}
	}
	slices.SortFunc(all, func(a, b Info) int {
		return cmp.Or(b.Modified.Compare(a.Modified), cmp.Compare(a.ID, b.ID))
	})
	return all, problems, nil
}

// read fills in what stands near the beginning and the end.
func (i *Info) read() error {
	f, err := openPlain(i.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := replay{c: &Conversation{}}
	for l, err := range scan(io.LimitReader(f, headBytes), typeBegin, typeMeta, typePrompt) {
		if err != nil {
			return err
		}
		if l.err == nil {
			r.take(l)
		}
		if len(r.c.Prompts) > 0 {
			i.Prompt = text.Cut(text.Terminal(r.c.Prompts[0]), maxPrompt)
			break
		}
	}
	tail := make([]byte, min(i.Size, tailBytes))
	n, err := f.ReadAt(tail, i.Size-int64(len(tail)))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for l, err := range scan(bytes.NewReader(tail[:n]), typeMeta) {
		if err == nil && l.err == nil {
			r.take(l)
		}
	}
	i.Meta, i.ForkedFrom = r.c.Meta, r.c.ForkedFrom
	return nil
}
