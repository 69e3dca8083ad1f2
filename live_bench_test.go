package knack_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/watch/fsnotify"
)

// crowd makes a lab with n skills, and an engine over them.
func crowd(tb testing.TB, n int) (e *knack.Engine, base string) {
	tb.Helper()
	base, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	for i := range n {
		d := filepath.Join(base, "repo/.claude/skills", fmt.Sprintf("skill-%05d", i))
		if err := os.MkdirAll(d, 0o755); err != nil {
			tb.Fatal(err)
		}
		text := doc(fmt.Sprintf("Number %d does something that takes a whole line to say. Use it when it is needed", i))
		if err := os.WriteFile(filepath.Join(d, "SKILL.md"), []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	e, err = knack.New(tb.Context(), knack.Options{Dir: base + "/repo", Home: base + "/home", StateDir: base + "/state",
		NoBundled: true, Getenv: func(k string) string {
			return map[string]string{"KNACK_MANAGED_DIR": base + "/etc"}[k]
		}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { e.Close() })
	return e, base
}

// BenchmarkQuietToSnapshot is what lies between a quiet tree and the new
// snapshot, with one file edited: what the engine does with a batch, without the
// waiting and the looking of package watch (spec D-8; BenchmarkLook there).
func BenchmarkQuietToSnapshot(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			e, base := crowd(b, n)
			asked, done := make(chan time.Time, 1), make(chan time.Time, 1)
			stop, err := e.Watch(b.Context(), knack.WatchOptions{Native: fsnotify.Open, Stable: time.Millisecond, Debounce: time.Millisecond,
				Allow: func(_ context.Context, _ knack.Change) error { asked <- time.Now(); return nil },
				Done:  func(knack.Change) { done <- time.Now() }})
			if err != nil {
				b.Fatal(err)
			}
			defer stop()
			one := filepath.Join(base, "repo/.claude/skills/skill-00007/SKILL.md")
			var all time.Duration
			i := 0
			for b.Loop() {
				i++
				if err := os.WriteFile(one, []byte(doc(fmt.Sprintf("Edited %d times", i))), 0o644); err != nil {
					b.Fatal(err)
				}
				all -= time.Duration((<-asked).UnixNano())
				all += time.Duration((<-done).UnixNano())
			}
			b.ReportMetric(float64(all.Nanoseconds())/1e6/float64(i), "ms/reload")
		})
	}
}

// TestWatchLeaks: opening and closing leaves no goroutine and no open file
// (spec D-9).
func TestWatchLeaks(t *testing.T) {
	e, _ := crowd(t, 20)
	round := func() {
		stop, err := e.Watch(t.Context(), knack.WatchOptions{Native: fsnotify.Open})
		if err != nil {
			t.Fatal(err)
		}
		stop()
	}
	round() // what the runtime keeps open
	goroutines, files := runtime.NumGoroutine(), openFiles()
	rounds := 1_000
	if testing.Short() {
		rounds = 50
	}
	for range rounds {
		round()
	}
	if n := openFiles(); n > files {
		t.Errorf("%d open files, %d before", n, files)
	}
	for range 1_000 { // goroutines that are ending
		if runtime.NumGoroutine() <= goroutines {
			break
		}
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines, %d before", n, goroutines)
	}
}

// openFiles counts the open files of this process; zero where that is not told.
func openFiles() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}
