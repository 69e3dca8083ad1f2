package extract

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An item is one entry of an archive; mode may hold fs.ModeSymlink and others.
type item struct {
	name string
	mode fs.FileMode
	data string // or the target of a link
}

func zipOf(t *testing.T, items ...item) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, it := range items {
		h := &zip.FileHeader{Name: it.name, Method: zip.Deflate}
		h.SetMode(it.mode)
		f, err := w.CreateHeader(h)
		must(t, err)
		_, err = io.WriteString(f, it.data)
		must(t, err)
	}
	must(t, w.Close())
	return b.Bytes()
}

// tarTypes are the kinds of a tar that are no regular files.
var tarTypes = map[fs.FileMode]byte{
	fs.ModeSymlink: tar.TypeSymlink, fs.ModeDir: tar.TypeDir, fs.ModeDevice: tar.TypeBlock,
	fs.ModeDevice | fs.ModeCharDevice: tar.TypeChar, fs.ModeNamedPipe: tar.TypeFifo, fs.ModeIrregular: tar.TypeLink,
}

func tarOf(t *testing.T, items ...item) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, it := range items {
		h := &tar.Header{Name: it.name, Typeflag: tar.TypeReg, Mode: int64(it.mode.Perm()), Size: int64(len(it.data))}
		if it.mode&fs.ModeSetuid != 0 {
			h.Mode |= 0o6000
		}
		if kind, ok := tarTypes[it.mode.Type()]; ok {
			h.Typeflag, h.Size, h.Linkname = kind, 0, it.data
		}
		must(t, w.WriteHeader(h))
		if h.Size > 0 {
			_, err := io.WriteString(w, it.data)
			must(t, err)
		}
	}
	must(t, w.Close())
	return b.Bytes()
}

func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(data)
	must(t, err)
	must(t, w.Close())
	return b.Bytes()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// unpack extracts an archive into the directory "in" of a new one, which holds
// nothing else, and returns both.
func unpack(t *testing.T, data []byte, l Limits) (outer, dir string, s Summary, err error) {
	t.Helper()
	outer = t.TempDir()
	dir = filepath.Join(outer, "in")
	must(t, os.Mkdir(dir, 0o700))
	file := filepath.Join(t.TempDir(), "archive")
	must(t, os.WriteFile(file, data, 0o600))
	f, err := os.Open(file)
	must(t, err)
	defer f.Close()
	w, err := New(dir, l)
	must(t, err)
	defer w.Close()
	if err = w.Archive(t.Context(), f); err == nil {
		s, err = w.Finish()
	}
	return outer, dir, s, err
}

// TestHostile: each of these archives is refused as a whole, as a zip and as a
// tar where both can hold it, and nothing appears outside (spec S-15).
func TestHostile(t *testing.T) {
	file := func(name string) []item { return []item{{name, 0o644, "evil"}} }
	link := func(name, target string) item { return item{name, fs.ModeSymlink | 0o777, target} }
	many := make([]item, 60)
	for i := range many {
		many[i] = item{fmt.Sprint("f", i), 0o644, ""}
	}
	tests := []struct {
		name  string
		items []item
		why   string
		only  string // zip or tar
	}{
		{"parent", file("../evil"), "leads out", ""},
		{"parent in the middle", file("a/../../evil"), "leads out", ""},
		{"parent that comes back", file("a/../b"), "leads out", ""},
		{"absolute", file("/tmp/evil"), "absolute", ""},
		{"drive", file("C:/evil"), "absolute", ""},
		{"backslashes", file(`..\evil`), "backslash", ""},
		{"UNC", file(`\\host\share\x`), "backslash", ""},
		{"stream", file("a.txt:stream"), "character", ""},
		{"NUL", file("a\x00.txt"), "character", "zip"},
		{"line break", file("a\nb"), "character", ""},
		{"escape sequence", file("a\x1b[2Jb"), "character", ""},
		{"no UTF-8", file("a\xff"), "UTF-8", "zip"},
		{"device of Windows", file("skills/AUX.md"), "device", ""},
		{"device of Windows with a blank", file("con .txt"), "device", ""},
		{"numbered device", file("com1"), "device", ""},
		{"ends with a dot", file("SKILL.md."), "dot or a blank", ""},
		{"empty part", file("a//b"), "empty part", ""},
		{"long name", file(strings.Repeat("a", 300)), "too long", ""},
		{"deep name", file(strings.Repeat("a/", 40) + "b"), "too deep", ""},
		{"case", []item{{"SKILL.md", 0o644, "a"}, {"skill.md", 0o644, "b"}}, "case", ""},
		{"case of a directory", []item{{"A/x", 0o644, "a"}, {"a/y", 0o644, "b"}}, "case", ""},
		{"composed letters", []item{{"\u00e9", 0o644, "a"}, {"e\u0301", 0o644, "b"}}, "spelling", ""},
		{"full width", []item{{"a", 0o644, "a"}, {"\uff41", 0o644, "b"}}, "spelling", ""},
		{"twice", []item{{"a", 0o644, "a"}, {"a", 0o644, "b"}}, "twice", ""},
		{"below a file", []item{{"a", 0o644, "a"}, {"a/b", 0o644, "b"}}, "below", ""},
		{"link out", []item{link("l", "../../etc/passwd")}, "leads out", ""},
		{"absolute link", []item{link("l", "/etc/passwd")}, "leads out", ""},
		{"link to nothing", []item{link("l", "gone")}, "nothing", ""},
		{"links in a circle", []item{link("a", "b"), link("b", "a")}, "itself", ""},
		{"link to itself", []item{link("a", "a")}, "lies in", ""},
		{"link to its parent", []item{{"d/x", 0o644, "a"}, link("d/up", "..")}, "lies in", ""},
		{"write through a link", []item{link("d", "../.."), {"d/evil", 0o644, "b"}}, "below", ""},
		{"write through a link inside", []item{{"real/x", 0o644, "a"}, link("d", "real"), {"d/evil", 0o644, "b"}}, "below", ""},
		{"link over a file", []item{{"a", 0o644, "a"}, link("a", "/etc/passwd")}, "twice", ""},
		{"link that multiplies", []item{
			{"a/f", 0o644, "x"}, link("b/1", "../a"), link("b/2", "../a"), link("c/1", "../b"), link("c/2", "../b"), link("c/3", "../b"),
			link("d/1", "../c"), link("d/2", "../c"), link("d/3", "../c"), link("d/4", "../c"),
		}, "more than 50 files", ""},
		{"hard link", []item{{"a", 0o644, "a"}, {"b", fs.ModeIrregular, "a"}}, "no file", "tar"},
		{"hard link out", []item{{"b", fs.ModeIrregular, "/etc/passwd"}}, "no file", "tar"},
		{"block device", []item{{"b", fs.ModeDevice, ""}}, "no file", ""},
		{"character device", []item{{"b", fs.ModeDevice | fs.ModeCharDevice, ""}}, "no file", ""},
		{"pipe", []item{{"b", fs.ModeNamedPipe, ""}}, "no file", ""},
		{"many files", many, "more than 50 files", ""},
		{"many directories", []item{{strings.Repeat("a/", 20) + "x", 0o644, ""}, {strings.Repeat("b/", 20) + "x", 0o644, ""}, {strings.Repeat("c/", 20) + "x", 0o644, ""}}, "more than 50 files", ""},
		{"one large file", []item{{"a", 0o644, strings.Repeat("x y z ", 2<<20)}}, "", ""},
		{"together too large", []item{{"a", 0o644, strings.Repeat("0", 3<<20)}, {"b", 0o644, strings.Repeat("1", 3<<20)}, {"c", 0o644, strings.Repeat("1", 3<<20)}}, "", ""},
	}
	for _, tt := range tests {
		for kind, pack := range map[string]func(*testing.T, ...item) []byte{"zip": zipOf, "tar": tarOf} {
			if tt.only != "" && tt.only != kind {
				continue
			}
			outer, _, _, err := unpack(t, pack(t, tt.items...), Limits{Files: 50, Bytes: 8 << 20})
			refused, ok := errors.AsType[*RefusedError](err)
			if !ok || !strings.Contains(refused.Error(), tt.why) {
				t.Errorf("%s (%s): %v, want %q", tt.name, kind, err, tt.why)
			}
			if left, err := os.ReadDir(outer); err != nil || len(left) != 1 {
				t.Errorf("%s (%s): files outside: %v %v", tt.name, kind, left, err)
			}
		}
	}
}

// TestBombs: much of little is refused before it is written.
func TestBombs(t *testing.T) {
	zeros := item{"a", 0o644, strings.Repeat("\x00", 64<<20)}
	_, dir, _, err := unpack(t, zipOf(t, zeros), Limits{})
	if _, ok := errors.AsType[*RefusedError](err); !ok {
		t.Errorf("zip: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("zip: %v %v", left, err)
	}
	_, _, _, err = unpack(t, gzipped(t, tarOf(t, zeros)), Limits{})
	if _, ok := errors.AsType[*RefusedError](err); !ok {
		t.Errorf("tar.gz: %v", err)
	}
	// A directory that lies about sizes: the checksum of what comes out differs.
	lie := bytes.ReplaceAll(zipOf(t, item{"a", 0o644, strings.Repeat("\x00", 1<<20)}), []byte{0, 0, 0x10, 0}, []byte{1, 0, 0, 0})
	if _, _, _, err = unpack(t, lie, Limits{}); err == nil {
		t.Error("a zip with wrong sizes was taken")
	}
}

// TestDamaged: files that are no archives, or half of one, are errors.
func TestDamaged(t *testing.T) {
	whole := zipOf(t, item{"a", 0o644, strings.Repeat("text ", 1000)})
	packed := gzipped(t, tarOf(t, item{"a", 0o644, strings.Repeat("text ", 1000)}))
	for _, data := range [][]byte{nil, []byte("hello"), []byte("PK\x03\x04"), whole[:len(whole)/2], packed[:len(packed)/2], packed[:8]} {
		if _, _, _, err := unpack(t, data, Limits{}); err == nil {
			t.Errorf("%d bytes were taken", len(data))
		}
	}
	if _, _, _, err := unpack(t, []byte("hello"), Limits{}); !errors.Is(err, ErrNoArchive) {
		t.Errorf("%v", err)
	}
}
