package knack

import (
	"context"
	"sync"

	"github.com/knack-skills/knack/catalog"
)

// preserved is how many bytes of skill files a session that is being watched
// keeps, for versions that an edit breaks.
const preserved = 32 << 20

// indexing is what became of the indexes of skill files.
type indexing struct {
	mu  sync.Mutex // guards the field below
	err error
}

// keepIndex writes the indexes of large roots of which many files were read, for
// the next process. It costs nothing when there is nothing to write.
func (e *Engine) keepIndex() {
	err := e.files.Save()
	e.indexes.mu.Lock()
	defer e.indexes.mu.Unlock()
	e.indexes.err = err
}

// IndexError says why the indexes of skill files could not be written, as in a
// state directory that may only be read. All works without them, but for the
// time that it takes to read the files.
func (e *Engine) IndexError() error {
	e.indexes.mu.Lock()
	defer e.indexes.mu.Unlock()
	return e.indexes.err
}

// preserve makes the engine remember the text of its skill files, up to a limit,
// so that a version which is kept because an edit broke its file can be invoked
// (spec D-8). Until then nothing but summaries is kept.
func (e *Engine) preserve(ctx context.Context) {
	_ = e.files.Preserve(ctx, preserved) // ctx ended: nobody will ask
}

// refresh is [Engine.Refresh] of those files that may says yes for: while others
// are still being written, or nobody was asked about them, they are as they were.
// Nil is all.
func (e *Engine) refresh(ctx context.Context, may func(path string) bool) (*catalog.Snapshot, error) {
	e.reload.Lock()
	defer e.reload.Unlock()
	e.files.Limit(may)
	defer e.files.Limit(nil)
	e.forgetPlugins()
	snap, err := e.catalog.Refresh(ctx)
	if err == nil {
		e.keepIndex()
	}
	return snap, err
}
