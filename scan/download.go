package scan

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/skill"
)

// fetches returns the address from which call i gets text, and whether it does.
func (j *judge) fetches(i int) (string, bool) {
	p := j.programs[i]
	address := ""
	for _, a := range p.args {
		if v := strings.ToLower(a.Value); strings.HasPrefix(v, "http://") || strings.HasPrefix(v, "https://") || strings.HasPrefix(v, "ftp://") {
			address = a.Value
		}
	}
	if j.lex.fetchers[p.name] {
		return address, len(p.args) > 0
	}
	return address, address != "" && (p.dynamic || p.name == "")
}

// executes says how call i runs text that it is given: by its input, or by its
// words.
func (j *judge) executes(i int) (input, words bool) {
	p := j.programs[i]
	switch {
	case p.dynamic:
		return len(p.args) == 0, len(j.Calls[i].Words[0].Value) == 0
	case p.name == "eval", p.name == "source", p.name == ".", p.name == "iex", p.name == "invoke-expression":
		return p.name == "iex" || p.name == "invoke-expression" || len(p.args) > 0 && strings.HasPrefix(p.args[0].Value, "/dev/stdin"), true
	case j.lex.shells[p.name], j.lex.interpreters[p.name]:
		return j.runsInput(p), runsWords(p)
	}
	return false, false
}

// runsInput reports whether an interpreter takes its program from its input.
func (j *judge) runsInput(p program) bool {
	if p.xargs {
		return j.lex.shells[p.name] && len(p.args) > 0
	}
	for _, a := range p.args {
		v := a.Value
		switch {
		case v == "-", v == "-s", v == "/dev/stdin":
			return true
		case strings.HasPrefix(v, "-"):
			// -c, -e, -m, -r, -ne: the program is given elsewhere.
			if !strings.HasPrefix(v, "--") && strings.ContainsAny(v, "cemrp") && (!j.lex.shells[p.name] || strings.Contains(v, "c")) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// runsWords reports whether the program text of an interpreter is only known
// when it runs: bash -c "$(...)", bash <(...).
func runsWords(p program) bool {
	for n, a := range p.args {
		switch {
		case a.Static && strings.HasPrefix(a.Value, "-"):
			if n+1 < len(p.args) && !p.args[n+1].Static && strings.ContainsAny(a.Value, "ce") {
				return true
			}
		default:
			return !a.Static && (a.Value == "" || strings.HasPrefix(a.Value, "/dev/fd/"))
		}
	}
	return false
}

// given returns the calls whose output call i runs.
func (j *judge) given(i int) []int {
	input, words := j.executes(i)
	var out []int
	if input {
		out = j.feeders(i)
	}
	if words {
		for _, k := range j.inside(i) {
			out = append(out, k)
			out = append(out, j.feeders(k)...)
		}
	}
	return out
}

// download finds text that comes from elsewhere and is run.
func (j *judge) download(i int) {
	for _, k := range j.given(i) {
		if address, ok := j.fetches(k); ok {
			j.reportFetch(i, k, address, "what is downloaded is run at once")
			return
		}
	}
	j.runsFetched(i)
	if address, ok := j.fetches(i); ok {
		for _, name := range j.stores(i, address) {
			j.fetched[name] = address
		}
	}
	j.installs(i)
}

// reportFetch grades by where the text comes from.
func (j *judge) reportFetch(i, fetch int, address, message string) {
	inDocs, unread := skill.Warning, skill.Error
	switch {
	case j.lex.local.MatchString(address):
		inDocs, unread = skill.Info, skill.Warning
	case j.lex.trusted.MatchString(address):
		inDocs, unread = skill.Info, skill.Warning
		message += ", from the address of a well-known project"
	}
	if fetch < i && j.Calls[i].Within < 0 {
		i = fetch
	}
	j.report(downloadAndRun, i, inDocs, unread, message)
}

// stores returns the names of files that call i writes what it fetches to.
func (j *judge) stores(i int, address string) []string {
	p := j.programs[i]
	var out []string
	for n, a := range p.args {
		v := a.Value
		switch {
		case (v == "-o" || v == "--output" || v == "--output-document" || v == "-O" && p.name == "wget" || strings.HasPrefix(v, "-") && !strings.HasPrefix(v, "--") && strings.HasSuffix(v, "o") ||
			v == "-OutFile" || v == "-outfile") && n+1 < len(p.args):
			out = append(out, p.args[n+1].Value)
		case strings.HasPrefix(v, "--output="):
			out = append(out, strings.TrimPrefix(v, "--output="))
		}
	}
	for _, w := range j.Calls[i].Writes {
		out = append(out, w.Value)
	}
	remote := p.name == "wget" && len(out) == 0 || slices.ContainsFunc(p.args, func(a permission.Arg) bool {
		return p.name == "curl" && (a.Value == "--remote-name" || strings.HasPrefix(a.Value, "-") && !strings.HasPrefix(a.Value, "--") && strings.Contains(a.Value, "O"))
	})
	if remote && address != "" {
		name, _, _ := strings.Cut(address, "?")
		out = append(out, path.Base(name))
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" || s == "-" || strings.HasPrefix(s, "/dev/") })
}

// runsFetched finds a call that runs a file which the script has downloaded, or
// decoded.
func (j *judge) runsFetched(i int) {
	if len(j.fetched)+len(j.decoded) == 0 {
		return
	}
	file := j.runsFile(i)
	if file == "" {
		return
	}
	for name, address := range j.fetched {
		if file == name || path.Base(file) == path.Base(name) {
			j.reportFetch(i, i, address, "a file that was just downloaded is run")
			return
		}
	}
	if j.decoded[file] {
		j.report(encodedPayload, i, skill.Warning, skill.Error, "a file that was just decoded is run")
	}
}

// runsFile returns the file that call i runs as a program or a script, or "".
func (j *judge) runsFile(i int) string {
	p := j.programs[i]
	switch {
	case j.lex.shells[p.name], j.lex.interpreters[p.name], p.name == "source", p.name == ".":
		for _, a := range p.args {
			if !strings.HasPrefix(a.Value, "-") {
				return a.Value
			}
		}
	default:
		for _, w := range j.Calls[i].Words {
			if strings.HasPrefix(w.Value, "-") || j.lex.wrappers[programName(w.Value)] {
				continue
			}
			if strings.Contains(w.Value, "/") { // else a program of PATH
				return w.Value
			}
			return ""
		}
	}
	return ""
}

var (
	installer = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:pip3?|pipx|uv|python3?|npm|pnpm|yarn)\s[^\n]*?\b(?:install|add|i)\s(?:[^\n]*?\s)?((?:git\+)?https?://\S+)`)
	})
	forge = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:git\+)?https://(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org|pypi\.org|download\.pytorch\.org|registry\.npmjs\.org|[\w.-]*\.pypi\.org|files\.pythonhosted\.org)/`)
	})
)

// installs finds a package that is installed from an address.
func (j *judge) installs(i int) {
	m := installer().FindStringSubmatch(j.source(i))
	if m == nil || strings.Contains(j.source(i), "-index-url") || strings.Contains(j.source(i), "--registry") {
		return
	}
	inDocs, unread := skill.Warning, skill.Error
	if forge().MatchString(m[1]) {
		inDocs, unread = skill.Info, skill.Info
	}
	j.report(downloadAndRun, i, inDocs, unread, "a package is installed from an address")
}

// decodes reports whether call i turns coded text into plain text.
func (j *judge) decodes(i int) bool {
	p := j.programs[i]
	has := func(options string) bool {
		return slices.ContainsFunc(p.args, func(a permission.Arg) bool {
			return slices.Contains(strings.Fields(options), a.Value) ||
				len(a.Value) > 1 && a.Value[0] == '-' && a.Value[1] != '-' && strings.ContainsAny(a.Value, "dD") && (p.name == "base64" || p.name == "base32")
		})
	}
	switch p.name {
	case "base64", "base32":
		return has("-d -D --decode")
	case "xxd":
		return has("-r -rp -ps") && strings.Contains(j.source(i), "-r")
	case "openssl":
		return has("-d")
	case "rev", "uudecode":
		return true
	case "tr":
		return strings.Contains(strings.ToLower(j.source(i)), "a-z") && strings.Contains(strings.ToLower(j.source(i)), "n-z")
	case "printf", "echo":
		return strings.Count(j.text[j.Calls[i].Offset:j.Calls[i].End], `\x`) >= 4
	}
	return false
}

// encoded finds coded text that is decoded and run.
func (j *judge) encoded(i int) {
	if j.decodes(i) {
		for _, w := range j.Calls[i].Writes {
			j.decoded[w.Value] = w.Value != ""
		}
	}
	for _, k := range j.given(i) {
		if j.decodes(k) {
			at := i
			if k < i && j.Calls[i].Within < 0 {
				at = k
			}
			j.report(encodedPayload, at, skill.Error, skill.Error, "coded text is decoded and run")
			return
		}
	}
	// $'\x63\x75\x72\x6c': the shell reads another word than a person.
	if raw := j.text[j.Calls[i].Offset:j.Calls[i].End]; strings.Contains(raw, `$'\x`) && strings.Count(raw, `\x`) >= 3 {
		j.report(encodedPayload, i, skill.Warning, skill.Error, "a command is written in escapes")
	}
}

// unparsed judges a line that is no shell script, by its look.
func (j *judge) unparsed(line string) {
	m := piped().FindStringSubmatchIndex(plain.Replace(line))
	if m == nil {
		return
	}
	start := max(0, strings.Index(strings.ToLower(line), "curl"))
	if i := strings.Index(strings.ToLower(line), "wget"); start == 0 && i > 0 {
		start = i
	}
	j.reportAt(downloadAndRun, j.base+start, skill.Warning, skill.Error, "what is downloaded is run at once")
}

var piped = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:curl|wget)\b[^\n|;]*\|\s*(?:sudo\s+(?:-\S+\s+)*)?(?:ba|z|da|k)?sh\b`)
})
