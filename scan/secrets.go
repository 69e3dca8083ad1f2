package scan

import (
	"regexp"
	"strings"
	"sync"

	"github.com/knack-skills/knack/skill"
)

// A token is the format of one kind of secret.
type token struct {
	name  string
	words string // how it begins, in lower case, separated by ","
	re    *regexp.Regexp
}

// tokens are the formats of well-known secrets.
var tokens = sync.OnceValue(func() []token {
	list := []struct{ name, words, re string }{
		{"an AWS access key", "akia,asia", `\b(?:AKIA|ASIA)[A-Z2-7]{16}\b`},
		{"a GitHub token", "ghp_,gho_,ghu_,ghs_,ghr_,github_pat_", `\bgh[pousr]_[A-Za-z0-9]{36,}|\bgithub_pat_[A-Za-z0-9_]{50,}`},
		{"an Anthropic key", "sk-ant-", `\bsk-ant-(?:api|admin|oat)\d\d-[A-Za-z0-9_-]{40,}`},
		{"an OpenAI key", "sk-proj-,sk-svcacct-", `\bsk-(?:proj|svcacct)-[A-Za-z0-9_-]{40,}`},
		{"an OpenRouter key", "sk-or-v1-", `\bsk-or-v1-[0-9a-f]{64}`},
		{"a Slack token", "xoxb-,xoxp-,xoxa-,xoxs-,xapp-", `\bxox[abps]-\d{8,}-[A-Za-z0-9-]{16,}|\bxapp-\d-[A-Z0-9]{8,}-\d+-[a-f0-9]{32,}`},
		{"a Google API key", "aiza", `\bAIza[A-Za-z0-9_-]{35}\b`},
		{"a GitLab token", "glpat-", `\bglpat-[A-Za-z0-9_-]{20,}`},
		{"an npm token", "npm_", `\bnpm_[A-Za-z0-9]{36}\b`},
		{"a PyPI token", "pypi-ageichlwas", `\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,}`},
		{"a SendGrid key", "sg.", `\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b`},
		{"a Stripe key", "sk_live_,rk_live_", `\b[sr]k_live_[A-Za-z0-9]{24,}`},
		{"a Slack webhook", "hooks.slack.com", `hooks\.slack\.com/services/T[A-Z0-9]{8,}/B[A-Z0-9]{8,}/[A-Za-z0-9]{24}`},
		{"a Discord webhook", "/api/webhooks/", `discord(?:app)?\.com/api/webhooks/\d{17,20}/[A-Za-z0-9_-]{60,}`},
		{"a Hugging Face token", "hf_", `\bhf_[A-Za-z0-9]{34,}\b`},
		{"a DigitalOcean token", "dop_v1_", `\bdop_v1_[a-f0-9]{64}\b`},
		{"a private key", "private key-----,private key block-----", `-----BEGIN (?:RSA |EC |DSA |OPENSSH |ENCRYPTED |PGP )?PRIVATE KEY(?: BLOCK)?-----\s+(?:[A-Za-z0-9+/=:, -]+\s+){2,}`},
	}
	out := make([]token, len(list))
	for i, t := range list {
		out[i] = token{t.name, t.words, regexp.MustCompile(t.re)}
	}
	return out
})

// literals finds secrets that stand in the text.
func (f *file) literals(from, to int) {
	last := from
	for _, h := range f.between(from, to) {
		if h.class != secretWord || h.end <= last {
			continue
		}
		t := tokens()[h.pattern]
		start, end := max(from, h.end-48), min(to, h.end+400)
		m := t.re.FindStringIndex(f.text[start:end])
		if m == nil || invented(f.text[start+m[0]:start+m[1]]) {
			continue
		}
		last = start + m[1]
		f.add(literalSecret, skill.Error, start+m[0], t.name)
	}
}

// invented reports whether a token is an example: it says so, repeats itself,
// counts, or uses few characters.
func invented(s string) bool {
	low := strings.ToLower(s)
	for _, word := range []string{"example", "xxxx", "your", "fake", "dummy", "placeholder", "redacted", "sample", "changeme", "insert", "test", "abcdef", "123456", "000000", "....", "****", "foobar", "secret", "dontuse", "not-real", "notreal", "truncated"} {
		if strings.Contains(low, word) {
			return true
		}
	}
	if _, key, ok := strings.Cut(s, "KEY-----"); ok { // the head says nothing, and zeros stand in most keys
		key, _, _ = strings.Cut(key, "-----END")
		return len(distinct(key)) < 16
	}
	tail := s[min(len(s), 8):]
	run, longest := 1, 1
	for i, r := range tail {
		if i > 0 && byte(r) == tail[i-1] || i > 0 && byte(r) == tail[i-1]+1 {
			run++
			longest = max(longest, run)
		} else {
			run = 1
		}
	}
	return len(distinct(tail)) < 8 || longest >= 5
}

func distinct(s string) map[rune]bool {
	used := map[rune]bool{}
	for _, r := range s {
		used[r] = true
	}
	return used
}
