package file_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	b := newBench(t)
	long := strings.Repeat("é", 2500)
	for _, tt := range []struct {
		name, content, want string
		in                  args
	}{
		{"plain", "a\nb\n", "     1\ta\n     2\tb\n", nil},
		{"no newline at the end", "a\nb", "     1\ta\n     2\tb\n", nil},
		{"empty lines", "\n\nx\n\n", "     1\t\n     2\t\n     3\tx\n     4\t\n", nil},
		{"crlf", "a\r\nb\r\n", "     1\ta\n     2\tb\n", nil},
		{"bom", "\ufeffa\n", "     1\ta\n", nil},
		{"empty", "", "[DIR/f is empty]", nil},
		{"bom alone", "\ufeff", "[DIR/f is empty]", nil},
		{"page", "a\nb\nc\nd\n", "     2\tb\n     3\tc\n[lines 2 to 3 of 4; go on with offset 4]\n", args{"offset": 2, "limit": 2}},
		{"last page", "a\nb\nc\n", "     3\tc\n", args{"offset": 3, "limit": 2}},
		{"offset 0", "a\n", "     1\ta\n", args{"offset": 0}},
		{"beyond", "a\nb\n", "! DIR/f has 2 lines; offset 3 is beyond its end", args{"offset": 3}},
		{"latin-1", "caf\xe9\n", "     1\tcaf\ufffd\n[some bytes are not valid UTF-8 and are shown as \ufffd]\n", nil},
		{"long line", long + "\n", "     1\t" + long[:4000] + "… [500 more characters]\n", nil},
		{"notebook", `{"cells": [{"source": ["x"]}]}`, "     1\t{\"cells\": [{\"source\": [\"x\"]}]}\n", nil},
	} {
		b.put("f", tt.content)
		in := args{"file_path": b.path("f")}
		for k, v := range tt.in {
			in[k] = v
		}
		if got := b.call("Read", in); got != tt.want {
			t.Errorf("%s:\n got %.300q\nwant %.300q", tt.name, got, tt.want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	b := newBench(t)
	for _, tt := range []struct{ content, want string }{
		{"\x89PNG\r\n\x1a\n\x00\x00", "is an image (image/png)"},
		{"GIF89a....", "is an image (image/gif)"},
		{"%PDF-1.7\n", "is a PDF"},
		{"\xff\xfea\x00", "is UTF-16 text"},
		{"a\x00b", "is a binary file"},
		{"\x7fELF\x02\x01\x01\x00", "is a binary file"},
	} {
		b.put("f", tt.content)
		has(t, b.call("Read", args{"file_path": "f"}), "! DIR/f "+tt.want)
	}
	has(t, b.call("Read", args{"file_path": "."}), "! DIR is a directory: list it with Glob")
	has(t, b.call("Read", args{"file_path": "none"}), "! DIR/none does not exist")
	has(t, b.call("Read", args{"file_path": "f/x"}), "! ")
	has(t, b.call("Read", args{"file_path": strings.Repeat("n", 5000)}), "! ")
	if _, err := b.tools["Read"].Plan(json.RawMessage(`{"file_path":"f","limit":0}`)); err == nil {
		t.Error("a limit of 0 is accepted")
	}
}

func TestReadPages(t *testing.T) {
	b := newBench(t)
	var text strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&text, "line %d\n", i+1)
	}
	b.put("f", text.String())
	got := b.call("Read", args{"file_path": "f"})
	has(t, got, "  2000\tline 2000\n[lines 1 to 2000 of 2500; go on with offset 2001]\n")
	if strings.Contains(got, "line 2001") {
		t.Error("more than a page")
	}
	has(t, b.call("Read", args{"file_path": "f", "offset": 2001}), "  2001\tline 2001\n", "  2500\tline 2500\n")
	// A page is bounded in bytes as well.
	b.put("f", strings.Repeat(strings.Repeat("x", 1900)+"\n", 1000))
	got = b.call("Read", args{"file_path": "f"})
	if len(got) > 300<<10 {
		t.Errorf("a page has %d bytes", len(got))
	}
	has(t, got, "of 1000; go on with offset")
}

// TestReadLarge: a file that is too large to hold is paged through.
func TestReadLarge(t *testing.T) {
	b := newBench(t)
	line := strings.Repeat("x", 1<<20-1) + "\n"
	f, err := os.Create(b.path("f"))
	if err != nil {
		t.Fatal(err)
	}
	for range 40 {
		if _, err := f.WriteString(line); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.WriteString("the end"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	has(t, b.call("Read", args{"file_path": "f", "limit": 2}), "     2\txxx", "[lines 1 to 2 of a file with more than 32 MiB; go on with offset 3]")
	if got := b.call("Read", args{"file_path": "f", "offset": 41}); got != "    41\tthe end\n" {
		t.Errorf("%.200q", got)
	}
	has(t, b.call("Read", args{"file_path": "f", "offset": 42}), "! DIR/f has 41 lines; offset 42 is beyond its end")
	has(t, b.call("Edit", args{"file_path": "f", "old_string": "the", "new_string": "an"}), "! DIR/f has more than 32 MiB")
}
