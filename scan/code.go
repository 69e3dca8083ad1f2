package scan

import (
	"regexp"
	"strings"
	"sync"

	"github.com/knack-skills/knack/skill"
)

// A codePattern is about languages other than the shell. It is tried on what
// stands around its words.
type codePattern struct {
	rule    string
	words   string // in lower case, without quotes and backslashes, separated by blanks
	re      *regexp.Regexp
	message string
}

var codePatterns = sync.OnceValue(func() []codePattern {
	re := func(s string) *regexp.Regexp { return regexp.MustCompile(`(?is)` + s) }
	return []codePattern{
		{downloadAndRun, "urlopen requests.get httpx.get fetch( axios.get http.get https.get", re(`\b(?:exec|eval|compile|Function)\s*\(.{0,120}?(?:urlopen|requests\.get|httpx\.get|urllib|await\s+fetch|axios\.get|https?\.get)\s*\(`), "what is downloaded is run at once"},
		{downloadAndRun, "iex invoke-expression", re(`(?:\biwr|\birm|invoke-webrequest|invoke-restmethod|downloadstring|downloadfile|\bcurl|\bwget)\b[^\n|]{0,200}\|\s*(?:iex|invoke-expression)\b`), "what is downloaded is run at once"},
		{downloadAndRun, "iex invoke-expression", re(`\b(?:iex|invoke-expression)\b[\s("'{&$]*(?:new-object\s+(?:system\.)?net\.webclient|iwr\b|irm\b|curl\b|wget\b|invoke-webrequest|invoke-restmethod|\[\S*net\.webclient)`), "what is downloaded is run at once"},
		{encodedPayload, "b64decode b32decode fromhex marshal.loads zlib.decompress codecs.decode atob( buffer.from", re(`\b(?:exec|eval|compile|Function|system|popen)\s*\(.{0,120}?(?:b64decode|b32decode|fromhex|marshal\.loads|zlib\.decompress|codecs\.decode|\batob\s*\(|Buffer\.from\s*\([^)]{0,400}(?:base64|hex))`), "coded text is decoded and run"},
		{encodedPayload, "powershell pwsh", re(`(?:powershell|pwsh)(?:\.exe)?[^\n]{0,80}\s-e(?:nc|ncodedcommand|c)?\s+[A-Za-z0-9+/]{16,}`), "a PowerShell command is coded"},
		{encodedPayload, "frombase64string", re(`frombase64string[^\n]{0,200}(?:\biex\b|invoke-expression|\.invoke\()|(?:\biex\b|invoke-expression)[^\n]{0,120}frombase64string`), "coded text is decoded and run"},
		{encodedPayload, "exec(x exec(bx eval(x eval(bx system(x popen(x function(x", re(`\b(?:exec|eval|system|popen|Function)\s*\(\s*[bru]?["'](?:\\x[0-9a-f]{2}){6,}`), "a command is written in escapes"},
		{destruction, "rmtree rm( rmsync rmdirsync rimraf", re(`(?:shutil\.rmtree|fs\.rm(?:Sync|dirSync)?|rimraf)\s*\(\s*(?:["'](?:/|~|/home|/etc|/usr|C:\\\\)/?["']|os\.path\.expanduser\(\s*["']~/?["']|Path\.home\(\)\s*[,)]|os\.homedir\(\))`), "a home or system directory is removed"},
		{destruction, "remove-item", re(`remove-item\b[^\n]{0,60}-recurse[^\n]{0,60}\s(?:["']?(?:C:\\?|~|\$HOME|\$env:USERPROFILE|/)["']?)(?:\s|$)`), "a home or system directory is removed"},
		{exfiltration, "os.environ process.env", re(`(?:requests\.post|httpx\.post|axios\.post|urlopen|fetch)\s*\([^\n]{0,200}(?:dict\(os\.environ\)|os\.environ\s*[,)}]|os\.environ\.copy\(\)|JSON\.stringify\(\s*process\.env\s*\)|body:\s*process\.env\b)`), "the environment is sent to another machine"},
		{destruction, ":(){ :()", re(`:\(\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:`), "a fork bomb"},
	}
})

// codePatterns tries the patterns on the surroundings of their words.
func (f *file) codePatterns(m mode, b block) {
	last := make([]int, len(codePatterns()))
	for _, h := range f.between(b.from, b.to) {
		if h.class != codeWord || h.end <= last[h.pattern] {
			continue
		}
		p := codePatterns()[h.pattern]
		from, to := max(b.from, h.end-240), min(b.to, h.end+480)
		if loc := p.re.FindStringIndex(f.text[from:to]); loc != nil {
			f.addCode(p, m, b, from+loc[0])
			last[h.pattern] = from + loc[1]
		}
	}
	f.codeCredentials(m, b)
}

func (f *file) addCode(p codePattern, m mode, b block, at int) {
	sev := skill.Error
	if m == docs || m == span {
		sev = skill.Warning
		if f.warns(b, at) {
			sev = skill.Info
		}
	}
	f.add(p.rule, sev, at, p.message)
}

// codeRule says what a piece of code in a command does, or "".
func codeRule(code string) (rule, message string) {
	if len(code) > 8<<10 {
		code = code[:8<<10]
	}
	for _, p := range codePatterns() {
		if p.re.MatchString(code) {
			return p.rule, p.message
		}
	}
	return "", ""
}

var (
	opens = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:\bopen\s*\(|read_text|read_bytes|readfile|expanduser|\bpath\s*\(|path\.join|sqlite3\.connect|copyfile|copy2?\s*\(|file\.read|get-content|slurp)`)
	})
	posts = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:requests\.(?:post|put)|httpx\.(?:post|put)|urlopen\s*\(|\bfetch\s*\(|axios\b|https?\.request|socket\.(?:socket|create_connection|connect)|smtplib|net\.connect|new websocket|invoke-webrequest|invoke-restmethod|uploadstring|\bcurl\b)`)
	})
)

// codeCredentials finds code that opens a credential; when the same file talks
// to the network, it counts as sending it.
func (f *file) codeCredentials(m mode, b block) {
	if !f.hitsIn(b.from, b.to, credentialWord) || m != script && b.kind != fenceBlock || shellLanguage(b.lang) && m != script {
		return
	}
	for name, at := range f.credentials(b) {
		if !opens().MatchString(lineAround(f.text, at)) {
			continue
		}
		p := codePattern{rule: readsCredentials, message: "reads " + name}
		if posts().MatchString(f.text[b.from:b.to]) {
			p = codePattern{rule: exfiltration, message: "reads " + name + ", and sends something to another machine"}
		}
		f.addCode(p, m, b, at)
		return
	}
}

// strings judges the texts in quotes of a program that look like commands:
// os.system("..."), exec('...').
func (f *file) strings(m mode, b block) {
	done := b.from
	for _, h := range f.between(b.from, b.to) {
		if h.class&shellWord == 0 || h.end <= done {
			continue
		}
		start := strings.LastIndexByte(f.text[:h.end], '\n') + 1
		line := lineAround(f.text, min(h.end-1, len(f.text)))
		done = max(h.end, start+len(line))
		for _, loc := range literal().FindAllStringIndex(line, 20) {
			text := line[loc[0]+1 : loc[1]-1]
			if !callsShell().MatchString(line) && !strings.ContainsAny(text, "|;&") {
				continue
			}
			f.shell(text, start+loc[0]+1, m, b)
		}
	}
}

var (
	literal    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\"[^\"\\n]{4,}\"|'[^'\\n]{4,}'|`[^`\\n]{4,}`") })
	callsShell = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:os\.system|subprocess|popen|exec(?:sync)?\s*\(|spawn|shell_exec|passthru|system\s*\(|%x|run\s*\()`)
	})
)

// shellFile judges a shell script: whole when it is small, else in pieces that
// begin at the start of a line.
func (f *file) shellFile() {
	if !f.hitsIn(0, len(f.text), shellWord) {
		return
	}
	const piece = 48 << 10
	for from := 0; from < len(f.text); {
		to := min(len(f.text), from+piece)
		if to < len(f.text) {
			if i := strings.LastIndex(f.text[from:to], "\n\n"); i > 0 {
				to = from + i
			} else if i := strings.LastIndexByte(f.text[from:to], '\n'); i > 0 {
				to = from + i + 1
			}
		}
		if f.hitsIn(from, to, shellWord) {
			f.shell(f.text[from:to], from, script, block{from: from, to: to})
		}
		from = to
	}
}
