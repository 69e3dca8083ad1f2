package knack_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/listing"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/usage"
)

// rankLab has five skills, of which people and models see all.
func rankLab(t *testing.T) *lab {
	return newLab(t, map[string]string{
		"repo/.claude/skills/alpha/SKILL.md":   doc("Bakes bread and cakes"),
		"repo/.claude/skills/bravo/SKILL.md":   doc("Ships the shop to production"),
		"repo/.claude/skills/charlie/SKILL.md": doc("Ships the shop to staging"),
		"repo/.claude/skills/delta/SKILL.md":   doc("Paints walls"),
		"repo/.claude/skills/echo/SKILL.md":    doc("Repeats the last word"),
	})
}

func (l *lab) used(id string, ago time.Duration, times int) {
	l.t.Helper()
	for range times {
		if err := (usage.Store{Dir: l.base + "/state"}).Record(l.base+"/repo", id, time.Now().Add(-ago)); err != nil {
			l.t.Fatal(err)
		}
	}
}

func entriesFor(t *testing.T, e *knack.Engine, prompt string) []listing.Entry {
	t.Helper()
	entries, err := e.EntriesFor(t.Context(), prompt)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// byRank draws entries from the highest rank to the lowest, equals joined.
func byRank(entries []listing.Entry) string {
	slices.SortStableFunc(entries, func(a, b listing.Entry) int { return int(b.Rank - a.Rank) })
	var b strings.Builder
	for i, e := range entries {
		switch {
		case i == 0:
		case e.Rank == entries[i-1].Rank:
			b.WriteString("=")
		default:
			b.WriteString(" ")
		}
		b.WriteString(e.ID)
	}
	return b.String()
}

func TestRanks(t *testing.T) { // spec L-5
	const day = 24 * time.Hour
	for _, tt := range []struct {
		name   string
		use    func(l *lab)
		prompt string
		want   string
	}{
		{"nothing is known", func(*lab) {}, "", "alpha=bravo=charlie=delta=echo"},
		{"often", func(l *lab) { l.used("delta", day, 3); l.used("echo", day, 1) }, "", "delta echo alpha=bravo=charlie"},
		{"recently", func(l *lab) { l.used("delta", 30*day, 3); l.used("echo", day, 1) }, "", "echo delta alpha=bravo=charlie"},
		{"matches", func(*lab) {}, "ship the shop to staging", "charlie bravo alpha=delta=echo"},
		{"used long ago before any match", func(l *lab) { l.used("delta", 400*day, 1) }, "bravo ships the shop", "delta bravo charlie alpha=echo"},
		{"a match adds nothing to use", func(l *lab) { l.used("echo", day, 2); l.used("charlie", 3*day, 2) }, "ship the shop to staging", "echo charlie bravo alpha=delta"},
		{"only small words", func(*lab) {}, "the to and", "alpha=bravo=charlie=delta=echo"},
		{"no word", func(*lab) {}, "…", "alpha=bravo=charlie=delta=echo"},
		{"of a skill that is gone", func(l *lab) { l.used("gone", day, 9) }, "", "alpha=bravo=charlie=delta=echo"},
	} {
		l := rankLab(t)
		tt.use(l)
		entries := entriesFor(t, l.open(), tt.prompt)
		var order []string
		for _, e := range entries {
			order = append(order, e.ID)
		}
		equal(t, tt.name+": order of lines", order, []string{"alpha", "bravo", "charlie", "delta", "echo"})
		equal(t, tt.name, byRank(entries), tt.want)
		if tt.prompt == "" {
			equal(t, tt.name+", by Entries", byRank(l.open().Entries()), tt.want)
		}
	}
}

func TestInvokeRecordsUse(t *testing.T) { // spec I-13
	l := rankLab(t)
	l.write("repo/.claude/skills/held/SKILL.md", doc("Held", "allowed-tools: Bash(rm:*)"))
	l.write("home/.claude/skills/alpha/SKILL.md", doc("My own bread"))
	e := l.open()
	scores := func() string {
		got, err := (usage.Store{Dir: l.base + "/state"}).Scores(l.base+"/repo", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for id, n := range got {
			out = append(out, fmt.Sprintf("%s=%.1f", id, n))
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	call := func(name string, by invoke.Caller) error {
		t.Helper()
		r, err := e.Invoke(t.Context(), invoke.Request{Name: name, By: by})
		if err == nil {
			equal(t, "notices of "+name, r.Notices, nil)
		}
		return err
	}
	for _, by := range []invoke.Caller{invoke.ByUser, invoke.ByModel} {
		if err := call("delta", by); err != nil {
			t.Fatal(err)
		}
	}
	// A shadowed skill is counted under the name that means it (spec C-8).
	if err := call("project:alpha", invoke.ByUser); err != nil {
		t.Fatal(err)
	}
	// What did not happen is no use.
	if err := call("nothing", invoke.ByUser); err == nil {
		t.Error("an unknown skill ran")
	}
	if _, ok := errors.AsType[*invoke.RefusedError](call("held", invoke.ByModel)); !ok {
		t.Error("a skill ran that needs approval")
	}
	if _, err := e.Render(t.Context(), invoke.Request{Name: "echo", By: invoke.ByUser}); err != nil {
		t.Fatal(err)
	}
	equal(t, "uses", scores(), "delta=2.0 project:alpha=1.0")
	equal(t, "ranks of the running session", byRank(e.Entries()), "delta alpha=bravo=charlie=echo=held")
	equal(t, "ranks below the root", byRank(l.open(func(o *knack.Options) { o.Dir += "/.claude" }).Entries()),
		"delta alpha=bravo=charlie=echo=held")
}

// TestUseCannotBeCounted: that never fails an invocation (I-13).
func TestUseCannotBeCounted(t *testing.T) {
	run := func(e *knack.Engine) []string {
		t.Helper()
		r, err := e.Invoke(t.Context(), invoke.Request{Name: "echo", By: invoke.ByUser})
		if err != nil {
			t.Fatal(err)
		}
		return r.Notices
	}
	// A state directory that cannot be made is nobody's fault.
	l := rankLab(t)
	l.write("state", "a file")
	equal(t, "no directory", run(l.open(trusted)), nil)
	equal(t, "no home", run(l.open(trusted, func(o *knack.Options) { o.Home, o.StateDir = "", "" })), nil)

	// A place that cannot be written to is.
	l = rankLab(t)
	l.used("delta", 0, 1)
	files, err := filepath.Glob(l.base + "/state/usage/*.lock")
	if err != nil || len(files) != 1 {
		t.Fatalf("locks %q, %v", files, err)
	}
	if err := errors.Join(os.Remove(files[0]), os.Mkdir(files[0], 0o700)); err != nil {
		t.Fatal(err)
	}
	if got := run(l.open()); len(got) != 1 || !strings.Contains(got[0], "this use is not counted: usage in "+l.base+"/repo: ") {
		t.Errorf("notices: %q", got)
	}

	// A damaged file is reported, is no use, and makes way for the next.
	l = rankLab(t)
	l.used("delta", 0, 1)
	if files, err = filepath.Glob(l.base + "/state/usage/*.json"); err != nil || len(files) != 1 {
		t.Fatalf("files %q, %v", files, err)
	}
	l.write(strings.TrimPrefix(files[0], l.base+"/"), "{")
	e := l.open()
	equal(t, "problems", codes(e.SettingsProblems()), []string{"usage-store"})
	equal(t, "ranks", byRank(e.Entries()), "alpha=bravo=charlie=delta=echo")
	equal(t, "notices", run(e), nil)
	e = l.open()
	equal(t, "problems afterwards", codes(e.SettingsProblems()), nil)
	equal(t, "ranks afterwards", byRank(e.Entries()), "echo alpha=bravo=charlie=delta")
}

// TestRankedListing: what is used keeps its text when others are shortened
// (L-5), and leads the names after a compaction (L-7), in every mode.
func TestRankedListing(t *testing.T) {
	const skills = 12
	l := newLab(t, map[string]string{"home/.claude/settings.json": `{"skillListing": "ranked", "skillListingBudget": 1160}`})
	for i := range skills {
		l.write(fmt.Sprintf("repo/.claude/skills/s%02d/SKILL.md", i), doc(fmt.Sprintf("Number%02d %s end", i, strings.Repeat("of many words ", 11))))
	}
	whole := func(text string) (ids []string) {
		for line := range strings.Lines(text) {
			if id, _, ok := strings.Cut(strings.TrimPrefix(line, "- "), ": "); ok && strings.HasSuffix(line, "end\n") {
				ids = append(ids, id)
			}
		}
		return ids
	}
	l.used("s09", 0, 2)
	l.used("s05", time.Hour, 1)
	e := l.open()
	// What is left when these are complete goes to the first of the rest.
	equal(t, "used", whole(e.Listing().Text), []string{"s00", "s05", "s09"})
	m, ok, err := e.AnnounceFor(t.Context(), "other", "number07 please")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	equal(t, "used and matching", whole(m.Text), []string{"s05", "s07", "s09"})
	if _, ok, err := e.AnnounceFor(t.Context(), "other", "number08 please"); ok || err != nil {
		t.Errorf("a new prompt announces again: %v, %v", ok, err)
	}
	if m, ok := e.Announce(session.Main); !ok || m.Text != e.Listing().Text {
		t.Errorf("another agent is told %q", m.Text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, ok, err := e.AnnounceFor(ctx, "third", "x"); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, %v", ok, err)
	}
	if _, ok := e.Announce("third"); !ok {
		t.Error("what was cancelled counts as told")
	}

	for _, mode := range []string{"equal", "ranked"} {
		e := l.open(func(o *knack.Options) { o.Settings = `{"skillListing": "` + mode + `"}` })
		names := listing.Names(entriesFor(t, e, "number07 please"), e.ListingOptions())
		if !strings.Contains(names.Text, "\ns09, s05, s07, s00, s01,") {
			t.Errorf("%s: names after compaction: %s", mode, names.Text)
		}
	}
}

// TestSearchOfHiddenSkills: a prompt ranks nothing that a model may not see.
func TestSearchOfHiddenSkills(t *testing.T) {
	l := rankLab(t)
	l.write("repo/.claude/settings.json", `{"skillOverrides": {"charlie": "off"}}`)
	e := l.open()
	equal(t, "ranks", byRank(entriesFor(t, e, "ship the shop to staging")), "bravo alpha=delta=echo")
	if got, err := e.Snapshot().Resolve("charlie"); err != nil || got.State != catalog.Disabled {
		t.Errorf("charlie is %v, %v", got, err)
	}
}
