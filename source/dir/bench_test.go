package dir

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/knack-skills/knack/skill"
)

// forest writes n skills of the usual kind and returns their root.
func forest(tb testing.TB, n int) Root {
	top := tb.TempDir()
	body := strings.Repeat("Do one thing after the other, and say what you did.\n", 80)
	for i := range n {
		text := fmt.Sprintf("---\nname: skill-%d\ndescription: Does what number %d is for, when somebody asks for exactly that, and nothing else.\nallowed-tools: Read, Grep, Bash(git log *)\n---\n\n# Skill %d\n\n%s", i, i, i, body)
		grow(tb, top, fmt.Sprintf("r/skill-%05d/SKILL.md", i), []byte(text))
	}
	return Root{Path: filepath.Join(top, "r"), Source: skill.User}
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := forest(b, n)
			b.ReportAllocs()
			for b.Loop() {
				skills, problems, err := r.Load(context.Background())
				if len(skills) != n || len(problems) > 0 || err != nil {
					b.Fatal(len(skills), problems, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/skill")
			b.ReportMetric(float64(memory(b, r)), "kept-B/skill")
		})
	}
}

// BenchmarkRead is the part that is system calls.
func BenchmarkRead(b *testing.B) {
	const n = 1_000
	root := forest(b, n)
	var paths []string
	for i := range n {
		paths = append(paths, filepath.Join(root.Path, fmt.Sprintf("skill-%05d", i), skillFile))
	}
	var r reader
	enough := func([]byte) bool { return true }
	for b.Loop() {
		for _, p := range paths {
			var in info
			if _, err := r.head(p, &in, enough); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/skill")
}

// TestMemory holds the limit of F-9: 2 KiB a skill beyond its metadata text.
func TestMemory(t *testing.T) {
	const limit = 2 << 10
	if got := memory(t, forest(t, 1_000)); got <= 0 || got > limit {
		t.Errorf("%d bytes a skill, limit %d", got, limit)
	}
}

// memory returns how many bytes one loaded skill keeps beyond its text.
func memory(tb testing.TB, r Root) int {
	before := heap()
	skills, _, err := r.Load(context.Background())
	must(tb, err)
	used := int(heap()) - int(before)
	for _, s := range skills {
		used -= len(s.ID) + len(s.Name) + len(s.Description) + len(s.WhenToUse) + len(s.Origin.Path)
	}
	n := len(skills)
	runtime.KeepAlive(skills)
	return used / n
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
