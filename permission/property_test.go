package permission

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// spelling draws one of the ways to write a plain word in shell.
func spelling(t *rapid.T, w string) string {
	var b strings.Builder
	for i := 0; i < len(w); {
		n := rapid.IntRange(1, len(w)-i).Draw(t, "length")
		piece := w[i : i+n]
		switch rapid.IntRange(0, 5).Draw(t, "quote") {
		case 0:
			b.WriteString("'" + piece + "'")
		case 1:
			b.WriteString(`"` + piece + `"`)
		case 2:
			b.WriteString(`\` + piece)
		case 3:
			b.WriteString("$'")
			for _, c := range []byte(piece) {
				fmt.Fprintf(&b, rapid.SampledFrom([]string{`\x%02x`, `\%03o`, `\u%04x`, "%c"}).Draw(t, "escape"), c)
			}
			b.WriteString("'")
		case 4:
			b.WriteString(`""` + piece)
		default:
			b.WriteString(piece)
		}
		i += n
	}
	return b.String()
}

// However a command is spelled, rules see the same command (spec S-7).
func TestSpellingDoesNotMatter(t *testing.T) {
	lists := []Rules{
		rules(t, "allow Bash(make test:*)"), rules(t, "allow Bash(make test)"), rules(t, "deny Bash(make:*)", "allow Bash"),
		rules(t, "ask Bash(make test -v:*)", "allow Bash"), rules(t, "allow Bash(make * -v)"), {},
	}
	commands := [][]string{{"make", "test"}, {"make", "test", "-v"}, {"make", "tests"}, {"git", "status"}, {"git", "push"}, {"sort", "-o", "x"}, {"rm", "-rf", "/"}}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SampledFrom(commands).Draw(t, "command")
		var spelled []string
		for _, w := range words {
			spelled = append(spelled, spelling(t, w))
		}
		plain, odd := strings.Join(words, " "), strings.Join(spelled, rapid.SampledFrom([]string{" ", "  ", "\t", " \\\n "}).Draw(t, "blank"))
		for i, rs := range lists {
			if a, b := rs.Decide(bashRequest(plain)), rs.Decide(bashRequest(odd)); a.Verdict != b.Verdict || a.Firm != b.Firm {
				t.Errorf("rules %d: %q = %s, %q = %s (%s)", i, plain, a.Verdict, odd, b.Verdict, b.Reason)
			}
		}
	})
}

// A line is decided as the strictest of its parts.
func TestLineIsItsParts(t *testing.T) {
	rs := rules(t, "deny Bash(rm:*)", "ask Bash(git push:*)", "allow Bash(make:*)", "allow Bash(git push:*)")
	parts := rapid.SampledFrom([]string{"make x", "rm x", "git push", "git log", "unknown x", "ls | make", "(make)", "timeout 5 rm y"})
	joins := rapid.SampledFrom([]string{"%s; %s", "%s && %s", "%s || %s", "%s | %s", "%s & %s", "%s\n%s", "if %s; then %s; fi", "( %s ) ; { %s; }", "while %s; do %s; done"})
	rank := map[Verdict]int{Allow: 0, Ask: 1, Deny: 2}
	rapid.Check(t, func(t *rapid.T) {
		a, b := parts.Draw(t, "a"), parts.Draw(t, "b")
		line := fmt.Sprintf(joins.Draw(t, "join"), a, b)
		want := rs.Decide(bashRequest(a)).Verdict
		if v := rs.Decide(bashRequest(b)).Verdict; rank[v] > rank[want] {
			want = v
		}
		if got := rs.Decide(bashRequest(line)); got.Verdict != want {
			t.Errorf("%q = %s, want %s (%s)", line, got.Verdict, want, got.Reason)
		}
	})
}

// prefixes are wrappers that rules look through, around makes a line of a
// command, and opaque ones need a rule of their own.
var (
	prefixes = []string{"timeout 5 %s", "timeout -k 1 -s KILL 5 %s", "nice -n 3 %s", "nohup %s", "stdbuf -oL %s", "command %s", "builtin %s", "xargs -0 -n 1 %s"}
	around   = []string{"LANG=C %s", "time %s", "! %s", "( %s )", "{ %s; }", "echo $(%s)", "%s >/dev/null", "ls | %s", "if ls; then %s; fi", "cat <<E\n$(%s)\nE"}
	opaque   = []string{
		"sudo %s", "sudo -u x %s", "env %s", "env A=1 %s", "bash -c '%s'", "eval '%s'", "exec %s", "watch '%s'", "sh -c 'sh -c \"%s\"'", "setsid %s",
		"find . -exec %s +", "su -c '%s'", "timeout --unknown 5 %s", "/usr/bin/nice %s", "bash <<< '%s'",
	}
)

// Looking through a wrapper keeps what is allowed and what is refused; an
// opaque one keeps what is refused and allows nothing (spec S-7).
func TestWrapping(t *testing.T) {
	rs := rules(t, "deny Bash(rm:*)", "allow Bash(make:*)")
	all := rules(t, "deny Bash(rm:*)", "allow Bash")
	rapid.Check(t, func(t *rapid.T) {
		allowed, refused, want := "make x", "rm x", Allow
		wrap := func(kind string, with []string) {
			w := rapid.SampledFrom(with).Draw(t, kind)
			allowed, refused = strings.ReplaceAll(w, "%s", allowed), strings.ReplaceAll(w, "%s", refused)
		}
		for range rapid.IntRange(0, 3).Draw(t, "inner") {
			wrap("prefix", prefixes)
		}
		if rapid.Bool().Draw(t, "closed") {
			wrap("opaque", opaque)
			want = Ask
			if !strings.HasPrefix(allowed, "bash <<<") {
				for range rapid.IntRange(0, 2).Draw(t, "outer") {
					wrap("prefix", prefixes)
				}
			}
		}
		for range rapid.IntRange(0, 1).Draw(t, "lines") {
			wrap("around", around)
		}
		if d := rs.Decide(bashRequest(allowed)); d.Verdict != want {
			t.Errorf("%q = %s, want %s (%s)", allowed, d.Verdict, want, d.Reason)
		}
		for _, r := range []Rules{rs, all} {
			if d := r.Decide(bashRequest(refused)); d.Verdict != Deny {
				t.Errorf("%q = %s (%s)", refused, d.Verdict, d.Reason)
			}
		}
	})
}

// Deciding is a function: the same request gives the same decision, and
// neither the rules nor the request change.
func TestDecideIsPure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rs, req := rulesGen().Draw(t, "rules"), requestGen().Draw(t, "request")
		before := fmt.Sprintf("%+v %+v", rs, req)
		a, b := rs.Decide(req), rs.Decide(req)
		a.Rule, b.Rule = nil, nil
		if fmt.Sprintf("%+v", a) != fmt.Sprintf("%+v", b) {
			t.Errorf("%+v and %+v", a, b)
		}
		if after := fmt.Sprintf("%+v %+v", rs, req); after != before {
			t.Errorf("%s became %s", before, after)
		}
	})
}

// Every rule that Tried reports as matched explains the verdict, and the rule
// of the decision is among them (spec K-8).
func TestTriedExplains(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rs, req := rulesGen().Draw(t, "rules"), requestGen().Draw(t, "request")
		d := rs.Decide(req)
		found := d.Rule == nil
		for _, try := range d.Tried {
			if try.Matched && d.Rule != nil && try.Rule == *d.Rule {
				found = true
			}
			if try.Matched && try.List == "deny" && d.Verdict != Deny {
				t.Errorf("%s matched in deny, yet %s", try.Rule.Text, d.Verdict)
			}
			if try.Matched && try.List == "ask" && d.Verdict == Allow {
				t.Errorf("%s matched in ask, yet %s", try.Rule.Text, d.Verdict)
			}
		}
		if !found {
			t.Errorf("%s decided and was not tried", d.Rule.Text)
		}
	})
}

// glob is what the same pattern is as a regular expression.
func TestGlob(t *testing.T) {
	letters := rapid.StringOfN(rapid.SampledFrom([]rune("ab*\n.")), 0, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		pattern, text := letters.Draw(t, "pattern"), letters.Draw(t, "text")
		re := regexp.MustCompile(`(?s)\A` + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `.*`) + `\z`)
		if got, want := glob(pattern, text), re.MatchString(text); got != want {
			t.Errorf("glob(%q, %q) = %v", pattern, text, got)
		}
	})
	// No pattern takes exponential time.
	if glob(strings.Repeat("a*", 2000)+"b", strings.Repeat("a", 20000)) {
		t.Error("matched")
	}
}
