package watch

import "errors"

// A Backend watches single directories for native events. One goroutine at a
// time calls it.
type Backend interface {
	// Watch reports what happens to the entries of dir, and to dir itself,
	// until Unwatch. dir has no links in it. An fs.ErrNotExist says that it
	// disappeared, an fs.ErrPermission that it cannot be watched; every other
	// error ends the use of the backend.
	Watch(dir string) error
	// Unwatch ends that. The watch may have ended by itself, with the directory.
	Unwatch(dir string)
	// Close releases everything. No hint arrives after it returns.
	Close() error
}

// A Native opens a [Backend], which calls hint for each event, one at a time or
// not. hint never blocks for long.
type Native func(hint func(Hint)) (Backend, error)

// A Hint says that something happened.
type Hint struct {
	Path string // absolute, below a watched directory or the directory itself
	Op   Op
	Err  error // instead of Path; ErrOverflow when events were lost
}

// An Op is what happened to the path of a [Hint].
type Op uint8

// Whatever does not fit is Other, which is never wrong.
const (
	Other  Op = iota // removed, renamed, or something else
	Write            // only the content changed
	Create           // it appeared; each later write is a hint of its own
	Attrib           // only attributes changed
)

// ErrOverflow says that events were lost. Everything is looked at then.
var ErrOverflow = errors.New("file events were lost")
