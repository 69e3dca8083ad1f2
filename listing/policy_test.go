package listing

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/knack-skills/knack/text"
	"pgregory.net/rapid"
)

// drawEntries makes a catalog of several languages, with all kinds of entries.
func drawEntries(t *rapid.T) []Entry {
	piece := rapid.SampledFrom([]string{"reads files", "<b>", "&lt", " ", "提取表格", "スキル", "für", "e\u0301", "👩‍💻", "\n- x: y", "\u200B", "a", "---"})
	prose := rapid.Map(rapid.SliceOfN(piece, 0, 40), func(p []string) string { return strings.Join(p, "") })
	return rapid.Custom(func(t *rapid.T) []Entry {
		n := rapid.IntRange(1, 25).Draw(t, "n")
		var out []Entry
		for i := range n {
			e := entry(fmt.Sprintf("%s-%d", rapid.SampledFrom([]string{"skill", "技能", "x"}).Draw(t, "id"), i), prose.Draw(t, "description"), prose.Draw(t, "when"))
			e.Pinned = rapid.IntRange(0, 5).Draw(t, "pinned") == 0
			e.NameOnly = rapid.IntRange(0, 5).Draw(t, "nameOnly") == 0
			e.Rank = float64(rapid.IntRange(0, 3).Draw(t, "rank"))
			out = append(out, e)
		}
		return out
	}).Draw(t, "entries")
}

func drawOptions(t *rapid.T) Options {
	return Options{
		Mode:         rapid.SampledFrom([]Mode{"", Equal, Ranked}).Draw(t, "mode"),
		CharsOnly:    rapid.Bool().Draw(t, "charsOnly"),
		MaxDescChars: rapid.SampledFrom([]int{0, 30, 100}).Draw(t, "cap"),
	}
}

// A bigger budget never shows less of any skill, and no id vanishes (L-3).
func TestBiggerBudgetNeverShowsLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries, o := drawEntries(t), drawOptions(t)
		o.Chars = rapid.IntRange(1, 3000).Draw(t, "small")
		small := Format(entries, o)
		o.Chars += rapid.OneOf(rapid.Just(1), rapid.IntRange(1, 500)).Draw(t, "more")
		big := Format(entries, o)
		if small.Step < big.Step {
			t.Fatalf("step %d with %d characters, step %d with %d", small.Step, small.BudgetChars, big.Step, big.BudgetChars)
		}
		after := map[string]string{}
		for _, line := range big.Lines {
			after[line.ID] = line.Line
		}
		for _, line := range small.Lines {
			now, ok := after[line.ID]
			if !ok || !strings.HasPrefix(now, strings.TrimSuffix(line.Line, "…")) {
				t.Fatalf("%d characters show %q, %d show %q", small.BudgetChars, line.Line, big.BudgetChars, now)
			}
		}
	})
}

// What holds of every listing.
func TestListingInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries, o := drawEntries(t), drawOptions(t)
		o.Chars = rapid.IntRange(1, 3000).Draw(t, "chars")
		l := Format(entries, o)
		used, at, free := 0, 0, 0
		for _, line := range l.Lines {
			for entries[at].ID != line.ID {
				at++ // the order given, or this runs out of range
			}
			e := entries[at]
			size := utf8.RuneCountInString(line.Line) + 1
			used += size
			if !e.Pinned || e.NameOnly {
				free += size
			}
			if strings.ContainsAny(line.Line, "<>\n\u200B") || !strings.HasPrefix(line.Line, "- "+e.ID) {
				t.Fatalf("bad line %q", line.Line)
			}
			body := strings.TrimPrefix(strings.TrimPrefix(line.Line, "- "+e.ID), ": ")
			if n := utf8.RuneCountInString(body); n > o.maxDesc() {
				t.Fatalf("%d characters of text, the cap is %d: %q", n, o.maxDesc(), line.Line)
			}
			if line.Shortened && line.Reason == "" {
				t.Fatalf("%q is shortened without a reason", line.Line)
			}
		}
		if used != l.UsedChars || len(l.Lines)+l.Omitted != len(entries) {
			t.Fatalf("used %d, counted %d; %d lines and %d omitted of %d", l.UsedChars, used, len(l.Lines), l.Omitted, len(entries))
		}
		if l.Step < 3 && l.UsedChars > l.BudgetChars && free > 0 && l.Problems == nil {
			t.Fatalf("step %d uses %d of %d without saying so", l.Step, l.UsedChars, l.BudgetChars)
		}
		if l.Step == 3 && free > 2*l.BudgetChars {
			t.Fatalf("names take %d, the budget is %d", free, l.BudgetChars)
		}
		if strings.Count(l.Text, "<system-reminder>") != 1 || strings.Count(l.Text, "</system-reminder>") != 1 {
			t.Fatalf("tags in %q", l.Text)
		}
	})
}

// A Chinese or Japanese catalog is held to its share of tokens (L-4).
func TestTokenTrue(t *testing.T) {
	for name, sentence := range map[string]string{
		"Chinese":  "从文档中提取表格并导出为报表，当用户需要合并单元格或转换格式时使用。",
		"Japanese": "コードを確認し、問題点を報告します。レビューを頼まれたときに使います。",
		"Korean":   "문서에서 표를 추출하여 보고서로 내보냅니다. 사용자가 요청할 때 사용합니다.",
	} {
		var entries []Entry
		for i := range 60 {
			entries = append(entries, entry(fmt.Sprintf("skill-%d", i), strings.Repeat(sentence, 4)))
		}
		l := Format(entries, Options{})
		if l.Step != 2 || l.Omitted != 0 {
			t.Errorf("%s: step %d, %d omitted", name, l.Step, l.Omitted)
		}
		tokens := text.Tokens(body(l.Lines))
		if budget := l.BudgetChars / 4; tokens > budget || tokens < budget*3/4 {
			t.Errorf("%s: %d estimated tokens, the budget is %d", name, tokens, budget)
		}
		plain := Format(entries, Options{CharsOnly: true})
		if over := text.Tokens(body(plain.Lines)); over < 2*tokens || plain.UsedChars < 7900 {
			t.Errorf("%s: with characters only %d tokens, %d characters", name, over, plain.UsedChars)
		}
	}
}

// English is measured in characters alone, dashes and accents included.
func TestTokenTrueLeavesEnglishAlone(t *testing.T) {
	var entries []Entry
	for i := range 60 {
		entries = append(entries, entry(fmt.Sprintf("skill-%d", i), "Reads the café's files — and “writes” a report. "+words(150)))
	}
	for _, chars := range []int{2000, 3500, 8000, 12_000, 20_000} {
		with, without := Format(entries, Options{Chars: chars}), Format(entries, Options{Chars: chars, CharsOnly: true})
		if with.Text != without.Text {
			t.Errorf("budget %d: %d characters with tokens, %d without", chars, with.UsedChars, without.UsedChars)
		}
	}
}

func TestRanked(t *testing.T) { // L-5
	entries := catalog("s", 10, 200)
	entries[7].Rank = 3
	entries[2].Rank = 2
	sizes := func(chars int) (out []int) {
		for _, line := range Format(entries, Options{Chars: chars, Mode: Ranked}).Lines {
			out = append(out, len(strings.TrimSuffix(line.Line, "…"))-len("- s-000: "))
		}
		return out
	}
	// Names take 100; then everybody gets 60, and 300 are left for ranks.
	got := sizes(100 + 10*60 + 300)
	if got[7] != 200 || got[2] != 200 {
		t.Errorf("the best two are not complete: %v", got)
	}
	for _, i := range []int{1, 3, 4, 5, 6, 8, 9} {
		if got[i] < 55 || got[i] > 60 {
			t.Errorf("entry %d has %d characters, want the floor of 60: %v", i, got[i], got)
		}
	}
	if got[0] < 75 || got[0] > 80 {
		t.Errorf("the first of equal rank has %d, want the 20 left: %v", got[0], got)
	}
	// With little, all have the same.
	got = sizes(100 + 10*40)
	for i := range got {
		if got[i] < 30 || got[i] > 40 {
			t.Errorf("entry %d has %d characters of 40", i, got[i])
		}
	}
	// The order of lines is the order given, whatever the ranks.
	for i, line := range Format(entries, Options{Chars: 600, Mode: Ranked}).Lines {
		if line.ID != entries[i].ID {
			t.Errorf("line %d is %s", i, line.ID)
		}
	}
}

func TestNamesGoByRank(t *testing.T) { // L-3
	entries := catalog("s", 20, 100)
	entries[15].Rank, entries[3].Rank = 9, 8
	l := Format(entries, Options{Chars: 16}) // room for four names of eight characters
	if got := strings.Join(printed(l), " "); got != "- s-000 - s-001 - s-003 - s-015" {
		t.Errorf("names %q", got)
	}
}

// Reading only the beginning of a long text gives the same line (L-2).
func TestLongTextsAreReadInPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"word ", "<", "表格", "\u200B\u200B\u200B", "   ", "👩‍💻", "e\u0301", "\n", "x"})
		unit := strings.Join(rapid.SliceOfN(piece, 1, 12).Draw(t, "unit"), "")
		e := entry("a", strings.Repeat(unit, rapid.IntRange(1, 400).Draw(t, "times")), "Used rarely.")
		limit := rapid.IntRange(1, 120).Draw(t, "cap")
		want := text.Line(e.Description)
		if want != "" {
			want += " - "
		}
		want = cutText(want+"Used rarely.", limit)
		got, cut := entryText(&e, limit)
		if got != want || cut != strings.HasSuffix(got, "…") {
			t.Fatalf("text %q (cut %v), want %q", got, cut, want)
		}
	})
}

// What was announced is not announced again (L-6).
func TestDiffSettles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, now := drawEntries(t), drawEntries(t)
		d := Diff(told(before), now)
		record := told(before)
		for _, e := range append(d.New, d.Changed...) {
			record[e.ID] = e.Summary
		}
		for _, id := range d.Removed {
			delete(record, id)
		}
		if again := Diff(record, now); !again.Empty() {
			t.Fatalf("told again: %+v", again)
		}
	})
}

// A bigger budget never names fewer skills after compaction (L-7).
func TestNamesGrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries, o := drawEntries(t), drawOptions(t)
		o.Chars = rapid.IntRange(1, 3000).Draw(t, "small")
		small := Names(entries, o)
		o.Chars += rapid.IntRange(1, 500).Draw(t, "more")
		big := Names(entries, o)
		if small.UsedChars > small.BudgetChars || len(small.Lines)+small.Omitted != len(entries) {
			t.Fatalf("used %d of %d, %d lines, %d omitted of %d", small.UsedChars, small.BudgetChars, len(small.Lines), small.Omitted, len(entries))
		}
		for i, line := range small.Lines {
			if i >= len(big.Lines) || big.Lines[i].ID != line.ID {
				t.Fatalf("%q is named with %d characters only", line.ID, small.BudgetChars)
			}
		}
	})
}

func BenchmarkFormat(b *testing.B) {
	entries := catalog("some-skill", 10_000, 200)
	for i := range entries {
		entries[i].Rank = float64(i*7919%1000) / 10
	}
	for name, e := range map[string][]Entry{"10000": entries, "1000": entries[:1000], "100": entries[:100]} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Format(e, Options{})
			}
		})
	}
}
