package watch_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/knack-skills/knack/watch"
	"github.com/knack-skills/knack/watch/fsnotify"
)

// TestLeaks: opening and closing leaves nothing behind (spec D-9), whether
// something is pending, waits to be received, or happens right then.
func TestLeaks(t *testing.T) {
	top := realTemp(t)
	skill := filepath.Join(top, "skills", "a", "SKILL.md")
	if err := os.MkdirAll(filepath.Dir(skill), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, native := range map[string]watch.Native{"native": fsnotify.Open, "polling": nil} {
		t.Run(name, func(t *testing.T) {
			cycles := 1000
			if testing.Short() {
				cycles = 50
			}
			goroutines, files := runtime.NumGoroutine(), openFiles(t)
			for i := range cycles {
				w, err := watch.Start(t.Context(), []watch.Root{{Path: filepath.Dir(filepath.Dir(skill))}}, watch.Options{
					Native: native, Stable: 1, Debounce: 1, Poll: time.Microsecond,
				})
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(skill, make([]byte, 1+i%2), 0o644); err != nil {
					t.Fatal(err)
				}
				if i%3 == 0 {
					<-w.Batches()
				}
				if st := w.Status(); st.Native != (native != nil) {
					t.Fatalf("cycle %d: %+v", i, st)
				}
				w.Close()
				w.Close()
			}
			// A goroutine that has said that it is done may still be counted.
			for end := time.Now().Add(patience); runtime.NumGoroutine() > goroutines; runtime.Gosched() {
				if time.Now().After(end) {
					t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), goroutines)
				}
			}
			if got := openFiles(t); got > files {
				t.Errorf("%d open files, %d before", got, files)
			}
		})
	}
}

// openFiles counts the open files of this process; 0 where that is not told.
func openFiles(t *testing.T) int {
	if runtime.GOOS != "linux" {
		return 0
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
