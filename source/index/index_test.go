package index

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/skill"
)

var mine = Identity{Build: "a build", Root: "/r", Kind: "folders"}

// fill gives every field below v a random value, nil and empty ones among them.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString([]string{"", "a", "Zeile\nzwei \x00 ü", string(make([]byte, 300))}[r.IntN(4)])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(r.Uint64()))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i), depth)
		}
	case reflect.Slice:
		if n := r.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
			for i := range n - 1 {
				fill(r, v.Index(i), depth+1)
			}
		}
	case reflect.Map:
		if n := r.IntN(4); n > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for i := range n - 1 {
				item := reflect.New(v.Type().Elem()).Elem()
				fill(r, item, depth+1)
				v.SetMapIndex(reflect.ValueOf(fmt.Sprint("k", i)), item)
			}
		}
	case reflect.Interface:
		fillAny(r, v, depth)
	default:
		panic("a field of the kind " + v.Kind().String() + " is new; is it kept?")
	}
}

func fillAny(r *rand.Rand, v reflect.Value, depth int) {
	values := []any{nil, true, false, "text", 1.5, int(-3), int64(1) << 60, uint64(1) << 63, []any(nil), []any{}, map[string]any(nil), map[string]any{}}
	if depth < 5 && r.IntN(2) == 0 {
		list, object := []any{}, map[string]any{}
		fill(r, reflect.ValueOf(&list).Elem(), depth+1)
		fill(r, reflect.ValueOf(&object).Elem(), depth+1)
		values = []any{list, object}
	}
	if pick := values[r.IntN(len(values))]; pick != nil {
		v.Set(reflect.ValueOf(pick))
	}
}

// random returns a record with every field that is kept.
func random(r *rand.Rand, path string) Record {
	rec := Record{Path: path, Skill: new(skill.Skill)}
	s := rec.Skill
	for _, part := range []any{&s.Summary, &s.Run} {
		fill(r, reflect.ValueOf(part).Elem(), 0)
	}
	trigger := reflect.ValueOf(&s.Trigger).Elem()
	content := reflect.ValueOf(&s.Content).Elem()
	for i := range trigger.NumField() {
		if trigger.Type().Field(i).Name != "Enabled" {
			fill(r, trigger.Field(i), 0)
		}
	}
	for i := range content.NumField() {
		if content.Type().Field(i).Name != "Body" {
			fill(r, content.Field(i), 0)
		}
	}
	s.ID = ""
	fill(r, reflect.ValueOf(&rec.Problems).Elem(), 0)
	for i := range rec.Problems {
		rec.Problems[i].Path = ""
	}
	fill(r, reflect.ValueOf(&rec.Real).Elem(), 0)
	rec.Fields = r.IntN(100)
	rec.Stamp = Stamp{int64(r.Uint64()), int64(r.Uint64()), int64(r.Uint64()), r.Uint64(), r.Uint64()}
	return rec
}

// TestRoundTrip: what comes out of an index is what went in, whatever fields a
// skill has.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var want []Record
	w := NewWriter(mine)
	for i := range 500 {
		rec := random(r, fmt.Sprintf("cat/skill-%d/SKILL.md", i))
		if !w.Add(&rec) {
			t.Fatalf("%d was not taken", i)
		}
		want = append(want, rec)
	}
	path := filepath.Join(t.TempDir(), "deep", "index")
	if err := errors.Join(Writable(filepath.Dir(path)), w.Write(path)); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path, mine)
	if err != nil || f.Len() != len(want) || w.Len() != len(want) {
		t.Fatal(f.Len(), w.Len(), err)
	}
	for _, rec := range want {
		got, ok := f.Find(rec.Path)
		if diff := cmp.Diff(rec, got); !ok || diff != "" {
			t.Fatalf("%v %s", ok, diff)
		}
	}
	for _, path := range []string{"", "cat", "cat/skill-500/SKILL.md", "cat/skill-1/SKILL.m"} {
		if got, ok := f.Find(path); ok {
			t.Errorf("%q: %v", path, got)
		}
	}
	st, err := os.Stat(path)
	if err != nil || st.Mode().Perm() != 0o600 && filepath.Separator == '/' {
		t.Errorf("%v %v", st.Mode(), err)
	}
}

// TestNotKept: what has no exact form is refused and leaves nothing behind.
func TestNotKept(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	w := NewWriter(mine)
	good := random(r, "good")
	w.Add(&good)
	size := len(w.encoder.b)
	deep := any("end")
	for range maxDepth + 1 {
		deep = []any{deep}
	}
	for _, v := range []any{struct{}{}, float32(1), deep} {
		bad := random(r, "bad")
		bad.Skill.Run.Hooks = hooksWith(v)
		if w.Add(&bad) || len(w.encoder.b) != size || w.Len() != 1 {
			t.Errorf("%T was taken", v)
		}
	}
	f, err := parse(string(w.bytes()), mine)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := f.Find("good")
	if diff := cmp.Diff(good, got); !ok || diff != "" {
		t.Error(diff)
	}
}

func hooksWith(v any) hook.Config {
	return hook.Config{{Handlers: []hook.Handler{{Input: map[string]any{"k": v}}}}}
}

func sample(t testing.TB) []byte {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 1))
	w := NewWriter(mine)
	for i := range 5 {
		rec := random(r, fmt.Sprint(i))
		w.Add(&rec)
	}
	return w.bytes()
}

// TestUnusable: an index that is damaged, cut or somebody else's is none.
func TestUnusable(t *testing.T) {
	good := sample(t)
	cases := map[string][]byte{
		"empty":      {},
		"text":       []byte("hello"),
		"cut":        good[:len(good)-1],
		"header":     good[:headerSize],
		"more":       append(bytes.Clone(good), 0),
		"old format": append([]byte("knackix\x00"), good[8:]...),
	}
	for i := range good {
		b := bytes.Clone(good)
		b[i] ^= 1
		if f, err := parse(string(b), mine); !errors.Is(err, ErrUnusable) {
			t.Errorf("bit in byte %d: %v %v", i, f.Len(), err)
		}
	}
	path := filepath.Join(t.TempDir(), "index")
	for name, data := range cases {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if f, err := Open(path, mine); !errors.Is(err, ErrUnusable) {
			t.Errorf("%s: %v %v", name, f, err)
		}
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []Identity{{"b", "/r", "folders"}, {"a build", "/s", "folders"}, {"a build", "/r", "commands"}} {
		if _, err := Open(path, id); !errors.Is(err, ErrUnusable) {
			t.Errorf("%v: %v", id, err)
		}
	}
	if _, err := Open(path, mine); err != nil {
		t.Error(err)
	}
	if _, err := Open(path+"2", mine); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Open(filepath.Dir(path), mine); err == nil {
		t.Error("a directory was read")
	}
}

// TestClean removes what nobody wrote for long, and nothing else.
func TestClean(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"old.index", "new.index", "old.json"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if name != "new.index" {
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := Clean(dir, old.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	want := []string{filepath.Join(dir, "new.index"), filepath.Join(dir, "old.json")}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Error(diff)
	}
	if err := Clean(filepath.Join(dir, "none"), old); err != nil {
		t.Error(err)
	}
	if err := Writable(filepath.Join(dir, "old.json", "below a file")); err == nil {
		t.Error("a directory was made below a file")
	}
	if again, _ := filepath.Glob(filepath.Join(dir, "*")); Writable(dir) != nil || len(again) != len(want) {
		t.Errorf("asking leaves %q", again)
	}
}

// FuzzParse: whatever an index holds behind a right checksum, reading it ends,
// stays within its bounds, and takes memory in proportion to its size.
func FuzzParse(f *testing.F) {
	f.Add(sample(f)[headerSize:], "1")
	f.Add(bytes.Repeat([]byte{0xff}, 64), "")
	f.Fuzz(func(t *testing.T, rest []byte, path string) {
		w := NewWriter(mine)
		b := append(w.bytes()[:headerSize], rest...)
		at := headerSize - 16
		slots := uint32(2)
		for int(slots)*slotSize*4 < len(rest) {
			slots *= 2
		}
		put32(b[at+4:], slots)
		put32(b[at+8:], uint32(len(rest)))
		put32(b[at+12:], checksum(string(b[:headerSize-4]), string(rest)))
		file, err := parse(string(b), mine)
		if err != nil {
			return
		}
		if rec, ok := file.Find(path); ok && (rec.Skill == nil || rec.Path != path) {
			t.Error(rec)
		}
		for i := range min(len(file.records), 200) {
			d := decoder{s: file.records[i:]}
			d.record("x")
		}
	})
}
