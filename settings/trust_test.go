package settings_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/knack-skills/knack/settings"
)

// storeMany names the state directory and roots for a test binary that is run
// again as another process.
const storeMany = "SETTINGS_TEST_STORE"

func TestMain(m *testing.M) {
	if args := os.Getenv(storeMany); args != "" {
		dirs := filepath.SplitList(args)
		for i, root := range dirs[1:] {
			if err := (settings.TrustStore{Dir: dirs[0]}).Store(root, i%2 == 0); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		os.Exit(0)
	}
	if args := os.Getenv(writeMany); args != "" {
		if err := addRules(args); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestTrustStore(t *testing.T) {
	store := settings.TrustStore{Dir: filepath.Join(t.TempDir(), "state", "knack")}
	a, b := t.TempDir(), t.TempDir()
	check := func(root string, trusted, known bool) {
		t.Helper()
		gotTrusted, gotKnown, err := store.Trusted(root)
		if err != nil || gotTrusted != trusted || gotKnown != known {
			t.Errorf("%s: got %v %v %v, want %v %v", root, gotTrusted, gotKnown, err, trusted, known)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(a, false, false)
	must(store.Store(a, true))
	check(a, true, true)
	check(b, false, false)
	must(store.Store(b, false))
	check(b, false, true)
	must(store.Store(a, false))
	check(a, false, true)
	must(store.Store(a, true))

	// One workspace, whatever way leads there (S-9), and no other.
	link := filepath.Join(t.TempDir(), "link")
	must(os.Symlink(a, link))
	check(link, true, true)
	check(a+"/../"+filepath.Base(a), true, true)
	must(os.Mkdir(filepath.Join(a, "sub"), 0o755))
	check(filepath.Join(a, "sub"), false, false)
	check(filepath.Join(a, "none"), false, false)
	if err := store.Store(filepath.Join(a, "none"), true); err == nil {
		t.Error("stored an answer for a workspace that does not exist")
	}
	if _, _, err := store.Trusted(""); err == nil {
		t.Error("an empty root is a workspace")
	}

	if runtime.GOOS == "windows" {
		return
	}
	for path, want := range map[string]os.FileMode{store.Dir: 0o700, filepath.Join(store.Dir, "trust.json"): 0o600, filepath.Join(store.Dir, "trust.lock"): 0o600} {
		fi, err := os.Stat(path)
		if err != nil || fi.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v, want %v", path, fi.Mode().Perm(), err, want)
		}
	}
}

func TestTrustStoreDamaged(t *testing.T) {
	for _, text := range []string{"", "{", "[]", "null", "{}", `{"workspaces": {}} x`, `{"workspaces": {"/": "yes"}}`, `{"workspaces": [], "x": 1}`, strings.Repeat(" ", 5<<20)} {
		store := settings.TrustStore{Dir: t.TempDir()}
		path := filepath.Join(store.Dir, "trust.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		root := t.TempDir()
		if trusted, known, err := store.Trusted(root); trusted || known || err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%.20q: got %v %v %v", text, trusted, known, err)
		}
		if err := store.Store(root, true); err != nil {
			t.Errorf("%.20q: %v", text, err)
		}
		if trusted, known, err := store.Trusted(root); !trusted || !known || err != nil {
			t.Errorf("%.20q: not repaired: %v %v %v", text, trusted, known, err)
		}
		if kept, err := os.ReadFile(path + ".broken"); err != nil || string(kept) != text {
			t.Errorf("%.20q: the damaged file is gone: %v", text, err)
		}
	}
}

func TestTrustStoreLinkedFile(t *testing.T) {
	store := settings.TrustStore{Dir: t.TempDir()}
	real := filepath.Join(t.TempDir(), "real.json")
	if err := os.WriteFile(real, []byte(`{"workspaces": {}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(store.Dir, "trust.json")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if err := store.Store(store.Dir, true); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Lstat(link); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", fi.Mode(), err)
	}
	if trusted, _, err := store.Trusted(store.Dir); !trusted || err != nil {
		t.Errorf("got %v, %v", trusted, err)
	}
}

func TestTrustStoreCannotWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (settings.TrustStore{Dir: filepath.Join(file, "state")}).Store(t.TempDir(), true); err == nil {
		t.Error("stored below a file")
	}
}

func TestTrustStoreGoroutines(t *testing.T) {
	store := settings.TrustStore{Dir: t.TempDir()}
	roots := makeRoots(t, 20)
	errs := make([]error, len(roots))
	var wg sync.WaitGroup
	for i, root := range roots {
		wg.Go(func() { errs[i] = store.Store(root, true) })
		wg.Go(func() { store.Trusted(root) })
	}
	wg.Wait()
	for i, root := range roots {
		if trusted, known, err := store.Trusted(root); !trusted || !known || err != nil || errs[i] != nil {
			t.Errorf("%s: %v %v %v, stored %v", root, trusted, known, err, errs[i])
		}
	}
}

// TestTrustStoreProcesses: processes that store different answers at once lose
// none (M-6).
func TestTrustStoreProcesses(t *testing.T) {
	const processes, each = 4, 10
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	store := settings.TrustStore{Dir: filepath.Join(t.TempDir(), "state")}
	roots := makeRoots(t, processes*each)
	cmds := make([]*exec.Cmd, processes)
	outs := make([]strings.Builder, processes)
	for i := range cmds {
		mine := append([]string{store.Dir}, roots[i*each:(i+1)*each]...)
		cmds[i] = exec.CommandContext(t.Context(), exe)
		cmds[i].Env = append(os.Environ(), storeMany+"="+strings.Join(mine, string(filepath.ListSeparator)))
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
	for i, root := range roots {
		if trusted, known, err := store.Trusted(root); err != nil || !known || trusted != (i%each%2 == 0) {
			t.Errorf("%s: %v %v %v", root, trusted, known, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(store.Dir, "*"))
	if err != nil || len(left) != 2 {
		t.Errorf("files left: %v %v", left, err)
	}
}

func makeRoots(t *testing.T, n int) []string {
	t.Helper()
	base := t.TempDir()
	roots := make([]string, n)
	for i := range roots {
		roots[i] = filepath.Join(base, strconv.Itoa(i))
		if err := os.Mkdir(roots[i], 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return roots
}

// TestTrustNowhere: without a state directory nothing is trusted, and an answer
// is not written to wherever the process happens to be.
func TestTrustNowhere(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	if trusted, known, err := (settings.TrustStore{}).Trusted(here); trusted || known || err != nil {
		t.Errorf("got %v, %v, %v, want nothing known", trusted, known, err)
	}
	if err := (settings.TrustStore{}).Store(here, true); err == nil {
		t.Error("an answer was stored nowhere, without an error")
	}
	if left, err := os.ReadDir(here); err != nil || len(left) > 0 {
		t.Errorf("the working directory holds %v, %v", left, err)
	}
}
