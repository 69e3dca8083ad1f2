package catalog

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/knack-skills/knack/skill"
)

// many makes n skills in four roots, one in ten of them shadowed, as four
// sources that give theirs in no order.
func many(n int) []result {
	results := make([]result, 4)
	for i := range n {
		id := fmt.Sprintf("skill-number-%05d", i-i%10/9) // nine takes eight's id
		set := func(s *skill.Skill) { s.Origin.Device, s.Origin.Inode = 1, uint64(i+1) }
		var s *skill.Skill
		switch i % 4 {
		case 0:
			s = user(id, set)
		case 1:
			s = near(id, set, named("Name of "+id))
		case 2:
			s = far(id, set)
		case 3:
			s = plugin("p", id, set)
		}
		r := &results[i%4]
		r.skills = append(r.skills, s)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, r := range results {
		random.Shuffle(len(r.skills), func(i, j int) { r.skills[i], r.skills[j] = r.skills[j], r.skills[i] })
	}
	return results
}

func BenchmarkMerge(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			results := many(n)
			b.ReportAllocs()
			for b.Loop() {
				merge(results, Options{})
			}
		})
	}
}

func BenchmarkResolve(b *testing.B) {
	s := merge(many(10_000), Options{})
	for _, bb := range []struct{ name, query string }{
		{"id", "skill-number-05000"}, {"qualified", "project:skill-number-05001"}, {"miss", "skil-number-05000x"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Resolve(bb.query)
			}
		})
	}
}

func BenchmarkModelView(b *testing.B) {
	s := merge(many(10_000), Options{})
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for range s.ModelView(nil) {
			n++
		}
		if n == 0 {
			b.Fatal("empty")
		}
	}
}

func BenchmarkExplain(b *testing.B) {
	s := merge(many(10_000), Options{})
	b.ReportAllocs()
	for b.Loop() {
		s.Explain("skill-number-05000", nil)
	}
}
