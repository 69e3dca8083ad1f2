package permission

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// stubs are the programs of the real-bash tests: each writes its name to a log
// and does nothing else.
var stubs = []string{"alpha", "beta", "gamma", "delta", "rm", "git"}

// A realBash runs lines with a PATH that holds stubs and wrappers only, and
// tells which stubs ran.
type realBash struct {
	bash, bin string
}

func newRealBash(t testing.TB) realBash {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash on this machine to compare with")
	}
	dir := t.TempDir()
	b := realBash{bash: bash, bin: filepath.Join(dir, "bin")}
	if err := os.Mkdir(b.bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, s := range stubs {
		script := "#!/bin/sh\necho \"${0##*/}\" >>\"$STUBLOG\"\n"
		if err := os.WriteFile(filepath.Join(b.bin, s), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range []string{"timeout", "nice", "nohup", "stdbuf", "xargs", "env", "find", "sh", "bash", "cat", "setsid"} {
		if real, err := exec.LookPath(w); err == nil {
			if err := os.Symlink(real, filepath.Join(b.bin, w)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b
}

// ran returns the names of the stubs that a line runs.
func (b realBash) ran(t testing.TB, line string) []string {
	t.Helper()
	names := strings.Fields(b.log(t, line))
	slices.Sort(names)
	return slices.Compact(names)
}

// log returns what the stubs wrote that a line runs, in a directory of its own.
func (b realBash) log(t testing.TB, line string) string {
	t.Helper()
	root, err := os.MkdirTemp(filepath.Dir(b.bin), "run")
	if err != nil {
		t.Fatal(err)
	}
	// A log of its own: what an earlier line left running must not write here.
	log, dir := filepath.Join(root, "log"), filepath.Join(root, "dir")
	if err := os.WriteFile(log, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.bash, "--norc", "--noprofile", "-c", line)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + b.bin, "STUBLOG=" + log, "HOME=" + dir}
	cmd.WaitDelay = time.Second
	_ = cmd.Run() // its exit status says nothing about what ran
	out, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// seen returns the programs that the analysis found in a line, and whether it
// admits that there may be more.
func seen(line string) (programs []string, unsure bool) {
	req := Request{Tool: "Bash", Input: Input{Command: line}, WorkDir: "/w", Home: "/home/u"}
	for _, p := range readLine(&req) {
		unsure = unsure || p.unread || p.loose != "" || p.blind != ""
		if p.cmd == nil {
			continue
		}
		for _, f := range slices.Concat(p.cmd.forms, p.cmd.hidden) {
			programs = append(programs, base(f[0].value))
		}
	}
	return programs, unsure
}

func checkSeen(t interface {
	Errorf(string, ...any)
}, line string, ran []string) {
	programs, unsure := seen(line)
	for _, r := range ran {
		if !unsure && !slices.Contains(programs, r) {
			t.Errorf("bash runs %s in %q, the analysis saw %q and was sure", r, line, programs)
		}
	}
}

// hiddenRuns are lines that run alpha in ways that have hidden a command from
// one reader or another (spec S-7). must says that the analysis has to see
// alpha itself; otherwise admitting doubt is enough.
var hiddenRuns = []struct {
	line string
	must bool
}{
	{"alpha", true},
	{`a\lpha`, true},
	{`"alpha"`, true},
	{`'al'"pha"`, true},
	{`$'\x61lpha'`, true},
	{`$'\141lpha'`, true},
	{`$'\u0061lpha'`, true},
	{"al\\\npha", true},
	{"beta;alpha", true},
	{"beta & alpha", true},
	{"beta && alpha || gamma; beta || alpha", true},
	{"beta|alpha", true},
	{"beta |& alpha", true},
	{"beta\nalpha", true},
	{"beta # no\nalpha", true},
	{"(alpha)", true},
	{"{ alpha; }", true},
	{"! alpha", true},
	{"time alpha", true},
	{"time -p alpha", true},
	{"beta $(alpha)", true},
	{"beta \"$(alpha)\"", true},
	{"beta `alpha`", true},
	{"beta \"`alpha`\"", true},
	{"beta `beta \\`alpha\\``", true},
	{"beta <(alpha); for i in 1 2 3 4 5; do beta; done", true},
	{"cat <<E\n$(alpha)\nE", true},
	{"cat <<-E\n\t`alpha`\n\tE", true},
	{"cat <<<\"$(alpha)\"", true},
	{"echo ${x:-$(alpha)}", true},
	{"echo ${x:=$(alpha)}", true},
	{"echo $(( $(alpha; echo 1) + 1 ))", true},
	{"(( $(alpha; echo 1) ))", true},
	{"[[ -n $(alpha) ]]", true},
	{"case $(alpha) in *) beta;; esac", true},
	{"case x in $(alpha)) ;; x) alpha;; esac", true},
	{"if alpha; then beta; fi", true},
	{"if beta; then alpha; fi", true},
	{"while alpha; do break; done", true},
	{"until ! alpha; do break; done", true},
	{"for i in $(alpha); do :; done", true},
	{"for ((i=0; i<1; i++)); do alpha; done", true},
	{"f() { alpha; }; f", true},
	{"function f { alpha; }; f", true},
	{"ls() { alpha; }; ls", true},
	{"coproc alpha; wait", true},
	{"x=$(alpha)", true},
	{"x=(1 $(alpha))", true},
	{"export x=$(alpha)", true},
	{"declare x=$(alpha)", true},
	{"PATH=$PATH alpha", true},
	{"x=1 alpha", true},
	{">out alpha", true},
	{"2>&1 alpha >/dev/null", true},
	{"beta >$(alpha)", true},
	{"command alpha", true},
	{"command -- alpha", true},
	{"builtin command alpha", true},
	{"timeout 5 alpha", true},
	{"timeout -s KILL -k 1 5 alpha", true},
	{"timeout --signal=KILL 5s alpha", true},
	{"nice -n 5 alpha", true},
	{"nice -5 alpha", true},
	{"nohup alpha", true},
	{"stdbuf -oL -e 0 alpha", true},
	{"echo x | xargs alpha", true},
	{"echo x | xargs -n 1 -I{} alpha {}", true},
	{"echo x | xargs -0 -r timeout 5 alpha", true},
	{"echo x | xargs sh -c 'alpha'", true},
	{"echo alpha | xargs -I{} env {}", false},
	{"echo alpha | xargs env", false},
	{"env alpha", true},
	{"env -i PATH=$PATH STUBLOG=$STUBLOG alpha", true},
	{"env -S 'alpha x'", true},
	{"env '-Salpha x'", true},
	{"bash -c alpha", true},
	{"bash -ec 'beta; alpha'", true},
	{"bash +e -c 'alpha'", true},
	{"sh -c 'eval alpha'", true},
	{"sh -c 'sh -c \"sh -c alpha\"'", true},
	{"bash <<<alpha", true},
	{"bash <<'E'\nalpha\nE", true},
	{"bash <<E\nalpha\nE", true},
	{"echo alpha | bash", false},
	{"eval alpha", true},
	{"eval 'al''pha' x", true},
	{"eval 'if :; then' alpha\\; fi", true},
	{"exec alpha", true},
	{"exec -a other alpha", true},
	{"trap alpha EXIT", true},
	{"trap 'beta; alpha' EXIT", true},
	{"find . -maxdepth 0 -exec alpha {} \\;", true},
	{"find . -maxdepth 0 -exec sh -c 'alpha' \\;", true},
	{"find . -maxdepth 0 -execdir alpha {} +", false},
	{"setsid -w alpha", true},
	{"!(alpha)", true},
	{"x=alpha; $x", false},
	{"$(echo alpha)", false},
	{"{alpha,x}", false},
	{"x='a[$(alpha)]'; echo $((x))", false},
	{"x='a[$(alpha)]'; [[ x -eq 1 ]]", false},
	{"x='a[$(alpha)]'; echo ${!x}", false},
	{"x='a[$(alpha)]'; (( x ))", false},
	{"x='a[$(alpha)]'; let x", false},
	{"x='a[$(alpha)]'; echo ${y[x]}", false},
	{"x='a[$(alpha)]'; y=abc; echo ${y:x:1}", false},
	{"x='$(alpha)'; echo ${x@P}", false},
	{"[[ -v a[$(alpha)] ]]", true},
	{"test -v 'a[$(alpha)]'", false},
	{"printf -v 'a[$(alpha)]' x", false},
	{"read 'a[$(alpha)]' <<<x", false},
	{"a=(1); unset 'a[$(alpha)]'", false},
	{"declare -i x='a[$(alpha)]'", false},
	{"declare -n x='a[$(alpha)]'; echo $x", false},
	{"PS4='$(alpha)'; set -x; beta", false},
	{"hash -p $PWD/x y; alpha", true},
	{"shopt -s expand_aliases\nalias b=alpha\nb", false},
	{"cat << $x\n$(alpha)\n$x", false},
	{"cat <<E\\\nF\nE\n$(alpha)\nEF", false},
	{"mapfile -C alpha -c 1 x <<<y", false},
	{"command_not_found_handle() { alpha; }; zzz", true},
	{"select i in a; do alpha; break; done <<<1", true},
	{"echo x | while read y; do alpha; done", true},
	{"beta \\\n; alpha", true},
	{"beta 2>/dev/null&&alpha", true},
	{"[ -n x ]&&alpha", true},
	{"echo \"${x:-\"$(alpha)\"}\"", true},
	{"x=1; echo ${x/$(alpha)/}", true},
	{"echo $[ $(alpha; echo 1) ]", true},
	{"{ beta; } | { alpha; }", true},
	{"a=(); a[$(alpha; echo 0)]=1", true},
	{"time { alpha; }", true},
	{"if ! beta; then :; elif alpha; then :; else alpha; fi", true},
	{"echo x >&2 | alpha", true},
}

// TestNothingHidden compares the analysis with what bash really runs.
func TestNothingHidden(t *testing.T) {
	b := newRealBash(t)
	quiet := 0
	for _, tt := range hiddenRuns {
		ran := b.ran(t, tt.line)
		if !slices.Contains(ran, "alpha") {
			quiet++
			t.Logf("this bash does not run alpha: %q", tt.line)
		}
		checkSeen(t, tt.line, ran)
		if programs, _ := seen(tt.line); tt.must && !slices.Contains(programs, "alpha") {
			t.Errorf("alpha is not seen in %q: %q", tt.line, programs)
		}
	}
	if quiet > len(hiddenRuns)/10 {
		t.Errorf("%d of %d lines did not run alpha: the test proves too little", quiet, len(hiddenRuns))
	}
}

// TestHiddenIsRefused: whatever hides alpha, a deny rule for it holds, and an
// allow for everything else that is visible does not help.
func TestHiddenIsRefused(t *testing.T) {
	deny := rules(t, "deny Bash(alpha:*)", "allow Bash")
	only := rules(t, "allow Bash(beta:*)", "allow Bash(gamma:*)", "allow Bash(echo:*)", "allow Bash(cat:*)")
	for _, tt := range hiddenRuns {
		d := deny.Decide(bashRequest(tt.line))
		if tt.must && d.Verdict != Deny {
			t.Errorf("%q with alpha denied: %s (%s)", tt.line, d.Verdict, d.Reason)
		}
		if d := only.Decide(bashRequest(tt.line)); d.Verdict != Ask {
			t.Errorf("%q with only beta allowed: %s (%s)", tt.line, d.Verdict, d.Reason)
		}
	}
}

// lineGen builds random lines out of the pieces that have hidden commands.
func lineGen() *rapid.Generator[string] {
	name := rapid.SampledFrom([]string{
		"alpha", "beta", `g\amma`, `"delta"`, `'al'pha`, `$'\x62eta'`, "command alpha", "timeout 5 beta", "nice gamma",
		"env delta", "xargs alpha </dev/null", "exec beta", "A=1 gamma", "LANG=C delta", ">o alpha", "sh -c beta", "eval gamma",
	})
	arg := rapid.SampledFrom([]string{
		"x", "-o", `"a b"`, "'c;d'", "$x", `"$y"`, "${z:-w}", "#c", "a#b", `\;`, "{p,q}", "*", "~", "2>/dev/null", ">&2", "$((1+2))", "<<<h", `""`, "é",
	})
	sep := rapid.SampledFrom([]string{";", "&&", "||", "|", "|&", "&", "\n", " ; ", "\n\n"})
	var line *rapid.Generator[string]
	simple := rapid.Custom(func(t *rapid.T) string {
		s := name.Draw(t, "name")
		for range rapid.IntRange(0, 2).Draw(t, "args") {
			s += " " + arg.Draw(t, "arg")
		}
		return s
	})
	wrap := []string{
		"(%s)", "{ %s\n}", "beta $(%s)", "beta \"$(%s)\"", "beta <(%s)", "! %s", "time %s", "if %s\nthen beta; fi", "if :; then %s\nfi",
		"for i in 1; do %s\ndone", "while %s\ndo break; done", "f() { %s\n}; f", "case x in x) %s\n;; esac", "x=$(%s)", "cat <<E\n$(%s)\nE\n",
		"echo ${q:-$(%s)}", "[[ -n $(%s) ]]", "coproc { %s\n}", "echo $(( $(%s) 1 ))", "bash <<'E'\n%s\nE\n", "beta `%s`",
	}
	line = rapid.Custom(func(t *rapid.T) string {
		switch rapid.IntRange(0, 4).Draw(t, "shape") {
		case 0, 1:
			return simple.Draw(t, "simple")
		case 2:
			return line.Draw(t, "left") + sep.Draw(t, "sep") + line.Draw(t, "right")
		default:
			return fmt.Sprintf(rapid.SampledFrom(wrap).Draw(t, "wrap"), line.Draw(t, "inner"))
		}
	})
	return line
}

// TestRandomLines runs random lines in bash: what runs was seen.
func TestRandomLines(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many shells")
	}
	b := newRealBash(t)
	gen := lineGen()
	const budget = 8 * time.Second // of wall time; the rest of the lines are not run
	deadline := time.Now().Add(budget)
	executed := 0
	denied := rules(t, "deny Bash(alpha:*)", "allow Bash")
	others := rules(t, "allow Bash(beta:*)", "allow Bash(gamma:*)", "allow Bash(delta:*)", "allow Bash(bash:*)", "allow Edit")
	rapid.Check(t, func(rt *rapid.T) {
		line := gen.Draw(rt, "line")
		if len(line) > 2000 || time.Now().After(deadline) {
			return
		}
		ran := b.ran(t, line)
		executed += len(ran)
		checkSeen(rt, line, ran)
		if !slices.Contains(ran, "alpha") {
			return
		}
		for _, r := range []Rules{denied, others} {
			if strings.Contains(line, "bash") && len(r.Deny) == 0 {
				continue // bash is allowed there, whatever it reads
			}
			if d := r.Decide(bashRequest(line)); d.Verdict == Allow {
				rt.Errorf("%q runs alpha: %s", line, d.Reason)
			}
		}
	})
	if executed == 0 {
		t.Error("no line ran anything")
	}
}

// TestSyntaxAgreement: what the analysis takes for a line of bash is one. The
// other way round is allowed: what is not understood asks.
func TestSyntaxAgreement(t *testing.T) {
	b := newRealBash(t)
	for _, tt := range hiddenRuns {
		_, err := parse(tt.line)
		bashErr := exec.CommandContext(t.Context(), b.bash, "-n", "-c", tt.line).Run()
		if err == nil && bashErr != nil {
			t.Errorf("%q is no bash, yet it was parsed", tt.line)
		}
	}
}
