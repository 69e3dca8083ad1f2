package chat

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/watch/fsnotify"
)

// watch keeps the session up to date until it is closed. The model hears of it
// with its next request; the person at once.
func (h *Host) watch(ctx context.Context) {
	if h.unwatch == nil {
		h.unwatch = KeepUp(ctx, h.Engine, Listener{Bare: h.o.Bare,
			Notice: h.Talk.Notify, Config: h.Talk.ConfigChanged, File: h.Talk.FileChanged})
	}
}

// A Listener is who hears of changes on the disk.
type Listener struct {
	Bare   bool              // nothing is watched
	Notice func(text string) // tells the person
	// Config runs the ConfigChange hooks; its error holds the change.
	Config func(ctx context.Context, source, file string) error
	// File runs the FileChanged hooks.
	File func(ctx context.Context, path string)
}

// KeepUp keeps a session up to date with skills and settings (spec D-5 to D-8),
// until end is called. Nobody waits for it to begin.
func KeepUp(ctx context.Context, e *knack.Engine, l Listener) (end func()) {
	if l.Bare {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	began := make(chan func(), 1)
	go func() {
		stop, err := e.Watch(ctx, l.options(e))
		if err != nil { // ctx has ended
			stop = func() {}
		}
		began <- stop
	}()
	return func() {
		cancel()
		(<-began)()
	}
}

func (l Listener) options(e *knack.Engine) knack.WatchOptions {
	o := knack.WatchOptions{
		Allow: func(ctx context.Context, c knack.Change) error {
			file := ""
			if len(c.Files) == 1 {
				file = c.Files[0]
			}
			return l.Config(ctx, c.Sources[0], file)
		},
		Done: func(c knack.Change) {
			if text := became(c); text != "" {
				l.Notice(text)
			}
		},
		Notice: l.Notice,
		Files:  func() []string { return hookFiles(e) },
		File:   l.File,
	}
	if e.Getenv("KNACK_WATCH") != "poll" {
		o.Native = fsnotify.Open
	}
	return o
}

// became says in one line what became different; empty when nothing did that
// people notice.
func became(c knack.Change) string {
	var parts []string
	for _, p := range []struct {
		what string
		ids  []string
	}{{"new", c.Added}, {"changed", c.Changed}, {"gone", c.Removed}} {
		if len(p.ids) > 0 {
			parts = append(parts, fmt.Sprintf("%s: %s", p.what, few(p.ids)))
		}
	}
	for _, s := range c.Sources {
		if s != "skills" {
			parts = append(parts, strings.ReplaceAll(s, "_", " ")+" read again")
		}
	}
	return strings.Join(parts, "; ")
}

// few names the first of many.
func few(ids []string) string {
	const most = 5
	if len(ids) <= most {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
}

// hookFiles are the single files that FileChanged hooks wait for. What a pattern
// with wildcards means is only noticed when the agent itself writes it.
func hookFiles(engine *knack.Engine) (out []string) {
	for _, e := range GlobalHooks(engine, false) {
		if e.Event != hook.FileChanged {
			continue
		}
		for m := range strings.SplitSeq(e.Matcher, "|") {
			if m = strings.TrimSpace(m); m != "" && !strings.ContainsAny(m, "*?[]!{}\\") && !strings.HasSuffix(m, "/") {
				out = append(out, filepath.Join(engine.ProjectDir(), filepath.FromSlash(m)))
			}
		}
	}
	return out
}
