package permission

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/knack-skills/knack/gitignore"
	"github.com/knack-skills/knack/skill"
)

// A place is a file as far as it is known without looking: one path, or all
// that a name may stand for after a "cd" or through a link. Paths are
// absolute, clean and slash-separated.
type place struct {
	paths   []string
	unknown bool // there may be other paths
	home    string
	work    string
}

// maxDirs bounds the directories a line may be in; beyond it nothing relative
// is certain.
const maxDirs = 16

// clean makes name absolute from dir. A relative name without a directory to
// stand in has no place.
func clean(dir, name string) string {
	name = filepath.ToSlash(name)
	if !isAbs(name) {
		if dir == "" {
			return ""
		}
		name = filepath.ToSlash(dir) + "/" + name
	}
	return path.Clean(name)
}

// isAbs takes "/x" for absolute everywhere, which filepath does not on Windows.
func isAbs(name string) bool {
	return strings.HasPrefix(name, "/") || filepath.IsAbs(name)
}

// placeOf is the file that a word of a line names.
func (r *reader) placeOf(w word) place {
	p := place{home: r.home, work: r.work, unknown: !w.static}
	if !w.static {
		return p
	}
	for _, d := range r.dirs {
		if c := clean(d, w.value); c != "" {
			p.add(c, r.links)
		} else {
			p.unknown = true
		}
	}
	p.unknown = p.unknown || r.lost && !isAbs(w.value)
	return p
}

// requestPlace is the file of a request to a file tool: the path and where its
// links lead (spec S-8).
func requestPlace(req *Request) place {
	p := place{home: req.Home, work: req.WorkDir}
	name := req.Input.Path
	if name == "" && (req.Tool == "Glob" || req.Tool == "Grep" || req.Tool == "LS") {
		name = "."
	}
	links := req.Links
	if req.Input.RealPath != "" {
		links = func(string) string { return req.Input.RealPath }
	}
	if rest, ok := skill.CutHome(name); ok && req.Home != "" {
		name = req.Home + rest
	}
	if name != "" {
		if c := clean(req.WorkDir, name); c != "" {
			p.add(c, links)
		}
	}
	p.unknown = len(p.paths) == 0
	return p
}

// add adds a path and, when it is or leads through a link, what is behind it.
func (p *place) add(name string, links func(string) string) {
	p.paths = append(p.paths, name)
	if links == nil {
		return
	}
	if real := links(name); real != "" {
		if real = clean("", real); real != "" && real != name {
			p.paths = append(p.paths, real)
		}
	}
}

// below reports whether every path is one of dirs or lies in one of them.
func (p place) below(dirs ...string) bool {
	if p.unknown {
		return false
	}
	for _, one := range p.paths {
		if !slices.ContainsFunc(dirs, func(dir string) bool {
			_, ok := relative(clean("", dir), one)
			return ok && dir != ""
		}) {
			return false
		}
	}
	return true
}

// relative returns name as seen from dir; ok is false outside dir.
func relative(dir, name string) (rel string, ok bool) {
	if dir == "/" {
		return strings.TrimPrefix(name, "/"), isAbs(name)
	}
	if name == dir {
		return "", true
	}
	return strings.CutPrefix(name, dir+"/")
}

// matches applies a path specifier (spec S-8). An allow must cover every path
// the place may stand for, a refusal any of them.
func (p place) matches(r *Rule, req *Request, l list) bool {
	dir, pattern := anchor(r, req)
	if dir == "" {
		return false
	}
	m := matcher{dir: dir, pattern: pattern}
	if l == allowList && p.unknown {
		return false
	}
	for _, one := range p.paths {
		if m.covers(one, l) != (l == allowList) {
			return l != allowList
		}
	}
	return l == allowList && len(p.paths) > 0
}

// anchor returns the directory that a specifier is relative to, and the rest
// of it as a gitignore pattern. An empty dir means that the rule has no place.
func anchor(r *Rule, req *Request) (dir, pattern string) {
	s := r.Specifier
	below, atHome := skill.CutHome(s)
	switch {
	case strings.HasPrefix(s, "//"):
		return "/", s[1:]
	case atHome:
		return clean("", req.Home), homePattern(below)
	case strings.HasPrefix(s, "/"):
		if r.Root != "" {
			return clean(req.WorkDir, r.Root), s
		}
		return clean("", req.WorkDir), s
	}
	dir = clean("", req.WorkDir)
	up := false
	for dir != "" {
		rest, parent := strings.CutPrefix(s, "../")
		here := false
		if !parent {
			rest, here = strings.CutPrefix(s, "./")
		}
		if !parent && !here {
			break
		}
		if parent {
			dir = path.Dir(dir)
		}
		s, up = rest, true
	}
	switch {
	case s == "." || s == "":
		s = "/"
	case s == "..":
		dir, s = path.Dir(dir), "/"
	case up:
		s = "/" + s // "./x" is that file, not any x below
	case s[0] == '#':
		s = `\` + s // no comment: it is one pattern, not a file of them
	}
	return dir, s
}

// homePattern is what follows "~" as a gitignore pattern. Who puts a backslash
// there separates names with it, and means no character of a pattern.
func homePattern(below string) string {
	if below == "" {
		return "/"
	}
	return strings.ReplaceAll(below, below[:1], "/")
}

// A matcher is one pattern below one directory.
type matcher struct{ dir, pattern string }

// covers reports whether the pattern covers an absolute path. Directories and
// files cannot be told apart without looking, so a refusal takes the path for
// both; an allow takes it for a file, whose parents are directories.
func (m matcher) covers(name string, l list) bool {
	rel, ok := relative(m.dir, name)
	if !ok {
		return false
	}
	if m.pattern == "/" {
		return true // the directory itself and all in it
	}
	if rel == "" {
		return strings.Trim(m.pattern, "/") == "**" || strings.Trim(m.pattern, "/") == "*"
	}
	if !m.possible(rel) {
		return false
	}
	patterns, ok := gitignore.ExpandBraces(m.pattern, 256)
	if !ok {
		patterns = []string{m.pattern}
	}
	g := gitignore.Compile(patterns...)
	if _, ok := g.Match(rel, false); ok {
		return true
	}
	if l == allowList {
		return false
	}
	_, ok = g.Match(rel, true)
	return ok
}

// possible is a quick look that spares compiling patterns of other files: the
// text of a pattern before its first wildcard must occur in the path.
func (m matcher) possible(rel string) bool {
	lit := m.pattern
	if i := strings.IndexAny(lit, `*?[\{`); i >= 0 {
		lit = lit[:i]
	}
	anchored := strings.Contains(strings.TrimSuffix(lit, "/"), "/")
	lit = strings.Trim(lit, "/ ")
	if anchored {
		return strings.HasPrefix(rel, lit)
	}
	return strings.Contains(rel, lit)
}

// elsewhere reports whether a command of the line may run in another directory
// than the line begins in.
func (r *reader) elsewhere() bool {
	return r.lost || slices.ContainsFunc(r.dirs, func(d string) bool { return d != r.dirs[0] })
}

// followDirs finds out where the "cd" commands of a line may lead, so that
// relative names are tried everywhere they could point.
func (r *reader) followDirs(f *syntax.File) {
	repeats := false
	var targets []word
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ForClause, *syntax.WhileClause, *syntax.FuncDecl:
			repeats = true
		case *syntax.CallExpr:
			words := r.words(n.Args)
			for len(words) > 1 && (words[0].value == "command" || words[0].value == "builtin" || words[0].value == "--") {
				words = words[1:]
			}
			switch {
			case len(words) == 0:
			case words[0].value == "pushd" || words[0].value == "popd":
				targets = append(targets, word{})
			case words[0].value == "cd" && len(words) == 2:
				targets = append(targets, words[1])
			case words[0].value == "cd":
				targets = append(targets, word{})
			}
		}
		return true
	})
	for _, t := range targets {
		if repeats || !t.static || t.value == "" || t.value == "-" || len(r.dirs) > maxDirs/2 {
			r.lost = true
			continue
		}
		for _, d := range r.dirs {
			r.dirs = append(r.dirs, clean(d, t.value))
		}
	}
}
