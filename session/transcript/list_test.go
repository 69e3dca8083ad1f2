package transcript_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/session/transcript"
)

func list(t *testing.T, p transcript.Project, limit int) (infos []transcript.Info, ids, codes []string) {
	t.Helper()
	infos, problems, err := p.List(t.Context(), limit)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range infos {
		ids = append(ids, i.ID)
	}
	for _, pr := range problems {
		codes = append(codes, pr.Code+" "+filepath.Base(pr.Path))
	}
	return infos, ids, codes
}

func TestList(t *testing.T) { // spec M-4
	p := project(t)
	if _, ids, codes := list(t, p, 0); len(ids)+len(codes) > 0 {
		t.Errorf("without a directory: %q, %q", ids, codes)
	}
	for i, id := range []string{"b", "d", "a", "c", "e"} {
		tr := create(t, p, id)
		add(t, tr, transcript.Meta{CWD: "/first", Model: "big"}, message("m"), transcript.Prompt{Text: "prompt\n of \x1b[31m" + id})
		add(t, tr, transcript.Prompt{Text: "another"}, message(strings.Repeat("x", 100<<10)), transcript.Meta{Model: "small"})
		closed(t, tr)
		at := start.Add(time.Duration(i/2) * time.Hour) // b d, a c, e
		if err := os.Chtimes(tr.Path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	infos, ids, codes := list(t, p, 0)
	if want := []string{"e", "a", "c", "b", "d"}; !slices.Equal(ids, want) || len(codes) > 0 {
		t.Errorf("%q, want %q; %q", ids, want, codes)
	}
	want := transcript.Info{
		ID: "e", Path: filepath.Join(p.Dir, "e.jsonl"), Modified: start.Add(2 * time.Hour), Size: infos[0].Size,
		Prompt: "prompt of e", Meta: transcript.Meta{CWD: "/first", Model: "small"},
	}
	if d := cmp.Diff(want, infos[0]); d != "" || infos[0].Size < 100<<10 {
		t.Error(d)
	}
	if _, ids, _ := list(t, p, 2); !slices.Equal(ids, []string{"e", "a"}) {
		t.Errorf("the two newest are %q", ids)
	}
	// What else lies there is no session, and what cannot be read is named.
	for _, name := range []string{"notes.txt", ".hidden.jsonl", "x y.jsonl", "b.lock"} {
		if err := os.WriteFile(filepath.Join(p.Dir, name), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(p.Dir, "dir.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"empty": "", "damaged": "x\n{\n\x00"} {
		if err := os.WriteFile(filepath.Join(p.Dir, name+".jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, ids, codes = list(t, p, 0)
	if len(ids) != 7 || !slices.Equal(codes, []string{"transcript-unreadable dir.jsonl"}) {
		t.Errorf("%q, %q", ids, codes)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := p.List(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of ctx: %v", err)
	}
}

// A list does not read files to their end: what lies in a hole between the
// beginning and the end would take far too long.
func TestListReadsLittle(t *testing.T) { // spec M-4
	p := project(t)
	tr := create(t, p, "one")
	add(t, tr, message("no prompt yet"))
	closed(t, tr)
	const size = 1 << 40
	if err := os.Truncate(tr.Path, size); err != nil {
		t.Skip("the file system has no sparse files")
	}
	infos, _, codes := list(t, p, 0)
	if len(infos) != 1 || infos[0].Size != size || len(codes) > 0 {
		t.Errorf("%+v, %q", infos, codes)
	}
}

func TestFork(t *testing.T) { // spec M-4
	p := project(t)
	now := start
	p.Now = func() time.Time { now = now.Add(time.Second); return now }
	tr := create(t, p, "one")
	was := live(t, tr)
	if err := p.Fork("one", "two"); err != nil { // while it is open
		t.Fatal(err)
	}
	before, err := os.ReadFile(tr.Path)
	if err != nil {
		t.Fatal(err)
	}
	two, c := resume(t, p, "two")
	if c.Session.ID != "two" || c.ForkedFrom != "one" || codes(c) != "" || len(messages(c)) != 4 {
		t.Errorf("id %s, from %s, %s, %q", c.Session.ID, c.ForkedFrom, codes(c), messages(c))
	}
	was.ID = "two"
	same(t, was, c.Session, session.Invoked{ID: "a", Text: "New text of a.\n"}, session.Invoked{ID: "b", Text: "x"})
	// From here on they are two.
	add(t, two, message("only in two"))
	if after, err := os.ReadFile(tr.Path); err != nil || string(after) != string(before) {
		t.Errorf("the copy changed the original: %v", err)
	}
	add(t, tr, message("only in one"))
	closed(t, tr)
	_, c = resume(t, p, "one")
	if got := messages(c); got[len(got)-1] != "only in one" || slices.Contains(got, "only in two") {
		t.Errorf("messages %q", got)
	}

	for _, tt := range []struct {
		from, to string
		want     error
	}{{"one", "two", transcript.ErrExists}, {"none", "three", transcript.ErrNotFound}} {
		if err := p.Fork(tt.from, tt.to); err == nil || !errors.Is(err, tt.want) && !strings.Contains(err.Error(), "open in process") {
			t.Errorf("%s to %s: %v", tt.from, tt.to, err)
		}
	}
	closed(t, two)
	if err := p.Fork("one", "two"); !errors.Is(err, transcript.ErrExists) {
		t.Errorf("onto another session: %v", err)
	}
	_, ids, _ := list(t, p, 0)
	slices.Sort(ids)
	if left, err := filepath.Glob(p.Dir + "/*.tmp"); err != nil || len(left) > 0 || !slices.Equal(ids, []string{"one", "two"}) {
		t.Errorf("left behind %q, sessions %q, %v", left, ids, err)
	}
	if fi, err := os.Stat(filepath.Join(p.Dir, "two.jsonl")); err != nil || fi.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
}

// What is being written at this moment is not copied by half.
func TestForkOfDamaged(t *testing.T) {
	p := project(t)
	tr := create(t, p, "one")
	add(t, tr, message("1"), message("2"))
	closed(t, tr)
	full, err := os.ReadFile(tr.Path)
	if err != nil {
		t.Fatal(err)
	}
	for cut, want := range map[int]string{0: "1 2 ", 1: "1 2 ", 2: "1 ", 9: "1 "} {
		if err := os.WriteFile(tr.Path, full[:len(full)-cut], 0o600); err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprint("copy", cut)
		if err := p.Fork("one", id); err != nil {
			t.Fatal(err)
		}
		_, c := resume(t, p, id)
		if got := strings.Join(append(messages(c), ""), " "); got != want || codes(c) != "" {
			t.Errorf("cut by %d: %q, %s", cut, got, codes(c))
		}
	}
}

func TestConcurrentAppends(t *testing.T) { // spec M-6
	p := project(t)
	tr := create(t, p, "one")
	const writers, each = 4, 100
	errs := make([]error, writers+2)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				errs[w] = errors.Join(errs[w], tr.Append("", message(fmt.Sprint(w, "-", i))))
				if i%25 == 0 {
					errs[w] = errors.Join(errs[w], tr.Sync())
				}
			}
		})
	}
	wg.Go(func() {
		for range 20 {
			_, _, err := p.List(t.Context(), 0)
			errs[writers] = errors.Join(errs[writers], err)
		}
	})
	wg.Go(func() {
		for i := range 5 {
			errs[writers+1] = errors.Join(errs[writers+1], p.Fork("one", fmt.Sprint("fork", i)))
		}
	})
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	closed(t, tr)
	_, c := resume(t, p, "one")
	next := map[string]int{}
	for _, m := range messages(c) {
		w, i, _ := strings.Cut(m, "-")
		if i != fmt.Sprint(next[w]) {
			t.Fatalf("writer %s: message %s after %d", w, i, next[w]-1)
		}
		next[w]++
	}
	if len(next) != writers || len(c.Messages) != writers*each || codes(c) != "" {
		t.Errorf("%v, %s", next, codes(c))
	}
	for i := range 5 {
		if _, c := resume(t, p, fmt.Sprint("fork", i)); codes(c) != "" {
			t.Errorf("copy %d: %s", i, codes(c))
		}
	}
}

// shareProject works in a project together with other processes: in sessions of
// its own, and in one that all of them want.
func shareProject(args []string) error {
	p := transcript.Project{Dir: args[0]}
	for i := range 10 {
		tr, err := p.Create(fmt.Sprint("own-", args[1], "-", i))
		if err != nil {
			return err
		}
		for range 5 {
			if err := tr.Append("", message("x")); err != nil {
				return err
			}
		}
		if err := tr.Close(); err != nil {
			return err
		}
		if _, problems, err := p.List(context.Background(), 0); err != nil || len(problems) > 0 {
			return fmt.Errorf("%v %v", problems, err)
		}
		tr, c, err := p.Resume("all")
		if _, held := errors.AsType[*transcript.HeldError](err); held {
			continue
		}
		if err != nil {
			return err
		}
		for range 3 { // a turn: its entries stay together
			if err := tr.Append("", message(fmt.Sprint(args[1], "-", i))); err != nil {
				return err
			}
		}
		fmt.Println(len(c.Messages))
		if err := tr.Close(); err != nil {
			return err
		}
	}
	return nil
}

func TestProcesses(t *testing.T) { // spec M-6
	p := project(t)
	closed(t, create(t, p, "all"))
	const processes = 5
	outs := make([][]byte, processes)
	errs := make([]error, processes)
	var wg sync.WaitGroup
	for i := range processes {
		cmd := process(t, "share", p.Dir, fmt.Sprint(i))
		wg.Go(func() { outs[i], errs[i] = cmd.Output() })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	turns := 0
	for _, out := range outs {
		turns += strings.Count(string(out), "\n")
	}
	_, c := resume(t, p, "all")
	got := messages(c)
	if turns == 0 || len(got) != 3*turns || codes(c) != "" {
		t.Fatalf("%d messages of %d turns, %s", len(got), turns, codes(c))
	}
	for i := 0; i < len(got); i += 3 {
		if got[i] != got[i+1] || got[i] != got[i+2] {
			t.Errorf("two processes wrote at once: %q", got[i:i+3])
		}
	}
	if _, ids, _ := list(t, p, 0); len(ids) != 10*processes+1 {
		t.Errorf("%d sessions", len(ids))
	}
}

// FuzzResume: whatever a file holds, it is resumed, what cannot be read is
// named, and the session goes on without further loss.
func FuzzResume(f *testing.F) {
	p := project(f)
	tr := create(f, p, "seed")
	live(f, tr)
	closed(f, tr)
	file, err := os.Open(tr.Path)
	if err != nil {
		f.Fatal(err)
	}
	seed, err := io.ReadAll(file)
	if err != nil || file.Close() != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"", "\n", "{}", "{}\n", "null", string(seed), string(seed[:len(seed)/2]), "\x00\x00\x00\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p := project(t)
		closed(t, create(t, p, "one"))
		path := filepath.Join(p.Dir, "one.jsonl")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		tr, c, err := p.Resume("one")
		if err != nil {
			if !strings.Contains(err.Error(), "newer version") {
				t.Fatal(err)
			}
			return
		}
		n := len(c.Messages)
		add(t, tr, message("next"))
		closed(t, tr)
		tr, c = resume(t, p, "one")
		defer closed(t, tr)
		if got := messages(c); len(got) != n+1 || got[n] != "next" || strings.Contains(codes(c), "transcript-cut") {
			t.Errorf("messages %q after %d, %s", got, n, codes(c))
		}
	})
}

// BenchmarkResume: 10,000 messages and 500 invocations (spec M-7: 50 ms apart
// from the model call, for what a compaction does; resuming is measured with it).
func BenchmarkResume(b *testing.B) {
	p := project(b)
	tr := create(b, p, "one")
	for i := range 10_000 {
		add(b, tr, message(strings.Repeat("some words of a message ", 10)))
		if i%20 == 0 {
			add(b, tr, transcript.Invocation{ID: fmt.Sprint("skill-", i%50), Text: strings.Repeat("Do this, then that.\n", 200)})
		}
	}
	closed(b, tr)
	b.Run("resume", func(b *testing.B) {
		for b.Loop() {
			tr, c, err := p.Resume("one")
			if err != nil || len(c.Messages) != 10_000 {
				b.Fatal(err)
			}
			closed(b, tr)
		}
	})
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			if infos, _, err := p.List(b.Context(), 0); err != nil || len(infos) != 1 {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	p := project(b)
	tr := create(b, p, "one")
	m := message(strings.Repeat("some words of a message ", 40))
	for b.Loop() {
		add(b, tr, m)
	}
}
