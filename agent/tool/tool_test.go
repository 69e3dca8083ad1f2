package tool_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/agent/tool"
)

type target struct {
	Path  string `json:"file_path"`
	N     int    `json:"-n"`
	All   bool   `json:"all"`
	Mode  string `json:"mode"`
	Edits []struct {
		Old string `json:"old_string"`
		All bool   `json:"all"`
	} `json:"edits"`
}

func input() tool.Input {
	return tool.Input{Tool: "Try", Fields: []tool.Field{
		{Name: "file_path", Type: tool.String, Required: true, Filled: true, Doc: "the file to read; best absolute"},
		{Name: "-n", Type: tool.Integer, Min: 1, Max: 10, Doc: "how many"},
		{Name: "all", Type: tool.Boolean, Doc: "everything"},
		{Name: "mode", Type: tool.String, Enum: []string{"fast", "slow"}, Doc: "how"},
		{Name: "edits", Type: tool.Array, Max: 2, Doc: "changes", Items: []tool.Field{
			{Name: "old_string", Type: tool.String, Required: true, Doc: "the text"},
			{Name: "all", Type: tool.Boolean, Doc: "everything"},
		}},
	}}
}

func TestDecode(t *testing.T) { // spec A-3
	for _, tt := range []struct{ in, want string }{
		{`{"file_path":"a"}`, ""},
		{`{"file_path":"a","-n":3.0,"all":true,"mode":"slow","edits":[{"old_string":""}]}`, ""},
		{`{"file_path":"a","-n":1e1,"all":null,"edits":[]}`, ""},
		{``, `Try: "file_path" is missing: the file to read`},
		{`{}`, `Try: "file_path" is missing: the file to read`},
		{`{"file_path":""}`, `Try: "file_path" is empty: the file to read`},
		{`{"file_path":null}`, `Try: "file_path" must be a string, not null`},
		{`{"file_path":7}`, `Try: "file_path" must be a string, not a number (7)`},
		{`{"file_path":"a","-n":"3"}`, `Try: "-n" must be a whole number without quotes, not a string ("3")`},
		{`{"file_path":"a","-n":2.5}`, `Try: "-n" must be a whole number, not 2.5`},
		{`{"file_path":"a","-n":0}`, `Try: "-n" must be at least 1, not 0`},
		{`{"file_path":"a","-n":11}`, `Try: "-n" must be at most 10, not 11`},
		{`{"file_path":"a","all":"true"}`, `Try: "all" must be true or false without quotes, not a string ("true")`},
		{`{"file_path":"a","mode":"warp"}`, `Try: "mode" must be one of fast, slow, not "warp"`},
		{`{"file_path":"a","edits":{}}`, `Try: "edits" must be an array of objects, not an object`},
		{`{"file_path":"a","edits":["x"]}`, `Try: "edits[0]" must be an object with old_string, all, not a string`},
		{`{"file_path":"a","edits":[{"old_string":"x"},{}]}`, `Try: "edits[1].old_string" is missing: the text`},
		{`{"file_path":"a","edits":[{"old_string":"x","al":true}]}`, `Try: unknown key "edits[0].al" (did you mean "all"?); the keys are old_string, all`},
		{`{"file_path":"a","edits":[{},{},{}]}`, `Try: "edits" may hold 2 at most, not 3`},
		{`{"filePath":"a"}`, `Try: unknown key "filePath" (did you mean "file_path"?); the keys are file_path, -n, all, mode, edits; "file_path" is missing: the file to read`},
		{`{"path":"a","file_path":"b"}`, `Try: unknown key "path" (did you mean "file_path"?); the keys are file_path, -n, all, mode, edits`},
		{`{"File_Path":"a"}`, `Try: unknown key "File_Path" (did you mean "file_path"?); the keys are file_path, -n, all, mode, edits; "file_path" is missing: the file to read`},
		{`{"file_path":"a","file_path":"b"}`, `Try: the key "file_path" is there twice: send it once`},
		{`[1]`, `Try: the input must be an object with file_path, -n, all, mode, edits, not an array`},
		{`{"file_path":`, `Try: the input is not valid JSON (unexpected end of JSON input): send one JSON object`},
		{"{\"file_path\":\"\xff\"}", `Try: the input is not valid UTF-8`},
	} {
		var got target
		err := input().Decode(json.RawMessage(tt.in), &got)
		if text := message(err); text != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.in, text, tt.want)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestDecodeValues(t *testing.T) {
	var got target
	err := input().Decode(json.RawMessage(`{"file_path":"<a>\n","-n":1e0,"all":true,"mode":"fast","edits":[{"old_string":"é","all":true},{"old_string":""}]}`), &got)
	if err != nil {
		t.Fatal(err)
	}
	if got.Path != "<a>\n" || got.N != 1 || !got.All || got.Mode != "fast" || len(got.Edits) != 2 || got.Edits[0].Old != "é" || !got.Edits[0].All || got.Edits[1].All {
		t.Errorf("%+v", got)
	}
}

func TestSchema(t *testing.T) {
	in := tool.Input{Tool: "T", Fields: []tool.Field{
		{Name: "a", Type: tool.String, Required: true, Filled: true, Doc: "x < y"},
		{Name: "b", Type: tool.Array, Min: 1, Max: 4, Doc: "list", Items: []tool.Field{{Name: "c", Type: tool.Integer, Doc: "n"}}},
	}}
	want := `{"type":"object","properties":{"a":{"type":"string","description":"x < y","minLength":1},` +
		`"b":{"type":"array","description":"list","minItems":1,"maxItems":4,"items":{"type":"object","properties":{"c":{"type":"integer","description":"n","minimum":0}},"additionalProperties":false}}},` +
		`"required":["a"],"additionalProperties":false}`
	if d := cmp.Diff(want, string(in.Schema())); d != "" {
		t.Error(d)
	}
}

func TestAbs(t *testing.T) {
	base := tool.Base{Dir: "/w/p", Home: "/home/u"}
	for _, tt := range []struct{ in, want string }{
		{"a", "/w/p/a"}, {"./a/../b", "/w/p/b"}, {"/x//y/", "/x/y"}, {"~", "/home/u"}, {"~/.x", "/home/u/.x"}, {"~u/x", "/w/p/~u/x"}, {`~\x`, `/w/p/~\x`}, {"../q", "/w/q"},
	} {
		if got, err := base.Abs("path", tt.in); got != tt.want || err != nil {
			t.Errorf("Abs(%q) = %q, %v, want %q", tt.in, got, err, tt.want)
		}
	}
	for in, want := range map[string]string{"a\x00b": "NUL", "~/x": "home"} {
		if _, err := (tool.Base{Dir: "/w"}).Abs("path", in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Abs(%q): %v", in, err)
		}
	}
	for in, want := range map[string]string{"/w/p/a/b": "a/b", "/w/p": ".", "/w/q": "/w/q", "/w/p/..a": "..a", "/w/p/~": "/w/p/~"} {
		if got := base.Show(in); got != want {
			t.Errorf("Show(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestReal(t *testing.T) { // spec S-8
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"in/deep", "out"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"in/file": "../out/f", "in/dir": "deep", "in/gone": "../out/nothing", "in/abs": filepath.Join(dir, "out"),
		"in/loop": "loop", "in/chain": "dir/../file", "in/deep/up": "../../out",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip("this system makes no links:", err)
		}
	}
	for in, want := range map[string]string{
		"in/file": "out/f", "in/dir/x": "in/deep/x", "in/gone": "out/nothing", "in/gone/x": "out/nothing/x", "in/abs/y/z": "out/y/z",
		"in/chain": "out/f", "in/new/file": "in/new/file", "in/dir/up/q": "out/q", "": "",
	} {
		if got, err := tool.Real(filepath.Join(dir, in)); got != filepath.Join(dir, want) || err != nil {
			t.Errorf("Real(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	if _, err := tool.Real(filepath.Join(dir, "in/loop")); err == nil {
		t.Error("a loop of links leads somewhere")
	}
}

func TestUnmoved(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("a", link); err != nil {
		t.Skip("this system makes no links:", err)
	}
	req, err := tool.Base{Dir: dir}.Request("Read", link)
	if err != nil || req.Input.RealPath != filepath.Join(dir, "a") || tool.Unmoved(req) != nil {
		t.Fatalf("%+v, %v", req, err)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("b", link); err != nil {
		t.Fatal(err)
	}
	if err := tool.Unmoved(req); err == nil {
		t.Error("a link that was changed after the permission is followed")
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"file_path":"a","-n":3}`, `{"edits":[{"old_string":"x"}]}`, `[`, `{"a":1,"a":2}`, "\xff", `{"-n":1e400}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var got target
		err := input().Decode(raw, &got)
		switch {
		case err == nil && got.Path == "":
			t.Errorf("%q is accepted without a file", raw)
		case err == nil && (got.N < 0 || got.N > 10):
			t.Errorf("%q is accepted with %d", raw, got.N)
		case err != nil && !strings.HasPrefix(err.Error(), "Try: "):
			t.Errorf("%q: %v", raw, err)
		}
	})
}
