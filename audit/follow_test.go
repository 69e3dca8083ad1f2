package audit_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/audit"
)

func hooked(outcome string) audit.Record { return audit.Record{Kind: audit.Hook, Outcome: outcome} }

// TestFollower: new lines, once each and in order, whatever happens to the file.
func TestFollower(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	write(t, path, hooked("old"), hooked("old"))
	w, err := audit.NewFollower(path, audit.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	step := func(want ...string) {
		t.Helper()
		var got []string
		if more, err := w.Step(func(e audit.Entry) bool { got = append(got, lines([]audit.Entry{e})...); return true }); !more || err != nil {
			t.Fatal(more, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
	put := func(text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	step()
	write(t, path, hooked("a"), hooked("b"))
	step("3 a", "4 b")
	step()
	// A line that comes in two pieces.
	put(`{"time":"2026-11-30T11:00:00.005Z",`)
	step()
	put(`"kind":"hook","outcome":"c"}` + "\n" + strings.Repeat("x", 2<<20) + "\n")
	step("5 c", "6 it is longer than 1024 KiB, which no record is")
	// Moved away while a record comes, with a broken line at its end.
	late, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	step()
	if _, err := late.WriteString(`{"time":"2026-11-30T11:00:00.005Z","kind":"hook","outcome":"d"}` + "\nbroken"); err != nil {
		t.Fatal(err)
	}
	write(t, path, hooked("e"))
	step("7 d", "8 its end is missing: it is being written, or its writer was killed", "1 e")
	// Emptied, as copytruncate does.
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	step()
	write(t, path, hooked("f"))
	step("1 f")
	// Removed, and made anew much later.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	step()
	step()
	step()
	write(t, path, hooked("g"))
	step("1 g")
}

// TestFollowerStops: a step that is broken off goes on with the next line.
func TestFollowerStops(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "audit.jsonl")
	w, err := audit.NewFollower(path, audit.Filter{Outcome: []string{"yes"}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	write(t, path, hooked("yes"), hooked("no"), hooked("yes"), hooked("yes"))
	var got []int
	for range 4 {
		if _, err := w.Step(func(e audit.Entry) bool { got = append(got, e.Line); return false }); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]int{1, 3, 4}, got); diff != "" {
		t.Error(diff)
	}
}

// TestFollow: the loop looks at intervals, and ends with its context.
func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	synctest.Test(t, func(t *testing.T) {
		w, err := audit.NewFollower(path, audit.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		ctx, stop := context.WithCancel(t.Context())
		began := time.Now()
		var got []string
		done := make(chan struct{})
		go func() {
			defer close(done)
			for e, err := range audit.Follow(ctx, w, time.Second) {
				if err != nil {
					t.Error(err)
				}
				got = append(got, fmt.Sprint(time.Since(began), " ", e.Record.Outcome))
			}
		}()
		for _, o := range []string{"a", "b"} {
			synctest.Wait()
			write(t, path, hooked(o))
			time.Sleep(1500 * time.Millisecond)
		}
		stop()
		<-done
		if diff := cmp.Diff([]string{"1s a", "2s b"}, got); diff != "" {
			t.Error(diff)
		}
	})
}
