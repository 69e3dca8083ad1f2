package permission

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// snapshot maps the files below dir to what they hold. The index and the logs
// of git are left out: git status refreshes them.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil || rel == filepath.Join(".git", "index") {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		out[rel] = info.Mode().String()
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			out[rel] += fmt.Sprintf(" %x", sha256.Sum256(text))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// workspace makes a small git repository with files that the lines name.
func workspace(t *testing.T, bash string) string {
	t.Helper()
	dir := t.TempDir()
	setup := `git init -q . && git config user.email a@example.com && git config user.name a &&
		mkdir -p src/x.d && printf 'b\na\na\n' >a && cp a b && echo '{"a":[1]}' >f.json && echo 'package x' >x.go && cp x.go src/y.go &&
		git add -A && git commit -qm one && echo c >>a && git commit -qam two && git tag v1 && git branch other`
	cmd := exec.CommandContext(t.Context(), bash, "-c", setup)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("no repository to look at: %v %s", err, out)
	}
	return dir
}

// TestReadingChangesNothing runs every line that is allowed by default and
// compares the directory before and after (spec S-7).
func TestReadingChangesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many programs")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash on this machine")
	}
	dir := workspace(t, bash)
	before := snapshot(t, dir)
	good := 0
	for _, line := range allReading() {
		if strings.Contains(line, "tail -f") || strings.Contains(line, "sleep") {
			continue // they only take time
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		cmd := exec.CommandContext(ctx, bash, "--norc", "--noprofile", "-c", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "x=a")
		cmd.WaitDelay = time.Second
		if cmd.Run() == nil {
			good++
		}
		cancel()
		if after := snapshot(t, dir); !maps.Equal(before, after) {
			for name := range after {
				if before[name] != after[name] {
					t.Errorf("%q changed %s", line, name)
				}
			}
			t.Fatalf("%q changed the directory", line)
		}
	}
	if total := len(allReading()); good < total/2 {
		t.Errorf("only %d of %d lines worked: the test proves too little", good, total)
	}
}

// Every entry of the tables of reading commands is tried by a line above.
func TestReadingIsCovered(t *testing.T) {
	words := map[string]bool{}
	git := map[string]bool{}
	for _, line := range allReading() {
		req := bashRequest(line)
		for _, p := range readLine(&req) {
			if p.cmd == nil {
				continue
			}
			inner := p.cmd.forms[len(p.cmd.forms)-1]
			words[inner[0].value] = true
			if inner[0].value == "git" {
				for _, w := range inner[1:] {
					git[w.value] = true
				}
			}
		}
	}
	for name := range verbs {
		if !words[name] && !slices.Contains([]string{"continue", "return"}, name) {
			t.Errorf("no line tries %s", name)
		}
	}
	for name := range gitVerbs {
		if !git[name] {
			t.Errorf("no line tries git %s", name)
		}
	}
}

// Every option that a table refuses is refused: alone, joined, abbreviated, in
// a cluster and after other words.
func TestRefusedOptions(t *testing.T) {
	check := func(command string, v verb) {
		for _, r := range v.refuse {
			lines := []string{command + " -" + r + " x", command + " -" + r + "x", command + " a -q" + r, command + " -" + r}
			if len(r) > 1 {
				lines = []string{command + " --" + r, command + " --" + r + "=x", command + " a --" + r + " x", command + " --" + r[:len(r)-1]}
			}
			for _, line := range append(lines, command+" $x", command+" *", command+" {a,b}") {
				if d := (Rules{}).Decide(bashRequest(line)); d.Verdict != Ask {
					t.Errorf("%q = %s (%s)", line, d.Verdict, d.Reason)
				}
			}
		}
	}
	for name, v := range verbs {
		check(name, v)
	}
	for name, v := range gitVerbs {
		if v.first != nil {
			name += " " + v.first[len(v.first)-1]
		}
		check("git "+name, v.verb)
	}
}

// An option that a closed list does not have asks.
func TestClosedLists(t *testing.T) {
	lines := []string{"hostname --unknown", "hostname -x"}
	for name, v := range gitVerbs {
		if v.only == nil {
			continue
		}
		if v.must != nil {
			name += " " + v.must[0]
		}
		if v.first != nil {
			name += " " + v.first[len(v.first)-1]
		}
		lines = append(lines, "git "+name+" --unknown", "git "+name+" -D", "git "+name+" --delete", "git "+name+" $x")
	}
	for _, line := range lines {
		if d := (Rules{}).Decide(bashRequest(line)); d.Verdict != Ask {
			t.Errorf("%q = %s (%s)", line, d.Verdict, d.Reason)
		}
	}
}

// Nothing in the tables hides a command from a refusal.
func TestEveryRunner(t *testing.T) {
	rs := rules(t, "deny Bash(alpha:*)", "allow Bash")
	for name := range runners {
		switch name {
		case "time", "coproc": // words of the language, which have no such options
			name = `\` + name
		case "timeout": // its first operand is a time
			name = "timeout --unknown 5"
		}
		for _, line := range []string{name + " alpha", name + " --odd x alpha y", "/usr/bin/" + name + " alpha", "sudo " + name + " alpha", name + " " + name + " alpha"} {
			if d := rs.Decide(bashRequest(line)); d.Verdict != Deny {
				t.Errorf("%q = %s (%s)", line, d.Verdict, d.Reason)
			}
		}
	}
	for name := range shells {
		for _, line := range []string{name + " -c alpha", name + " -xec 'beta; alpha y'", "/bin/" + name + " -c \"alpha\"", "env " + name + " -c alpha", name + " <<<alpha", name + " <<'E'\nalpha\nE"} {
			if d := rs.Decide(bashRequest(line)); d.Verdict != Deny {
				t.Errorf("%q = %s (%s)", line, d.Verdict, d.Reason)
			}
		}
	}
	for name := range scripted {
		if d := rs.Decide(bashRequest(name + " 'beta; alpha'")); d.Verdict != Deny {
			t.Errorf("%s = %s (%s)", name, d.Verdict, d.Reason)
		}
	}
	for action := range findActions {
		if d := (Rules{}).Decide(bashRequest("find a " + action + " b")); d.Verdict != Ask {
			t.Errorf("find %s = %s", action, d.Verdict)
		}
	}
}

// Every name of the tables of protected paths and of commands that write.
func TestEveryProtectedPath(t *testing.T) {
	all := rules(t, "allow Bash", "allow Edit")
	for _, name := range slices.Concat(protectedDirs, protectedFiles) {
		for _, line := range []string{
			"echo x > " + name, "echo x >> sub/" + name, "rm -r " + name, "mv x " + name, "mv " + name + " x", "cp x " + name, "touch " + name, "tee " + name, "sudo tee " + name,
			"mkdir -p " + name + "/a", "ln -s x ~/" + name, "install x " + name, "sed -i 1d " + name, "dd if=x of=" + name, "truncate -s0 " + name, "chmod +x " + name,
			"echo x > " + strings.ToUpper(name), "cd sub && echo x > " + name, "timeout 5 tee " + name, "bash -c 'echo x > " + name + "'",
		} {
			if strings.HasSuffix(line, "/a") && slices.Contains(protectedFiles, name) {
				continue // a directory of that name is no such file
			}
			if d := all.Decide(bashRequest(line)); d.Verdict != Ask || !d.Firm {
				t.Errorf("%q = %s, firm %v (%s)", line, d.Verdict, d.Firm, d.Reason)
			}
		}
		for _, line := range []string{"cat " + name, "cp " + name + " x", "grep a < " + name, "echo x > x" + name + "y", "ls " + name} {
			if d := all.Decide(bashRequest(line)); d.Verdict != Allow {
				t.Errorf("%q = %s (%s)", line, d.Verdict, d.Reason)
			}
		}
	}
	deny := rules(t, "allow Bash", "deny Edit(kept)")
	for name, verb := range fileVerbs {
		line := map[fileVerb]string{sedLike: name + " -i 1d kept", ddLike: name + " of=kept"}[verb]
		if line == "" {
			line = name + " x kept"
		}
		if d := deny.Decide(bashRequest(line)); d.Verdict != Deny {
			t.Errorf("%q = %s (%s)", line, d.Verdict, d.Reason)
		}
	}
}

// Reading a file that must not be read is refused for every command that shows
// the text of files.
func TestEveryReader(t *testing.T) {
	rs := rules(t, "allow Bash", "deny Read(secret)")
	for name, v := range verbs {
		if v.reads {
			checkBash(t, bashTest{line: name + " secret", want: Deny}, "allow Bash", "deny Read(secret)")
		}
	}
	for name := range readers {
		if d := rs.Decide(bashRequest(name + " secret")); d.Verdict != Deny {
			t.Errorf("%s secret = %s", name, d.Verdict)
		}
	}
}

// Safe variables are looked through and nothing else is.
func TestEveryVariable(t *testing.T) {
	rs := rules(t, "allow Bash(make:*)")
	for name := range safeVariables {
		for _, line := range []string{name + "=x make", name + "=$x make", name + "=x timeout 5 make", name + "=x; make", "export " + name + "=x; make"} {
			if d := rs.Decide(bashRequest(line)); d.Verdict != Allow {
				t.Errorf("%q = %s (%s)", line, d.Verdict, d.Reason)
			}
		}
	}
	for _, name := range []string{
		"PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "IFS", "BASH_ENV", "ENV", "PS4", "PROMPT_COMMAND", "HOME", "SHELL", "CDPATH",
		"GIT_SSH", "GIT_SSH_COMMAND", "GIT_PAGER", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_COUNT", "EDITOR", "VISUAL", "PAGER", "MANPAGER", "LESSOPEN", "BROWSER",
		"NODE_OPTIONS", "PYTHONPATH", "PYTHONSTARTUP", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS", "GOFLAGS", "MAKEFLAGS", "CC", "npm_config_script_shell", "https_proxy",
		"UNKNOWN", "Mixed", "_",
	} {
		for _, line := range []string{name + "=x make", name + "=x; make", "export " + name + "=x; make", "for " + name + " in x; do make; done", ": ${" + name + ":=x}; make"} {
			if d := rs.Decide(bashRequest(line)); d.Verdict != Ask {
				t.Errorf("%q = %s (%s)", line, d.Verdict, d.Reason)
			}
		}
	}
}

// TestCorpusRules reads the grants of the shared corpus: each is a rule, or is
// refused with a reason.
func TestCorpusRules(t *testing.T) {
	corpus := os.Getenv("KNACK_CORPUS")
	if corpus == "" {
		t.Skip("KNACK_CORPUS names no directory")
	}
	found, bad := 0, 0
	err := filepath.WalkDir(corpus, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(p) != ".md" {
			return err
		}
		f, err := os.Open(p)
		if err != nil {
			return nil // unreadable files of the corpus are other tests' business
		}
		defer f.Close()
		for in := bufio.NewScanner(f); in.Scan(); {
			list, ok := strings.CutPrefix(in.Text(), "allowed-tools:")
			if !ok {
				continue
			}
			for one := range strings.SplitSeq(list, ",") {
				r, err := ParseRule(one)
				if err != nil {
					bad++
					continue
				}
				found++
				if why := NeverMatches(r); why != "" {
					t.Logf("%s: %s: %s", p, r.Text, why)
				}
				// A grant never makes a harmless line worse.
				if d := (Rules{Allow: []Rule{r}}).Decide(bashRequest("git status")); d.Verdict != Allow {
					t.Errorf("%s: with %s, git status is %s", p, r.Text, d.Verdict)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rules, %d pieces that are none", found, bad)
}
