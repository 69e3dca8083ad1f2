package settings_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/knack-skills/knack/internal/lab/killed"
	"github.com/knack-skills/knack/settings"
)

// writeMany is for a test binary that is run again as another process: it adds
// rules "Bash(NAME-0)" and so on until it is killed or has added enough.
const writeMany = "SETTINGS_TEST_WRITE"

// addRules is what the other process does.
func addRules(args string) error {
	dir, name, _ := strings.Cut(args, "|")
	for i := range rulesEach {
		if err := writer(dir).Allow(fmt.Sprintf("Bash(%s-%d)", name, i)); err != nil {
			return err
		}
		if i == 0 {
			fmt.Println("began")
		}
	}
	return nil
}

const rulesEach = 40

func writer(dir string) settings.Writer {
	return settings.Writer{Path: filepath.Join(dir, ".claude", "settings.local.json"), Lock: filepath.Join(dir, "state", "settings.lock")}
}

func TestWriterKeepsTheFile(t *testing.T) {
	for name, tt := range map[string]struct{ old, want string }{
		"no file":          {"", "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(a && b)\",\n      \"Read(x)\"\n    ]\n  }\n}\n"},
		"empty object":     {"{}", "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(a && b)\",\n      \"Read(x)\"\n    ]\n  }\n}"},
		"another key":      {"{\n\t\"x\": 1\n}\n", "{\n\t\"permissions\": {\n    \"allow\": [\n      \"Bash(a && b)\",\n      \"Read(x)\"\n    ]\n  },\n\t\"x\": 1\n}\n"},
		"no list":          {`{"permissions":{"deny":["y"]}}`, `{"permissions":{"allow": ["Bash(a && b)", "Read(x)"], "deny":["y"]}}`},
		"empty":            {`{"permissions":{}}`, `{"permissions":{"allow": ["Bash(a && b)", "Read(x)"]}}`},
		"empty list":       {`{"permissions":{"allow": [ ] }}`, `{"permissions":{"allow": ["Bash(a && b)", "Read(x)"] }}`},
		"one line":         {`{"permissions":{"allow":["y"]}}`, `{"permissions":{"allow":["y", "Bash(a && b)", "Read(x)"]}}`},
		"lines":            {"{\"permissions\": {\"allow\": [\n    \"y\"\n  ]}}", "{\"permissions\": {\"allow\": [\n    \"y\",\n    \"Bash(a && b)\",\n    \"Read(x)\"\n  ]}}"},
		"windows":          {"{\"permissions\": {\"allow\": [\r\n    \"y\"\r\n  ]}}\r\n", "{\"permissions\": {\"allow\": [\r\n    \"y\",\r\n    \"Bash(a && b)\",\r\n    \"Read(x)\"\r\n  ]}}\r\n"},
		"byte order mark":  {"\ufeff{\"permissions\":{\"allow\":[\"y\"]}}", "\ufeff{\"permissions\":{\"allow\":[\"y\", \"Bash(a && b)\", \"Read(x)\"]}}"},
		"there already":    {`{"permissions":{"allow":["Read(x)", "Bash(a && b)"]}}`, `{"permissions":{"allow":["Read(x)", "Bash(a && b)"]}}`},
		"one there":        {`{"permissions":{"allow":["Read(x)"]}}`, `{"permissions":{"allow":["Read(x)", "Bash(a && b)"]}}`},
		"the last counts":  {`{"permissions":{"allow":["a"]},"permissions":{"allow":["b"]}}`, `{"permissions":{"allow":["a"]},"permissions":{"allow":["b", "Bash(a && b)", "Read(x)"]}}`},
		"hostile texts":    {`{"a":"\"permissions\":{\"allow\":[","permissions":{"allow":["]}"]}}`, `{"a":"\"permissions\":{\"allow\":[","permissions":{"allow":["]}", "Bash(a && b)", "Read(x)"]}}`},
		"not a list":       {`{"permissions":{"allow":"y"}}`, ""},
		"not an object":    {`{"permissions":[]}`, ""},
		"null":             {`{"permissions":null}`, ""},
		"a list":           {`[]`, ""},
		"a mistake":        {`{"permissions":{"allow":["y",]}}`, ""},
		"a comment":        {"{ // mine\n}", ""},
		"two objects":      {"{} {}", ""},
		"not text":         {"\xff\xfe{", ""},
		"numbers as named": {`{"big":12345678901234567890,"permissions":{"allow":[]}}`, `{"big":12345678901234567890,"permissions":{"allow":["Bash(a && b)", "Read(x)"]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := writer(t.TempDir())
			if err := os.Mkdir(filepath.Dir(w.Path), 0o755); err != nil {
				t.Fatal(err)
			}
			if tt.old != "" {
				if err := os.WriteFile(w.Path, []byte(tt.old), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			err := w.Allow("Bash(a && b)", "Read(x)", "Read(x)")
			got, rerr := os.ReadFile(w.Path)
			if rerr != nil {
				t.Fatal(rerr)
			}
			if tt.want == "" {
				tt.want = tt.old
				if err == nil {
					t.Error("no error")
				}
			} else if err != nil {
				t.Error(err)
			}
			if d := cmp.Diff(tt.want, string(got)); d != "" {
				t.Error(d)
			}
			if fi, err := os.Stat(w.Path); err != nil || tt.old != "" && fi.Mode().Perm() != 0o640 {
				t.Errorf("rights %v, %v", fi.Mode(), err)
			}
		})
	}
}

// Whatever a file holds, a rule is added and nothing else, or nothing at all.
func TestWriterAddsNothingElse(t *testing.T) {
	blank := rapid.SampledFrom([]string{"", " ", "\n  ", "\t", "\r\n"})
	value := rapid.SampledFrom([]string{"1", `"text"`, "[]", "{}", `{"allow":["no"]}`, "null", `["Read(y)"]`, `["a" , "b"]`, `"]"`})
	key := rapid.SampledFrom([]string{"allow", "deny", "permissions", "x", "env"})
	dir := t.TempDir()
	w := writer(dir)
	if err := os.Mkdir(filepath.Dir(w.Path), 0o755); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		object := func(inner func() string) string {
			var parts []string
			seen := map[string]bool{}
			for range rapid.IntRange(0, 4).Draw(t, "members") {
				k := key.Draw(t, "key")
				if seen[k] {
					continue
				}
				seen[k] = true
				v := value.Draw(t, "value")
				if k == "permissions" && inner != nil {
					v = inner()
				}
				b := blank.Draw(t, "blank")
				parts = append(parts, b+`"`+k+`"`+blank.Draw(t, "colon")+":"+blank.Draw(t, "value blank")+v+blank.Draw(t, "end"))
			}
			return "{" + strings.Join(parts, ",") + blank.Draw(t, "last") + "}"
		}
		old := object(func() string { return object(nil) })
		if err := os.WriteFile(w.Path, []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		err := w.Allow("Bash(<new>)")
		data, rerr := os.ReadFile(w.Path)
		if rerr != nil {
			t.Fatal(rerr)
		}
		if err != nil {
			if string(data) != old {
				t.Fatalf("%q became %q with %v", old, data, err)
			}
			return
		}
		var before, after map[string]any
		if err := json.Unmarshal([]byte(old), &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &after); err != nil {
			t.Fatalf("%q became %q: %v", old, data, err)
		}
		p, _ := before["permissions"].(map[string]any)
		if p == nil {
			p = map[string]any{}
		}
		list, _ := p["allow"].([]any)
		p["allow"] = append(list, "Bash(<new>)")
		before["permissions"] = p
		if d := cmp.Diff(before, after); d != "" {
			t.Fatalf("%q became %q: %s", old, data, d)
		}
	})
}

// A repository cannot have the rule written somewhere else.
func TestWriterFollowsNoLink(t *testing.T) {
	for _, name := range []string{".claude", ".claude/settings.local.json"} {
		dir, away := t.TempDir(), t.TempDir()
		target := filepath.Join(away, "settings.local.json")
		if err := os.WriteFile(target, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		link, to := filepath.Join(dir, name), away
		if name != ".claude" {
			to = target
			if err := os.Mkdir(filepath.Dir(link), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(to, link); err != nil {
			t.Skip("this system has no links:", err)
		}
		if err := writer(dir).Allow("Bash(x)"); err == nil {
			t.Errorf("%s: no error", name)
		}
		if data, err := os.ReadFile(target); err != nil || string(data) != "{}" {
			t.Errorf("%s: %s, %v", name, data, err)
		}
	}
}

func TestWriterRefusesNoRule(t *testing.T) {
	w := writer(t.TempDir())
	if err := w.Allow("Bash(x"); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(w.Path); err == nil {
		t.Error("a file was made")
	}
}

// Processes take turns, none loses what another added, and one that is killed
// leaves a whole file with everything that was added before (spec M-5).
func TestWriterProcesses(t *testing.T) {
	dir := t.TempDir()
	command := func(name string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), writeMany+"="+dir+"|"+name)
		cmd.Stderr = os.Stderr
		return cmd
	}
	allowed := func() map[string]bool {
		t.Helper()
		data, err := os.ReadFile(writer(dir).Path)
		if err != nil {
			t.Fatal(err)
		}
		var v struct {
			Permissions struct{ Allow []string }
		}
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		out := map[string]bool{}
		for _, r := range v.Permissions.Allow {
			out[r] = true
		}
		return out
	}
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b", "c"} {
		wg.Go(func() {
			if out, err := command(name).Output(); err != nil {
				t.Errorf("%v %s", err, out)
			}
		})
	}
	wg.Wait()
	before := allowed()
	if len(before) != 3*rulesEach {
		t.Fatalf("%d rules", len(before))
	}
	for i := range 6 {
		killed.At(t, command(fmt.Sprint("killed", i)), 5)
		now := allowed()
		for r := range before {
			if !now[r] {
				t.Fatalf("%s is lost", r)
			}
		}
		before = now
	}
}
