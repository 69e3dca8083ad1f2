package main

import (
	"testing"
	"time"
)

// TestSoak soaks for a moment, in both ways of watching.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 20 seconds")
	}
	for _, o := range []options{
		{length: 14 * time.Second, seed: 1, quick: true},
		{length: 6 * time.Second, seed: 2, quick: true, poll: true},
	} {
		r, err := soak(t.Context(), t.TempDir(), o)
		if err != nil {
			t.Fatalf("%+v: %v\n%s", o, err, r)
		}
		if r.points < 3 || r.announced == 0 {
			t.Errorf("%+v: nothing happened: %s", o, r)
		}
	}
}

// TestFold: what is told twice, or cannot be, is noticed.
func TestFold(t *testing.T) {
	l := &listener{told: map[string]string{}}
	l.fold("x\n- a: one\n- b: two\n")
	l.fold("x\nNew:\n- c: three\nChanged (x):\n- a: other\nRemoved (x):\n- b\n")
	if l.err != nil || len(l.told) != 2 || l.told["a"] != "a: other" || l.told["c"] != "c: three" || l.diffs != 5 {
		t.Fatalf("%v %q", l.err, l.told)
	}
	for _, wrong := range []string{"New:\n- a: other\n", "Changed:\n- a: other\n", "Changed:\n- z: x\n", "Removed:\n- z\n"} {
		l.err = nil
		l.fold(wrong)
		if l.err == nil {
			t.Errorf("%q is not noticed", wrong)
		}
		delete(l.told, "z")
	}
}
