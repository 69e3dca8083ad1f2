package dir

import (
	"context"
	"fmt"

	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/skill"
)

// A body reads a skill's instructions from disk at every call (spec F-9). It is
// small because every loaded skill has one.
type body struct {
	path  string // as found
	dir   string // empty for command files: they have no files of their own
	fence *fence
}

// Load reads the whole file. All checks of loading are made again, because the
// file may be another one by now: where links lead, what kind of file it is,
// its size, and NUL bytes (spec C-7, F-7).
func (b *body) Load(ctx context.Context) (skill.Instructions, error) {
	if err := ctx.Err(); err != nil {
		return skill.Instructions{}, err
	}
	real, err := b.fence.file(b.path)
	if err != nil {
		return skill.Instructions{}, fmt.Errorf("read %s: %w", b.path, err)
	}
	var r reader
	var in info
	data, err := r.head(real, &in, whole)
	if err != nil {
		return skill.Instructions{}, fmt.Errorf("read %s: %w", b.path, err)
	}
	text, line, err := frontmatter.SplitBody(data)
	if err != nil {
		return skill.Instructions{}, fmt.Errorf("read %s: %w", b.path, err)
	}
	return skill.Instructions{Text: text, Line: line, Dir: b.dir, Source: string(data)}, nil
}
