package usage_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/knack-skills/knack/usage"
)

// A fresh project and store for one try.
func fresh(t *rapid.T, base string) (usage.Store, string) {
	dir, err := os.MkdirTemp(base, "")
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(dir, "project")
	if err := os.Mkdir(project, 0o755); err != nil {
		t.Fatal(err)
	}
	return usage.Store{Dir: filepath.Join(dir, "state")}, project
}

// hours draws times in the five days before monday: a spread within a
// half-life, in which the order of recording must not matter.
func hours(max int) *rapid.Generator[[]int] {
	return rapid.SliceOfN(rapid.IntRange(0, 5*24), 1, max)
}

// TestRecentIsHigher: of two skills that were used equally often, with each use
// of the one at least as recent as one of the other, the one never ranks lower.
func TestRecentIsHigher(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s, project := fresh(t, base)
		for _, h := range hours(5).Draw(t, "uses") {
			later := rapid.IntRange(0, h).Draw(t, "later")
			must(t, s.Record(project, "old", monday.Add(-time.Duration(h)*time.Hour)))
			must(t, s.Record(project, "new", monday.Add(-time.Duration(h-later)*time.Hour)))
		}
		got, err := s.Scores(project, monday)
		must(t, err)
		if got["new"] < got["old"] && !near(got["new"], got["old"]) {
			t.Errorf("the more recent has %v, the older %v", got["new"], got["old"])
		}
	})
}

// TestDecayComposes: a score is the sum of its uses, each decayed from its own
// time, whatever was recorded in between and in whatever order; and what passes
// later halves all alike, so that it changes no order.
func TestDecayComposes(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s, project := fresh(t, base)
		uses := hours(6).Draw(t, "uses")
		want := 0.0
		for _, h := range uses {
			want += math.Exp2(-float64(h) / (7 * 24))
		}
		for _, h := range rapid.Permutation(uses).Draw(t, "order") {
			must(t, s.Record(project, "a", monday.Add(-time.Duration(h)*time.Hour)))
		}
		now, err := s.Scores(project, monday)
		must(t, err)
		if !near(now["a"], want) {
			t.Errorf("%v, want %v of %v", now["a"], want, uses)
		}
		wait := rapid.IntRange(0, 400).Draw(t, "days")
		later, err := s.Scores(project, monday.AddDate(0, 0, wait))
		must(t, err)
		if want := now["a"] * math.Exp2(-float64(wait)/7); !near(later["a"]/want, 1) {
			t.Errorf("%v after %d days, want %v", later["a"], wait, want)
		}
	})
}

// TestOftenIsHigher: one more use never makes a skill rank lower than it did.
func TestOftenIsHigher(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s, project := fresh(t, base)
		// Any time, also out of order and far away.
		at := rapid.Int64Range(-1000, 1000)
		uses := rapid.SliceOfN(at, 1, 5).Draw(t, "hours")
		slices.Sort(uses)
		before := 0.0
		for _, h := range uses {
			must(t, s.Record(project, "a", monday.Add(time.Duration(h)*time.Hour)))
			got, err := s.Scores(project, monday.Add(time.Duration(h)*time.Hour))
			must(t, err)
			if got["a"] < 1 || got["a"] > before+1+1e-9 {
				t.Errorf("%v after a use on top of %v", got["a"], before)
			}
			before = got["a"]
		}
	})
}

func must(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
