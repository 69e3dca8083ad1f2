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

// watch keeps the session up to date with skills and settings (spec D-5 to D-8),
// until it is closed. The model hears of it with its next request; the person at
// once. Nobody waits for it to begin.
func (h *Host) watch(ctx context.Context) {
	if h.o.Bare || h.unwatch != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	began := make(chan func(), 1)
	go func() {
		stop, err := h.Engine.Watch(ctx, h.watchOptions())
		if err != nil { // ctx has ended
			stop = func() {}
		}
		began <- stop
	}()
	h.unwatch = func() {
		cancel()
		(<-began)()
	}
}

func (h *Host) watchOptions() knack.WatchOptions {
	o := knack.WatchOptions{
		Allow: func(ctx context.Context, c knack.Change) error {
			file := ""
			if len(c.Files) == 1 {
				file = c.Files[0]
			}
			return h.Talk.ConfigChanged(ctx, c.Sources[0], file)
		},
		Done: func(c knack.Change) {
			if text := changed(c); text != "" {
				h.Talk.Notify(text)
			}
		},
		Notice: h.Talk.Notify,
		Files:  h.hooks.files,
		File:   h.Talk.FileChanged,
	}
	if h.o.getenv("KNACK_WATCH") != "poll" {
		o.Native = fsnotify.Open
	}
	return o
}

// changed says in one line what became different.
func changed(c knack.Change) string {
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

// files are the single files that FileChanged hooks wait for. What a pattern
// with wildcards means is only noticed when the agent itself writes it.
func (k *hooks) files() (out []string) {
	for _, e := range GlobalHooks(k.h.Engine, k.h.o.Bare) {
		if e.Event != hook.FileChanged {
			continue
		}
		for m := range strings.SplitSeq(e.Matcher, "|") {
			if m = strings.TrimSpace(m); m != "" && !strings.ContainsAny(m, "*?[]!{}\\") && !strings.HasSuffix(m, "/") {
				out = append(out, filepath.Join(k.h.Engine.ProjectDir(), filepath.FromSlash(m)))
			}
		}
	}
	return out
}
