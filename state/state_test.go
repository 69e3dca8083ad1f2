package state_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/state"
)

// addMany names a file and a key for a test binary that is run again as another
// process.
const addMany = "STATE_TEST_ADD"

const each = 25 // additions of one process or goroutine

func TestMain(m *testing.M) {
	if args := os.Getenv(addMany); args != "" {
		path, key, _ := strings.Cut(args, "|")
		if err := add(path, key); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type sums struct {
	N map[string]int `json:"n"`
}

func file(path string) state.File[sums] {
	return state.File[sums]{Path: path, Check: func(s sums) error {
		if s.N == nil {
			return errors.New("nothing is summed up in it")
		}
		return nil
	}}
}

// add counts under key and under "all".
func add(path, key string) error {
	for range each {
		if err := file(path).Update(one(key, "all")); err != nil {
			return err
		}
	}
	return nil
}

func one(keys ...string) func(*sums) error {
	return func(s *sums) error {
		if s.N == nil {
			s.N = map[string]int{}
		}
		for _, k := range keys {
			s.N[k]++
		}
		return nil
	}
}

func read(t *testing.T, path string) map[string]int {
	t.Helper()
	s, err := file(path).Read()
	if err != nil {
		t.Fatal(err)
	}
	return s.N
}

func TestUpdate(t *testing.T) { // spec M-5
	path := filepath.Join(t.TempDir(), "new", "dir", "x.json")
	if got := read(t, path); got != nil {
		t.Errorf("without a file: %v", got)
	}
	for range 2 {
		if err := file(path).Update(one("a")); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(map[string]int{"a": 2}, read(t, path)); d != "" {
		t.Error(d)
	}
	text, err := os.ReadFile(path)
	if want := "{\n  \"n\": {\n    \"a\": 2\n  }\n}\n"; err != nil || string(text) != want {
		t.Errorf("%q, %v, want %q", text, err, want)
	}
	refusal := errors.New("no")
	err = file(path).Update(func(s *sums) error { s.N["a"] = 9; return refusal })
	if !errors.Is(err, refusal) || read(t, path)["a"] != 2 {
		t.Errorf("a change that fails: %v, %v", err, read(t, path))
	}
	err = file(path).Update(func(s *sums) error { s.N[strings.Repeat("x", state.MaxSize)] = 1; return nil })
	if !errors.Is(err, state.ErrTooLarge) || read(t, path)["a"] != 2 {
		t.Errorf("a text that could not be read again: %v", err)
	}
	left, err := filepath.Glob(filepath.Dir(path) + "/*")
	if err != nil || len(left) != 2 {
		t.Errorf("files: %q, %v", left, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for p, want := range map[string]os.FileMode{
		filepath.Dir(filepath.Dir(path)): 0o700, filepath.Dir(path): 0o700,
		path: 0o600, strings.TrimSuffix(path, ".json") + ".lock": 0o600,
	} {
		if fi, err := os.Stat(p); err != nil || fi.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v, want %v", p, fi.Mode().Perm(), err, want)
		}
	}
}

// damaged are texts of a file that mean nothing.
var damaged = []string{
	"", "{", "[]", "null", "7", `"x"`, "{}", `{"n": null}`, `{"n": {"a": "b"}}`, `{"n": {}, "m": 1}`,
	`{"n": {}} {}`, `{"n": {}}]`, "\x00", strings.Repeat(" ", state.MaxSize) + `{"n": {}}`,
}

func TestDamaged(t *testing.T) {
	for _, text := range damaged {
		path := filepath.Join(t.TempDir(), "x.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := file(path).Read()
		if broken, ok := errors.AsType[*state.BrokenError](err); !ok || broken.Path != path || !strings.Contains(err.Error(), path) {
			t.Errorf("%.20q: %v", text, err)
		}
		// A change that fails leaves even a damaged file where it is.
		refusal := errors.New("no")
		if err := file(path).Update(func(*sums) error { return refusal }); !errors.Is(err, refusal) {
			t.Errorf("%.20q: %v", text, err)
		}
		if kept, err := os.ReadFile(path); err != nil || string(kept) != text {
			t.Errorf("%.20q: changed to %.20q, %v", text, kept, err)
		}
		if err := file(path).Update(one("a")); err != nil {
			t.Errorf("%.20q: %v", text, err)
		}
		if d := cmp.Diff(map[string]int{"a": 1}, read(t, path)); d != "" {
			t.Errorf("%.20q: %s", text, d)
		}
		if kept, err := os.ReadFile(path + ".broken"); err != nil || string(kept) != text {
			t.Errorf("%.20q: the damaged file is gone: %v", text, err)
		}
	}
}

// TestNoFile: a directory or a pipe in the place of the file is damage, and
// nobody waits for somebody to write.
func TestNoFile(t *testing.T) {
	makers := map[string]func(path string) error{"directory": func(path string) error { return os.Mkdir(path, 0o755) }}
	for name, make := range special {
		makers[name] = make
	}
	for name, make := range makers {
		path := filepath.Join(t.TempDir(), "x.json")
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		if _, err := file(path).Read(); !errors.Is(err, state.ErrNotPlain) {
			t.Errorf("%s: %v", name, err)
		}
		if err := file(path).Update(one("a")); err != nil || read(t, path)["a"] != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLinkedFile(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(t.TempDir(), "real.json"), filepath.Join(dir, "x.json")
	if err := os.WriteFile(real, []byte(`{"n": {"a": 1}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if err := file(link).Update(one("a")); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Lstat(link); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", fi.Mode(), err)
	}
	if got := read(t, real)["a"]; got != 2 {
		t.Errorf("behind the link is %d, want 2", got)
	}
}

func TestNoDirectory(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", filepath.Join(blocked, "state", "x.json")} {
		if err := file(path).Update(one("a")); !errors.Is(err, state.ErrNoDirectory) {
			t.Errorf("%q: %v", path, err)
		}
	}
	// A directory that is there, and in which nothing can be written, is
	// another error.
	path := filepath.Join(t.TempDir(), "x.json")
	if err := os.Mkdir(strings.TrimSuffix(path, ".json")+".lock", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := file(path).Update(one("a")); err == nil || errors.Is(err, state.ErrNoDirectory) {
		t.Errorf("without a lock: %v", err)
	}
}

func TestGoroutines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.json")
	const writers = 4
	errs := make([]error, 2*writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() { errs[i] = add(path, fmt.Sprint(i)) })
		wg.Go(func() {
			for range each {
				if _, err := file(path).Read(); err != nil {
					errs[writers+i] = err
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	checkSums(t, path, writers)
}

// TestProcesses: processes that change one file at once lose nothing, and leave
// nothing behind.
func TestProcesses(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "new", "x.json")
	const processes = 4
	cmds, outs := make([]*exec.Cmd, processes), make([]strings.Builder, processes)
	for i := range cmds {
		cmds[i] = exec.CommandContext(t.Context(), exe)
		cmds[i].Env = append(os.Environ(), fmt.Sprintf("%s=%s|%d", addMany, path, i))
		cmds[i].Stderr = &outs[i]
		if err := cmds[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Errorf("process %d: %v: %s", i, err, outs[i].String())
		}
	}
	checkSums(t, path, processes)
}

func checkSums(t *testing.T, path string, writers int) {
	t.Helper()
	want := map[string]int{"all": writers * each}
	for i := range writers {
		want[fmt.Sprint(i)] = each
	}
	if d := cmp.Diff(want, read(t, path)); d != "" {
		t.Error(d)
	}
	if left, err := filepath.Glob(filepath.Dir(path) + "/*"); err != nil || len(left) != 2 {
		t.Errorf("files left: %q, %v", left, err)
	}
}

// FuzzDamaged: whatever a file holds, it is read or refused by name, and the
// next change works.
func FuzzDamaged(f *testing.F) {
	for _, text := range damaged[:len(damaged)-1] {
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"n": {"a": 1}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "x.json")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		before, err := file(path).Read()
		_, broken := errors.AsType[*state.BrokenError](err)
		if err != nil && !broken {
			t.Fatalf("%q: %v", text, err)
		}
		if err := file(path).Update(one("a")); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if got := read(t, path)["a"]; got != before.N["a"]+1 {
			t.Errorf("%q: %d after %d", text, got, before.N["a"])
		}
		kept, err := os.ReadFile(path + ".broken")
		if broken != (err == nil) || broken && string(kept) != string(text) {
			t.Errorf("%q: kept %q, %v", text, kept, err)
		}
	})
}
