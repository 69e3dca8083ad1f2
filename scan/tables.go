package scan

import (
	"regexp"
	"strings"
	"sync"
)

func set(names string) map[string]bool {
	m := map[string]bool{}
	for n := range strings.FieldsSeq(names) {
		m[n] = true
	}
	return m
}

// A lexicon holds what programs do, as far as the rules care.
type lexicon struct {
	fetchers     map[string]bool // get text from elsewhere and print or store it
	shells       map[string]bool
	interpreters map[string]bool // run text in other languages
	wrappers     map[string]bool // run the command in their arguments
	readers      map[string]bool // print or copy what a file holds
	connects     map[string]bool // send to another machine whatever they are told to
	keepers      map[string]bool // print a secret by themselves
	credential   *regexp.Regexp  // a path that holds one
	startup      *regexp.Regexp  // a file that something runs later
	roots        *regexp.Regexp  // what must not be removed
	trusted      *regexp.Regexp  // installers of well-known projects
	local        *regexp.Regexp  // addresses of this machine
	harmless     *regexp.Regexp  // lines that people put into start-up files
	placeholder  *regexp.Regexp  // <name> in an example
}

// lexica is built when the first command is judged.
var lexica = sync.OnceValue(func() *lexicon {
	return &lexicon{
		fetchers:     set("curl wget aria2c fetch lynx http https xh iwr irm invoke-webrequest invoke-restmethod"),
		shells:       set("sh bash dash zsh ksh mksh ash fish"),
		interpreters: set("python python2 python3 py node nodejs deno bun perl ruby php osascript pwsh powershell lua rscript tclsh"),
		wrappers:     set("sudo doas env timeout time nice nohup stdbuf command builtin exec xargs setsid ionice busybox then do else run !"),
		readers:      set("cat head tail less more bat grep egrep rg sed awk gawk cut base64 base32 xxd od hexdump strings tar zip gzip openssl cp scp rsync dd tee sqlite3 jq curl wget python python3 node perl ruby sort tac nl paste type get-content gc gpg age"),
		connects:     set("nc ncat netcat socat telnet sendmail mail mailx mutt"),
		keepers:      set("find-generic-password find-internet-password dump-keychain --export-secret-keys"),
		credential: regexp.MustCompile(`(?i)(?:\.ssh(?:/(?:id_[a-z0-9_]+|identity|\*|[\w.-]+\.(?:pem|key))|/?(?:$|[\s"'),;]))|\.aws/credentials|\.config/gcloud/(?:application_default_credentials|credentials|access_tokens)|\.azure/(?:accesstokens|msal_token)|` +
			`\.kube/config\b|\.docker/config\.json|\.netrc\b|\.pypirc\b|\.git-credentials|\.gnupg\b|gh/hosts\.yml|\.claude/\.credentials|\.codex/auth\.json|library/keychains|login\.keychain|\.local/share/keyrings|` +
			`(?:chrome|chromium|brave-browser|edge)[^\n]{0,60}(?:/cookies\b|login\\? data)|cookies\.sqlite|logins\.json|\bkey4\.db|/etc/shadow\b|\bwallet\.dat\b|solana/id\.json|\.vault-token|\.password-store|\.terraform\.d/credentials)`),
		startup: regexp.MustCompile(`(?i)(?:\.(?:bashrc|zshrc|profile|bash_profile|bash_login|zprofile|zshenv|zlogin)\b|config\.fish|\.git/hooks/|library/launch(?:agents|daemons)|/etc/cron|/var/spool/cron|/etc/rc\.local|/etc/profile\.d/|authorized_keys|\.config/autostart|systemd/(?:system|user)/|currentversion\\+run\b|start menu\\programs\\startup)`),
		roots:   regexp.MustCompile(`^(?:/|/\*|~|~/|~/\*|\$HOME|\$HOME/|\$HOME/\*|\$\{HOME\}|\$\{HOME\}/|\$\{HOME\}/\*|/(?:bin|boot|dev|etc|home|lib|lib64|opt|proc|root|sbin|srv|sys|usr|var|Users|System|Library|Applications)/?\*?|[A-Za-z]:\\?\*?)$`),
		trusted: regexp.MustCompile(`(?i)^https://(?:bun\.(?:sh|com)/|astral\.sh/|sh\.rustup\.rs|(?:www\.)?get\.docker\.com|get\.helm\.sh/|deb\.nodesource\.com/|rpm\.nodesource\.com/|fnm\.vercel\.app/|get\.pnpm\.io/|install\.python-poetry\.org|deno\.land/|(?:www\.)?ollama\.(?:com|ai)/|cli\.github\.com/|claude\.ai/install|` +
			`raw\.githubusercontent\.com/(?:homebrew|nvm-sh|ohmyzsh|helm|kubernetes|k3d-io|rancher|hashicorp|golangci|aquasecurity|anchore|trufflesecurity|starship|pyenv|docker|microsoft|google|aws|cloudflare|vercel)/|starship\.rs/|get\.k3s\.io|mise\.(?:run|jdx\.dev)|pyenv\.run|install\.determinate\.systems|nixos\.org/|tailscale\.com/|fly\.io/|cli\.run/|sdk\.cloud\.google\.com|foundry\.paradigm\.xyz|get\.sdkman\.io|just\.systems/|(?:www\.)?aka\.ms/|awscli\.amazonaws\.com/|packages\.microsoft\.com/|apt\.releases\.hashicorp\.com/|releases\.hashicorp\.com/|download\.docker\.com/|dl\.k8s\.io/|get\.scoop\.sh|opencode\.ai/|install\.duckdb\.org|bootstrap\.pypa\.io/|get\.volta\.sh|vite\.plus|code\.claude\.com/|raw\.githubusercontent\.com/anthropics/)`),
		local:       regexp.MustCompile(`(?i)(?:https?://)?(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0|host\.docker\.internal)\b`),
		harmless:    regexp.MustCompile(`(?i)\b(?:export\s+\w+=|alias\s+\w|eval\s|source\s|path=|\[\[?\s|set\s+-|autoload|compinit|complet)`),
		placeholder: regexp.MustCompile(`<[A-Za-z][A-Za-z0-9_ ./:-]{0,40}>|\{\{[^{}\n]{1,60}\}\}|\[[A-Z][A-Z0-9_ -]{1,30}\]`),
	}
})

// programName returns the plain name of a program: without its directory, its
// ending and the version of an interpreter.
func programName(word string) string {
	if i := strings.LastIndexAny(word, `/\`); i >= 0 {
		word = word[i+1:]
	}
	word = strings.ToLower(strings.TrimSuffix(strings.ToLower(word), ".exe"))
	if rest, ok := strings.CutPrefix(word, "python"); ok && strings.Trim(rest, "0123456789.") == "" && rest != "" {
		return "python3"
	}
	return word
}
