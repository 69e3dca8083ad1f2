package scan

import (
	"strings"
	"sync"
)

// A class says which part of the scanner a keyword wakes up.
type class uint16

const (
	shellWord      class = 1 << iota // a command that a rule is about
	credentialWord                   // a part of a path that holds a credential
	codeWord                         // a call in another language; pattern is an index of codePatterns
	secretWord                       // the beginning of a token; pattern is an index of tokens
	proseWord                        // a word of a sentence against the person; pattern is one of patterns
	personWord                       // what such a sentence needs besides, see pattern.near
	addressWord
	valuableWord
	ruleWord
	evadeWord
	denialWord
)

// shellKeywords are names and paths without which no rule about commands can
// have anything to say. The text is looked at without quotes and backslashes.
const shellKeywords = `curl wget aria2c lynx httpie iwr iex invoke-webrequest invoke-restmethod invoke-expression
	downloadstring |sh |bash |zsh |dash |python |node |perl |ruby |sudo |$
	base64 xxd openssl uudecode netcat ncat socat telnet sendmail nslookup /dev/tcp /dev/udp
	crontab launchctl schtasks .bashrc .zshrc .profile .bash_profile .zprofile .zshenv config.fish
	.git/hooks launchagents launchdaemons authorized_keys /etc/cron /etc/rc.local profile.d autostart
	hookspath sshcommand systemd/ no-preserve-root mkfs wipefs of=/dev/ >/dev/sd >/dev/nvme printenv histfile _history`

// spacedShellKeywords are those that hold a blank. Short names of programs come
// with what may stand before them, since they are parts of many words.
var spacedShellKeywords = []string{"rm -", "| sh", "| bash", "| zsh", "| dash", "| python", "| node", "| perl", "| ruby", "| sudo",
	"| $", "| iex", " nc ", "|nc ", "`nc ", " dig ", "`dig ", " dd ", "`dd ", " irm ", "`irm ", "(irm ", "chmod -r", "chown -r", "find /", "eval ",
	"env |", "env|", "pip install", "pip3 install", "npm i", "systemctl enable", "history -c", "source <", ". <(", "bash <", "sh <", "sh -c", "echo -e", "$x", "> /dev/sd", "> /dev/nvme"}

const credentialKeywords = `.ssh .aws/ .netrc .pypirc .git-credentials .gnupg .kube/config .docker/config .config/gcloud .azure/ gh/hosts
	library/keychains login.keychain keyrings find-generic-password find-internet-password dump-keychain cookies.sqlite logins.json key4.db /etc/shadow
	.credentials .codex/auth .vault-token .password-store wallet.dat solana/id .terraform.d/credentials export-secret-keys /cookies
	login_data`

// nearKeywords are what sentences need besides the word that wakes them.
var nearKeywords = map[class]string{
	personWord:   "user human person operator owner developer reviewer customer",
	addressWord:  "http:// https:// @ .com .net .org .io .xyz .site .dev",
	valuableWord: "key token password credential secret environment .env history conversation",
	ruleWord:     "instruction prompt rule guideline direction message constraint policy policies restriction safeguard",
	evadeWord:    "ignore disregard bypass circumvent evade",
	denialWord:   "not never dont don’t mustnt mustn’t shouldnt shouldn’t cant can’t",
}

// vocabulary is built once, when the first text is scanned.
var vocabulary = sync.OnceValue(func() *automaton {
	a := &automaton{}
	fields := func(words string, c class, pattern int) {
		for w := range strings.FieldsSeq(words) {
			a.add(strings.ReplaceAll(w, "login_data", "login data"), c, pattern)
		}
	}
	fields(shellKeywords, shellWord, -1)
	for _, w := range spacedShellKeywords {
		a.add(w, shellWord, -1)
	}
	fields(credentialKeywords, shellWord|credentialWord, -1)
	for c, words := range nearKeywords {
		fields(words, c, -1)
	}
	for i, p := range codePatterns() {
		fields(p.words, codeWord, i)
	}
	for i, t := range tokens() {
		for w := range strings.SplitSeq(t.words, ",") {
			a.add(w, secretWord, i)
		}
	}
	for i, p := range patterns() {
		for w := range strings.SplitSeq(p.words, ",") {
			a.add(w, proseWord, i)
		}
	}
	a.build()
	return a
})
