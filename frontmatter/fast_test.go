package frontmatter

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var exact = cmp.Options{cmp.AllowUnexported(entry{}, value{}), cmpopts.EquateEmpty()}

// agree fails when the fast path accepts src and the YAML library disagrees.
func agree(t interface{ Fatalf(string, ...any) }, src string) bool {
	entries, ok := fast(src, nil)
	if !ok {
		return false
	}
	var r reader
	var want []entry
	if !empty(src) {
		var f *fault
		if want, f = r.strict(src, 2); f != nil {
			t.Fatalf("accepted, but YAML says %+v:\n%s", *f, src)
		}
	}
	if len(r.problems) > 0 {
		t.Fatalf("accepted, but YAML has problems %v:\n%s", r.problems, src)
	}
	if diff := cmp.Diff(want, entries, exact); diff != "" {
		t.Fatalf("values differ (-yaml +fast):\n%s\nin %q", diff, src)
	}
	return true
}

// fastSeeds are accepted headers of every shape, and near misses.
var fastSeeds = []string{
	"name: a\ndescription: Some text, with marks (and more); 1:1.\n",
	"name: a\n\n# comment\nversion: 1.10\nx: 007\ny: yes\nz: ~\nn: null\n",
	"a: \"quoted: text # here\"\nb: 'it is'\nc: \"\"\nd: ''\n",
	"a:\n  - x\n  - \"y z\"\n# c\n  - w\nb:\n- x\nc:\n",
	"a: [x, \"y: z\", w]\nb: []\nc: [ x ]\n",
	"a:\n  b: c\n  d: \"e\"\n  f:\ng: h\n",
	"a: |\n  one\n    two\n\n  three\n\nb: >\n  one\n  two\n\n  three\nc: |-\n  x\nd: >-\n  x\n  y\n# c\ne: f\n",
	"a: x\r\nb: y\r\n", "a: h\u00e9llo w\u00f6rld \U0001F600\n", "a: \u4f60\u597d\n",
	"a: b: c\n", "a: x #y\n", "a: x#y\n", "a:\n  - b: c\n", "a: - b\n", "a: >5\n  b\n", "a: |\n\n  b\n", "a: |\n  b\n #c\n d\n",
	"a: [x, y", "a: [x,, y]\n", "a: [x, ]\n", "a: [\"x, y\", 'z]']\n", "a: [\"x]\n", "a: [\"\"]\n", "a: ['x', \"y\"z]\n", "a: x\n  y\n", "a:b\n", "a: b\ta\n", "a: b\u0085c\n", "a: \ufeffb\n", "<<: x\n", "a: =\n", "a: <<\n",
	"a: |\n  x", "a: >\n  x\n  # y\n", "a: |\n  x\n# y\n", "a:\n # c\n  b: c\n", "a: .inf\nb: 0x1F\nc: 2024-01-02\n", "a: \\x\n", "a: (x\n", "a: +x\n",
}

func TestFastPath(t *testing.T) {
	accepted := 0
	for i, src := range fastSeeds {
		if agree(t, src) {
			accepted++
		} else if i < 10 {
			t.Errorf("not accepted: %q", src)
		}
	}
	if accepted == len(fastSeeds) {
		t.Error("nothing was refused")
	}
}

func FuzzFastPathAgrees(f *testing.F) {
	for _, src := range fastSeeds {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) < 4096 {
			agree(t, strings.ToValidUTF8(src, "?"))
		}
	})
}

// TestFastPathProperty draws headers from the pieces that go wrong in YAML.
func TestFastPathProperty(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a", "b:", "c: ", ": ", "- ", " ", "  ", "\n", "\n", "\n  ", "\n- ", "\nk: ", "\nl:\n", "#", " #", "\"", "'", "[", "]", ", ", "|\n", ">-\n",
		">\n", "|-\n", "x y", "\r\n", "null", "~", "1.10", "&a", "*a", "!t", "{", "}", "é", "\u2028", "?", "%", "@", "`", "<<", "=", "---", "...", "\\",
	})
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		src := "k0: " + strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "") + "\n"
		if agree(t, src) {
			accepted++
		}
	})
	if accepted == 0 {
		t.Error("no header was accepted")
	}
}
