package sandbox

import (
	"testing"

	"github.com/knack-skills/knack/shell"
)

// BenchmarkRun is the price of a command in each mechanism; "none" is without.
func BenchmarkRun(b *testing.B) {
	measure := func(b *testing.B, s *Sandbox) {
		if _, err := s.Run(b.Context(), shell.Command{Line: ":"}); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := s.Run(b.Context(), shell.Command{Line: ":"}); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("none", func(b *testing.B) { measure(b, only(b, "", Policy{})) })
	for _, m := range mechanisms() {
		b.Run(m.name, func(b *testing.B) {
			s := only(b, m.name, Policy{Mode: On})
			if r, err := s.Probe(b.Context()); err != nil || r.Mechanism == "" {
				b.Skipf("%v %v", r.Tried, err)
			}
			measure(b, s)
		})
	}
}

// BenchmarkProbe is the price of the first sandboxed command of a session.
func BenchmarkProbe(b *testing.B) {
	for b.Loop() {
		if _, err := only(b, "", Policy{}).Probe(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
