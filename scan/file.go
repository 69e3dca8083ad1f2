package scan

import (
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/skill"
)

// A file is one text that is scanned.
type file struct {
	path  string
	text  string
	where string
	depth int   // directories between the skill and the file
	body  int   // where the body begins; what is before is frontmatter
	hits  []hit // of the keywords, in order
	found []raw
}

// A raw finding is about an offset of the file.
type raw struct {
	rule    string
	sev     skill.Severity
	at      int
	where   string
	message string
}

func newFile(path string, data []byte) *file {
	f := &file{path: path, text: string(data), where: InBody}
	f.hits = vocabulary().find(f.text)
	return f
}

// scanFile scans a file that is not a skill.
func scanFile(path string, data []byte, depth int) []Finding {
	if note := unreadable(data); note != "" {
		return []Finding{whole(notScanned, skill.Warning, path, InResources, note)}
	}
	f := newFile(path, data)
	f.where, f.depth = InResources, depth
	f.hidden()
	switch kindOf(path, f.text) {
	case markdownFile:
		f.markdown()
	case shellFile:
		f.where = InScripts
		f.shellFile()
		f.literals(0, len(f.text))
		f.codePatterns(script, block{to: len(f.text)})
	case codeFile:
		f.where = InScripts
		f.codePatterns(script, block{to: len(f.text)})
		f.strings(script, block{to: len(f.text)})
		f.literals(0, len(f.text))
	case hooksFile:
		f.where = InHooks
		f.hooksFile()
		f.literals(0, len(f.text))
	case serversFile:
		f.serversFile()
		f.literals(0, len(f.text))
	default:
		f.literals(0, len(f.text))
		f.prosePatterns(block{kind: dataBlock, from: 0, to: len(f.text)})
	}
	return f.findings()
}

// add records a finding.
func (f *file) add(rule string, sev skill.Severity, at int, message string) {
	where := f.where
	if at < f.body {
		where = InFrontmatter
	}
	f.found = append(f.found, raw{rule, sev, at, where, message})
}

// findings turns what was found into findings with lines and columns.
func (f *file) findings() []Finding {
	out := make([]Finding, 0, len(f.found))
	for _, r := range f.found {
		at := min(max(r.at, 0), len(f.text))
		line, start := 1+strings.Count(f.text[:at], "\n"), strings.LastIndexByte(f.text[:at], '\n')+1
		out = append(out, Finding{
			Rule: ruleNamed(r.rule), Severity: r.sev, Path: f.path, Where: r.where, Message: r.message,
			Line: line, Column: 1 + utf8.RuneCountInString(f.text[start:at]), Excerpt: excerpt(f.text, start, at),
		})
	}
	return capped(sorted(out))
}

// hitsIn reports whether a keyword of one of the classes stands in a part.
func (f *file) hitsIn(from, to int, classes class) bool { return f.classes(from, to)&classes != 0 }

// classes returns the classes of all keywords in a part.
func (f *file) classes(from, to int) (all class) {
	for _, h := range f.between(from, to) {
		all |= h.class
	}
	return all
}

// between returns the hits that end inside a part.
func (f *file) between(from, to int) []hit {
	lo, hi := 0, len(f.hits)
	for lo < hi {
		if mid := (lo + hi) / 2; f.hits[mid].end <= from {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	end := lo
	for end < len(f.hits) && f.hits[end].end <= to {
		end++
	}
	return f.hits[lo:end]
}
