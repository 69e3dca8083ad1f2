package discovery_test

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"github.com/knack-skills/knack/discovery"
	"github.com/knack-skills/knack/skill"
)

// words are the segments of the tree below, and of patterns that speak of it.
var words = []string{"a", "b", "web", "api", ".claude", "skills", "x.ts", "build", "é"}

// bits are what else patterns hold.
var bits = []string{
	"*", "**", "?", "w*", "*b", "[ab]", "[!a]", "[[:alpha:]]*", "s?ills", ".*", ".c*e", `\.claude`, "***", "we**", "[", "a ", `b\ `, "{a,b}", "", "..", ".", "skills*",
}

func trickyPattern(r *rand.Rand) string {
	p := randomPath(r, 3, words, bits)
	switch r.IntN(10) {
	case 0, 1, 2:
		p = "!" + p
	case 3:
		p = "/" + p
	case 4:
		p += "/"
	case 5:
		p += "  "
	case 6:
		p = "#" + p
	case 7:
		p += "\r"
	}
	return p
}

// A question is a path that git is asked about, and what it says.
type question struct {
	path          string
	isDir         bool
	pattern, file string
}

// askGit asks about all paths in one process.
func (w tree) askGit(env []string, repo string, asked []question) {
	w.t.Helper()
	var stdin strings.Builder
	for _, q := range asked {
		stdin.WriteString(q.path + "\x00")
	}
	out := w.git(env, repo, stdin.String(), "check-ignore", "--stdin", "-v", "-n", "-z")
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	if len(fields) != 4*len(asked) {
		w.t.Fatalf("git answered %d fields to %d questions", len(fields), len(asked))
	}
	for i := range asked {
		asked[i].file, asked[i].pattern = fields[4*i], fields[4*i+2]
	}
}

// TestAgainstGit holds a tree full of ignore files against git itself: each
// question of one git process, and each nested directory (spec D-1).
func TestAgainstGit(t *testing.T) {
	needGit(t)
	r := rand.New(rand.NewPCG(5, 2026))
	w := newTree(t, map[string]string{"home/.gitconfig": "[core]\n\texcludesFile = ~/mine\n"})
	getenv, env := w.environment(nil)
	patterns := 0
	lines := func(n int) string {
		var b strings.Builder
		for range n {
			patterns++
			b.WriteString(trickyPattern(r) + "\n")
		}
		return b.String()
	}
	w.write("repo/", "")
	w.git(env, "repo", "", "init", "-q")
	// A few patterns at the top, so that they do not decide everything.
	w.write("repo/.git/info/exclude", "z/\n*.bak\n!keep.bak\napi/web\n")
	w.write("home/mine", "mine\n/a/b/api\nx.ts\n!/b/x.ts\n")
	w.write("repo/.gitignore", "*.log\n/b/b/**\n!/b/b/a\nbuild\n")

	var asked []question
	var dirs []string
	ask := func(path string, isDir bool) { asked = append(asked, question{path: path, isDir: isDir}) }
	for i := range 120 { // each a small tree of its own, below one another's rules
		top := fmt.Sprintf("%s/t%03d", []string{"a", "b", "web", "q"}[i%4], i)
		w.write("repo/"+top+"/.gitignore", lines(9))
		for _, rel := range []string{"a", "web/a", "web/api", "b/build"} {
			dir := top + "/" + rel
			w.write("repo/"+dir+"/.claude/skills/", "")
			if r.IntN(2) == 0 {
				w.write("repo/"+dir+"/.gitignore", lines(4))
			}
			dirs = append(dirs, dir)
			ask(dir+"/.claude/skills", true)
			ask(dir, true)
			ask(dir+"/x.ts", false)
			ask(dir+"/web", false)
			for range 6 {
				ask(path.Join(dir, words[r.IntN(len(words))], words[r.IntN(len(words))])+".q/z", false)
			}
		}
	}
	for _, f := range []string{"a/b/api/x", "mine", "c/mine/y", "keep.bak", "d/no.bak", "z/1", "b/x.ts", "b/b/a", "b/b/c", "api/web/x"} {
		ask(f, false)
	}
	if patterns < 2_000 {
		t.Errorf("only %d patterns", patterns)
	}
	w.askGit(env, "repo", asked)

	o := discovery.NestedOptions{WorkDir: w.path("repo"), Repository: w.path("repo"), Home: w.path("home"), Getenv: getenv}
	ignored := discovery.Ignored(o)
	truth := map[string]bool{}
	outcomes := map[string]int{}
	for _, q := range asked {
		want := q.pattern != "" && q.pattern[0] != '!'
		truth[q.path] = want
		outcomes[kindOf(q)]++
		pattern, file, yes := ignored(q.path, q.isDir)
		if yes != want || pattern != q.pattern {
			t.Errorf("%s, directory %v: got %q of %s, %v; git says %q of %s", q.path, q.isDir, pattern, file, yes, q.pattern, q.file)
		} else if file = strings.TrimPrefix(file, w.path("repo")+"/"); pattern != "" && file != q.file {
			t.Errorf("%s: from %s, git says %s", q.path, file, q.file)
		}
	}
	if outcomes["none"] < 100 || outcomes["kept"] < 100 || outcomes["ignored"] < 100 {
		t.Errorf("the questions are too much alike: %v", outcomes)
	}
	n := discovery.NewNested(o)
	for _, dir := range dirs {
		_, found := n.Touch(w.path("repo/" + dir + "/x.ts"))
		want := dir
		if truth[dir+"/.claude/skills"] {
			want = "!" + dir
		}
		if got := below(found); got != want {
			t.Errorf("%s: found %q", dir, got)
		}
	}
	t.Logf("%d patterns, %v", patterns, outcomes)
}

func kindOf(q question) string {
	switch {
	case q.pattern == "":
		return "none"
	case q.pattern[0] == '!':
		return "kept"
	}
	return "ignored"
}

// TestGitKnows: what git's own files and configuration say, one thing each. The
// question is about a/.claude/skills.
func TestGitKnows(t *testing.T) {
	needGit(t)
	const global = "home/.gitconfig"
	tests := []struct {
		name  string
		files map[string]string
		env   map[string]string
		want  bool
	}{
		{"nothing", nil, nil, false},
		{"standard place", map[string]string{"home/.config/git/ignore": ".claude\n"}, nil, true},
		{"XDG_CONFIG_HOME", map[string]string{"xdg/git/ignore": ".claude\n"}, map[string]string{"XDG_CONFIG_HOME": "$TOP/xdg"}, true},
		{"the configuration there", map[string]string{"home/.config/git/config": "[core]\nexcludesfile=~/e\n", "home/e": ".claude\n"}, nil, true},
		{"~/.gitconfig after that", map[string]string{"home/.config/git/config": "[core]\nexcludesfile=~/e\n", "home/e": ".claude\n", global: "[core] excludesFile = ~/none\n"}, nil, false},
		{"it replaces the standard place", map[string]string{"home/.config/git/ignore": ".claude\n", global: "[core]\n\texcludesFile = ~/none\n"}, nil, false},
		{"quotes, escapes and comments", map[string]string{global: "# x\n[core] ; y\n\texcludesFile = \"$TOP/with # hash\" ; z\n", "with # hash": ".claude\n"}, nil, true},
		{"a line that goes on", map[string]string{global: "[core]\n\texcludesFile = $TOP/\\\nmine\n", "mine": ".claude\n"}, nil, true},
		{"another section", map[string]string{global: "[core \"x\"]\n\texcludesFile = $TOP/mine\n[other]\nexcludesFile = $TOP/mine\n", "mine": ".claude\n"}, nil, false},
		{"include", map[string]string{global: "[include]\n\tpath = more\n", "home/more": "[core]\n\texcludesFile = ~/mine\n", "home/mine": ".claude\n"}, nil, true},
		{"include from home", map[string]string{"home/more": "[core]\n\texcludesFile = ~/mine\n", global: "[include]\n\tpath = ~/more\n", "home/mine": "skills/\n"}, nil, true},
		{"include for a directory", map[string]string{global: "[includeIf \"gitdir:$TOP/\"]\n\tpath = more\n", "home/more": "[core]\n\texcludesFile = ~/mine\n", "home/mine": ".claude\n"}, nil, true},
		{"include for another", map[string]string{global: "[includeIf \"gitdir:$TOP/other/\"]\n\tpath = more\n", "home/more": "[core]\n\texcludesFile = ~/mine\n", "home/mine": ".claude\n"}, nil, false},
		{"include by a name", map[string]string{global: "[includeIf \"gitdir:repo/.git\"]\n\tpath = more\n", "home/more": "[core]\n\texcludesFile = ~/mine\n", "home/mine": ".claude\n"}, nil, true},
		{"include by a name in capitals", map[string]string{global: "[includeIf \"gitdir/i:REPO/.git\"]\n\tpath = more\n", "home/more": "[core]\n\texcludesFile = ~/mine\n", "home/mine": ".claude\n"}, nil, true},
		{"of the repository", map[string]string{"repo/.git/config": "[core]\n\texcludesFile = mine\n", "repo/mine": ".claude\n"}, nil, true},
		{"an empty value", map[string]string{"home/.config/git/ignore": ".claude\n", global: "[core]\n\texcludesFile =\n"}, nil, false},
		{"from the environment", map[string]string{"mine": ".claude\n"}, map[string]string{"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.excludesFile", "GIT_CONFIG_VALUE_0": "$TOP/mine"}, true},
		{"another global file", map[string]string{"g": "[core]\n\texcludesFile = $TOP/mine\n", "mine": ".claude\n", global: "[core]\n\texcludesFile = none\n"}, map[string]string{"GIT_CONFIG_GLOBAL": "$TOP/g"}, true},
		{"case counts", map[string]string{"repo/.gitignore": ".CLAUDE\n"}, nil, false},
		{"case does not count", map[string]string{"repo/.gitignore": ".CLAUDE\n", global: "[core]\n\tignorecase\n"}, nil, true},
		{"exclude", map[string]string{"repo/.git/info/exclude": "a/.claude/\n"}, nil, true},
		{"the tree before exclude", map[string]string{"repo/.git/info/exclude": ".claude\n", "repo/.gitignore": "!.claude\n"}, nil, false},
		{"exclude before the person's own", map[string]string{"repo/.git/info/exclude": "!.claude\n", "home/.config/git/ignore": ".claude\n"}, nil, false},
		{"a link is no ignore file", map[string]string{"repo/.gitignore -> ../elsewhere": "", "elsewhere": ".claude\n"}, nil, false},
		{"exclude may be a link", map[string]string{"repo/.git/info/exclude -> ../../../elsewhere": "", "elsewhere": ".claude\n"}, nil, true},
		{"byte order mark", map[string]string{"repo/.gitignore": "\ufeff.claude\n"}, nil, true},
		{"the file in the directory", map[string]string{"repo/a/.claude/.gitignore": "*\n"}, nil, true},
		{"the file in skills is about its files", map[string]string{"repo/a/.claude/skills/.gitignore": "*\n"}, nil, false},
		{"a directory that is named as a file", map[string]string{"repo/.gitignore/x": ".claude\n"}, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newTree(t, map[string]string{"home/": "", "repo/.git/HEAD": "ref: refs/heads/main\n", "repo/.git/refs/": "", "repo/.git/objects/": "",
				"repo/a/.claude/skills/": ""})
			for name, text := range tt.files {
				w.write(name, strings.ReplaceAll(text, "$TOP", w.dir))
			}
			more := map[string]string{}
			for k, v := range tt.env {
				more[k] = strings.ReplaceAll(v, "$TOP", w.dir)
			}
			getenv, env := w.environment(more)
			q := []question{{path: "a/.claude/skills", isDir: true}}
			w.askGit(env, "repo", q)
			if git := kindOf(q[0]) == "ignored"; git != tt.want {
				t.Fatalf("git says %q of %s", q[0].pattern, q[0].file)
			}
			n := discovery.NewNested(discovery.NestedOptions{WorkDir: w.path("repo"), Repository: w.path("repo"), Home: w.path("home"), Getenv: getenv})
			_, found := n.Touch(w.path("repo/a/x"))
			if want := map[bool]string{true: "!a", false: "a"}[tt.want]; below(found) != want {
				t.Errorf("found %q, git says %q of %s", below(found), q[0].pattern, q[0].file)
			}
		})
	}
}

// TestTracked: what git tracks is not ignored, whatever the patterns say, in
// each format of the index.
func TestTracked(t *testing.T) {
	needGit(t)
	for _, format := range []string{"2", "3", "4"} {
		t.Run(format, func(t *testing.T) {
			w := newTree(t, map[string]string{"repo/.gitignore": ".claude/\n", "home/": "", "repo/long/name/of/a/file": "x", "repo/long/name/of/a/file2": "x"})
			getenv, env := w.environment(nil)
			for _, d := range []string{"a", "b", "b/c", "with.dot", "with"} {
				w.write("repo/"+d+"/.claude/skills/x/SKILL.md", "x")
			}
			w.git(env, "repo", "", "init", "-q")
			w.git(env, "repo", "", "config", "index.version", format)
			w.git(env, "repo", "", "add", "-f", "a", "b/c", "with.dot", "long")
			if format == "3" { // an entry with an extended flag needs that version
				w.write("repo/later", "x")
				w.git(env, "repo", "", "add", "-N", "later")
			}
			if format != "3" {
				w.git(env, "repo", "", "update-index", "--index-version", format)
			}
			var asked []question
			for _, d := range []string{"a", "b", "b/c", "with.dot", "with"} {
				asked = append(asked, question{path: d + "/.claude/skills", isDir: true})
			}
			w.askGit(env, "repo", asked)
			ignored := discovery.Ignored(discovery.NestedOptions{WorkDir: w.path("repo"), Repository: w.path("repo"), Home: w.path("home"), Getenv: getenv})
			got := ""
			for _, q := range asked {
				_, _, yes := ignored(q.path, true)
				if git := kindOf(q) == "ignored"; git != yes {
					t.Errorf("%s: %v, git says %v", q.path, yes, git)
				}
				got += fmt.Sprint(yes, " ")
			}
			if got != "false true false false true " {
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestWorktree: a worktree has files of its own and the exclude of all.
func TestWorktree(t *testing.T) {
	needGit(t)
	w := newTree(t, map[string]string{"home/": "", "repo/x": "x"})
	getenv, env := w.environment(map[string]string{"GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "e", "GIT_COMMITTER_NAME": "n", "GIT_COMMITTER_EMAIL": "e"})
	w.git(env, "repo", "", "init", "-q")
	w.git(env, "repo", "", "add", "x")
	w.git(env, "repo", "", "commit", "-qm", "m")
	w.git(env, "repo", "", "worktree", "add", "-q", "../tree")
	w.write("repo/.git/info/exclude", "a/.claude\nb/.claude\n")
	for _, d := range []string{"a", "b", "c"} {
		w.write("tree/"+d+"/.claude/skills/x/SKILL.md", "x")
	}
	w.git(env, "tree", "", "add", "-f", "b")
	n := discovery.NewNested(discovery.NestedOptions{WorkDir: w.path("tree"), Repository: w.path("tree"), Home: w.path("home"), Getenv: getenv})
	for d, want := range map[string]string{"a": "!a", "b": "b", "c": "c"} {
		if _, found := n.Touch(w.path("tree/" + d + "/x")); below(found) != want {
			t.Errorf("%s: found %q", d, below(found))
		}
	}
}

// TestWithoutGit: the files count all the same, from the working directory down
// (spec D-1).
func TestWithoutGit(t *testing.T) {
	w := newTree(t, map[string]string{
		".gitignore": "c/\n", "w/.gitignore": "a/\n", "home/.config/git/ignore": "b/\n",
		"w/a/.claude/skills/x": "", "w/b/.claude/skills/x": "", "w/c/.claude/skills/x": "", "w/c/node_modules/p/.claude/skills/x": "",
	})
	n := discovery.NewNested(discovery.NestedOptions{WorkDir: w.path("w"), Home: w.path("home")})
	for _, tt := range [][2]string{{"w/a/x", "!a"}, {"w/b/x", "!b"}, {"w/c/x", "c"}, {"w/c/node_modules/p/x", ""}} {
		if _, found := n.Touch(w.path(tt[0])); below(found) != tt[1] {
			t.Errorf("%s: found %q", tt[0], below(found))
		}
	}
}

// TestActivatesAgainstGit: patterns of skills mean what git takes them for
// (spec D-4): one skill a directory, the same question to both and to the index.
func TestActivatesAgainstGit(t *testing.T) {
	needGit(t)
	r := rand.New(rand.NewPCG(6, 2026))
	w := newTree(t, map[string]string{"home/": "", "repo/": ""})
	_, env := w.environment(nil)
	w.git(env, "repo", "", "init", "-q")
	var rules []discovery.Rule
	var skills []*skill.Skill
	var asked []question
	patterns := 0
	for i := range 330 {
		base := fmt.Sprintf("s%03d", i)
		var lines []string
		for n := 5 + r.IntN(4); n > 0; n-- {
			lines = append(lines, randomPattern(r))
			patterns++
		}
		w.write("repo/"+base+"/.gitignore", strings.Join(lines, "\n")+"\n")
		rules = append(rules, discovery.Rule{ID: base, Base: w.path("repo/" + base), Patterns: lines})
		skills = append(skills, &skill.Skill{Trigger: skill.Trigger{Conditional: true, Paths: lines}})
		for range 12 {
			parts := []string{base}
			for n := 1 + r.IntN(4); n > 0; n-- {
				parts = append(parts, segments[r.IntN(len(segments))])
			}
			asked = append(asked, question{path: strings.Join(parts, "/")})
		}
	}
	w.askGit(env, "repo", asked)
	set := discovery.NewSet(rules)
	hits := 0
	for i, q := range asked {
		want := kindOf(q) == "ignored"
		if want {
			hits++
		}
		at := i / 12
		_, plain := discovery.Activates(skills[at], rules[at].Base, w.path("repo/"+q.path))
		found := len(set.Match(w.path("repo/"+q.path))) == 1
		if plain != want || found != want {
			t.Errorf("%s by %q: plainly %v, indexed %v, git says %q", q.path, rules[at].Patterns, plain, found, q.pattern)
		}
	}
	if patterns < 2_000 || hits < 300 {
		t.Errorf("%d patterns, %d matches", patterns, hits)
	}
}
