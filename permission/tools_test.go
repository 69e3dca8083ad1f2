package permission

import (
	"strings"
	"testing"
)

// Spec S-3, case by case.
func TestSkillSpecifiers(t *testing.T) {
	tests := []struct {
		rule, id         string
		aliases          string // comma-separated
		allowed, refused bool
	}{
		{"Skill", "any", "", true, true},
		{"Skill(*)", "any:one", "", true, true},
		{"Skill(deploy)", "deploy", "", true, true},
		{"Skill(/deploy)", "deploy", "", true, true},
		{"Skill(deploy)", "deployer", "", false, false},
		{"Skill(deploy)", "deploy:eu", "", false, false},
		{"Skill(deploy:*)", "deploy", "", true, true},
		{"Skill(deploy:*)", "deploy:eu", "", true, true},
		{"Skill(deploy *)", "deploy:eu", "", true, true},
		{"Skill(deploy:*)", "deployer", "", false, false},
		{"Skill(/deploy:*)", "deploy:eu", "", true, true},
		{"Skill(lark-*)", "lark-doc", "", true, true},
		{"Skill(lark-*)", "lark", "", false, false},
		{"Skill(lark-*:*)", "lark-doc", "", true, true},
		{"Skill(lark-*:*)", "lark-doc:x", "", true, true},
		{"Skill(*:deploy)", "web:deploy", "", true, true},
		{"Skill(jerry:adversary)", "jerry:adversary", "", true, true},
		{"Skill(jerry:adversary)", "jerry:other", "", false, false},
		{"Skill(jerry:*)", "jerry:adversary", "", true, true},
		{"Skill(jerry:*)", "jerry", "", true, true},
		{"Skill(jerry:*)", "jerryx:adversary", "", false, false},
		{"Skill(jerry:adversary:*)", "jerry:adversary", "", true, true},
		{"Skill(jerry:adversary:*)", "jerry:other", "", false, false},
		// a refusal sees every name, an allow the id alone
		{"Skill(deploy)", "untrusted:deploy", "", false, true},
		{"Skill(deploy)", "apps/web:deploy", "", false, true},
		{"Skill(deploy:*)", "apps/web:deploy", "", false, true},
		{"Skill(deploy)", "a:b:deploy", "", false, true},
		{"Skill(b:deploy)", "a:b:deploy", "", false, true},
		{"Skill(a:deploy)", "b:deploy", "", false, false},
		{"Skill(Ship it)", "deploy", "Ship it", false, true},
		{"Skill(web:deploy)", "deploy", "Ship it,web:deploy", false, true},
		{"Skill(deplοy)", "deploy", "", false, false}, // a Greek letter
		{"Skill(deploy)", "", "", false, false},
	}
	for _, tt := range tests {
		in := Input{Skill: tt.id}
		if tt.aliases != "" {
			in.Aliases = strings.Split(tt.aliases, ",")
		}
		req := Request{Tool: "Skill", Input: in}
		for list, want := range map[string]Verdict{"allow": pick(tt.allowed, Allow), "deny": pick(tt.refused, Deny)} {
			for _, args := range []string{"", "x y"} {
				req.Input.Args = args
				if got := rules(t, list+" "+tt.rule).Decide(req).Verdict; got != want {
					t.Errorf("%s %s on %q %q = %s, want %s", list, tt.rule, tt.id, tt.aliases, got, want)
				}
			}
		}
	}
}

func pick(yes bool, v Verdict) Verdict {
	if yes {
		return v
	}
	return Ask
}

// Spec S-8: the other tools.
func TestToolSpecifiers(t *testing.T) {
	web := func(u string) Request { return Request{Tool: "WebFetch", Input: Input{URL: u}} }
	agent := func(a string) Request { return Request{Tool: "Agent", Input: Input{Agent: a}} }
	tool := func(name string) Request { return Request{Tool: name} }
	tests := []struct {
		rule    string
		req     Request
		allowed bool
		refused bool
	}{
		{"WebFetch", web("https://example.com/x"), true, true},
		{"WebFetch(domain:example.com)", web("https://example.com/x"), true, true},
		{"WebFetch(domain:example.com)", web("https://docs.example.com:8443/x"), true, true},
		{"WebFetch(domain:Example.COM.)", web("https://EXAMPLE.com./x"), true, true},
		{"WebFetch(domain:example.com)", web("https://badexample.com"), false, false},
		{"WebFetch(domain:example.com)", web("https://example.com.evil.org"), false, false},
		{"WebFetch(domain:example.com)", web("https://example.com@evil.org/"), false, false},
		{"WebFetch(domain:example.com)", web(`https://evil.org\@example.com/`), false, false},
		{"WebFetch(domain:example.com)", web("https://evil.org/#example.com"), false, false},
		{"WebFetch(domain:example.com)", web("ftp://example.com"), false, false},
		{"WebFetch(domain:example.com)", web("https://exаmple.com"), false, false}, // a Cyrillic letter
		{"WebFetch(domain:*.example.com)", web("https://a.b.example.com"), true, true},
		{"WebFetch(domain:*.example.com)", web("https://example.com"), false, false},
		{"WebFetch(domain:docs-*.example.com)", web("https://docs-1.example.com"), true, true},
		{"WebFetch(domain:docs-*.example.com)", web("https://docs-1.evil.example.com"), false, false},
		{"WebFetch(domain:*)", web("https://a.org"), true, true},
		{"WebFetch(example.com)", web("https://example.com"), false, false},
		{"Agent(Explore)", agent("Explore"), true, true},
		{"Agent(Explore, Plan)", agent("Plan"), true, true},
		{"Agent(Explore)", agent("Explorer"), false, false},
		{"Agent(code-*)", agent("code-review"), true, true},
		{"Agent(Explore)", agent(""), false, false},
		{"Task(Explore)", agent("Explore"), true, true},
		{"mcp__a", tool("mcp__a__x"), true, true},
		{"mcp__a__*", tool("mcp__a__x"), true, true},
		{"mcp__a__x", tool("mcp__a__x"), true, true},
		{"mcp__a__x", tool("mcp__a__xy"), false, false},
		{"mcp__a", tool("mcp__ab__x"), false, false},
		{"mcp__a__get_*", tool("mcp__a__get_x"), true, true},
		{"mcp__*", tool("mcp__a__x"), false, true},
		{"mcp__*__x", tool("mcp__a__x"), false, true},
		{"*", tool("mcp__a__x"), false, true},
		{"*", tool("TodoWrite"), false, true},
		{"TodoWrite", tool("TodoWrite"), true, true},
		{"TodoWrite(x)", tool("TodoWrite"), false, false},
		{"bash", tool("Bash"), false, false},
	}
	for _, tt := range tests {
		for list, want := range map[string]Verdict{"allow": pick(tt.allowed, Allow), "deny": pick(tt.refused, Deny)} {
			if d := rules(t, list+" "+tt.rule).Decide(tt.req); d.Verdict != want {
				t.Errorf("%s %s on %+v = %s, want %s", list, tt.rule, tt.req, d.Verdict, want)
			}
		}
	}
}

// Spec S-8: path specifiers.
func TestPathSpecifiers(t *testing.T) {
	tests := []struct {
		rule, tool, path string
		allowed, refused bool
	}{
		{"Edit(//etc/**)", "Edit", "/etc/passwd", true, true},
		{"Edit(//etc)", "Edit", "/etc/passwd", true, true},
		{"Edit(//etc/**)", "Edit", "/etcx/passwd", false, false},
		{"Edit(//etc/**)", "Edit", "/w/p/etc/passwd", false, false},
		{"Edit(~/notes/*.md)", "Edit", "/home/u/notes/a.md", true, true},
		{"Edit(~/notes/*.md)", "Edit", "~/notes/a.md", true, true},
		{"Edit(~/notes/*.md)", "Edit", "/home/u/notes/sub/a.md", false, false},
		{"Edit(/src/**)", "Edit", "/root/src/a.go", true, true}, // Root is /root
		{"Edit(/src/**)", "Edit", "/w/p/src/a.go", false, false},
		{"Edit(src/**)", "Edit", "/w/p/src/a.go", true, true},
		{"Edit(src/**)", "Edit", "src/a.go", true, true},
		{"Edit(src/**)", "Edit", "./src/../src/a.go", true, true},
		{"Edit(src/**)", "Edit", "src/../other.go", false, false},
		{"Edit(src/**)", "Edit", "sub/src/a.go", false, false},
		{"Edit(*.go)", "Edit", "a/b/c.go", true, true},
		{"Edit(*.go)", "Edit", "/elsewhere/c.go", false, false},
		{"Edit(./a.go)", "Edit", "a.go", true, true},
		{"Edit(./a.go)", "Edit", "b/a.go", false, false},
		{"Edit(../q/**)", "Edit", "/w/q/a", true, true},
		{"Edit(../q/**)", "Edit", "/w/p/a", false, false},
		{"Edit({src,lib}/**)", "Edit", "lib/a", true, true},
		{"Edit(#x)", "Edit", "#x", true, true},
		{"Edit(a b.txt)", "Edit", "a b.txt", true, true},
		{"Edit", "Edit", "/anything", true, true},
		{"Edit(*)", "Edit", "/anything", true, true},
		{"Edit(src/**)", "Write", "src/a.go", true, true},
		{"Edit(src/**)", "MultiEdit", "src/a.go", true, true},
		{"Edit(src/**)", "NotebookEdit", "src/a.ipynb", true, true},
		{"Write(src/**)", "Edit", "src/a.go", false, false},
		{"Read(src/**)", "Edit", "src/a.go", false, true}, // what must not be read must not be edited
		{"Read", "Edit", "src/a.go", false, false},
		{"Read(//var/**)", "Grep", "/var/log/x", true, true},
		{"Read(//var/**)", "Glob", "/var", false, false},
		{"Read(//var/log/)", "Read", "/var/log/x", true, true},
		{"Edit(build/)", "Edit", "build", false, true}, // could be a directory
		{"Edit(!x)", "Edit", "x", false, false},
		{"Edit(~)", "Edit", "/home/u/x", true, true},
		{"Edit(.)", "Edit", "x/y", true, true},
		{"Edit(..)", "Edit", "/w/x", true, true},
		{"Edit(src/**)", "Edit", "", false, false},
	}
	for _, tt := range tests {
		req := Request{Tool: tt.tool, Input: Input{Path: tt.path}, WorkDir: "/w/p", Home: "/home/u"}
		for list, want := range map[string]Verdict{"allow": pick(tt.allowed, Allow), "deny": pick(tt.refused, Deny)} {
			rs := rules(t, list+" "+tt.rule)
			for _, l := range [][]Rule{rs.Allow, rs.Deny} {
				for i := range l {
					l[i].Root = "/root"
				}
			}
			if d := rs.Decide(req); d.Verdict != want {
				t.Errorf("%s %s on %s %q = %s, want %s (%s)", list, tt.rule, tt.tool, tt.path, d.Verdict, want, d.Reason)
			}
		}
	}
}

// Spec S-8: an allow needs the link and its target, a refusal either.
func TestLinks(t *testing.T) {
	tests := []struct {
		list, path, real string
		want             Verdict
	}{
		{"allow Edit(src/**)", "src/a", "/w/p/src/b", Allow},
		{"allow Edit(src/**)", "src/a", "", Allow},
		{"allow Edit(src/**)", "src/a", "/etc/passwd", Ask},
		{"allow Edit(src/**)", "x", "/w/p/src/b", Ask},
		{"deny Edit(//etc/**)", "src/a", "/etc/passwd", Deny},
		{"deny Edit(src/**)", "src/a", "/etc/passwd", Deny},
		{"ask Edit(//etc/**)", "src/a", "/etc/passwd", Ask},
		{"allow Edit", "src/a", "/w/p/.git/config", Ask},
	}
	for _, tt := range tests {
		req := Request{Tool: "Edit", Input: Input{Path: tt.path, RealPath: tt.real}, WorkDir: "/w/p", Home: "/home/u"}
		if d := rules(t, tt.list).Decide(req); d.Verdict != tt.want {
			t.Errorf("%s on %s -> %s = %s, want %s", tt.list, tt.path, tt.real, d.Verdict, tt.want)
		}
	}
}

// Reading tools need no rule inside the working directory, links included.
func TestReadingInside(t *testing.T) {
	tests := []struct {
		tool, path, real string
		want             Verdict
	}{
		{"Read", "a", "", Allow},
		{"Read", "/w/p/a", "", Allow},
		{"Grep", "", "", Allow},
		{"Glob", "sub", "", Allow},
		{"Read", "a", "/etc/passwd", Ask},
		{"Read", "../a", "", Ask},
		{"Read", "/w/pp/a", "", Ask},
		{"Read", "~/.ssh/id", "", Ask},
		{"Read", "", "", Ask},
		{"Edit", "a", "", Ask},
	}
	for _, tt := range tests {
		req := Request{Tool: tt.tool, Input: Input{Path: tt.path, RealPath: tt.real}, WorkDir: "/w/p", Home: "/home/u"}
		if d := (Rules{}).Decide(req); d.Verdict != tt.want {
			t.Errorf("%s %q -> %q = %s, want %s (%s)", tt.tool, tt.path, tt.real, d.Verdict, tt.want, d.Reason)
		}
	}
	if d := (Rules{}).Decide(Request{Tool: "Read", Input: Input{Path: "a"}}); d.Verdict != Ask {
		t.Errorf("without a working directory: %s", d.Verdict)
	}
}

// Spec S-10: protected paths and removals ask whatever is allowed.
func TestFirm(t *testing.T) {
	everything := rules(t, "allow Bash", "allow Edit", "allow Read")
	for _, line := range []string{
		"rm -rf /", "rm -rf /*", "rm -r /etc", "sudo rm -rf /", "rm -rf ~", "rm -rf ~/", `rm -rf "$HOME"`, "rm -rf $HOME/*", "rm -rf .", "rm -rf ./",
		"rm -rf *", "rm -rf ./*", "rm -rf ..", "rm -rf ../..", "rm -rf /w/p", "rm -rf /w", `rm -rf "$X/"`, "rm -rf $X/*", "rm -rf ${X}/", "rm -rf -- /",
		"rmdir ..", "bash -c 'rm -rf /'", "echo x | xargs rm -rf /", "find / -delete", "find . -delete", "find -delete", "mv ~ x", "cd / && rm -rf .",
		"/bin/rm -rf /home", "timeout 5 rm -rf .", "rm -rf $PWD", "eval 'rm -rf ~'",
		"echo x > .git/config", "echo x >> ~/.bashrc", "tee .claude/settings.json", "cp a .agents/skills/x", "mkdir -p .vscode", "touch .mcp.json",
		"rm -rf .git", "sed -i s/a/b/ .husky/pre-commit", "mv a .idea/x", "echo x > .GIT/hooks/x", "ln -s a .git/hooks/post-commit", "chmod +x .git/hooks/x",
		"cd .git && echo x > config", "sudo tee /home/u/.zshrc", "install -t .git/hooks x", "dd of=.git/config", "cp -t .git/hooks x",
		"cp -rt .git/hooks x", "sed -ni s/a/b/ .husky/x", "rm -rf .g*", "rm -rf {.git,x}", "rm -rf {/,x}", "rm -rf ./{a,../p}", "mv .. /tmp/x", `rm -rf "${X}/${Y}"`, "rm -rf ${X:-$(echo a)}/", "rm -rf $X/$Y/*", "mv -t /tmp/x .",
	} {
		if d := everything.Decide(bashRequest(line)); d.Verdict != Ask || !d.Firm || len(d.Suggest) > 0 {
			t.Errorf("%q = %s, firm %v, suggests %q (%s)", line, d.Verdict, d.Firm, d.Suggest, d.Reason)
		}
	}
	for _, line := range []string{
		"rm -rf build", "rm *.o", "rm -rf ./build/*", `rm -rf "$X"`, "rm /w/p/a", "cat .git/HEAD", "ls .claude", "git add .claude/x", "find . -name '*.pyc' -delete",
		"echo x > a.git/config", "cp .git/config x", "sed -n p .bashrc", "mkdir gitx",
		"mv a ..", "mv a ~", "mv a b .", "rm -rf .x*", "rm -rf {a,b}", "cp a ~", "touch .",
	} {
		if d := everything.Decide(bashRequest(line)); d.Verdict != Allow {
			t.Errorf("%q = %s (%s)", line, d.Verdict, d.Reason)
		}
	}
	for _, p := range []string{".git/config", "sub/.claude/x", "/home/u/.bashrc", ".mcp.json", "/w/p/.Husky/x"} {
		req := Request{Tool: "Write", Input: Input{Path: p}, WorkDir: "/w/p", Home: "/home/u"}
		if d := everything.Decide(req); d.Verdict != Ask || !d.Firm {
			t.Errorf("Write %q = %s, firm %v", p, d.Verdict, d.Firm)
		}
		if d := rules(t, "deny Edit").Decide(req); d.Verdict != Deny {
			t.Errorf("denied Write %q = %s", p, d.Verdict)
		}
		req.Tool = "Read"
		if d := everything.Decide(req); d.Verdict != Allow {
			t.Errorf("Read %q = %s", p, d.Verdict)
		}
	}
}
