package usage_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/knack-skills/knack/state"
	"github.com/knack-skills/knack/usage"
)

// recordMany names a state directory and a project for a test binary that is
// run again as another process.
const recordMany = "USAGE_TEST_RECORD"

const each = 20 // uses by one process

var monday = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

const week = 7 * 24 * time.Hour

func TestMain(m *testing.M) {
	if dirs := filepath.SplitList(os.Getenv(recordMany)); len(dirs) == 2 {
		for range each {
			if err := (usage.Store{Dir: dirs[0]}).Record(dirs[1], "shared", monday); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func record(t *testing.T, s usage.Store, project, id string, at time.Time) {
	t.Helper()
	if err := s.Record(project, id, at); err != nil {
		t.Fatal(err)
	}
}

func scores(t *testing.T, s usage.Store, project string, now time.Time) map[string]float64 {
	t.Helper()
	got, err := s.Scores(project, now)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// path is the only file of counts.
func path(t *testing.T, s usage.Store) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.Dir, "usage", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %q, %v", files, err)
	}
	return files[0]
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

func TestScores(t *testing.T) { // spec L-5
	for _, tt := range []struct {
		name string
		uses []time.Duration // before now, in the order in which they are recorded
		want float64
	}{
		{"now", []time.Duration{0}, 1},
		{"often", []time.Duration{0, 0, 0}, 3},
		{"a week ago", []time.Duration{week}, 0.5},
		{"four weeks ago", []time.Duration{4 * week}, 1. / 16},
		{"both", []time.Duration{2 * week, week, 0}, 1.75},
		{"recorded late", []time.Duration{0, week}, 1.5},
		{"a year ago", []time.Duration{52 * week}, math.Exp2(-52)},
		{"a clock that is a little ahead", []time.Duration{-time.Hour}, math.Exp2(1. / (7 * 24))},
		{"a clock that is wrong", []time.Duration{-100 * 52 * week}, 1},
		{"a clock that was wrong", []time.Duration{-100 * 52 * week, 0}, 2},
		{"a clock that was wrong goes on", []time.Duration{-100 * 52 * week, week, 0}, 2},
	} {
		s, project := usage.Store{Dir: t.TempDir()}, t.TempDir()
		for _, ago := range tt.uses {
			record(t, s, project, "a", monday.Add(-ago))
		}
		if got := scores(t, s, project, monday)["a"]; !near(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestProjects(t *testing.T) {
	s := usage.Store{Dir: filepath.Join(t.TempDir(), "state")}
	a, b := t.TempDir(), t.TempDir()
	if got := scores(t, s, a, monday); len(got) != 0 {
		t.Errorf("at first: %v", got)
	}
	record(t, s, a, "deploy", monday)
	record(t, s, a, "project:repo:deploy", monday)
	record(t, s, b, "deploy", monday.Add(-week))
	if got := scores(t, s, a, monday); len(got) != 2 || got["deploy"] != 1 || got["project:repo:deploy"] != 1 {
		t.Errorf("a: %v", got)
	}
	if got := scores(t, s, b, monday); len(got) != 1 || got["deploy"] != 0.5 {
		t.Errorf("b: %v", got)
	}
	// One project, whatever way leads there.
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(a, link); err != nil {
		t.Fatal(err)
	}
	record(t, s, link, "deploy", monday)
	if got := scores(t, s, a, monday)["deploy"]; got != 2 {
		t.Errorf("through a link: %v", got)
	}
	if got := scores(t, s, filepath.Join(a, "none"), monday); len(got) != 0 {
		t.Errorf("a project that does not exist: %v", got)
	}
	if err := s.Record(filepath.Join(a, "none"), "x", monday); err == nil {
		t.Error("recorded for a project that does not exist")
	}
	for _, id := range []string{"", strings.Repeat("x", 1025)} {
		if err := s.Record(a, id, monday); err == nil {
			t.Errorf("recorded %.10q", id)
		}
	}
	// Names of files tell nothing of the projects, and their modes let nobody look.
	files, err := filepath.Glob(filepath.Join(s.Dir, "usage", "*"))
	if err != nil || len(files) != 4 {
		t.Fatalf("files: %q, %v", files, err)
	}
	for _, f := range files {
		if fi, err := os.Stat(f); err != nil || fi.Mode().Perm()&0o077 != 0 || strings.Contains(f, filepath.Base(a)) {
			t.Errorf("%s: %v, %v", f, fi.Mode(), err)
		}
	}
}

func TestNowhere(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	if got, err := (usage.Store{}).Scores(here, monday); len(got) != 0 || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if err := (usage.Store{}).Record(here, "a", monday); !errors.Is(err, state.ErrNoDirectory) {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(here); err != nil || len(left) > 0 {
		t.Errorf("the working directory holds %v, %v", left, err)
	}
}

// TestBounded: a file does not grow for ever. The least goes, never what was
// just used.
func TestBounded(t *testing.T) {
	const most = 2000
	s, project := usage.Store{Dir: t.TempDir()}, t.TempDir()
	record(t, s, project, "first", monday.Add(-10*week))
	var b strings.Builder
	b.WriteString(`{"project": "x", "skills": {`)
	for i := range most {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, `"skill-%04d": {"score": %d, "at": %q}`, i, i+2, monday.Format(time.RFC3339))
	}
	b.WriteString("}}")
	if err := os.WriteFile(path(t, s), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, id := range []string{"new", "newer", "skill-1999"} {
		record(t, s, project, id, monday.Add(time.Duration(i)*time.Second))
		got := scores(t, s, project, monday)
		if _, ok := got[id]; !ok || len(got) != most {
			t.Errorf("%s: kept %v, %d ids", id, ok, len(got))
		}
	}
	got := scores(t, s, project, monday)
	for id, want := range map[string]bool{"skill-0000": false, "new": false, "newer": true, "skill-0001": true, "skill-1999": true} {
		if _, ok := got[id]; ok != want {
			t.Errorf("%s is kept: %v, want %v", id, ok, want)
		}
	}
}

func TestDamaged(t *testing.T) {
	for _, text := range []string{"", "{", "{}", "[]", `{"project": "x", "skills": {"a": {"score": -1, "at": "2026-03-02T09:00:00Z"}}}`,
		`{"project": "x", "skills": {"a": {"score": 1e308, "at": "2026-03-02T09:00:00Z"}}}`, `{"skills": {"a": 1}}`, `{"skills": {}, "x": 1}`} {
		s, project := usage.Store{Dir: t.TempDir()}, t.TempDir()
		record(t, s, project, "a", monday)
		file := path(t, s)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := s.Scores(project, monday)
		if broken, ok := errors.AsType[*state.BrokenError](err); !ok || broken.Path != file || got != nil {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		record(t, s, project, "b", monday)
		if got := scores(t, s, project, monday); len(got) != 1 || got["b"] != 1 {
			t.Errorf("%q: not repaired: %v", text, got)
		}
		if kept, err := os.ReadFile(file + ".broken"); err != nil || string(kept) != text {
			t.Errorf("%q: the damaged file is gone: %v", text, err)
		}
	}
}

// TestProcesses: uses in several processes at once are all counted.
func TestProcesses(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, project := usage.Store{Dir: filepath.Join(t.TempDir(), "state")}, t.TempDir()
	const processes = 4
	cmds, outs := make([]*exec.Cmd, processes), make([]strings.Builder, processes)
	for i := range cmds {
		cmds[i] = exec.CommandContext(t.Context(), exe)
		cmds[i].Env = append(os.Environ(), recordMany+"="+s.Dir+string(filepath.ListSeparator)+project)
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
	if got := scores(t, s, project, monday)["shared"]; got != processes*each {
		t.Errorf("%v uses, want %d", got, processes*each)
	}
}

// FuzzFile: whatever a file holds, it is read or refused by name; scores are
// numbers, and the next use is counted.
func FuzzFile(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte(`{"project": "x", "skills": {"a": {"score": 1, "at": "2026-03-02T09:00:00Z"}}}`))
	f.Add([]byte(`{"skills": {"a": {"score": 8e307, "at": "2026-03-05T09:00:00Z"}, "": {"score": 0, "at": "0001-01-01T00:00:00Z"}}}`))
	f.Add([]byte(`{"skills": {"b": {"score": 5e-324, "at": "9999-12-31T23:59:59+23:59"}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, project := usage.Store{Dir: t.TempDir()}, t.TempDir()
		record(t, s, project, "a", monday)
		file := path(t, s)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		before, err := s.Scores(project, monday)
		if _, broken := errors.AsType[*state.BrokenError](err); err != nil && !broken {
			t.Fatalf("%q: %v", text, err)
		}
		record(t, s, project, "a", monday)
		after := scores(t, s, project, monday)
		for id, n := range after {
			if math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
				t.Errorf("%q: the score of %q is %v", text, id, n)
			}
		}
		if want := before["a"] + 1; !near(after["a"], want) {
			t.Errorf("%q: %v, want %v", text, after["a"], want)
		}
	})
}
