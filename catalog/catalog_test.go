package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/knack-skills/knack/skill"
)

// counter is a source that counts its loads and blocks them on gate.
type counter struct {
	loads  atomic.Int64
	gate   chan struct{} // nil never blocks
	skills []*skill.Skill
}

func (c *counter) Load(ctx context.Context) ([]*skill.Skill, []skill.Problem, error) {
	c.loads.Add(1)
	if c.gate != nil {
		select {
		case <-c.gate:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
	return c.skills, nil, ctx.Err()
}

func refresh(t *testing.T, c *Catalog) *Snapshot {
	t.Helper()
	s, err := c.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRefresh covers C-11 and C-12.
func TestRefresh(t *testing.T) {
	down := errors.New("connection refused")
	c := New(Options{}, static{err: down, skills: []*skill.Skill{user("partial")}}, static{skills: []*skill.Skill{near("x")}}, static{err: down})
	before := c.Snapshot()
	if before.Generation != 0 || before.Len() != 0 {
		t.Fatalf("before the first load: %+v", before)
	}
	after := refresh(t, c)
	if c.Snapshot() != after || after.Generation != 1 {
		t.Errorf("generation %d", after.Generation)
	}
	equal(t, "skills", idsOf(slices.Collect(after.All())), []string{"partial", "x"})
	equal(t, "problems", codes(after.Problems), []string{"error source-failed "})
	if before.Len() != 0 {
		t.Error("the old snapshot changed")
	}
	if again := refresh(t, c); again.Generation != 2 {
		t.Errorf("generation %d", again.Generation)
	}
}

func TestRefreshCancelled(t *testing.T) {
	src := &counter{gate: make(chan struct{})}
	c := New(Options{}, src)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := c.Refresh(ctx); s != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", s, err)
	}
	if src.loads.Load() != 0 {
		t.Error("loaded for nobody")
	}
	synctest.Test(t, func(t *testing.T) {
		src := &counter{gate: make(chan struct{}), skills: []*skill.Skill{user("x")}}
		c := New(Options{}, src)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { _, err := c.Refresh(ctx); done <- err }()
		synctest.Wait() // the load is running
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		synctest.Wait() // the source saw the end
		if c.Snapshot().Generation != 0 {
			t.Error("a cancelled load was published")
		}
		close(src.gate)
		if s := refresh(t, c); s.Generation != 1 || s.Len() != 1 {
			t.Errorf("the next load gives generation %d with %d skills", s.Generation, s.Len())
		}
	})
}

// TestOneWaiterLeaves: the load goes on for the others, even if the one who
// caused it leaves.
func TestOneWaiterLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &counter{gate: make(chan struct{})}
		c := New(Options{}, src)
		go c.Refresh(t.Context())
		synctest.Wait() // one load runs, so the next two calls share a wave
		ctx, cancel := context.WithCancel(t.Context())
		first, second := make(chan error), make(chan error)
		go func() { _, err := c.Refresh(ctx); first <- err }()
		synctest.Wait()
		go func() { _, err := c.Refresh(t.Context()); second <- err }()
		synctest.Wait()
		src.gate <- struct{}{} // ends the first load
		synctest.Wait()
		cancel()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("first: %v", err)
		}
		synctest.Wait()
		src.gate <- struct{}{}
		if err := <-second; err != nil {
			t.Errorf("second: %v", err)
		}
		if n, g := src.loads.Load(), c.Snapshot().Generation; n != 2 || g != 2 {
			t.Errorf("%d loads, generation %d", n, g)
		}
	})
}

// TestSingleFlight: calls that come while a load runs share the next one.
func TestSingleFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &counter{gate: make(chan struct{})}
		c := New(Options{}, src)
		const calls = 30
		snapshots := make([]*Snapshot, calls)
		errs := make([]error, calls)
		var wg sync.WaitGroup
		wg.Go(func() { snapshots[0], errs[0] = c.Refresh(t.Context()) })
		synctest.Wait() // the first load is running
		for i := range calls - 1 {
			wg.Go(func() { snapshots[i+1], errs[i+1] = c.Refresh(t.Context()) })
		}
		synctest.Wait()
		if n := src.loads.Load(); n != 1 {
			t.Errorf("%d loads run at once", n)
		}
		close(src.gate)
		wg.Wait()
		if n := src.loads.Load(); n != 2 {
			t.Errorf("%d loads for %d calls in two waves", n, calls)
		}
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
		for i, s := range snapshots[1:] {
			if s != snapshots[1] || s.Generation != 2 {
				t.Errorf("call %d got generation %d", i+1, s.Generation)
			}
		}
	})
}

// TestWaveWithoutWaitersIsDropped: who leaves before the load begins costs none.
func TestWaveWithoutWaitersIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &counter{gate: make(chan struct{})}
		c := New(Options{}, src)
		go c.Refresh(t.Context())
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { _, err := c.Refresh(ctx); done <- err }()
		synctest.Wait()
		cancel()
		<-done
		close(src.gate)
		synctest.Wait()
		if n, g := src.loads.Load(), c.Snapshot().Generation; n != 1 || g != 1 {
			t.Errorf("%d loads, generation %d", n, g)
		}
		if refresh(t, c); src.loads.Load() != 2 {
			t.Error("the catalog is stuck")
		}
	})
}

// TestAdd covers D-1: only the new source is read.
func TestAdd(t *testing.T) {
	old := &counter{skills: []*skill.Skill{near("deploy")}}
	c := New(Options{}, old)
	refresh(t, c)
	found := &counter{skills: []*skill.Skill{nested("web", "deploy")}}
	s, err := c.Add(t.Context(), found)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "skills", idsOf(slices.Collect(s.All())), []string{"deploy", "web:deploy"})
	if s.Generation != 2 || old.loads.Load() != 1 || found.loads.Load() != 1 {
		t.Errorf("generation %d, loads %d and %d", s.Generation, old.loads.Load(), found.loads.Load())
	}
	refresh(t, c)
	if old.loads.Load() != 2 || found.loads.Load() != 2 {
		t.Error("a refresh loads every source")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Add(ctx, &counter{skills: []*skill.Skill{user("late")}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if s := refresh(t, c); s.Len() != 3 {
		t.Errorf("a source whose loading was cancelled is not loaded later: %q", ids(s))
	}
}

func TestSetOptions(t *testing.T) {
	src := &counter{skills: []*skill.Skill{user("x")}}
	c := New(Options{}, src)
	before := refresh(t, c)
	c.SetOptions(Options{Overrides: map[string]Visibility{"x": Off}})
	after, err := c.Add(t.Context())
	if err != nil || after.ordered[0].State != Disabled || before.ordered[0].State != Active {
		t.Errorf("%v: %s after, %s before", err, after.ordered[0].State, before.ordered[0].State)
	}
	if src.loads.Load() != 1 {
		t.Error("the source was read again")
	}
}

// TestOnChange: each snapshot is told, before Refresh returns, without a lock.
func TestOnChange(t *testing.T) {
	c := New(Options{}, static{skills: []*skill.Skill{user("x")}})
	var told []uint64
	c.OnChange(func(s *Snapshot) {
		told = append(told, s.Generation)
		if s.Generation == 1 { // a listener may cause the next one
			if _, err := c.Refresh(context.Background()); err != nil {
				t.Error(err)
			}
		}
	})
	refresh(t, c)
	if !slices.Equal(told, []uint64{1, 2}) {
		t.Errorf("told of %v", told)
	}
}

// TestReadersDuringRefresh: every reader sees whole snapshots (C-12, M-6).
func TestReadersDuringRefresh(t *testing.T) {
	c := New(Options{}, static{skills: []*skill.Skill{user("a", named("Apple")), near("a"), plugin("p", "leaf"), nested("web", "a")}}, &counter{})
	refresh(t, c)
	stop := make(chan struct{})
	var readers, writers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				s := c.Snapshot()
				for _, name := range []string{"a", "Apple", "leaf", "project:a", "nobody"} {
					if e, err := s.Resolve(name); err == nil {
						s.Variants(e)
						s.ProblemsOf(e.Origin.Path)
					}
				}
				for range s.ModelView(nil) {
				}
				if s.Len() < 3 {
					t.Errorf("half a snapshot: %d entries", s.Len())
				}
				s.Explain("a", nil)
			}
		})
	}
	for i := range 4 {
		writers.Go(func() {
			for j := range 10 {
				if _, err := c.Refresh(t.Context()); err != nil {
					t.Error(err)
				}
				if _, err := c.Add(t.Context(), static{skills: []*skill.Skill{user(fmt.Sprint("n", i, j))}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	if s := c.Snapshot(); s.Len() != 3+40 {
		t.Errorf("%d skills", s.Len())
	}
}

// TestReload reads the sources that say that they changed, and no others, also
// when a load is running at that moment.
func TestReload(t *testing.T) {
	quiet, lively := &counter{skills: []*skill.Skill{user("a")}}, &counter{skills: []*skill.Skill{near("b")}}
	c := New(Options{}, quiet, lively)
	refresh(t, c)
	for n := range int64(2) {
		lively.skills = append(lively.skills, near(fmt.Sprint("new", n)))
		s, err := c.Reload(t.Context(), lively)
		if err != nil || s.Len() != int(n)+3 {
			t.Fatal(s.Len(), err)
		}
		if q, l := quiet.loads.Load(), lively.loads.Load(); q != 1 || l != n+2 {
			t.Errorf("%d and %d loads", q, l)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		slow := &counter{gate: make(chan struct{}, 1)}
		c := New(Options{}, slow)
		done := make(chan error)
		go func() { _, err := c.Refresh(t.Context()); done <- err }()
		synctest.Wait()
		go func() { _, err := c.Reload(t.Context(), slow); done <- err }()
		synctest.Wait()
		for range 2 {
			slow.gate <- struct{}{}
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if n := slow.loads.Load(); n != 2 {
			t.Errorf("%d loads: the change came while the first one was under way", n)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Reload(ctx, lively); err == nil {
		t.Error("no error")
	}
	if _, err := c.Add(t.Context()); err != nil || lively.loads.Load() != 4 {
		t.Error("who has left has still said that it changed:", lively.loads.Load(), err)
	}
}
