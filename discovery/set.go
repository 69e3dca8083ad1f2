package discovery

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/knack-skills/knack/gitignore"
)

// A Rule is when one skill is activated.
type Rule struct {
	ID       string
	Base     string   // absolute; what the patterns are relative to
	Patterns []string // of the skill, in order
}

// A Set finds the skills that a touched file activates among many (spec D-4).
// It answers as [Activates] does for each of them, but looks only at patterns
// that can match: those whose literal parts stand in the path. It never changes.
type Set struct {
	rules []Rule
	bases map[string]*base // by name, as keyOf gives it
}

// base is everything whose patterns are relative to one directory.
type base struct {
	units []unit
	dirs  map[string]*shelf // by literal directory; "" is base itself
}

// A unit is one list of patterns and the rules that have it.
type unit struct {
	m     *gitignore.Matcher
	rules []int
}

// A shelf holds units by what a segment of the path has to be.
type shelf struct {
	names, heads, tails map[string][]int
	headLens, tailLens  []int // the lengths that occur
	any                 []int // no such demand
}

// NewSet compiles rules. Patterns that several rules share are compiled once.
func NewSet(rules []Rule) *Set {
	s := &Set{rules: rules, bases: map[string]*base{}}
	shared := map[string]int{}
	for i, r := range rules {
		if len(r.Patterns) == 0 {
			continue
		}
		key := keyOf(filepath.Clean(r.Base))
		b := s.bases[key]
		if b == nil {
			b = &base{dirs: map[string]*shelf{}}
			s.bases[key] = b
		}
		same := key + "\x00" + strings.Join(r.Patterns, "\x00")
		if at, ok := shared[same]; ok {
			b.units[at].rules = append(b.units[at].rules, i)
			continue
		}
		m := gitignore.Compile(r.Patterns...)
		shared[same] = len(b.units)
		for _, k := range m.Keys() {
			b.shelve(k, len(b.units))
		}
		b.units = append(b.units, unit{m, []int{i}})
	}
	return s
}

func (b *base) shelve(k gitignore.Key, unit int) {
	sh := b.dirs[k.Dir]
	if sh == nil {
		sh = &shelf{names: map[string][]int{}, heads: map[string][]int{}, tails: map[string][]int{}}
		b.dirs[k.Dir] = sh
	}
	switch { // the longer, the fewer paths have it
	case k.Name != "":
		sh.names[k.Name] = append(sh.names[k.Name], unit)
	case k.Head == "" && k.Tail == "":
		sh.any = append(sh.any, unit)
	case len(k.Head) > len(k.Tail):
		sh.heads[k.Head] = append(sh.heads[k.Head], unit)
		sh.headLens = withLen(sh.headLens, len(k.Head))
	default:
		sh.tails[k.Tail] = append(sh.tails[k.Tail], unit)
		sh.tailLens = withLen(sh.tailLens, len(k.Tail))
	}
}

func withLen(lens []int, n int) []int {
	if slices.Contains(lens, n) {
		return lens
	}
	return append(lens, n)
}

// keyOf is a directory as it is compared: where case never matters, without it.
func keyOf(dir string) string {
	if runtime.GOOS == "windows" {
		return strings.ToLower(dir)
	}
	return dir
}

// Len is the number of rules.
func (s *Set) Len() int { return len(s.rules) }

// Match returns the ids of the rules that an absolute path activates, in the
// order of the rules. The file need not exist.
func (s *Set) Match(file string) []string {
	if len(s.bases) == 0 {
		return nil
	}
	file = filepath.Clean(file)
	var hits []int
	for at := len(file); ; {
		at = strings.LastIndexByte(file[:at], filepath.Separator)
		if at < 0 {
			break
		}
		dir := file[:at]
		if dir == filepath.VolumeName(file) {
			dir = file[:at+1] // the root keeps its separator
		}
		if b := s.bases[keyOf(dir)]; b != nil && at+1 < len(file) {
			hits = b.match(filepath.ToSlash(file[at+1:]), hits)
		}
	}
	slices.Sort(hits)
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = s.rules[h].ID
	}
	return ids
}

// match appends the rules that a path relative to the base activates.
func (b *base) match(rel string, hits []int) []int {
	var can []int
	if sh := b.dirs[""]; sh != nil {
		can = sh.find(rel, can)
	}
	for i := range len(rel) {
		if rel[i] != '/' {
			continue
		}
		if sh := b.dirs[rel[:i]]; sh != nil {
			can = sh.find(rel[i+1:], can)
		}
	}
	slices.Sort(can)
	for _, u := range slices.Compact(can) {
		if _, ok := b.units[u].m.Match(rel, false); ok {
			hits = append(hits, b.units[u].rules...)
		}
	}
	return hits
}

// find appends the units that can match a path with these segments.
func (sh *shelf) find(below string, can []int) []int {
	can = append(can, sh.any...)
	for s := range strings.SplitSeq(below, "/") {
		can = append(can, sh.names[s]...)
		for _, n := range sh.headLens {
			if n <= len(s) {
				can = append(can, sh.heads[s[:n]]...)
			}
		}
		for _, n := range sh.tailLens {
			if n <= len(s) {
				can = append(can, sh.tails[s[len(s)-n:]]...)
			}
		}
	}
	return can
}
