//go:build unix

package cli_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const guide, policyDir = "../../docs/guide-admin.md", "../../docs/example/policy"

// policyBlock is one file of the policy in the guide: its name in a line of its
// own, and its text.
var policyBlock = regexp.MustCompile("(?ms)^`(managed-settings[^`]*\\.json)`[^\n]*\n\n(?:[^`\n][^\n]*\n)*\n?```json\n(.*?)^```$")

// incident is the file that is put in place when something has happened. It is
// not part of the policy of every day.
const incident = "managed-settings.d/99-incident.json"

// policyFiles returns the policy of the guide, by file name.
func policyFiles(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, m := range policyBlock.FindAllStringSubmatch(string(data), -1) {
		files[m[1]] = m[2]
	}
	if _, ok := files["managed-settings.json"]; !ok || len(files) < 3 {
		t.Fatalf("the guide shows no policy: %q", slices.Sorted(maps.Keys(files)))
	}
	return files
}

// TestPolicyOfTheGuide: what the guide shows is what its transcripts run with.
func TestPolicyOfTheGuide(t *testing.T) {
	files := policyFiles(t)
	for name, text := range files {
		data, err := os.ReadFile(filepath.Join(policyDir, name))
		if name == incident {
			if err == nil {
				t.Errorf("%s is in force", name)
			}
			continue
		}
		if err != nil || string(data) != text {
			t.Errorf("%s differs from the one in %s (%v)", name, policyDir, err)
		}
	}
	names, err := filepath.Glob(filepath.Join(policyDir, "managed-settings.d", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if _, ok := files["managed-settings.d/"+filepath.Base(n)]; !ok {
			t.Errorf("the guide does not show %s", n)
		}
	}
}

// policyLines takes a policy apart into what it says, one thing each. The key
// is the dotted name and the value; the value is a settings file that says this
// alone.
func policyLines(t *testing.T, text string) map[string]string {
	t.Helper()
	var root any
	if err := json.Unmarshal([]byte(text), &root); err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{}
	var walk func(path []string, v any, whole func(any) any)
	walk = func(path []string, v any, whole func(any) any) {
		switch v := v.(type) {
		case map[string]any:
			if len(path) > 0 && path[0] == "strictKnownMarketplaces" || len(path) > 0 && path[0] == "blockedMarketplaces" || len(path) > 1 && path[0] == "hooks" {
				break // one thing
			}
			for name, sub := range v {
				walk(append(slices.Clone(path), name), sub, func(x any) any { return whole(map[string]any{name: x}) })
			}
			return
		case []any:
			if path[0] == "skillPrecedence" || path[0] == "hooks" {
				break // an order, or the hooks of one event
			}
			for _, sub := range v {
				walk(path, sub, func(x any) any { return whole([]any{x}) })
			}
			return
		}
		file, err := json.Marshal(whole(v))
		if err != nil {
			t.Fatal(err)
		}
		value, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.Join(path, ".")
		if text, ok := v.(string); ok {
			name += " " + text
		} else if path[0] != "hooks" {
			name += " " + string(value)
		}
		lines[name] = string(file)
	}
	walk(nil, root, func(x any) any { return x })
	return lines
}

// An attempt is somebody who wants what the line of a policy forbids, and
// reports whether they got it.
type attempt struct {
	who string
	got func(w *world) bool
}

// A promise is what a line of the policy promises, with everybody who tries to
// get around it.
type promise struct {
	set      func(w *world) // what there is in this world; nil is nothing
	attempts []attempt
}

// TestPolicyLines proves each line of the guide's policy through the program:
// every attempt fails under the line alone, fails under the whole policy, and
// succeeds without it. A line without a promise, or the other way round, fails.
func TestPolicyLines(t *testing.T) {
	files := policyFiles(t)
	var whole []string
	for name := range files {
		if name != incident {
			whole = append(whole, name)
		}
	}
	proved := map[string]bool{}
	known := promises()
	for name, text := range files {
		for line, alone := range policyLines(t, text) {
			key := line
			if name == incident {
				key = "incident: " + line
			}
			p, ok := known[key]
			if !ok {
				t.Errorf("%s: nothing proves the line %q", name, key)
				continue
			}
			proved[key] = true
			t.Run(key, func(t *testing.T) {
				t.Parallel()
				p.prove(t, "without it", true, nil)
				p.prove(t, "under it", false, map[string]string{"managed-settings.json": alone})
				all := map[string]string{name: text}
				for _, n := range whole {
					all[n] = files[n]
				}
				p.prove(t, "under the whole policy", false, all)
			})
		}
	}
	for key := range known {
		if !proved[key] {
			t.Errorf("the guide does not say %q", key)
		}
	}
}

// prove makes every attempt in a world of its own, with these managed files.
func (p promise) prove(t *testing.T, when string, want bool, managed map[string]string) {
	t.Helper()
	for _, a := range p.attempts {
		w := newWorld(t)
		w.stubs()
		for name, text := range managed {
			w.file("../managed/"+name, w.placed(text))
		}
		if p.set != nil {
			p.set(w)
		}
		if got := a.got(w); got != want {
			t.Errorf("%s, %s: got what they wanted: %t", a.who, when, got)
		}
	}
}

// placed is the text of a policy with the directories of this world for those of
// a machine.
func (w *world) placed(text string) string {
	return strings.NewReplacer(`"/srv/agent-plugins"`, quoted(w.path("../srv/agent-plugins")),
		`"/home/[^/]+/Downloads/.*"`, quoted(regexp.QuoteMeta(w.path("../Downloads"))+"/.*")).Replace(text)
}

// stubs puts programs in front of the path that leave a mark instead of
// reaching out. A sandbox may keep the mark from being made, so it is made in
// the workspace.
func (w *world) stubs() {
	w.t.Helper()
	for name, script := range map[string]string{
		"npm": `touch "did-npm-$1"`, "kubectl": `touch did-kubectl`,
		"git": `if [ "$1" = push ]; then touch did-push; exit; fi; exec ` + lookPath(w.t, "git") + ` "$@"`,
	} {
		path := w.file("../bin/"+name, "#!/bin/sh\n"+script+"\n")
		if err := os.Chmod(path, 0o755); err != nil {
			w.t.Fatal(err)
		}
	}
	w.env = append(w.env, "PATH="+w.path("../bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// TestPolicyKeys: every key that only an administrator may set is in the policy
// of the guide.
func TestPolicyKeys(t *testing.T) {
	said := map[string]bool{}
	for _, text := range policyFiles(t) {
		for line := range policyLines(t, text) {
			name, _, _ := strings.Cut(line, " ")
			said[name] = true
		}
	}
	for _, k := range managedKeys() {
		if !said[k] {
			t.Errorf("the policy of the guide does not show %s", k)
		}
	}
	if len(said) < 15 {
		t.Error(fmt.Sprint(len(said), " keys"))
	}
}

// TestPolicyBrings: skills and agent types of the managed directory take the
// place of those of the same name of people, projects and flags.
func TestPolicyBrings(t *testing.T) {
	const theirs = "---\nname: reviewer\ndescription: d\n---\nTHEIR-TEXT\n"
	w := newWorld(t)
	for _, dir := range []string{".claude", "../home/.claude"} {
		w.file(dir+"/skills/house-rules/SKILL.md", "---\ndescription: d\n---\nTHEIR-TEXT\n")
		w.file(dir+"/agents/reviewer.md", theirs)
	}
	see := func() (text string) {
		_, asked := w.requests(`{"steps":[{"text":"end"}]}`, "-p", "/house-rules", "--trust", "--agent", "reviewer",
			"--agents", `{"reviewer":{"description":"d","prompt":"THEIR-TEXT"}}`)
		return fmt.Sprintf("%s %+v", asked[0].System, asked[0].Messages)
	}
	if said := see(); strings.Count(said, "THEIR-TEXT") != 2 {
		t.Errorf("without the policy: %s", said)
	}
	if err := os.CopyFS(w.path("../managed"), os.DirFS(policyDir)); err != nil {
		t.Fatal(err)
	}
	if said := see(); strings.Contains(said, "THEIR-TEXT") || !strings.Contains(said, "at most 72 characters") || !strings.Contains(said, "Change nothing") {
		t.Errorf("with the policy: %s", said)
	}
}
