// Package npm installs programs from the npm registry for the tests that hold
// this program against real ones. KNACK_NPM names the directory in which they
// are kept between runs; without it those tests do not run, so that nothing is
// downloaded by surprise.
package npm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Dir is the environment variable that names the directory of the packages.
const Dir = "KNACK_NPM"

// Skipped is the file in that directory to which each test adds a line that
// could not run, for whoever started the tests.
const Skipped = "NOT-TESTED"

// node runs the packages: what a machine has may be too old for them.
const node = "node@22"

// patience is how long an installation may take.
const patience = 8 * time.Minute

// A Set is packages that are installed together.
type Set struct{ dir string }

// Install returns the packages with exactly these versions, such as
// "typescript@5.9.3", installing them the first time. Where there is no
// registry, or no npm, the test is skipped, and says so in the file [Skipped].
func Install(t testing.TB, specs ...string) Set {
	t.Helper()
	cache := os.Getenv(Dir)
	if cache == "" {
		t.Skipf("NOT TESTED: %s names no directory to install %s into", Dir, strings.Join(specs, ", "))
	}
	specs = append(slices.Clone(specs), node)
	slices.Sort(specs)
	sum := sha256.Sum256([]byte(strings.Join(specs, "\n")))
	dir := filepath.Join(cache, hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(filepath.Join(dir, "node_modules", ".bin")); err == nil {
		return Set{dir}
	}
	if err := install(t.Context(), cache, dir, specs); err != nil {
		skip(t, cache, fmt.Sprintf("%s cannot be installed: %v", strings.Join(specs, ", "), err))
	}
	return Set{dir}
}

// install fills a directory beside dir and gives it its name in the end, since
// other tests may be installing the same.
func install(ctx context.Context, cache, dir string, specs []string) error {
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(cache, "new-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.WriteFile(filepath.Join(tmp, "package.json"), []byte(`{"private":true}`), 0o644); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	args := append([]string{"install", "--no-audit", "--no-fund", "--no-save", "--loglevel=error"}, specs...)
	cmd := exec.CommandContext(ctx, "npm", args...)
	cmd.Dir = tmp
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, lastLines(string(out)))
	}
	if err := os.Rename(tmp, dir); err != nil {
		if _, there := os.Stat(dir); there == nil {
			return nil // another test was faster
		}
		return err
	}
	return nil
}

func lastLines(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], "; ")
}

// skip skips a test so that it is noticed: the line stays in a file, because go
// test hides what passing packages say.
func skip(t testing.TB, cache, why string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(cache, Skipped), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = fmt.Fprintf(f, "%s: %s\n", t.Name(), why)
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}
	if err != nil {
		t.Logf("noting that it did not run: %v", err)
	}
	t.Skipf("NOT TESTED: %s", why)
}

// Path returns a path inside of node_modules.
func (s Set) Path(elem ...string) string {
	return filepath.Join(append([]string{s.dir, "node_modules"}, elem...)...)
}

// Bin returns the directory of the programs that the packages bring, node among
// them. It belongs at the front of PATH.
func (s Set) Bin() string { return s.Path(".bin") }

// Command returns a program of the packages, ready to be started in dir. It has
// a home of its own there and nothing of the environment but env.
func (s Set) Command(ctx context.Context, dir string, env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(s.Bin(), name), args...)
	cmd.Dir = dir
	cmd.Env = append([]string{
		"PATH=" + s.Bin() + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + dir, "XDG_CONFIG_HOME=" + filepath.Join(dir, ".config"), "XDG_DATA_HOME=" + filepath.Join(dir, ".local"),
		"XDG_CACHE_HOME=" + filepath.Join(dir, ".cache"), "XDG_STATE_HOME=" + filepath.Join(dir, ".state"),
		"NO_COLOR=1", "CI=1", "TERM=dumb", "LANG=C.UTF-8",
	}, env...)
	cmd.WaitDelay = time.Second
	return cmd
}
