package watch_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/knack-skills/knack/watch"
	"github.com/knack-skills/knack/watch/fsnotify"
)

// forest writes n skills and returns their root.
func forest(tb testing.TB, n int) watch.Root {
	top := realTemp(tb)
	for i := range n {
		d := filepath.Join(top, "skills", fmt.Sprintf("skill-%05d", i))
		if err := os.MkdirAll(d, 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "SKILL.md"), []byte("---\ndescription: d\n---\n"), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return watch.Root{Path: filepath.Join(top, "skills")}
}

// heap is what is allocated and in use.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// BenchmarkLook is what lies between a quiet tree and a batch, besides waiting:
// looking at everything again and comparing, with one file changed. The same
// walk is what one turn of polling costs.
func BenchmarkLook(b *testing.B) {
	for name, native := range map[string]watch.Native{"native": fsnotify.Open, "polling": nil} {
		for _, n := range []int{1_000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				root := forest(b, n)
				before := heap()
				s, err := watch.Stop(watch.Options{Native: native, Stable: 1, Debounce: 1}, []watch.Root{root})
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				kept := heap() - before
				one := filepath.Join(root.Path, "skill-00007", "SKILL.md")
				b.ReportAllocs()
				for size := 0; b.Loop(); {
					size = 1 + size%2
					if err := os.WriteFile(one, make([]byte, size), 0o644); err != nil {
						b.Fatal(err)
					}
					for {
						got, err := s.Look()
						if err != nil {
							b.Fatal(err)
						}
						if len(got.Changed) == 1 {
							break
						}
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/skill")
				b.ReportMetric(kept/float64(n), "kept-B/skill")
			})
		}
	}
}

// BenchmarkHint is one native event, of a file that matters and of one that
// does not.
func BenchmarkHint(b *testing.B) {
	f := newFake()
	root := forest(b, 1_000)
	s, err := watch.Stop(watch.Options{Native: f.open}, []watch.Root{root})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for _, name := range []string{"SKILL.md", "asset.svg"} {
		h := watch.Hint{Path: filepath.Join(root.Path, "skill-00007", name), Op: watch.Write}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.hint(h)
			}
		})
	}
}
