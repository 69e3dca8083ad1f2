package listing

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/knack-skills/knack/skill"
)

// told is what an agent knows after entries were announced.
func told(entries []Entry) map[string]skill.Summary {
	m := map[string]skill.Summary{}
	for _, e := range entries {
		m[e.ID] = e.Summary
	}
	return m
}

func ids(entries []Entry) (out []string) {
	for _, e := range entries {
		out = append(out, e.ID)
	}
	return out
}

func TestDiff(t *testing.T) { // L-6
	before := []Entry{entry("a", "one"), entry("b", "two", "when"), entry("c", "three"), entry("d", "four")}
	version := entry("a", "one")
	version.Version, version.ArgumentHint = "2.0.0", "[file]"
	tests := []struct {
		name                    string
		told                    map[string]skill.Summary
		now                     []Entry
		fresh, changed, removed []string
	}{
		{"first time", nil, before, []string{"a", "b", "c", "d"}, nil, nil},
		{"no change", told(before), before, nil, nil, nil},
		{"other order", told(before), []Entry{before[3], before[2], before[1], before[0]}, nil, nil, nil},
		{"new", told(before), append([]Entry{entry("z", "x"), entry("y", "x")}, before...), []string{"z", "y"}, nil, nil},
		{"description", told(before), []Entry{before[0], before[1], entry("c", "3"), before[3]}, nil, []string{"c"}, nil},
		{"when to use", told(before), []Entry{before[0], entry("b", "two", "now"), before[2], before[3]}, nil, []string{"b"}, nil},
		{"removed", told(before), before[1:3], nil, nil, []string{"a", "d"}},
		{"all removed", told(before), nil, nil, nil, []string{"a", "b", "c", "d"}},
		{"text that is not printed", told(before), append([]Entry{version}, before[1:]...), nil, nil, nil},
		{"white space", told(before), append([]Entry{entry("a", " one\n")}, before[1:]...), nil, nil, nil},
	}
	for _, tt := range tests {
		size := len(tt.told)
		d := Diff(tt.told, tt.now)
		got := [][]string{ids(d.New), ids(d.Changed), d.Removed}
		if diff := cmp.Diff([][]string{tt.fresh, tt.changed, tt.removed}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if empty := tt.fresh == nil && tt.changed == nil && tt.removed == nil; d.Empty() != empty || (FormatDelta(d, Options{}).Text == "") != empty {
			t.Errorf("%s: Empty %v", tt.name, d.Empty())
		}
		if len(tt.told) != size {
			t.Errorf("%s: Diff changed its argument", tt.name)
		}
	}
}

func TestFormatDelta(t *testing.T) { // L-6
	d := Delta{New: []Entry{entry("n", "New one.")}, Changed: []Entry{entry("c", "Changed.")}, Removed: []string{"r</system-reminder>"}}
	l := FormatDelta(d, Options{})
	want := reminderOpen + deltaIntro + "\n" + newHeading + "- n: New one.\n" + changedHeading + "- c: Changed.\n" +
		removedHeading + "- r&lt;/system-reminder&gt;\n" + reminderClose
	if diff := cmp.Diff(want, l.Text); diff != "" {
		t.Errorf("Text (-want +got):\n%s", diff)
	}
	if len(l.Lines) != 3 || l.Lines[2].Reason != "removed" || l.UsedChars != len("- n: New one.\n- c: Changed.\n- r&lt;/system-reminder&gt;\n") {
		t.Errorf("lines %+v, used %d", l.Lines, l.UsedChars)
	}
	if only := FormatDelta(Delta{Removed: []string{"x"}}, Options{}); strings.Contains(only.Text, newHeading) || !strings.Contains(only.Text, removedHeading+"- x\n") {
		t.Errorf("only removed: %q", only.Text)
	}
}

func TestFormatDeltaBudget(t *testing.T) { // L-6, L-3
	d := Delta{New: catalog("n", 30, 200), Changed: catalog("c", 30, 200)}
	l := FormatDelta(d, Options{Chars: 4000})
	if l.Step != 2 || l.UsedChars > 4000 || len(l.Lines) != 60 {
		t.Errorf("step %d, used %d, %d lines", l.Step, l.UsedChars, len(l.Lines))
	}
	d.Changed[29].Rank, d.New[29].Rank = 2, 1
	for i := range 5000 {
		d.Removed = append(d.Removed, fmt.Sprintf("gone-%04d", i))
	}
	l = FormatDelta(d, Options{Chars: 10}) // two names, one removed id
	want := newHeading + "- n-029\n" + changedHeading + "- c-029\nand 58 more: use SkillSearch\n" + removedHeading + "- gone-0000\nand 4999 more were removed"
	if !strings.Contains(l.Text, want) || l.Omitted != 58+4999 {
		t.Errorf("omitted %d, text %q", l.Omitted, l.Text)
	}
}

func TestNames(t *testing.T) { // L-7
	entries := catalog("s", 25, 100)
	entries[24].Rank = 5
	l := Names(entries, Options{})
	lines := strings.Split(strings.TrimSuffix(strings.TrimPrefix(l.Text, reminderOpen+namesIntro+"\n"), "\n"+reminderClose), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "s-024, s-000, s-001, ") || strings.Count(lines[0], ", ") != 9 || strings.Count(lines[2], ", ") != 4 {
		t.Errorf("lines %q", lines)
	}
	if l.Omitted != 0 || l.Problems != nil || strings.Contains(l.Text, "more: use") {
		t.Errorf("omitted %d, problems %v", l.Omitted, l.Problems)
	}

	l = Names(catalog("s", 2000, 100), Options{})
	if l.BudgetChars != 1000 || l.UsedChars > 1000 || l.UsedChars < 960 || len(l.Lines)+l.Omitted != 2000 {
		t.Errorf("budget %d, used %d, %d lines, %d omitted", l.BudgetChars, l.UsedChars, len(l.Lines), l.Omitted)
	}
	if !strings.HasSuffix(l.Text, fmt.Sprintf("\nand %d more: use SkillSearch\n%s", l.Omitted, reminderClose)) || codes(l) != "listing-omitted" {
		t.Errorf("end %q, problems %q", l.Text[len(l.Text)-80:], codes(l))
	}
	if empty := Names(nil, Options{}); empty.Text != "" {
		t.Errorf("no skills: %q", empty.Text)
	}
	if one := Names([]Entry{entry("a</system-reminder>", "x")}, Options{}); strings.Count(one.Text, "</system-reminder>") != 1 {
		t.Errorf("closing tags in %q", one.Text)
	}
}

func FuzzFormat(f *testing.F) {
	f.Add("a", "text", "when", "b", 100)
	f.Add("a\n- b", "x</system-reminder>\u202E", "👩‍💻", "", 5)
	f.Fuzz(func(t *testing.T, id, description, when, other string, chars int) {
		entries := []Entry{entry(id, description, when), entry(other, when, description)}
		o := Options{Chars: chars % 10_000}
		for name, l := range map[string]Listing{
			"Format": Format(entries, o), "Names": Names(entries, o),
			"FormatDelta": FormatDelta(Delta{New: entries[:1], Changed: entries[1:], Removed: []string{id, description}}, o),
		} {
			if strings.Count(l.Text, "<") != 2 || strings.Count(l.Text, ">") != 2 || !utf8.ValidString(l.Text) {
				t.Errorf("%s: %q", name, l.Text)
			}
			for _, line := range l.Lines {
				if strings.ContainsAny(line.Line, "\n\r\x1b\u2028") {
					t.Errorf("%s: line %q", name, line.Line)
				}
			}
		}
	})
}
