package file_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEdit(t *testing.T) {
	b := newBench(t)
	for _, tt := range []struct {
		name, before, old, new string
		all                    bool
		after, want            string
	}{
		{"one", "a\nb\nc\n", "b", "B", false, "a\nB\nc\n", "Changed DIR/f (1 replacement). Around it the file now reads:\n     1\ta\n     2\tB\n     3\tc\n"},
		{"delete", "a\nb\nc\n", "b\n", "", false, "a\nc\n", "     1\ta\n     2\tc\n"},
		{"all", "x y x\nx\n", "x", "zz", true, "zz y zz\nzz\n", "(3 replacements), the first one"},
		{"all of one", "x\n", "x", "y", true, "y\n", "(1 replacement)"},
		{"everything", "x", "x", "", false, "", "Changed"},
		{"not unique", "x\n\nx\n", "x", "y", false, "x\n\nx\n", "! DIR/f was not changed: old_string is in the file 2 times (lines 1, 3)"},
		{"missing", "abc\n", "q", "y", false, "abc\n", "old_string is not in the file: it must match exactly"},
		{"white space", "\tif  x {\n", "if x {", "y", false, "\tif  x {\n", "line 1 is like its first line"},
		{"numbers", "a\nb\n", "     1\ta\n     2\tb", "y", false, "a\nb\n", "it has line numbers in it"},
		{"crlf", "a\r\nb\r\nc\r\n", "a\nb", "1\n2\n3", false, "1\r\n2\r\n3\r\nc\r\n", "     3\t3\n"},
		{"crlf asked for", "a\r\nb\r\n", "a\r\nb", "1\r\n2", false, "1\r\n2\r\n", "Changed"},
		{"crlf ends only", "a\r\nb\r\n", "a\r\nb", "a\nb", false, "a\r\nb\r\n", "differ in line ends alone"},
		{"crlf border", "a\r\nb\r\n", "\nb", "\nB", false, "a\r\nB\r\n", "Changed"},
		{"crlf all", "a\r\na\r\n", "a\n", "b\nc\n", true, "b\r\nc\r\nb\r\nc\r\n", "(2 replacements)"},
		{"mixed, mostly lf", "a\r\nb\nc\nd\n", "c\n", "c\nC\n", false, "a\r\nb\nc\nC\nd\n", "Changed"},
		{"mixed, mostly crlf", "a\r\nb\nc\r\nd\r\n", "d", "d\nD", false, "a\r\nb\nc\r\nd\r\nD\r\n", "Changed"},
		{"lf file, crlf old", "a\nb\n", "a\r\nb", "x", false, "a\nb\n", `it ends lines with "\r\n"`},
		{"lone cr stays", "a\rb\r\nc\r\n", "c", "d", false, "a\rb\r\nd\r\n", "Changed"},
		{"bom", "\ufeffa\n", "a", "b", false, "\ufeffb\n", "     1\tb\n"},
		{"latin-1", "caf\xe9 x\n", "x", "y", false, "caf\xe9 y\n", "Changed"},
		{"latin-1, not ascii", "caf\xe9 x\n", "x", "é", false, "caf\xe9 x\n", "not UTF-8"},
		{"regexp characters", "a.*b $1\n", ".*b $1", "$0\\n", false, "a$0\\n\n", "Changed"},
		{"overlap", "aaa\n", "aa", "b", false, "ba\n", "(1 replacement)"},
	} {
		b.put("f", tt.before)
		b.call("Read", args{"file_path": "f"})
		in := args{"file_path": "f", "old_string": tt.old, "new_string": tt.new}
		if tt.all {
			in["replace_all"] = true
		}
		if got := b.call("Edit", in); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q\nwant %q", tt.name, got, tt.want)
		}
		b.want("f", tt.after)
	}
}

func TestMultiEdit(t *testing.T) {
	b := newBench(t)
	b.put("f", "\ufeffa\r\nb\r\nc\r\n")
	edits := func(pairs ...string) args {
		var all []args
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, args{"old_string": pairs[i], "new_string": pairs[i+1]})
		}
		return args{"file_path": "f", "edits": all}
	}
	has(t, b.call("MultiEdit", edits("a", "b2")), "! DIR/f was not read yet")
	b.call("Read", args{"file_path": "f"})
	has(t, b.call("MultiEdit", edits("a", "A", "b", "B", "nothing", "x")), "! DIR/f was not changed: edits[2]: old_string is not in the file")
	b.want("f", "\ufeffa\r\nb\r\nc\r\n")
	has(t, b.call("MultiEdit", edits("a", "x", "x", "a")), "! DIR/f was not changed: the edits undo each other")
	got := b.call("MultiEdit", edits("a", "A\nx", "x\nb", "y"))
	if want := "Changed DIR/f (2 edits). What has changed now reads:\n     1\tA\n     2\ty\n     3\tc\n"; got != want {
		t.Errorf("%q", got)
	}
	b.want("f", "\ufeffA\r\ny\r\nc\r\n")
}

func TestSnippetIsShort(t *testing.T) {
	b := newBench(t)
	b.put("f", strings.Repeat("x\n", 500))
	b.call("Read", args{"file_path": "f"})
	got := b.call("Edit", args{"file_path": "f", "old_string": strings.Repeat("x\n", 500), "new_string": strings.Repeat("y\n", 400)})
	has(t, got, "    24\ty\n[376 more lines]\n")
	b.put("g", strings.Repeat("x\n", 500)+"here\n"+strings.Repeat("x\n", 500))
	b.call("Read", args{"file_path": "g"})
	got = b.call("Edit", args{"file_path": "g", "old_string": "here", "new_string": "there"})
	has(t, got, "   497\tx\n", "   501\tthere\n", "   505\tx\n")
	if strings.Contains(got, "   496\t") || strings.Contains(got, "   506\t") {
		t.Errorf("too much around it: %q", got)
	}
}

func TestWriteKeepsForm(t *testing.T) {
	b := newBench(t)
	for _, tt := range []struct{ before, content, after string }{
		{"\ufeffa\r\nb\r\n", "x\ny\n", "\ufeffx\r\ny\r\n"},
		{"a\r\n", "x\r\ny\n", "x\r\ny\n"}, // the model has its own mind
		{"a\n", "x\r\n", "x\r\n"},
		{"\ufeffa\n", "\ufeffx\n", "\ufeffx\n"},
		{"a\r\n", "", ""},
	} {
		b.put("f", tt.before)
		b.call("Read", args{"file_path": "f"})
		b.call("Write", args{"file_path": "f", "content": tt.content})
		b.want("f", tt.after)
	}
}

// TestEditProperty: what an edit does not concern stays, byte by byte, and what
// it does is what replacing text without line ends in mind gives.
func TestEditProperty(t *testing.T) {
	b := newBench(t)
	piece := rapid.SampledFrom([]string{"a", "b", "\n", "\r\n", "\r", "é", "\xe9", "aa"})
	pieces := rapid.SliceOfN(piece, 0, 12)
	join := func(rt *rapid.T, name string) string { return strings.Join(pieces.Draw(rt, name), "") }
	rapid.Check(t, func(rt *rapid.T) {
		head, tail := join(rt, "head"), join(rt, "tail")
		text := "<" + join(rt, "new") + ">"
		if strings.Contains(text, "\xe9") {
			text = "<>"
		}
		all := rapid.Bool().Draw(rt, "all")
		before := head + "<old>" + tail
		if all {
			before += "<old>" + head
		}
		b.put("f", before)
		b.call("Read", args{"file_path": "f"})
		got := b.call("Edit", args{"file_path": "f", "old_string": "<old>", "new_string": text, "replace_all": all})
		if strings.HasPrefix(got, "!") {
			if !strings.Contains(got, "not UTF-8") {
				rt.Fatal(got)
			}
			return
		}
		lf := strings.Count(before, "\n")
		crlf := strings.Count(before, "\r\n")
		if crlf > 0 {
			text = strings.ReplaceAll(text, "\r\n", "\n")
		}
		if 2*crlf > lf {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		b.want("f", strings.ReplaceAll(before, "<old>", text))
	})
}
