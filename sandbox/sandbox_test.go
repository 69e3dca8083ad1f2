package sandbox

import (
	"os"
	"testing"

	"github.com/knack-skills/knack/shell"
)

// TestMain makes the test binary the helper as well.
func TestMain(m *testing.M) {
	if code, mine := Main(os.Args); mine {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// only returns a sandbox of one mechanism, or of any for "".
func only(t testing.TB, mechanism string, p Policy) *Sandbox {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Self: self, Policy: func() Policy { return p }, Temp: t.TempDir(),
		Notice: func(m string) { t.Log(m) }})
	if mechanism != "" {
		all := s.mechanisms
		s.mechanisms = nil
		for _, m := range all {
			if m.name == mechanism {
				s.mechanisms = append(s.mechanisms, m)
			}
		}
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

var _ shell.Runner = (*Sandbox)(nil)

func TestScratch(t *testing.T) {
	for _, m := range mechanisms() {
		s := only(t, m.name, Policy{Mode: On})
		r, err := s.Probe(t.Context())
		t.Log(m.name, err, r.Tried)
		for _, c := range r.Checks {
			t.Log(c.Enforced, c.Promise, c.Detail)
		}
	}
}
