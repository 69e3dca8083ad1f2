package cli_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// An acceptDecision is what `knack permissions explain` says (spec K-8).
type acceptDecision struct{ Decision, Rule, Source, Reason string }

func (p *place) decide(tool string, input map[string]string, args ...string) acceptDecision {
	p.t.Helper()
	in, err := json.Marshal(input)
	if err != nil {
		p.t.Fatal(err)
	}
	var d acceptDecision
	p.decode(&d, append([]string{"permissions", "explain", tool, string(in)}, args...)...)
	return d
}

// acceptRules is a settings file with rules: "deny Bash(rm:*)", ...
func acceptRules(t *testing.T, rules ...string) string {
	t.Helper()
	lists := map[string][]string{}
	for _, r := range rules {
		list, rule, _ := strings.Cut(r, " ")
		lists[list] = append(lists[list], rule)
	}
	data, err := json.Marshal(map[string]any{"permissions": lists})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestAcceptLevels: the lists of all levels merge, and a deny anywhere holds
// (spec S-1); deny goes before ask before allow (spec S-2), and the answer names
// rule, file and level.
func TestAcceptLevels(t *testing.T) {
	levels := map[string]string{
		"managed": "managed/managed-settings.json", "managed ": "managed/managed-settings.d/10-more.json",
		"local": "repo/.claude/settings.local.json", "project": "repo/.claude/settings.json",
		"project ": "repo/sub/.claude/settings.json", "user": "home/.claude/settings.json",
	}
	for denies, at := range levels {
		for allows, other := range levels {
			if at == other {
				continue
			}
			p := newPlace(t, map[string]string{
				"repo/sub/.keep": "",
				at:               acceptRules(t, "deny Bash(git push:*)", "ask Bash(git pull:*)", "ask Bash(git fetch:*)"),
				other:            acceptRules(t, "allow Bash(git:*)", "deny Bash(git fetch:*)"),
			})
			for line, want := range map[string]string{"git push x": "deny", "git pull": "ask", "git fetch": "deny", "git commit": "allow"} {
				d := p.decide("Bash", map[string]string{"command": line}, "--trust", "-C", p.path("repo/sub"))
				if d.Decision != want {
					t.Errorf("%s denies, %s allows: %q: %+v", denies, allows, line, d)
				}
				if line == "git push x" && (d.Rule != "Bash(git push:*)" || d.Source != p.path(at) || !strings.Contains(d.Reason, "("+strings.TrimSpace(denies)+")")) {
					t.Errorf("%s is not named: %+v", at, d)
				}
			}
		}
	}
	p := newPlace(t, map[string]string{"home/.claude/settings.json": acceptRules(t, "allow Bash(make:*)")})
	if d := p.decide("Bash", map[string]string{"command": "make"}, "--settings", acceptRules(t, "deny Bash(make:*)")); d.Decision != "deny" {
		t.Errorf("--settings: %+v", d)
	}
}

// TestAcceptSkillRules: the table of specifiers for skills (spec S-3), as allow
// rules, which speak of ids, and as deny rules, which also see other names.
func TestAcceptSkillRules(t *testing.T) {
	const grants = "allowed-tools: Bash(make:*)\n" // else every one would be allowed as safe (S-4)
	p := newPlace(t, map[string]string{
		"repo/.claude/skills/deploy/SKILL.md":      "---\nname: Ship It\ndescription: d\n" + grants + "---\n",
		"repo/.claude/commands/deploy/eu.md":       "---\ndescription: d\n" + grants + "---\n",
		"repo/.claude/skills/deployer/SKILL.md":    "---\ndescription: d\n" + grants + "---\n",
		"repo/.claude/skills/lark-x/SKILL.md":      "---\ndescription: d\n" + grants + "---\n",
		"plug/.claude-plugin/plugin.json":          `{"name": "untrusted"}`,
		"plug/skills/deploy/SKILL.md":              "---\ndescription: d\n" + grants + "---\n",
		"home/.claude/skills/lower/other/SKILL.md": "---\ndescription: d\n" + grants + "---\n",
	})
	all := []string{"deploy", "deploy:eu", "deployer", "lark-x", "untrusted:deploy", "other"}
	for rule, want := range map[string]struct{ allows, denies string }{
		"Skill":                     {strings.Join(all, " "), strings.Join(all, " ")},
		"Skill(*)":                  {strings.Join(all, " "), strings.Join(all, " ")},
		"Skill(deploy)":             {"deploy", "deploy untrusted:deploy"},
		"Skill(/deploy)":            {"deploy", "deploy untrusted:deploy"},
		"Skill(deploy:*)":           {"deploy deploy:eu", "deploy deploy:eu untrusted:deploy"},
		"Skill(deploy *)":           {"deploy deploy:eu", "deploy deploy:eu untrusted:deploy"},
		"Skill(deploy*)":            {"deploy deploy:eu deployer", "deploy deploy:eu deployer untrusted:deploy"},
		"Skill(untrusted:deploy)":   {"untrusted:deploy", "untrusted:deploy"},
		"Skill(untrusted:*)":        {"untrusted:deploy", "untrusted:deploy"},
		"Skill(untrusted:deploy:*)": {"untrusted:deploy", "untrusted:deploy"},
		"Skill(project:deploy)":     {"", "deploy"},
		"Skill(Ship It)":            {"", "deploy"},
		"Skill(lark-*)":             {"lark-x", "lark-x"},
		"Skill(*-x)":                {"lark-x", "lark-x"},
		"Skill(dep)":                {"", ""},
		"Skill(dep:*)":              {"", ""},
		"Skill(DEPLOY)":             {"", ""},
		"Bash(deploy)":              {"", ""},
	} {
		for list, covered := range map[string]string{"allow": want.allows, "deny": want.denies} {
			p.write("home/.claude/settings.json", acceptRules(t, list+" "+rule))
			var got []string
			text := p.run("listing", "--plugin-dir", p.path("plug")).stdout
			for _, id := range all {
				if p.decide("Skill", map[string]string{"skill": id}, "--plugin-dir", p.path("plug")).Decision == list {
					got = append(got, id)
				}
				runs := p.run("render", id, "--by", "model", "--plugin-dir", p.path("plug")).code == 0
				covers := strings.Contains(" "+covered+" ", " "+id+" ")
				if runs != (list == "allow" && covers) {
					t.Errorf("%s %s: %s runs for a model: %t", list, rule, id, runs)
				}
				if listed := strings.Contains(text, "- "+id+": d"); listed == (list == "deny" && covers) {
					t.Errorf("%s %s: %s listed: %t", list, rule, id, listed)
				}
			}
			if s := strings.Join(got, " "); s != covered {
				t.Errorf("%s %s covers %q, want %q", list, rule, s, covered)
			}
		}
	}
}

// acceptTrust are skills of every origin, each of which would make a file.
func acceptTrust() (files map[string]string, workspace map[string]bool) {
	at := map[string]string{
		"project": "repo/.claude/skills/project/SKILL.md", "twin": "repo/.agents/skills/twin/SKILL.md", "command": "repo/.claude/commands/command.md",
		"added": "add/.claude/skills/added/SKILL.md", "user": "home/.claude/skills/user/SKILL.md", "own": "home/.claude/commands/own.md",
		"managed": "managed/.claude/skills/managed/SKILL.md", "plug:plugin": "plug/skills/plugin/SKILL.md",
	}
	files = map[string]string{"plug/.claude-plugin/plugin.json": `{"name": "plug"}`}
	for _, name := range at {
		files[name] = "---\ndescription: d\nallowed-tools: Bash(touch:*)\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: touch hooked\n---\nA !`touch ran` B\n"
	}
	return files, map[string]bool{"project": true, "twin": true, "command": true, "added": true, "user": false, "own": false, "managed": false, "plug:plugin": false}
}

// TestAcceptTrust: until the workspace is trusted its skills load, list and are
// inert; each way to trust, and nothing else, changes that (spec S-9, S-6, C-13,
// H-10).
func TestAcceptTrust(t *testing.T) {
	files, workspace := acceptTrust()
	files["repo/.claude/settings.json"] = acceptRules(t, "allow Bash(make:*)", "deny Bash(rm:*)", "ask Bash(cp:*)")
	for _, tt := range []struct {
		name    string
		args    []string
		env     string
		stored  bool
		trusted bool
	}{
		{name: "nothing"}, {name: "KNACK_TRUST=0", env: "0"}, {name: "KNACK_TRUST=true", env: "true"},
		{name: "--trust", args: []string{"--trust"}, trusted: true}, {name: "KNACK_TRUST=1", env: "1", trusted: true},
		{name: "the stored answer", stored: true, trusted: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t, files)
			t.Setenv("KNACK_TRUST", tt.env)
			t.Chdir(p.path("repo"))
			args := append([]string{"--add-dir", p.path("add"), "--plugin-dir", p.path("plug")}, tt.args...)
			if tt.stored {
				if out := p.run("doctor", "--trust"); out.code != 0 {
					t.Fatalf("doctor --trust: %d %s", out.code, out.stderr)
				}
			}
			for id, mine := range workspace {
				inert := mine && !tt.trusted
				text, tools := p.render(append([]string{id}, args...)...)
				ran := os.Remove(p.path("repo/ran")) == nil
				if ran == inert || strings.Contains(text, "[not run: workspace is not trusted]") != inert || (len(tools) == 0) != inert {
					t.Errorf("%s: ran %t, tools %q, %q", id, ran, tools, text)
				}
				out := p.run(append([]string{"-p", "/" + id}, args...)...)
				// One for everything: the settings wait as well, whoever's skill it is.
				if n := strings.Count(out.stderr, "not trusted"); n != len(map[bool][]int{!tt.trusted: {1}}[true]) {
					t.Errorf("%s: %d notices: %q", id, n, out.stderr)
				}
				_ = os.Remove(p.path("repo/ran"))
			}
			for line, want := range map[string]string{"make": map[bool]string{true: "allow", false: "ask"}[tt.trusted], "rm x": "deny", "cp a b": "ask"} {
				if d := p.decide("Bash", map[string]string{"command": line}, args...); d.Decision != want {
					t.Errorf("%q: %+v", line, d)
				}
			}
			if _, err := os.Lstat(p.path("repo/hooked")); err == nil {
				t.Error("a hook ran")
			}
		})
	}
}

// TestAcceptPerson: rules of the person and the project speak to the model, not
// to who types; an administrator's deny speaks to all (spec S-5).
func TestAcceptPerson(t *testing.T) {
	for _, tt := range []struct {
		at, rule    string
		user, model int
	}{
		{"home/.claude/settings.json", "deny Skill(demo)", 0, 3}, {"repo/.claude/settings.json", "deny Skill", 0, 3},
		{"home/.claude/settings.json", "ask Skill(demo)", 0, 3}, {"managed/managed-settings.json", "ask Skill(demo)", 0, 3},
		{"managed/managed-settings.json", "deny Skill(demo)", 3, 3}, {"managed/managed-settings.json", "deny Skill(project:demo)", 3, 3},
		{"managed/managed-settings.json", "deny Skill(Shown)", 3, 3}, {"home/.claude/settings.json", "allow Skill(demo)", 0, 0},
	} {
		p := newPlace(t, map[string]string{"repo/.claude/skills/demo/SKILL.md": "---\nname: Shown\ndescription: d\n---\nText of the body.\n", tt.at: acceptRules(t, tt.rule)})
		for by, want := range map[string]int{"user": tt.user, "model": tt.model} {
			for _, name := range []string{"demo", "project:demo", "Shown"} {
				out := p.run("render", name, "--by", by)
				_, rule, _ := strings.Cut(tt.rule, " ")
				if out.code != want || want == 3 && !strings.Contains(out.stderr, rule) {
					t.Errorf("%s in %s: %s by %s: exit %d %q", tt.rule, tt.at, name, by, out.code, out.stderr)
				}
			}
		}
		if out := p.run("-p", "/demo"); out.code != tt.user || strings.Contains(out.stdout, "Text of the body.") != (tt.user == 0) {
			t.Errorf("%s in %s: typed: exit %d %q", tt.rule, tt.at, out.code, out.stdout)
		}
	}
}

// TestAcceptLinkedFiles: an allow needs a link and its target, a deny either,
// for file tools and for the files of a shell line (spec S-8, S-7).
func TestAcceptLinkedFiles(t *testing.T) {
	p := newPlace(t, map[string]string{
		"repo/secret": "s", "repo/link->": "secret", "repo/in/plain": "", "outside/file": "", "repo/in/out->": "../../outside",
		"repo/in/new->": "../../outside/not-yet", "repo/in/loop->": "loop", "repo/in/up->": "out/..", "repo/hooks->": ".git/hooks",
		"home/.claude/settings.json": acceptRules(t, "deny Read(secret)", "allow Edit(in/**)", "allow Bash(touch:*)", "allow Bash(make:*)"),
	})
	for _, tt := range []struct{ tool, field, value, want string }{
		{"Read", "file_path", "secret", "deny"}, {"Read", "file_path", "link", "deny"}, {"Read", "file_path", "in/../link", "deny"},
		{"Read", "file_path", "in/plain", "allow"}, {"Read", "file_path", "in/out/file", "ask"},
		{"Edit", "file_path", "link", "deny"}, {"Edit", "file_path", "in/plain", "allow"}, {"Edit", "file_path", "in/fresh", "allow"},
		{"Edit", "file_path", "in/out/file", "ask"}, {"Edit", "file_path", "in/new", "ask"}, {"Edit", "file_path", "in/up/x", "ask"}, {"Write", "file_path", "in/out/a/b", "ask"},
		{"Bash", "command", "cat link", "deny"}, {"Bash", "command", "cat < link", "deny"}, {"Bash", "command", "cat in/plain", "allow"},
		{"Bash", "command", "make > in/plain", "allow"}, {"Bash", "command", "make > in/out/file", "ask"}, {"Bash", "command", "make > in/new", "ask"},
		{"Bash", "command", "cd in && make > out/file", "ask"}, {"Bash", "command", "touch hooks/pre-commit", "ask"}, {"Bash", "command", "touch in/loop", "allow"},
	} {
		if d := p.decide(tt.tool, map[string]string{tt.field: tt.value}); d.Decision != tt.want {
			t.Errorf("%s %q: %+v, want %s", tt.tool, tt.value, d, tt.want)
		}
	}
	// The commands of a skill are decided in the same way (spec P-10).
	for line, code := range map[string]int{"cat link": 3, "make > in/out/file": 3} {
		p.write("repo/.claude/skills/demo/SKILL.md", "---\ndescription: d\n---\n!`"+line+"`\n")
		if out := p.run("render", "demo", "--trust"); out.code != code {
			t.Errorf("%q in a skill: exit %d %q", line, out.code, out.stderr)
		}
	}
}

// acceptEvil are lines that must not be allowed by rules for git log and ls, nor
// by what is read-only in itself (spec S-7).
var acceptEvil = []string{
	"git log $(rm x)", "git log `rm x`", "git log; rm x", "git log && rm x", "git log || rm x", "git log | rm x", "git log & rm x", "git log\nrm x",
	"ls #\nrm x", "ls \\\n; rm x", "cd /x && rm y", "(rm x)", "{ rm x; }", "! rm x", "time rm x", "coproc rm x", "if ls; then rm x; fi", "for f in *; do rm $f; done",
	"case x in x) rm x;; esac", "while ls; do rm x; done", "ls() { rm x; }; ls", "function ls { rm x; }; ls", "alias ls=rm; ls", "unalias ls", "trap 'rm x' EXIT",
	"X=1 git log", "PATH=. git log", "PAGER=rm git log", "GIT_PAGER=rm git log", "LD_PRELOAD=x ls", "IFS=x ls", "BASH_ENV=x ls", "export PATH=.", "env X=1 rm x", "env ls",
	"git -c core.pager=rm log", "git -C /x log", "git --exec-path=/x log", "git -c alias.log='!rm' log", "g\\it -c x=y log",
	"timeout 5 rm x", "nice rm x", "nohup rm x", "stdbuf -o0 rm x", "command rm x", "builtin eval rm", "xargs rm", "ls | xargs rm", "ls | xargs sh -c rm", "exec ls", "exec rm x",
	"bash -c rm", "bash -c 'git log'", "sh x", "eval ls", "eval rm x", "source x", ". x", "sudo ls", "busybox rm", "echo x | sh", "sh <<< rm", "sh << 'E'\nrm\nE", "cat << E\n$(rm x)\nE",
	"cat <(rm x)", "ls >(rm x)", "ls > x", "ls >> x", "ls >| x", "ls &> x", "ls 2> x", "ls 3<> x", "> x", ": > x", "ls > .git/hooks/pre-commit", "ls > ~/.bashrc", "echo > /dev/tcp/h/1",
	"ls ${x:=$(rm)}", "ls ${x@P}", "ls ${!x}", "ls ${x[$(rm)]}", "echo $((a[$(rm)]))", "[[ -v a[$(rm)] ]]", "let x=1", "test -v 'a[$(rm)]'", "printf -v x y", "read x", "mapfile -C rm x",
	"find . -exec rm {} ;", "find . -exec rm {} \\;", "find . -delete", "find . -e''xec rm {} +", "find . -fprint x", "find . -ok rm {} \\;", "find . $X", "find . {-delete,}",
	"rg --pre rm x", "rg --pre=rm x", "rg -z x", "rg --hostname-bin rm x", "sort -o x y", "sort -ox y", "sort --out=x y", "sort --compress-program=rm x", "sed -i s/a/b/ x", "sed s/a/b/e x", "sed 's/a/b/w y' x",
	"awk 'BEGIN{system(\"rm\")}'", "uniq x y", "tee x", "date -s 1", "date 010100002030", "hostname x", "file -C x", "tree -o x", "diff -l a b", "xxd -r x y",
	"git branch x", "git branch -D x", "git tag x", "git remote add x y", "git config x y", "git stash", "git diff --output=x", "git diff --ext-diff", "git grep -O rm", "git fetch", "git worktree add x",
	"\\rm x", "\"r\"m x", "'rm' x", "$'\\x72m' x", "r''m x", "rm${IFS}x", "{rm,x}", "/bin/r? x", "l? x", "$x", "${x:-rm} y", "$(echo rm) x", "~/bin/ls", "./ls", "/tmp/ls",
	"g\u0456t log", "\u0261it log", "ls\u00a0x; rm", "git\u00a0log", "l\u200bs", "\u202els", "ls\x00", "git log\r\nrm x", "ls \x1b[2J", "'", "ls 'x", "ls $(", "ls &&", "",
	"set -x", "cd x", "umask 0", "history -c", "hash -p x ls", "enable -f x ls", "wait -n -p 'a[$(rm)]'", "python -c x", "curl x", "make", "npm test", "go test ./...",
}

// TestAcceptShellLines: no line of that list is allowed, each says why, and with
// rm denied each that runs rm in plain sight is denied (spec S-7, K-8).
func TestAcceptShellLines(t *testing.T) {
	p := newPlace(t, map[string]string{"home/.claude/settings.json": acceptRules(t, "allow Bash(git log:*)", "allow Bash(ls *)")})
	for _, line := range acceptEvil {
		if d := p.decide("Bash", map[string]string{"command": line}); d.Decision == "allow" || d.Reason == "" {
			t.Errorf("%q: %+v", line, d)
		}
	}
	for _, line := range []string{"git log", "git log -3 --oneline | head -5", "ls -la; git status", "cd . ; ls", "LANG=C ls 2>/dev/null", "ls 2>&1 | sort -u",
		"git log -- 'a b' \"c;d\"", "for f in a b; do cat $f; done", "timeout 5 git log", "ls # rm x", "ls | xargs cat", "git log '$(rm)'", "find . -name '*.go' | wc -l"} {
		want := "allow"
		if strings.HasPrefix(line, "cd ") {
			want = "ask" // cd is not in the table: it needs a rule of its own
		}
		if d := p.decide("Bash", map[string]string{"command": line}); d.Decision != want {
			t.Errorf("%q: %+v", line, d)
		}
	}
	p.write("home/.claude/settings.json", acceptRules(t, "deny Bash(rm:*)", "allow Bash"))
	for _, line := range acceptEvil[:18] {
		if d := p.decide("Bash", map[string]string{"command": line}); d.Decision != "deny" || d.Rule != "Bash(rm:*)" {
			t.Errorf("%q: %+v", line, d)
		}
	}
}
