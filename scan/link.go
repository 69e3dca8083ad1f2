package scan

import (
	"net/url"
	"path"
	"strings"

	"github.com/knack-skills/knack/skill"
)

// links judges the Markdown links of a block. Links to files beside the skill
// are common and harmless in a repository, so they are only mentioned.
func (f *file) links(b block) {
	text := f.text[b.from:b.to]
	for at := 0; ; {
		i := strings.Index(text[at:], "](")
		if i < 0 {
			return
		}
		at += i + 2
		end := strings.IndexAny(text[at:], " )\n")
		if end < 0 {
			return
		}
		target := strings.Trim(text[at:at+end], "<>")
		if plain, err := url.PathUnescape(target); err == nil {
			target = plain
		}
		if quoted(text, at) {
			continue
		}
		credential := ""
		if f.hitsIn(b.from+at, b.from+at+end, credentialWord) {
			credential = lexica().credentialIn(target + " ")
		}
		local := strings.TrimPrefix(target, "file://")
		switch {
		case credential != "" && !strings.Contains(target, "://") || credential != "" && local != target:
			f.add(linkLeavesSkill, skill.Error, b.from+at, "the link leads to a credential")
		case local != target:
			f.add(linkLeavesSkill, skill.Warning, b.from+at, "the link leads out of the skill, to "+visible(target))
		case ups(target) > f.depth:
			f.add(linkLeavesSkill, skill.Info, b.from+at, "the link may lead out of the skill")
		}
	}
}

// ups returns how many directories a relative path goes up.
func ups(target string) int {
	if !strings.HasPrefix(target, "..") {
		return 0
	}
	return strings.Count(path.Clean(target)+"/", "../")
}
