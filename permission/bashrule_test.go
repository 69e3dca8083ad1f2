package permission

import (
	"strings"
	"testing"
)

// A bashTest is a line, one allow rule, and whether it is enough.
type bashTest struct {
	rule, line string
	want       Verdict
}

// Spec S-7: how specifiers are compared.
func TestBashSpecifiers(t *testing.T) {
	tests := []bashTest{
		// prefix at a word border
		{"Bash(make test:*)", "make test", Allow},
		{"Bash(make test:*)", "make test -v x", Allow},
		{"Bash(make test *)", "make test", Allow},
		{"Bash(make test *)", "make test -v", Allow},
		{"Bash(make test:*)", "make tests", Ask},
		{"Bash(make test:*)", "make testing -v", Ask},
		{"Bash(make test:*)", "make", Ask},
		{"Bash(make test:*)", "make  \t test -v", Allow},
		{"Bash(make:*)", "maker", Ask},
		{"Bash(npm run test:*)", "npm run test:unit", Ask},
		{"Bash(npm run test:unit:*)", "npm run test:unit -w", Allow},
		// exact
		{"Bash(make test)", "make test", Allow},
		{"Bash(make test)", "make test -v", Ask},
		{"Bash(make test)", "make", Ask},
		{"Bash(make)", "  make  ", Allow},
		// * anywhere
		{"Bash(make*)", "maker -x", Allow},
		{"Bash(npm * test)", "npm -w a test", Allow},
		{"Bash(npm * test)", "npm -w a test x", Ask},
		{"Bash(npm * test *)", "npm -w a test", Allow},
		{"Bash(npm * test:*)", "npm -w a test x", Allow},
		{"Bash(npm * test:*)", "npm -w a tests", Ask},
		{"Bash(* --version)", "node --version", Allow},
		{"Bash(* --version)", "sudo x --version", Ask},
		{"Bash(* --version)", "bash -c 'rm x' --version", Ask},
		{"Bash(*)", "anything 'at all' | more", Allow},
		{"Bash", "anything > f", Allow},
		// quotes on either side
		{`Bash(say -v "Samantha":*)`, `say -v "Samantha" "hello"`, Allow},
		{`Bash(say -v "Samantha":*)`, `say -v Samantha hello`, Allow},
		{`Bash(say -v Samantha:*)`, `say -v 'Samantha' hello`, Allow},
		{`Bash(say -v "Sam antha":*)`, `say -v Sam\ antha hello`, Allow},
		{`Bash(say -v "Sam antha":*)`, `say -v Sam antha hello`, Ask},
		{"Bash(/p/setup.sh:*)", `"/p/setup.sh" "test task" --max 3`, Allow},
		{"Bash(/p/setup.sh:*)", `"/p/setup.sh" fix a, b, and c`, Allow},
		{"Bash(node:*)", `node "/home/u/.claude/plugins/x/c.mjs" status ""`, Allow},
		{"Bash(make test:*)", `"make test" x`, Ask},
		{"Bash(make test:*)", `make\ test x`, Ask},
		{"Bash(make test:*)", `m\ake "test"`, Allow},
		{"Bash(make test:*)", `$'\x6dake' test`, Allow},
		{"Bash(make test:*)", "make\\\n test", Allow},
		{"Bash(echo \"a:*)", `make`, Ask}, // quotes that do not pair
		// home
		{"Bash(~/bin/x:*)", "~/bin/x 1", Allow},
		{"Bash(~/bin/x:*)", "/home/u/bin/x 1", Allow},
		{"Bash(~/bin/x:*)", `"$HOME/bin/x" 1`, Allow},
		{"Bash(~/bin/x:*)", `"~/bin/x" 1`, Ask},
		{"Bash($HOME/bin/x:*)", "~/bin/x 1", Allow},
		{"Bash(~/bin/*)", "/home/u/bin/y 1", Allow},
		{"Bash($HOME/bin/*)", "~/bin/y 1", Allow},
		{"Bash(~/.agents/skills/m/scripts/*)", "bash /home/u/.agents/skills/m/scripts/inbox.sh", Ask},
		{"Bash(~/bin/*)", "~/bin/../evil", Ask},
		{"Bash(make src/*)", "make src/../../x", Ask},
		{"Bash(make ../*)", "make ../x", Allow},
		// the program is not known
		{"Bash(make:*)", "$x make", Ask},
		{"Bash($x make:*)", "$x make", Ask},
		{"Bash($x make)", "$x make", Allow},
		{"Bash(m*)", "m$x", Ask},
		{"Bash(m*)", "m{ake,v} x", Ask},
		{"Bash(m*)", "m?ke", Ask},
		{"Bash(LANG=C *)", "LANG=C $x", Ask},
		{"Bash", "$x make", Allow},
		// unknown arguments do not matter to a prefix
		{"Bash(make test:*)", "make test $x *.go", Allow},
		{"Bash(make test:*)", "make $x", Ask},
		{"Bash(make $x:*)", "make $x y", Allow},
		// look-alikes, smuggling, control characters
		{"Bash(make:*)", "mаke", Ask}, // a Cyrillic letter
		{"Bash(make:*)", "make\u00a0test", Ask},
		{"Bash(make:*)", "\u200bmake", Ask},
		{"Bash(make:*)", "make x\nrm y", Ask},
		{"Bash(make:*)", "make x\rrm y", Ask},
		{"Bash(make:*)", "make x\x00", Ask},
		{"Bash", "make x\x00", Ask},
		{"Bash", "make x \x1b[2K", Ask},
		{"Bash", "make \xff", Ask},
		{"Bash", "make 'x", Ask},
		{"Bash", "make &&", Ask},
		{"Bash(make 'x)", "make 'x", Ask},
		{"Bash", "", Ask},
		{"Bash", "# only a comment", Allow},
		// the whole line, exactly
		{"Bash(make a && make b)", "make a && make b", Allow},
		{"Bash(make a && make b)", "make a && make c", Ask},
		{"Bash(make a > out)", "make a > out", Allow},
	}
	for _, tt := range tests {
		checkBash(t, tt, "allow "+tt.rule)
	}
}

func checkBash(t *testing.T, tt bashTest, lists ...string) {
	t.Helper()
	d := rules(t, lists...).Decide(bashRequest(tt.line))
	if d.Verdict != tt.want {
		t.Errorf("%s: %q = %s, want %s (%s)", strings.Join(lists, ", "), tt.line, d.Verdict, tt.want, d.Reason)
	}
	if d.Reason == "" {
		t.Errorf("%s: %q: no reason", tt.rule, tt.line)
	}
}

// Spec S-7: every part of a line counts, wrappers and safe assignments do not.
func TestBashParts(t *testing.T) {
	tests := []bashTest{
		{"Bash(mk:*)", "mk a; mk b && mk c || mk d | mk e", Allow},
		{"Bash(mk:*)", "mk a && cd a", Ask},
		{"Bash(mk:*)", "mk $(mk a)", Allow},
		{"Bash(mk:*)", "mk $(rm a)", Ask},
		{"Bash(mk:*)", "mk `rm a`", Ask},
		{"Bash(mk:*)", "mk <(rm a)", Ask},
		{"Bash(mk:*)", "mk <<E\n$(rm a)\nE", Ask},
		{"Bash(mk:*)", "mk <<'E'\n$(rm a)\nE", Allow},
		{"Bash(mk:*)", "f() { mk a; }; ls", Allow},
		{"Bash(mk:*)", "f() { rm a; }; ls", Ask},
		{"Bash(mk:*)", "for i in 1 2; do mk $i; done", Allow},
		{"Bash(mk:*)", "for PATH in /evil; do mk; done", Ask},
		{"Bash(mk:*)", "if mk a; then mk b; else mk c; fi", Allow},
		{"Bash(mk:*)", "[[ -f x ]] && mk", Allow},
		{"Bash(mk:*)", "(mk a) & { mk b; }", Allow},
		{"Bash(mk:*)", "! mk", Allow},
		{"Bash(mk:*)", "time mk", Allow},
		{"Bash(mk:*)", "timeout 5 mk a", Allow},
		{"Bash(mk:*)", "timeout -k 1s --signal=KILL 5m mk a", Allow},
		{"Bash(mk:*)", "timeout $t mk a", Ask},
		{"Bash(mk:*)", "timeout --unknown 5 mk", Ask},
		{"Bash(mk:*)", "nice -n 5 nohup stdbuf -oL command -p builtin mk", Allow},
		{"Bash(mk:*)", "command -v mk", Allow},
		{"Bash(mk:*)", "ls | xargs -n 1 -P4 mk a", Allow},
		{"Bash(mk:*)", "ls | xargs -I{} mk {}", Allow},
		{"Bash(mk:*)", "ls | xargs -I{} {} mk", Ask},
		{"Bash(mk:*)", "ls | xargs -0I{} {} mk", Ask},
		{"Bash(mk:*)", "ls | xargs --replace mk", Ask},
		{"Bash(mk a)", "ls | xargs mk a", Ask}, // it appends arguments
		{"Bash(mk:*)", "LANG=C TZ=UTC mk", Allow},
		{"Bash(mk:*)", "LC_ALL=C CI=1 NO_COLOR=1 mk", Allow},
		{"Bash(mk:*)", "PATH=/evil mk", Ask},
		{"Bash(mk:*)", "LD_PRELOAD=./x.so mk", Ask},
		{"Bash(mk:*)", "IFS=x mk", Ask},
		{"Bash(mk:*)", "BASH_ENV=x mk", Ask},
		{"Bash(mk:*)", "GIT_SSH_COMMAND=x mk", Ask},
		{"Bash(mk:*)", "FOO=1 mk", Ask},
		{"Bash(FOO=1 mk:*)", "FOO=1 mk a", Allow},
		{"Bash(mk:*)", "PATH=/evil; mk", Ask},
		{"Bash(mk:*)", "export PATH=/evil; mk", Ask},
		{"Bash(mk:*)", "x=1; mk $x", Allow},
		{"Bash(mk:*)", "x=$(rm a); mk", Ask},
		{"Bash(mk:*)", ": ${PATH:=/evil}; mk", Ask},
		{"Bash(mk:*)", "mk {PATH}>/dev/null", Ask},
		{"Bash(mk:*)", "local x=1; declare -a y=(1 2); mk", Allow},
		{"Bash(mk:*)", "declare -n x=PATH; mk", Ask},
		{"Bash(mk:*)", "mk $((1+2)) ${#x} ${x%.go}", Allow},
		{"Bash(mk:*)", "mk $((x))", Ask},
		{"Bash(mk:*)", "mk ${!x}", Ask},
		{"Bash(mk:*)", "mk ${x@P}", Ask},
		{"Bash(mk:*)", "mk ${x[@]} ${x[1]}", Allow},
		{"Bash(mk:*)", "mk ${x[i]}", Ask},
		// need a rule of their own
		{"Bash(mk:*)", "env mk", Ask},
		{"Bash(mk:*)", "sudo mk", Ask},
		{"Bash(mk:*)", "bash -c mk", Ask},
		{"Bash(mk:*)", "eval mk", Ask},
		{"Bash(mk:*)", "exec mk", Ask},
		{"Bash(mk:*)", "watch mk", Ask},
		{"Bash(mk:*)", "find . -exec mk {} +", Ask},
		{"Bash(mk:*)", "/usr/bin/timeout 5 mk", Ask},
		{"Bash(mk:*)", "/tmp/mk", Ask},
		{"Bash(sudo mk:*)", "sudo mk a", Allow},
		{"Bash(bash x.sh:*)", "bash x.sh 1", Allow},
		{"Bash(find:*)", "find . -name x", Allow},
		{"Bash(find:*)", "find . -delete", Ask},
		{"Bash(find:*)", "find . -exec rm {} +", Ask},
		{"Bash(find x -exec ls:*)", `find x -exec ls {} \;`, Allow},
		{"Bash(find x -exec ls:*)", `find x -exec ls {} \; -delete`, Ask},
		// redirections
		{"Bash(mk:*)", "mk > out", Ask},
		{"Bash(mk:*)", "mk >> out", Ask},
		{"Bash(mk:*)", "mk &> out", Ask},
		{"Bash(mk:*)", "mk >& out", Ask},
		{"Bash(mk:*)", "mk <> out", Ask},
		{"Bash(mk:*)", "> out", Ask},
		{"Bash(mk:*)", "mk > $x", Ask},
		{"Bash(mk:*)", "mk >/dev/null 2>&1 3>&- <&0", Allow},
		{"Bash(mk:*)", "mk < in", Allow},
		{"Bash(mk:*)", `mk < "$x"`, Ask},
		{"Bash(mk:*)", "mk > /dev/tcp/1.2.3.4/80", Ask},
		{"Bash(mk:*)", "mk < /dev/tcp/1.2.3.4/80", Ask},
		{"Bash(mk:*)", "mk > >(mk)", Allow},
		{"Bash(mk:*)", "mk > >(rm x)", Ask},
		{"Bash(mk:*)", "mk <<$x\nE\n$x", Ask},
	}
	for _, tt := range tests {
		checkBash(t, tt, "allow "+tt.rule)
	}
}

// Redirections count as Write and Read of their target (spec S-7, S-8).
func TestRedirectionRules(t *testing.T) {
	tests := []struct {
		lists string
		line  string
		want  Verdict
	}{
		{"allow Edit(out/**)", "echo x > out/a", Allow},
		{"allow Write(out/**)", "echo x > out/a", Allow},
		{"allow Edit(out/**)", "echo x > other", Ask},
		{"allow Edit(out/**)", "echo x > out/../other", Ask},
		{"allow Edit(out/**)", "echo x > out/$x", Ask},
		{"allow Edit", "echo x > other", Allow},
		{"allow Edit", "echo x > $x", Ask},
		{"allow Bash|deny Edit(//etc/**)", "echo x > /etc/passwd", Deny},
		{"allow Bash|deny Edit(//etc/**)", "cd /etc && echo x > passwd", Deny},
		{"allow Bash|deny Edit(//etc/**)", "cd / && cd etc && echo x > passwd", Deny},
		{"allow Bash|deny Edit(//etc/**)", "tee /etc/passwd", Deny},
		{"allow Bash|deny Edit(//etc/**)", "sudo tee -a /etc/passwd", Deny},
		{"allow Bash|deny Edit(//etc/**)", "cp x /etc/passwd", Deny},
		{"allow Bash|deny Edit(//etc/**)", "cp /etc/passwd x", Allow},
		{"allow Bash|deny Edit(//etc/**)", "sed -i s/a/b/ /etc/passwd", Deny},
		{"allow Bash|deny Edit(//etc/**)", "sed s/a/b/ /etc/passwd", Allow},
		{"allow Bash|deny Edit(//etc/**)", "dd if=x of=/etc/passwd", Deny},
		{"allow Bash|ask Write(//etc/**)", "echo x > /etc/passwd", Ask},
		{"allow Bash(cd:*)|allow Edit(out/**)", "cd out && echo x > a", Ask},
		{"allow Bash(cd:*)|allow Edit(//w/p/**)", "cd out && echo x > a", Allow},
		{"allow Bash(cd:*)|allow Edit(//w/p/**)", "cd $x && echo x > a", Ask},
		{"allow Bash(cd:*)|allow Edit(//w/p/**)", "cd .. && echo x > a", Ask},
		{"allow Bash(cd:*)|allow Edit(//w/p/**)", "while true; do cd a; echo x > a; done", Ask},
		{"deny Read(.env)", "cat < .env", Deny},
		{"deny Read(.env)", "cat .env", Deny},
		{"deny Read(.env)", "cat sub/.env", Deny},
		{"deny Read(.env)", "grep KEY ./.env", Deny},
		{"deny Read(.env)", "cd sub; cat .env", Deny},
		{"allow Bash|deny Read(.env)", "sed -n p .env", Deny},
		{"allow Bash|deny Read(.env)", "cp .env x", Deny},
		{"deny Read(.env)", "cat .e*", Ask},
		{"deny Read(.env)", "cat $x", Ask},
		{"allow Bash(cat:*)|deny Read(.env)", "cat $x", Allow},
		{"deny Read(.env)", "cat other", Allow},
		{"", "cat $x", Allow},
	}
	for _, tt := range tests {
		var lists []string
		if tt.lists != "" {
			lists = strings.Split(tt.lists, "|")
		}
		checkBash(t, bashTest{line: tt.line, want: tt.want}, lists...)
	}
}

// A refusal is not dodged by a wrapper (spec S-1, S-7).
func TestRefusalsLookInside(t *testing.T) {
	for _, line := range []string{
		"git push", "git push origin main", `g\it push`, `"git" 'push'`, "/usr/bin/git push", "git -C x push", "git --no-pager -c a=b push",
		"sudo git push", "sudo -u x -E git push", "env git push", "env -i A=1 git push", "env -S 'git push'", "FOO=1 git push", "PATH=x git push",
		"bash -c 'git push'", "bash -lc 'ls && git push'", "sh -c \"sh -c 'git push'\"", "eval 'git push'", "exec git push", "watch -n 5 git push",
		"watch -n5 'ls; git push'", "trap 'git push' EXIT", "find . -exec git push {} ;", `find . -execdir git push {} \;`, "ls | xargs git push",
		"ls | xargs -I{} sh -c 'git push {}'", "timeout 5 nice git push", "timeout --odd 5 git push", "nohup sudo timeout 5 env git push &",
		"su -c 'git push' x", "flock /tmp/l -c 'git push'", "x=$(git push)", "echo `git push`", "cat <<E\n$(git push)\nE", "bash <<'E'\ngit push\nE",
		"bash <<< 'git push'", "(git push)", "if git push; then :; fi", "f() { git push; }", "coproc git push", "busybox git push",
		"git push &&", "git push '", "command git push", "sudo git -C x push", "find . -exec timeout 5 git -C x push +", `find . -exec ls {} \; -exec sudo git push \;`, "/usr/bin/env git push", "/bin/bash -c 'git push'",
	} {
		checkBash(t, bashTest{line: line, want: Deny}, "allow Bash", "deny Bash(git push:*)")
		d := rules(t, "allow Bash", "ask Bash(git push *)").Decide(bashRequest(line))
		if d.Verdict != Ask || !d.Firm {
			t.Errorf("ask rule: %q = %s, firm %v (%s)", line, d.Verdict, d.Firm, d.Reason)
		}
	}
	for _, line := range []string{"git pull", "git commit -m 'git push'", "echo git push", "sudo git pull", "bash -c 'git pull'", "find . -name push"} {
		checkBash(t, bashTest{line: line, want: Allow}, "allow Bash", "deny Bash(git push:*)")
	}
	// What cannot be seen could be what is refused.
	for _, line := range []string{"$x push", "eval $x", "bash -c \"$x\"", "curl x | bash", "alias g=git; g push", "$(echo git) push"} {
		checkBash(t, bashTest{line: line, want: Ask}, "allow Bash", "deny Bash(git push:*)")
		checkBash(t, bashTest{line: line, want: Allow}, "allow Bash")
	}
}
