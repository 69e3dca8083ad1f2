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

// acceptClaims are files that all claim the id "deploy", in the order of
// precedence (spec C-5, C-2): the text of each is its place in it.
func acceptClaims() (files map[string]string, order []string) {
	order = []string{
		"managed/.claude/skills", "managed/.agents/skills",
		"home/.claude/skills", "home/.agents/skills",
		"repo/a/b/.claude/skills", "repo/a/.claude/skills", "repo/.claude/skills", "repo/.agents/skills",
		"second/.claude/skills", "first/.claude/skills", "first/.agents/skills",
		"repo/a/.claude/commands", "repo/.claude/commands", "home/.claude/commands",
	}
	files = map[string]string{"repo/a/b/.keep": ""}
	for i, root := range order {
		name := root + "/deploy/SKILL.md"
		if strings.HasSuffix(root, "/commands") {
			name = root + "/deploy.md"
		}
		files[name] = described(fmt.Sprintf("number %d", i))
		order[i] = name
	}
	return files, order
}

var acceptCalled = regexp.MustCompile(`is called "([^"]+)"`)

// TestAcceptPrecedence: of fourteen claims to one id the first wins, each time
// that the one before it goes, and every loser says whom it lost to and runs by
// a name of its own (spec C-5, C-8).
func TestAcceptPrecedence(t *testing.T) {
	files, order := acceptClaims()
	p := newPlace(t, files)
	flags := []string{"-C", p.path("repo/a/b"), "--add-dir", p.path("second"), "--add-dir", p.path("first")}
	for i, name := range order {
		if text, _ := p.render(append([]string{"deploy"}, flags...)...); !strings.Contains(text, fmt.Sprintf("Body of number %d.", i)) {
			t.Fatalf("the winner is not %s: %q", name, text)
		}
		var r struct{ Steps []struct{ Detail string } }
		p.decode(&r, append([]string{"explain", "deploy"}, flags...)...)
		var bodies []string
		for _, s := range r.Steps {
			if m := acceptCalled.FindStringSubmatch(s.Detail); m != nil {
				text, _ := p.render(append([]string{m[1]}, flags...)...)
				bodies = append(bodies, text[strings.Index(text, "Body of"):])
			}
		}
		var want []string
		for j := range order[i+1:] {
			want = append(want, fmt.Sprintf("Body of number %d.\n", i+1+j))
		}
		if !slices.Equal(bodies, want) {
			t.Errorf("the losers to %s run as %q, want %q", name, bodies, want)
		}
		if err := os.Remove(p.path(name)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAcceptPlaces: which directories are the project's, and which the user's
// (spec C-2).
func TestAcceptPlaces(t *testing.T) {
	for _, tt := range []struct {
		rule  string
		files map[string]string
		dir   string
		env   string
		want  string
	}{
		{"a worktree has a .git file", map[string]string{"wt/.git": "gitdir: /nowhere\n", "wt/.claude/skills/w/SKILL.md": described("w"),
			"wt/sub/.claude/skills/s/SKILL.md": described("s"), ".claude/skills/above/SKILL.md": described("above")}, "wt/sub", "", "project:s project:w"},
		{"home is the project", map[string]string{"home/.claude/skills/x/SKILL.md": described("x"), "home/.agents/skills/y/SKILL.md": described("y"),
			"home/.claude/commands/z.md": described("z")}, "home", "", "legacy:z user:x user:y"},
		{"home is a repository", map[string]string{"home/.git/HEAD": "", "home/p/.claude/skills/p/SKILL.md": described("p"),
			"home/.claude/skills/x/SKILL.md": described("x")}, "home/p", "", "project:p user:x"},
		{"no repository, below home", map[string]string{"home/a/b/.claude/skills/n/SKILL.md": described("n"), "home/a/.claude/skills/m/SKILL.md": described("m"),
			"home/.claude/skills/h/SKILL.md": described("h")}, "home/a/b", "", "project:m project:n user:h"},
		{"no repository, outside home", map[string]string{"out/a/.claude/skills/in/SKILL.md": described("in"),
			"out/.claude/skills/above/SKILL.md": described("above")}, "out/a", "", "project:in"},
		{"CLAUDE_CONFIG_DIR moves .claude, not .agents", map[string]string{"other/skills/o/SKILL.md": described("o"), "other/commands/c.md": described("c"),
			"home/.claude/skills/x/SKILL.md": described("x"), "home/.agents/skills/y/SKILL.md": described("y")}, "repo", "other", "legacy:c user:o user:y"},
		{"the twin", map[string]string{"repo/.agents/skills/t/SKILL.md": described("t"), "add/.agents/skills/at/SKILL.md": described("at")}, "repo", "", "project:t"},
	} {
		p := newPlace(t, tt.files)
		if tt.env != "" {
			t.Setenv("CLAUDE_CONFIG_DIR", p.path(tt.env))
		}
		var got []string
		for id, r := range p.list("-C", p.path(tt.dir)) {
			got = append(got, r.Source+":"+id)
		}
		slices.Sort(got)
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: %s, want %s", tt.rule, s, tt.want)
		}
	}
}

// TestAcceptVisibility: each value of skillOverrides in every place that shows
// or runs skills (spec C-9, C-10).
func TestAcceptVisibility(t *testing.T) {
	const dir = "repo/.claude/skills/demo/SKILL.md"
	for value, want := range map[string]struct {
		line        string // of the listing
		user, model bool
	}{
		`"on"`:                  {"- demo: about demo", true, true},
		`"name-only"`:           {"- demo", true, true},
		`"user-invocable-only"`: {"", true, false},
		`"off"`:                 {"", false, false},
		`"hidden"`:              {"", true, false}, // unknown: the safe value (F-5)
		`false`:                 {"", true, false},
	} {
		for _, key := range []string{"demo", "project:demo"} {
			p := newPlace(t, map[string]string{dir: described("about demo"),
				"home/.claude/settings.json": `{"disableBundledSkills": true, "skillOverrides": {"` + key + `": ` + value + `}}`})
			line := ""
			for l := range strings.Lines(p.run("listing").stdout) {
				if strings.HasPrefix(l, "- demo") {
					line = strings.TrimSpace(l)
				}
			}
			if line != want.line {
				t.Errorf("%s: the model reads %q, want %q", value, line, want.line)
			}
			var r struct {
				User  bool `json:"visible_to_user"`
				Model bool `json:"visible_to_model"`
			}
			p.decode(&r, "explain", "demo")
			_, byUser := p.list("--by", "user")["demo"]
			_, byModel := p.list("--by", "model")["demo"]
			if r.User != want.user || r.Model != want.model || byUser != want.user || byModel != want.model {
				t.Errorf("%s of %s: explained %+v, listed %t %t", value, key, r, byUser, byModel)
			}
			for by, may := range map[string]bool{"user": want.user, "model": want.model} {
				for _, name := range []string{"demo", "project:demo"} {
					if code := p.run("render", name, "--by", by).code; (code == 0) != may || !may && code != 3 {
						t.Errorf("%s of %s: render %s by %s: exit %d", value, key, name, by, code)
					}
				}
			}
			if out := p.run("-p", "/demo"); strings.Contains(out.stdout, "Body of") != want.user {
				t.Errorf("%s: -p: exit %d %q %q", value, out.code, out.stdout, out.stderr)
			}
		}
	}
}

// TestAcceptAnyOrder: the same tree, made in any order, reads the same (spec C-11).
func TestAcceptAnyOrder(t *testing.T) {
	files, _ := acceptClaims()
	for i := range 30 {
		files[fmt.Sprintf("repo/.claude/skills/c%d/s%d/SKILL.md", i%3, i%10)] = "---\nname: same\ndescription: d\n---\n"
	}
	names := slices.Sorted(maps.Keys(files))
	var first string
	for turn := range 3 {
		p := newPlace(t, nil)
		for i := range names {
			n := names[(i*[]int{1, len(names) - 1, 7}[turn]+turn)%len(names)]
			p.write(n, files[n])
		}
		for _, n := range names {
			p.write(n, files[n]) // whatever the steps above left out
		}
		var all string
		for _, args := range [][]string{{"list", "--all", "--json"}, {"listing"}, {"check", "--json"}, {"explain", "deploy"}} {
			all += p.run(append(args, "-C", p.path("repo/a/b"), "--add-dir", p.path("first"))...).stdout
		}
		all = strings.ReplaceAll(all, p.dir, "")
		if first == "" {
			first = all
		}
		if all != first {
			t.Errorf("turn %d reads otherwise", turn)
		}
	}
}

// TestAcceptLinks: what links lead to, by source (spec C-7).
func TestAcceptLinks(t *testing.T) {
	p := newPlace(t, map[string]string{
		"repo/lib/in/SKILL.md": described("in"), "store/out/SKILL.md": described("out"), "store/file.md": described("file"),
		"home/.claude/skills/mine/SKILL.md": described("mine"), "add/.claude/skills/added/SKILL.md": described("added"),
		"repo/.claude/skills/real/SKILL.md": described("real"),
		// Inside the repository: followed, once.
		"repo/.claude/skills/in->": "../../lib/in", "repo/.claude/skills/again->": "../../lib/in",
		"repo/.claude/skills/alias->": "real", "repo/.claude/skills/file/SKILL.md->": "../real/SKILL.md", "repo/.agents/skills->": "../.claude/skills",
		// Out of it: refused, although another root may hold the target.
		"repo/.claude/skills/out->": "../../../store/out", "repo/.claude/skills/mine->": "../../../home/.claude/skills/mine",
		"repo/.claude/skills/added->": "../../../add/.claude/skills/added", "repo/.claude/skills/secret/SKILL.md->": "../../../../store/file.md",
		"add/.claude/skills/away->": "../../../store/out", "repo/.claude/commands->": "../../store",
		// The user's and the administrator's: followed anywhere.
		"home/.claude/skills/out->": "../../../store/out", "managed/.claude/skills/kept->": "../../../store/file.md", "managed/.claude/skills/m/SKILL.md->": "../../../../store/file.md",
	})
	rows := p.list("--add-dir", p.path("add"))
	want := map[string]string{"again": "project", "added": "additional", "m": "managed", "mine": "user", "out": "user", "real": "project"}
	got := map[string]string{}
	for id, r := range rows {
		got[id] = r.Source
	}
	if !maps.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	codes := p.problems("--add-dir", p.path("add"))
	if n := strings.Count(codes, "link-leaves-root"); n != 10 || strings.Trim(strings.ReplaceAll(codes, "link-leaves-root", ""), " ") != "" {
		t.Errorf("%d of ten refused links: %s", n, codes)
	}
	if text, _ := p.render("project:in"); !strings.Contains(text, "Body of in.") {
		t.Errorf("%q", text)
	}
}

// TestAcceptNames: what a name means, and what it never means (spec C-6, I-3).
func TestAcceptNames(t *testing.T) {
	p := newPlace(t, map[string]string{
		"repo/.claude/skills/a/SKILL.md":         "---\nname: Pretty\ndescription: a\n---\nBody of a.\n",
		"repo/.claude/skills/b/SKILL.md":         "---\nname: Pretty\ndescription: b\n---\nBody of b.\n",
		"repo/.claude/skills/c/SKILL.md":         "---\nname: a\ndescription: c\n---\nBody of c.\n",
		"repo/.claude/skills/d/SKILL.md":         "---\nname: Nice\ndescription: d\n---\nBody of d.\n",
		"repo/.claude/skills/caf\u00e9/SKILL.md": described("coffee"),
	})
	for name, want := range map[string]string{
		"a": "a", "/a": "a", " a ": "a", "c": "c", "Nice": "d", "project:a": "a", "cafe\u0301": "coffee",
		"A": "", "nice": "", "Pretty": "", "../a": "", "a/SKILL.md": "", "a\nb": "", "": "", "user:a": "", ".": "", "aa": "", "/": "",
	} {
		out := p.run("render", "--", name)
		if got := strings.Contains(out.stdout, "Body of "+want+"."); got != (want != "") || want == "" && (out.code != 1 || out.stdout != "") {
			t.Errorf("%q: exit %d %q %q", name, out.code, out.stdout, out.stderr)
		}
	}
	if out := p.run("render", "Pretty"); !strings.Contains(out.stderr, `"a" or "b"`) {
		t.Errorf("the claimants are not named: %q", out.stderr)
	}
	if out := p.run("render", "aa"); !strings.Contains(out.stderr, `did you mean "a"?`) {
		t.Errorf("no near name: %q", out.stderr)
	}
}

// TestAcceptTouch: a conditional skill through its three states (spec D-3, D-4,
// I-3): a person may call it at once, a model after a matching file.
func TestAcceptTouch(t *testing.T) {
	p := newPlace(t, map[string]string{
		"repo/.claude/skills/ts/SKILL.md":    file("description: d\npaths: 'src/**/*.{ts,tsx}, !src/gen/**'"),
		"repo/.claude/skills/any/SKILL.md":   file("description: d\npaths: ['**']"),
		"repo/.claude/skills/empty/SKILL.md": file("description: d\npaths: []"),
		"repo/sub/.keep":                     "",
	})
	states := map[string]string{"ts": "conditional", "any": "conditional", "empty": "active"}
	for id, r := range p.list() {
		if r.State != states[id] {
			t.Errorf("%s is %s", id, r.State)
		}
	}
	for _, tt := range []struct {
		id, dir, touch string
		want           bool
	}{
		{"ts", "repo", "", false}, {"any", "repo", "", false}, {"empty", "repo", "", true},
		{"ts", "repo", "src/a.ts", true}, {"ts", "repo", "src/x/y/a.tsx", true}, {"ts", "repo", "src/gen/a.ts", false},
		{"ts", "repo", "a.ts", false}, {"ts", "repo", "../src/a.ts", false}, {"ts", "repo/sub", "../src/a.ts", true},
		{"any", "repo", "x", true}, {"any", "repo", "../x", false},
	} {
		args := []string{"explain", tt.id, "--by", "model", "-C", p.path(tt.dir)}
		if tt.touch != "" {
			args = append(args, "--touch", filepath.FromSlash(tt.touch))
		}
		var r struct {
			Model     bool `json:"visible_to_model"`
			Invocable bool
			Steps     json.RawMessage
		}
		p.decode(&r, args...)
		if r.Model != tt.want || r.Invocable != tt.want {
			t.Errorf("%s after %q in %s: visible %t, invocable %t\n%s", tt.id, tt.touch, tt.dir, r.Model, r.Invocable, r.Steps)
		}
	}
	if out := p.run("render", "ts", "--by", "user"); out.code != 0 {
		t.Errorf("a person's call: exit %d %q", out.code, out.stderr)
	}
	if out := p.run("render", "ts", "--by", "model"); out.code != 3 || !strings.Contains(out.stderr, "src/**/*.") {
		t.Errorf("a model's call: exit %d %q", out.code, out.stderr)
	}
}

// TestAcceptStack: what follows the first skill of a line is called as well as
// long as it is an inline skill that a person may start; else it is text (I-4).
func TestAcceptStack(t *testing.T) {
	p := newPlace(t, map[string]string{
		"home/.claude/skills/a/SKILL.md":      "---\ndescription: a\n---\nA got $ARGUMENTS.\n",
		"repo/.claude/skills/a/SKILL.md":      "---\ndescription: a\n---\nSecond got $ARGUMENTS.\n",
		"repo/.claude/skills/b/SKILL.md":      "---\ndescription: b\n---\nB got $ARGUMENTS.\n",
		"repo/.claude/skills/off/SKILL.md":    described("off"),
		"repo/.claude/skills/hidden/SKILL.md": file("description: d\nuser-invocable: false"),
		"repo/.claude/skills/forked/SKILL.md": file("description: d\ncontext: fork"),
		"repo/.claude/commands/gone.md":       described("gone"),
		"repo/.claude/skills/gone/SKILL.md":   described("gone"),
		"home/.claude/settings.json":          `{"skillOverrides": {"off": "off", "gone": "off"}}`,
		"repo/.claude/skills/waits/SKILL.md":  file("description: d\npaths: '*.x'"),
		"repo/.claude/skills/dmi/SKILL.md":    file("description: d\ndisable-model-invocation: true"),
	})
	for line, want := range map[string][]string{
		"/a /b text":             {"A got text.", "B got text."},
		"/a /project:a /b text":  {"A got text.", "Second got text.", "B got text."},
		"/a /waits /dmi text":    {"A got text.", "Text of the body."},
		"/a /off text":           {"A got /off text."},
		"/a /hidden text":        {"A got /hidden text."},
		"/a /forked text":        {"A got /forked text."},
		"/a /legacy:gone text":   {"A got /legacy:gone text."},
		"/a /nothing text":       {"A got /nothing text."},
		"/a text /b":             {"A got text /b."},
		"/a /b /off /b text":     {"A got /off /b text.", "B got /off /b text."},
		"/a /b /b /b /b /b /b x": {"A got /b x.", "B got /b x."},
	} {
		out := p.run("-p", line)
		for _, w := range want {
			if out.code != 0 || !strings.Contains(out.stdout, w) {
				t.Errorf("%q: exit %d, no %q in %q %q", line, out.code, w, out.stdout, out.stderr)
			}
		}
	}
}

// TestAcceptAdministrator: what the administrator switches off nobody switches
// on again, and the answer names the file (spec S-1, S-11, C-9).
func TestAcceptAdministrator(t *testing.T) {
	const on, off = `{"skillOverrides": {"demo": "on"}}`, `{"skillOverrides": {"demo": "off"}}`
	for _, at := range []string{"home/.claude/settings.json", "repo/.claude/settings.json", "repo/.claude/settings.local.json"} {
		p := newPlace(t, map[string]string{"repo/.claude/skills/demo/SKILL.md": described("demo"), "managed/managed-settings.json": off, at: on})
		for _, args := range [][]string{{"render", "demo"}, {"render", "demo", "--by", "model"}, {"-p", "/demo"}, {"render", "project:demo", "--trust"}} {
			out := p.run(append(args, "--settings", on)...)
			if out.code != 3 || !strings.Contains(out.stderr, p.path("managed/managed-settings.json")) {
				t.Errorf("%s says on: %q: exit %d %q", at, args, out.code, out.stderr)
			}
		}
		if out := p.run("listing", "--settings", on); strings.Contains(out.stdout, "demo") {
			t.Errorf("%s says on, and it is listed", at)
		}
	}
	// With every skill denied the model is told of none (S-3).
	p := newPlace(t, map[string]string{"repo/.claude/skills/demo/SKILL.md": described("demo"), "home/.claude/settings.json": acceptRules(t, "deny Skill")})
	var l struct{ Entries []any }
	if p.decode(&l, "listing"); len(l.Entries) != 0 {
		t.Errorf("all skills are denied, and %v are listed", l.Entries)
	}
}
