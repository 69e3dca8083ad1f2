package knack

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/settings"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/watch"
)

// A liveness is one call of [Engine.Watch].
type liveness struct {
	e *Engine
	o WatchOptions

	mu   sync.Mutex     // guards the field below
	sums map[string]sum // of the settings files as they count, by path
}

// A sum tells two contents of a settings file apart.
type sum [sha256.Size]byte

// maxSettings bounds what is read of a settings file; no larger one is taken.
const maxSettings = 2 << 20

// sumOf is zero for a file that is not there, or not to be read.
func sumOf(path string) (s sum) {
	if st, err := os.Stat(path); err != nil || st.Size() > maxSettings || !st.Mode().IsRegular() {
		return s
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return s
	}
	return sha256.Sum256(data)
}

// same reports whether a file that was written again is as it counts.
func (l *liveness) same(path string) bool {
	if l.e.held.is(path) != nil {
		return false
	}
	l.mu.Lock()
	was, known := l.sums[path]
	l.mu.Unlock()
	if known {
		return was != sum{} && was == sumOf(path)
	}
	_, file := l.e.files.Same(path)
	return file
}

// A settingsFile is one that is read, if it is there.
type settingsFile struct {
	path  string // absolute
	named string // as the settings call it
	level settings.Level
}

func (e *Engine) settingsFiles() (out []settingsFile) {
	for _, f := range e.conf().settings.Files {
		if f.Level == settings.CommandLineLevel && strings.HasPrefix(f.Path, "--") {
			continue // it was given as text
		}
		if abs, err := filepath.Abs(f.Path); err == nil {
			out = append(out, settingsFile{abs, f.Path, f.Level})
		}
	}
	return out
}

// dropIns are the directories in which an administrator may put more files.
func (e *Engine) dropIns() (out []string) {
	for _, d := range e.place.Managed {
		if abs, err := filepath.Abs(filepath.Join(d, settings.ManagedParts)); err == nil {
			out = append(out, abs)
		}
	}
	return out
}

// sourceOf says what kind of change a file or directory is; empty when it is
// only the host's.
func (l *liveness) sourceOf(file string, hosts []string) string {
	for _, f := range l.e.settingsFiles() {
		if f.path != file {
			continue
		}
		switch f.level {
		case settings.ManagedLevel:
			return sourcePolicy
		case settings.LocalLevel:
			return sourceLocal
		case settings.ProjectLevel:
			return sourceProject
		}
		return sourceUser
	}
	within := func(d string) bool { return file == d || strings.HasPrefix(file, d+string(filepath.Separator)) }
	switch {
	case slices.ContainsFunc(l.e.dropIns(), within):
		return sourcePolicy
	case slices.Contains(hosts, file) && !slices.ContainsFunc(l.e.watchedSkills(), func(r watch.Root) bool { return within(r.Path) }):
		return ""
	}
	return sourceSkills
}

// take makes one batch of changes count, but for those that somebody objects to.
func (l *liveness) take(ctx context.Context, b watch.Batch) {
	hosts := l.o.Files()
	parts := map[string][]string{} // files by source
	for _, f := range b.Changed {
		if s := l.sourceOf(f, hosts); s != "" {
			parts[s] = append(parts[s], f)
		}
	}
	for _, d := range b.Dirs { // what was in them is among the files
		if s := l.sourceOf(d, nil); parts[s] == nil {
			parts[s] = []string{}
		}
	}
	c, back := Change{}, []string(nil)
	reload, configure := false, false
	for _, s := range []string{sourcePolicy, sourceUser, sourceProject, sourceLocal, sourceSkills} {
		files, there := parts[s]
		if !there {
			continue
		}
		news, freed, counts := l.admit(ctx, s, files)
		if !counts {
			continue
		}
		back = append(back, freed...)
		reload, configure = true, configure || s != sourceSkills
		if len(news) > 0 || s == sourcePolicy {
			c.Sources, c.Files = append(c.Sources, s), append(c.Files, news...)
		}
	}
	if reload && ctx.Err() == nil {
		slices.Sort(c.Sources)
		slices.Sort(c.Files)
		l.apply(ctx, c, back, configure)
	}
	for _, f := range b.Changed {
		if l.o.File != nil && slices.Contains(hosts, f) {
			l.o.File(ctx, f)
		}
	}
}

// admit asks whether files of one source may count. It returns those that do, and
// those whose change was undone before it ever counted.
func (l *liveness) admit(ctx context.Context, source string, files []string) (news, undone []string, counts bool) {
	for _, f := range files {
		if l.undone(f, source) {
			undone = append(undone, f)
		} else {
			news = append(news, f)
		}
	}
	if l.o.Allow != nil && len(news) > 0 {
		err := l.o.Allow(ctx, Change{Sources: []string{source}, Files: slices.Clone(news)})
		if err != nil && source != sourcePolicy { // spec S-11
			l.e.hold(source, news, err.Error())
			if source == sourceSkills {
				// Texts are read when they are needed, and that would be the new ones.
				_, _ = l.e.refresh(ctx, func(string) bool { return false }) // ctx ended: nobody asks any more
			}
			l.o.Notice(fmt.Sprintf("a change of %s does not count: %v", describe(source, news), err))
			return nil, undone, len(undone) > 0
		}
	}
	l.e.held.drop(files)
	return news, undone, true
}

// undone reports whether a file says what counts: one that is held, again.
func (l *liveness) undone(file, source string) bool {
	h := l.e.held.is(file)
	if h == nil {
		// Another file with the same text, as an editor leaves it: it has to be
		// loaded, since it matters which file it is (spec C-7), and is no news.
		text, _ := l.e.files.Same(file)
		return text && source == sourceSkills
	}
	if source == sourceSkills {
		if !h.undone(file) {
			return false
		}
	} else {
		l.mu.Lock()
		was, known := l.sums[file]
		l.mu.Unlock()
		if !known || was != sumOf(file) {
			return false
		}
	}
	l.e.held.drop([]string{file})
	return true
}

// describe names the one file, or the kind of the many.
func describe(source string, files []string) string {
	if len(files) == 1 {
		return files[0]
	}
	return fmt.Sprintf("%d files of %s", len(files), strings.ReplaceAll(source, "_", " "))
}

// hold keeps files as they count now.
func (e *Engine) hold(source string, files []string, why string) {
	there := map[string]bool{}
	if source == sourceSkills {
		snap := e.Snapshot()
		for entry := range snap.All() {
			there[entry.Origin.Path] = true
		}
		for entry := range snap.Shadowed() {
			there[entry.Origin.Path] = true
		}
	}
	e.held.add(files, why, func(path string) *held {
		text, known := e.files.Text(path)
		return &held{known: known, text: text, fresh: source == sourceSkills && !there[path]}
	})
}

// apply loads again, and tells what came of it. Back are files that are again
// what they were.
func (l *liveness) apply(ctx context.Context, c Change, back []string, configure bool) {
	before, after, err := l.load(ctx, c, back, configure)
	if err != nil {
		return // ctx ended
	}
	c.compare(before, after)
	tell(l.o.Notice, before.Problems, after.Problems)
	if l.o.Done != nil && len(c.Sources)+len(c.Added)+len(c.Changed)+len(c.Removed) > 0 {
		l.o.Done(c)
	}
}

// load returns what counted before a change and after it. The error is that of ctx.
func (l *liveness) load(ctx context.Context, c Change, back []string, configure bool) (before, after *catalog.Snapshot, err error) {
	e := l.e
	e.touch.turn.Lock()
	defer e.touch.turn.Unlock()
	before = e.Snapshot()
	if configure {
		l.reconfigure(l.o.Notice, c.of)
	}
	e.Forget()
	if err := e.nestedAgain(ctx); err != nil {
		return nil, nil, err
	}
	after, err = e.refresh(ctx, func(path string) bool { return c.of(path) || slices.Contains(back, path) })
	return before, after, err
}

// nestedAgain joins skills directories that appeared where others were found
// before (spec D-1).
func (e *Engine) nestedAgain(ctx context.Context) error {
	if !e.mayNest() {
		return ctx.Err()
	}
	e.touch.mu.Lock()
	defer e.touch.mu.Unlock()
	var d Discovery
	for _, below := range e.session.Below() {
		if !filepath.IsLocal(filepath.FromSlash(below)) {
			continue
		}
		if _, found := e.nested().Touch(filepath.Join(e.real, filepath.FromSlash(below), "any")); len(found) > 0 {
			if err := e.join(ctx, &d, found); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxTold is how many new problems of one reload are told one by one.
const maxTold = 5

// tell says what is wrong now and was not before.
func tell(notice func(string), before, now []skill.Problem) {
	var fresh []skill.Problem
	known := map[skill.Problem]bool{}
	for _, p := range before {
		known[p] = true
	}
	for _, p := range now {
		if !known[p] && p.Severity != skill.Info && p.Code != changeHeld { // that was told when it was held
			fresh = append(fresh, p)
		}
	}
	for _, p := range fresh[:min(len(fresh), maxTold)] {
		notice(p.String())
	}
	if more := len(fresh) - maxTold; more > 0 {
		notice(fmt.Sprintf("and %d more problems of skills; `knack check` lists them", more))
	}
}

// reconfigure reads those settings again that changed. What follows from them for
// the whole session stays.
func (l *liveness) reconfigure(notice func(string), changed func(path string) bool) {
	e := l.e
	was := e.conf()
	l.mu.Lock()
	var held []string
	for _, f := range e.settingsFiles() {
		if e.held.is(f.path) != nil || !changed(f.path) && f.level != settings.ManagedLevel {
			held = append(held, f.named)
			continue
		}
		l.sums[f.path] = sumOf(f.path)
	}
	l.mu.Unlock()
	fresh := &Engine{opts: e.opts, real: e.real, project: e.project, place: e.place, trusted: e.trusted, decided: true}
	fresh.configure(was.settings, held)
	c := fresh.conf()
	c.more = was.more
	e.config.Store(c)
	e.catalog.SetOptions(e.catalogOptions())
	if notice == nil {
		return
	}
	tell(notice, was.problems, c.problems)
	for _, k := range []struct {
		key      string
		old, new any
	}{
		{"permissions.additionalDirectories", was.settings.Permissions.AdditionalDirectories, c.settings.Permissions.AdditionalDirectories},
		{"enabledPlugins", was.settings.EnabledPlugins, c.settings.EnabledPlugins},
	} {
		if !reflect.DeepEqual(k.old, k.new) {
			notice(k.key + " changed; that counts from the next session on")
		}
	}
}

// compare fills in which skills came, changed and went.
func (c *Change) compare(before, after *catalog.Snapshot) {
	was := map[string]*catalog.Entry{}
	for e := range before.All() {
		was[e.ID] = e
	}
	for e := range after.All() {
		old, ok := was[e.ID]
		delete(was, e.ID)
		switch {
		case !ok:
			c.Added = append(c.Added, e.ID)
		case old.Skill != e.Skill && c.of(e.Origin.Path) && !keeps(after, e):
			c.Changed = append(c.Changed, e.ID)
		}
	}
	for id := range was {
		c.Removed = append(c.Removed, id)
	}
	slices.Sort(c.Added)
	slices.Sort(c.Changed)
	slices.Sort(c.Removed)
}

func (c *Change) of(path string) bool {
	_, found := slices.BinarySearch(c.Files, path)
	return found
}

// keeps reports whether an entry is what its file said before an edit broke it.
func keeps(s *catalog.Snapshot, e *catalog.Entry) bool {
	return slices.ContainsFunc(s.ProblemsOf(e.Origin.Path), func(p skill.Problem) bool { return p.Code == "last-version-kept" })
}
