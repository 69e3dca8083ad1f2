package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// oddSkills have all that a file can say or get wrong.
var oddSkills = []string{
	"No header at all.\n",
	"",
	"---\ndescription: never closed\n",
	"---\ndescription: a: b\nallowed-tools: [Read\n---\nRecovered.\n",
	"---\ndescription: d\npaths: \"src/{a,b}/**\"\narguments: one two\nargument-hint: \"[x]\"\n---\n$one\n",
	"---\ndescription: d\nhooks:\n  Stop:\n    - hooks:\n        - {type: command, command: echo, args: [a], timeout: 5}\n        - {type: http, url: \"http://x\", headers: {A: b}}\n        - {type: mcp_tool, server: s, tool: t, input: {a: [1, 2.5, null, true, {b: c}]}}\n---\n",
	"---\nname: Display\ndescription: d\nwhen_to_use: w\nversion: 1.2.3\nmodel: opus\neffort: high\ncontext: fork\nagent: Explore\nshell: bash\nrequires: [aaa]\ndisallowed-tools: Write\nx-unknown: {a: 1}\n---\n",
	"---\ndescription: \"hidden \u202e text\"\ndisable-model-invocation: maybe\nuser-invocable: false\n---\n",
	"---\ndescription: twice\ndescription: again\n---\n",
	"\xff\xfebinary",
	"---\ndescription: bad \xff byte\n---\n",
}

// TestIndexChangesNothing: what is told of the skills does not depend on an
// index, whether there is one, a damaged one or none at all.
func TestIndexChangesNothing(t *testing.T) { // spec C-11
	w := newWorld(t)
	for i := range 600 {
		text := oddSkills[i%len(oddSkills)]
		if i%7 > 0 {
			text = fmt.Sprintf("---\ndescription: Number %d.\nallowed-tools: Read, Bash(git log *)\n---\nBody.\n", i)
		}
		w.skill(fmt.Sprintf("cat%d/skill-%03d", i%2, i), text)
	}
	w.skill("cat1/skill-001", "---\ndescription: taken\n---\n")
	if err := os.Symlink("cat0/skill-002", w.path(".claude/skills/link")); err != nil {
		t.Fatal(err)
	}
	view := func() string {
		t.Helper()
		all := ""
		for _, args := range []string{"list --all --json", "explain skill-000 --json", "explain skill-005 --json", "explain skill-007", "explain skill-035 --json", "explain link --json", "check --json", "listing"} {
			out := w.run(strings.Fields(args)...)
			all += fmt.Sprintf("%s: exit %d\n%s%s", args, out.code, out.stdout, out.stderr)
		}
		return all
	}
	indexes := func() []string {
		found, err := filepath.Glob(filepath.Join(w.dir, "state", "index", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	want := view()
	// Files that have only just changed are not indexed.
	for i := 0; len(indexes()) == 0; i++ {
		if i == 100 {
			t.Fatal("no index was written")
		}
		w.run("list")
	}
	compare := func(what string) {
		t.Helper()
		if got := view(); got != want {
			t.Errorf("%s: the first difference is at byte %d of\n%.2000s", what, firstDifference(got, want), got)
		}
	}
	compare("with an index")
	path := indexes()[0]
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for what, data := range map[string][]byte{"empty": nil, "cut": good[:len(good)/2], "garbage": []byte("garbage")} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		compare(what)
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Dir(path), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	compare("where none can be")
	if out := w.run("list", "-v"); !strings.Contains(out.stderr, "index") {
		t.Errorf("-v says nothing of it: %s", out.stderr)
	}
}

func firstDifference(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}
