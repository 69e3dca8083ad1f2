package dir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knack-skills/knack/skill"
)

// TestKept: a file that an edit broke keeps its last good version, with its
// body, until it is repaired or gone (spec D-8).
func TestKept(t *testing.T) {
	const good = "---\ndescription: Good.\n---\nGood body.\n"
	for _, tt := range []struct {
		name, before, now string
		kept              bool
		codes             string // besides last-version-kept
	}{
		{"empty", good, "", true, ""},
		{"blank", good, " \n\n", true, ""},
		{"not closed", good, "---\ndescription: Half\n", true, "unclosed-frontmatter"},
		{"needs recovery", good, "---\ndescription: a: b\n---\nBody.\n", true, "yaml-recovered"},
		{"conflict", good, "---\n<<<<<<< a\ndescription: x\n=======\ndescription: y\n>>>>>>> b\n---\n", true, "merge-conflict"},
		{"NUL", good, "---\ndescription: x\x00\n---\n", true, "binary"},
		{"UTF-16", good, "\xff\xfex\x00", true, "utf-16"},
		{"edited", good, "---\ndescription: Other.\n---\nOther.\n", false, ""},
		{"no header", good, "Just text.\n", false, ""},
		{"header without body", good, "---\ndescription: Other.\n---\n", false, ""},
		{"was empty", "", " ", false, ""},
		{"needed recovery before", "---\ndescription: a: b\n---\n", "---\ndescription: c: d\n---\n", false, "yaml-recovered"},
		{"was not closed", "---\ndescription: x\n", "---\ndescription: y\n", false, "unclosed-frontmatter"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range []string{"skills/a/SKILL.md", "commands/a.md"} {
				testKept(t, name, tt.before, tt.now, tt.codes, tt.kept)
			}
		})
	}
}

func testKept(t *testing.T, name, first, second, extra string, kept bool) {
	t.Helper()
	top := tree(t, "-- "+name+" --\n")
	file := filepath.Join(top, name)
	write := func(text string) { must(t, os.WriteFile(file, []byte(text), 0o644)) }
	write(first)
	r := Root{Path: filepath.Join(top, strings.Split(name, "/")[0]), Source: skill.User, Cache: NewCache("")}
	if strings.HasPrefix(name, "commands") {
		r.Source = skill.Legacy
	}
	before, _ := load(t, r)
	was := withBodies(t, before)
	must(t, r.Cache.Preserve(t.Context(), 1<<20))

	write(second)
	fresh := r
	fresh.Cache = nil
	for range 2 { // also when it stays broken
		got, problems := load(t, r)
		want, wantProblems := load(t, fresh)
		all := codes("", problems)
		if is := strings.Contains(all, versionKept); is != kept || !strings.Contains(all, extra) {
			t.Fatalf("%s: %v", name, problems)
		}
		if !kept {
			if withBodies(t, got) != withBodies(t, want) || codes("", wantProblems) != all {
				t.Errorf("%s: not as it is", name)
			}
			return
		}
		if now := withBodies(t, got); now != was {
			t.Errorf("%s: kept\n%s\nwant\n%s", name, now, was)
		}
	}
	aged(r.Cache)
	once, _ := load(t, r)
	if again, _ := load(t, r); again[0] != once[0] {
		t.Error("a version that stays is another value")
	}
	write("---\ndescription: Repaired.\n---\nRepaired.\n")
	got, problems := load(t, r)
	if want, _ := load(t, fresh); withBodies(t, got) != withBodies(t, want) || len(problems) > 0 {
		t.Errorf("%s: repaired: %v", name, problems)
	}
	write("")
	load(t, r)
	must(t, os.Remove(file))
	if got, _ := load(t, r); len(got) != 0 {
		t.Error("gone, but still there")
	}
	write("")
	if _, problems := load(t, r); strings.Contains(codes("", problems), versionKept) {
		t.Error("a version of before it was gone is kept")
	}
}

// TestBroke: what cannot be read is broken; what is no file any more is not.
func TestBroke(t *testing.T) {
	for code, want := range map[string]bool{unreadable: true, tooLarge: true, notRegular: false, danglingLink: false, leavesRoot: false, linkLoop: false} {
		rd := reading{problems: []skill.Problem{problem(code, "p", "why")}}
		if got := broke(&entry{}, rd) != ""; got != want {
			t.Errorf("%s: %v", code, got)
		}
	}
}

// TestKeptWithoutText: a version whose text nobody remembers is still listed,
// but what the broken file holds is never taken for it.
func TestKeptWithoutText(t *testing.T) {
	top := tree(t, "-- r/a/SKILL.md --\n---\ndescription: d\n---\nGood.\n-- r/b/SKILL.md --\n---\ndescription: d\n---\nGood.\n")
	file := filepath.Join(top, "r/a/SKILL.md")
	r := Root{Path: filepath.Join(top, "r"), Source: skill.User, Cache: NewCache("")}
	load(t, r)
	must(t, r.Cache.Preserve(t.Context(), 40)) // one file, whichever
	must(t, os.WriteFile(file, nil, 0o644))
	must(t, os.WriteFile(filepath.Join(top, "r/b/SKILL.md"), nil, 0o644))
	skills, _ := load(t, r)
	failed := 0
	for _, s := range skills {
		in, err := s.Content.Body.Load(t.Context())
		if err != nil {
			failed++
			if !strings.Contains(err.Error(), s.Origin.Path) || !strings.Contains(err.Error(), "repair") {
				t.Error(err)
			}
		} else if in.Text != "Good.\n" || in.Line != 4 || in.Dir != s.Origin.Dir {
			t.Errorf("%+v", in)
		}
	}
	if len(skills) != 2 || failed != 1 || r.Cache.held.Load() > 40 {
		t.Errorf("%d skills, %d without text, %d bytes", len(skills), failed, r.Cache.held.Load())
	}
	must(t, os.RemoveAll(r.Path))
	if load(t, r); r.Cache.held.Load() != 0 {
		t.Errorf("%d bytes of nothing are held", r.Cache.held.Load())
	}
}

// TestKeptInFlight: who holds the skills of an earlier load keeps them as they
// were, whatever later loads find (spec C-12).
func TestKeptInFlight(t *testing.T) {
	top := tree(t, "-- r/a/SKILL.md --\n---\ndescription: One.\nallowed-tools: Read\n---\n-- r/c/a/SKILL.md --\nTwin.\n")
	r := Root{Path: filepath.Join(top, "r"), Source: skill.User, Cache: NewCache("")}
	held, _ := load(t, r)
	was := dump(held)
	for _, text := range []string{"", "---\ndescription: Two.\nallowed-tools: Bash\n---\n", "---\n", "Three.\n"} {
		must(t, os.WriteFile(filepath.Join(r.Path, "a/SKILL.md"), []byte(text), 0o644))
		load(t, r)
	}
	must(t, os.RemoveAll(filepath.Join(r.Path, "a")))
	if got, _ := load(t, r); ids(got) != "a" || ids(held) != "a c:a" || dump(held) != was {
		t.Errorf("now %s, held\n%s\nwant\n%s", ids(got), dump(held), was)
	}
}

// TestFreshKeepsNothing: a new process knows no last version (spec D-8), not
// even by an index.
func TestFreshKeepsNothing(t *testing.T) {
	top := tree(t, "-- r/a/SKILL.md --\n---\ndescription: d\n---\nGood.\n")
	file := filepath.Join(top, "r/a/SKILL.md")
	state := t.TempDir()
	r := Root{Path: filepath.Join(top, "r"), Source: skill.User, Cache: NewCache(state)}
	load(t, r)
	aged(r.Cache)
	keep(t, r.Cache)
	must(t, os.WriteFile(file, []byte("---\n"), 0o644))
	load(t, r) // keeps
	aged(r.Cache)
	keep(t, r.Cache)
	r.Cache = NewCache(state)
	skills, problems := load(t, r)
	r.Cache = nil
	want, wantProblems := load(t, r)
	if dump(skills) != dump(want) || codes(top, problems) != codes(top, wantProblems) {
		t.Errorf("%s%v", dump(skills), problems)
	}
}
