package scan

import (
	"regexp"
	"strings"
	"sync"

	"github.com/knack-skills/knack/skill"
)

// warning finds text that speaks of attacks and mistakes in order to prevent
// them. It lowers a finding and never removes it: an attacker can write the
// words as well.
var warning = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:never|don['’]?t|do\s+not|must\s+not|should\s+not|avoid\w*|bad|wrong|incorrect|anti-?patterns?|escape[ds]?|forbid\w*|prohibit\w*)\b|` + topic)
})

// aboutAttacks is warning without the words that an instruction is made of.
var aboutAttacks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)` + topic) })

const topic = `\b(?:danger\w*|unsafe|insecure|malicious\w*|attack\w*|attempt\w*|adversar\w*|vulnerab\w*|inject\w*|red\s+flags?|anti-?patterns?|block\w*|den(?:y|ied|ies)|reject\w*|refuse\w*|detect\w*|suspicious|exploit\w*|threats?|security|risk\w*|untrusted|jailbreak\w*|payloads?|exfiltrat\w*|malware|phishing|flag(?:ged|s)?|warn\w*|evil|destructive|catastroph\w*|data\s+loss|penetration|pentest\w*|red[- ]team\w*|cve\b|sanitiz\w*|misaligned|distrust\w*|not\s+(?:an?\s+)?(?:instructions?|commands?))\b|❌|✗|🚫|⚠|⛔`

// soothing are turns of phrase with "never" in them that forbid nothing.
var soothing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:never|don['’]?t|do\s+not)\s+(?:mind|worry|fear|forget|hesitate|fail|stop)\b`)
})

// speaksOf reports whether re matches what is left of s without phrases that
// only sound like a warning.
func speaksOf(re *regexp.Regexp, s string) bool {
	if s == "" || !re.MatchString(s) {
		return false
	}
	return re.MatchString(soothing().ReplaceAllString(s, " "))
}

// sentenceAround returns the sentence of a line in which an offset of s lies.
func sentenceAround(s string, at int) string {
	line, start := lineAround(s, at), strings.LastIndexByte(s[:at], '\n')+1
	if len(line) > 1900 {
		return line
	}
	from, to := at-start, at-start
	for i := from; i > 1; i-- {
		if c := line[i-1]; (c == ' ' || c == '\t') && strings.IndexByte(".!?", line[i-2]) >= 0 {
			from = i
			break
		}
		from = i - 2
	}
	for to < len(line) && !(strings.IndexByte(".!?", line[to]) >= 0 && (to+1 == len(line) || line[to+1] == ' ')) {
		to++
	}
	return line[max(from, 0):to]
}

// negation finds a "never" that governs what follows directly.
var negation = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:never|not|n['’]t|cannot|avoid|refuse\s+to|instead\s+of)\s+(?:(\w+)\s+){0,2}$`)
})

// twice finds what turns a negation around ("never fail to ...").
var twice = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:fail|hesitate|forget|stop|mind|only)\b`)
})

// negated reports whether the words before an offset deny what follows.
func negated(before string) bool {
	before = before[max(0, len(before)-60):]
	m := negation().FindString(before)
	return m != "" && !twice().MatchString(m)
}

// lineAround returns the line of s in which an offset lies.
func lineAround(s string, at int) string {
	start := strings.LastIndexByte(s[:at], '\n') + 1
	end := len(s)
	if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
		end = at + i
	}
	if end-start > 2000 { // a line this long is no sentence
		start, end = max(start, at-500), min(end, at+500)
	}
	return s[start:end]
}

// warns reports whether the surroundings of an offset speak of what to avoid:
// the heading, what introduces the block, the same line, the line above it.
func (f *file) warns(b block, at int) bool {
	re := warning()
	if introduced(b, at) {
		return true
	}
	if b.kind == fenceBlock {
		return speaksOf(re, comments(lineAround(f.text, at))) || speaksOf(re, comments(f.lineAbove(b, at)))
	}
	return speaksOf(re, sentenceAround(f.text, at))
}

// introduced reports whether a block, or the list in it, is introduced as what
// to avoid.
func introduced(b block, at int) bool {
	re := warning()
	return speaksOf(re, b.heading) || speaksOf(re, b.intro) || at >= b.rest && speaksOf(re, b.first)
}

// lineAbove returns the line before that of an offset, inside of the block.
func (f *file) lineAbove(b block, at int) string {
	start := strings.LastIndexByte(f.text[:at], '\n')
	if start <= b.from {
		return ""
	}
	return lineAround(f.text, start)
}

// comments returns the part of a line of code that is for people.
func comments(line string) string {
	i := strings.IndexByte(line, '#')
	if j := strings.Index(line, "//"); j >= 0 && (j == 0 || line[j-1] != ':') && (i < 0 || j < i) {
		i = j
	}
	if i < 0 {
		return ""
	}
	return line[i:]
}

// quoted reports whether an offset stands right behind an opening quote, or in
// a code span of its line.
func quoted(s string, at int) bool {
	start := strings.LastIndexByte(s[:at], '\n') + 1
	before := s[max(start, at-1000):at]
	if strings.Count(before, "`")%2 == 1 {
		return true
	}
	trimmed := strings.TrimRight(before, " ([*")
	return strings.HasSuffix(trimmed, `"`) || strings.HasSuffix(trimmed, "“") || strings.HasSuffix(trimmed, "'") || strings.HasSuffix(trimmed, "‘")
}

// prosePatterns tries the sentences on one block.
func (f *file) prosePatterns(b block) {
	tried := -1
	for _, h := range f.between(b.from, b.to) {
		if h.class != proseWord {
			continue
		}
		p := patterns()[h.pattern]
		if p.denied && !f.hitsIn(h.end-30, h.end, denialWord) {
			continue
		}
		from, to := max(b.from, h.end-40-p.before), min(b.to, h.end+150)
		if f.classes(from, to)&p.near != p.near {
			continue
		}
		m := p.re.FindStringIndex(f.text[from:to])
		if m == nil {
			continue
		}
		at := from + m[0]
		if at == tried {
			continue
		}
		tried = at
		f.add(p.rule, f.proseSeverity(p, b, at), at, p.message)
	}
}

// proseSeverity grades a sentence by what stands around it.
func (f *file) proseSeverity(p pattern, b block, at int) skill.Severity {
	sev := p.sev
	isCode := b.kind == fenceBlock || b.kind == dataBlock
	isQuoted := quoted(f.text[b.from:b.to], at-b.from)
	switch {
	case p.code && (isCode || isQuoted):
		return skill.Info
	case p.rule != hidesActions && negated(f.text[b.from:at]):
		return skill.Info
	}
	// What denies ("do not tell the user") is no warning of itself.
	if f.warnsWithout(b, at, p) {
		return skill.Info
	}
	if isQuoted || isCode && sev == skill.Error {
		sev = lower(sev)
	}
	return sev
}

// warnsWithout is warns, with the sentence itself left out of the line.
func (f *file) warnsWithout(b block, at int, p pattern) bool {
	if introduced(b, at) {
		return true
	}
	line, re := lineAround(f.text, at), aboutAttacks()
	if quoted(f.text[b.from:b.to], at-b.from) { // what is quoted belongs to its sentence
		line = f.text[max(b.from, at-300):min(b.to, at+300)]
	}
	return speaksOf(re, p.re.ReplaceAllString(line, " "))
}
