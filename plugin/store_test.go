package plugin_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/knack-skills/knack/internal/lab/killed"
	"github.com/knack-skills/knack/plugin"
	"github.com/knack-skills/knack/plugin/fetch"
	"github.com/knack-skills/knack/settings"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write makes files below dir.
func write(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(data), 0o755))
	}
	return dir
}

const described = "---\ndescription: d\n---\ntext\n"

// plain is a plugin in a directory of its own.
func plain(t *testing.T, name, version, text string) plugin.Origin {
	t.Helper()
	dir := write(t, t.TempDir(), map[string]string{
		".claude-plugin/plugin.json": `{"name": "` + name + `", "version": "` + version + `"}`,
		"skills/s/SKILL.md":          described + text,
	})
	return plugin.Origin{Kind: plugin.Directory, Path: dir}
}

func installer(dir string) plugin.Installer {
	return plugin.Installer{Store: plugin.Store{Dir: dir}, Fetch: fetch.Fetcher{}}
}

func install(t *testing.T, in plugin.Installer, name, market string, o plugin.Origin, where ...plugin.Where) (plugin.Record, error) {
	t.Helper()
	all, err := in.PrepareAll(t.Context(), name, market, o)
	defer func() {
		for _, p := range all {
			must(t, p.Discard())
		}
	}()
	if err != nil {
		return plugin.Record{}, err
	}
	var r plugin.Record
	for _, p := range all {
		if r, err = p.Commit(where...); err != nil {
			return r, err
		}
	}
	return r, nil
}

// TestVersions: what the record names counts, and nothing else in the cache; the
// key holds the content, so that a fixed version number hides no change.
func TestVersions(t *testing.T) {
	dir := t.TempDir()
	in := installer(dir)
	user := plugin.Where{Scope: plugin.User}
	first, err := install(t, in, "", "", plain(t, "p", "1.0.0", "one"), user)
	must(t, err)
	second, err := install(t, in, "", "", plain(t, "p", "1.0.0", "two"), user)
	must(t, err)
	if first.Path == second.Path || len(second.Where) != 1 {
		t.Errorf("%+v\n%+v", first, second)
	}
	all, err := in.Store.List()
	if err != nil || len(all) != 1 || all[0].Hash != second.Hash {
		t.Errorf("%+v %v", all, err)
	}
	active, problems := in.Store.Active(enabled("p"))
	if len(active) != 1 || active[0].Dir != in.Store.Path(second) || len(problems) > 0 {
		t.Errorf("%+v %v", active, problems)
	}
	// A session that began before still has its version, for a while.
	if _, err := os.Stat(in.Store.Path(first)); err != nil {
		t.Error(err)
	}
	in.Store.Now = func() time.Time { return time.Now().Add(15 * 24 * time.Hour) }
	_, err = install(t, in, "", "", plain(t, "q", "1", "x"), user)
	must(t, err)
	if _, err := os.Stat(in.Store.Path(first)); err == nil {
		t.Error("an old version stays for ever")
	}
	if gone, err := in.Store.Remove("p", user, false); err != nil || !gone {
		t.Error(gone, err)
	}
	if _, err := os.Stat(in.Store.Path(second)); err == nil {
		t.Error("files stay")
	}
	if _, err := in.Store.Remove("p", user, false); !errors.Is(err, plugin.ErrNotInstalled) {
		t.Error(err)
	}
}

func enabled(ids ...string) *settings.Settings {
	s := &settings.Settings{}
	s.EnabledPlugins = map[string]bool{}
	for _, id := range ids {
		s.EnabledPlugins[id] = true
	}
	return s
}

// TestScopes: files stay until the last installation is gone, data with --keep-data.
func TestScopes(t *testing.T) {
	in := installer(t.TempDir())
	o := plain(t, "p", "1", "x")
	user, project := plugin.Where{Scope: plugin.User}, plugin.Where{Scope: plugin.Project, Dir: "/repo"}
	_, err := install(t, in, "", "", o, user)
	must(t, err)
	r, err := install(t, in, "", "", o, project)
	must(t, err)
	data := write(t, in.Store.DataDir("p"), map[string]string{"kept": "x"})
	if gone, err := in.Store.Remove("p", user, false); err != nil || gone {
		t.Error(gone, err)
	}
	if _, err := os.Stat(in.Store.Path(r)); err != nil {
		t.Error(err)
	}
	if gone, err := in.Store.Remove("p", project, true); err != nil || !gone {
		t.Error(gone, err)
	}
	if _, err := os.Stat(filepath.Join(data, "kept")); err != nil {
		t.Error(err)
	}
}

// TestTogether: many installations at once, by several processes' worth of
// stores, end with every record in place and every file whole.
func TestTogether(t *testing.T) {
	dir := t.TempDir()
	a, b := plain(t, "a", "1", strings.Repeat("x", 10_000)), plain(t, "b", "1", "y")
	var wg sync.WaitGroup
	errs := make([]error, 12)
	for i := range errs {
		wg.Go(func() {
			o := a
			if i%2 == 1 {
				o = b
			}
			all, err := installer(dir).PrepareAll(context.Background(), "", "", o)
			if err == nil {
				_, err = all[0].Commit(plugin.Where{Scope: plugin.User})
				err = errors.Join(err, all[0].Discard())
			}
			errs[i] = err
		})
	}
	wg.Wait()
	must(t, errors.Join(errs...))
	active, problems := plugin.Store{Dir: dir}.Active(enabled("a", "b"))
	if len(active) != 2 || len(problems) > 0 {
		t.Fatalf("%+v %v", active, problems)
	}
	text, err := os.ReadFile(filepath.Join(active[0].Dir, "skills", "s", "SKILL.md"))
	if err != nil || len(text) != len(described)+10_000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "staging")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestKilled kills processes in the middle of an update: whatever they had done,
// one whole version is in force, and the next update works.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("KNACK_TEST_UPDATE"); dir != "" {
		o := plugin.Origin{Kind: plugin.Directory, Path: os.Getenv("KNACK_TEST_FROM")}
		for {
			all, err := installer(dir).PrepareAll(context.Background(), "", "", o)
			must(t, err)
			_, err = all[0].Commit(plugin.Where{Scope: plugin.User})
			must(t, err)
			if _, err := os.Stdout.WriteString("."); err != nil {
				return
			}
			// Changing it makes the next round a new version.
			write(t, o.Path, map[string]string{"skills/s/SKILL.md": described + strings.Repeat("z", int(time.Now().UnixNano()%5000))})
		}
	}
	dir := t.TempDir()
	o := plain(t, "p", "1", "first")
	_, err := install(t, installer(dir), "", "", o, plugin.Where{Scope: plugin.User})
	must(t, err)
	for range 5 {
		write(t, o.Path, map[string]string{"skills/s/SKILL.md": described}) // the last one may have died while it wrote
		cmd := exec.Command(os.Args[0], "-test.run=TestKilled")
		cmd.Env = append(os.Environ(), "KNACK_TEST_UPDATE="+dir, "KNACK_TEST_FROM="+o.Path)
		killed.At(t, cmd, 3)
		active, problems := plugin.Store{Dir: dir}.Active(enabled("p"))
		if len(active) != 1 || len(problems) > 0 {
			t.Fatalf("%+v %v", active, problems)
		}
		text, err := os.ReadFile(filepath.Join(active[0].Dir, "skills", "s", "SKILL.md"))
		if err != nil || !bytes.HasPrefix(text, []byte(described)) {
			t.Fatalf("%q %v", text, err)
		}
	}
	last := plain(t, "p", "2", "last")
	r, err := install(t, installer(dir), "", "", last, plugin.Where{Scope: plugin.User})
	if err != nil || r.Version != "2" {
		t.Fatal(r, err)
	}
}

// TestNothing: a plugin that brings nothing, is no plugin, or loads not is an
// error at once and leaves nothing behind.
func TestNothing(t *testing.T) {
	dir := t.TempDir()
	in := installer(dir)
	for name, files := range map[string]map[string]string{
		"empty":        {"README.md": "hello"},
		"bad manifest": {".claude-plugin/plugin.json": `{"name": 7}`, "skills/s/SKILL.md": described},
		"bad name":     {".claude-plugin/plugin.json": `{"name": "a@b"}`, "skills/s/SKILL.md": described},
		"bad options":  {".claude-plugin/plugin.json": `{"name": "a", "userConfig": {"k": {"type": "integer"}}}`, "skills/s/SKILL.md": described},
	} {
		from := write(t, t.TempDir(), files)
		if r, err := install(t, in, "", "", plugin.Origin{Kind: plugin.Directory, Path: from}); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
	// A directory of skills whose only link leads nowhere is said to be empty, and why.
	from := t.TempDir()
	must(t, os.Symlink("/somewhere/that/is/gone", filepath.Join(from, "skills")))
	if _, err := install(t, in, "", "", plugin.Origin{Kind: plugin.Directory, Path: from}); err == nil || !strings.Contains(err.Error(), "no files") && !strings.Contains(err.Error(), "skills is a link") {
		t.Errorf("dangling root: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "staging")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
