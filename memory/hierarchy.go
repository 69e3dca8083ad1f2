package memory

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/knack-skills/knack/skill"
)

// maxImports is how deep imports may lie in one another, maxFiles how many
// files are read at all.
const (
	maxImports = 5
	maxFiles   = 200
)

// A Place says where memory files are looked for.
type Place struct {
	Managed []string // managed directories
	UserDir string   // ~/.claude or what replaces it; empty means none
	Project []string // directories of the project, nearest first
	// Repository is its root; empty means the last of Project. What is imported
	// from outside of it, and outside of UserDir for the person's own files,
	// needs Allow.
	Repository string
	Home       string // what "~" stands for
}

// An Import is a file that a memory file wants to bring in from outside of the
// place that it speaks for.
type Import struct {
	Path, Real string // as written, made absolute; and where it leads
	By         string // the file that imports it
	Level      Level
}

// Options of [Load]. The zero value finds nothing.
type Options struct {
	Place
	// Allow decides about imports from outside; why is told when it refuses.
	// Nil refuses them.
	Allow func(Import) (why string, ok bool)
}

// names are the memory files of one directory of the project, the nearest to
// the work last.
var names = []struct {
	name  string
	level Level
}{
	{"AGENTS.md", Project},
	{"CLAUDE.md", Project},
	{filepath.Join(".claude", "CLAUDE.md"), Project},
	{"CLAUDE.local.md", Local},
}

// Load reads the hierarchy: of the organisation, of the person, of the project
// from the root of the repository down to the working directory. A file that
// cannot be read is a problem and costs nothing else; the error is that of ctx.
//
// A file that was read already, by whatever name, and a copy with the same
// text, is not repeated.
func Load(ctx context.Context, o Options) (Memory, error) {
	l := loader{o: o, seen: map[string]bool{}, said: map[string]bool{}}
	for _, d := range o.Managed {
		l.file(ctx, filepath.Join(d, "CLAUDE.md"), Managed, "", 0)
	}
	if o.UserDir != "" {
		l.file(ctx, filepath.Join(o.UserDir, "CLAUDE.md"), User, "", 0)
	}
	for _, d := range slices.Backward(o.Project) {
		for _, n := range names {
			l.file(ctx, filepath.Join(d, n.name), n.level, "", 0)
		}
	}
	if err := ctx.Err(); err != nil {
		return Memory{}, err
	}
	return l.m, nil
}

type loader struct {
	o     Options
	m     Memory
	seen  map[string]bool // files, physical
	said  map[string]bool // texts
	total int             // bytes so far
	full  bool
}

func (l *loader) note(sev skill.Severity, code, path string, line int, message, fix string) {
	l.m.Problems = append(l.m.Problems, skill.Problem{Code: code, Severity: sev, Path: path, Line: line, Message: message, Fix: fix})
}

// file reads one file and what it imports. A missing file of the hierarchy is
// nothing to tell.
func (l *loader) file(ctx context.Context, path string, level Level, by string, depth int) {
	real := physical(path)
	if l.seen[real] || ctx.Err() != nil {
		return
	}
	if by == "" && isMissing(path) {
		return
	}
	if by == "" && level != Managed && level != User && !within(real, l.boundary()) {
		l.note(skill.Warning, "link-leaves-root", path, 0, "the link leads to "+real+", out of the repository, and was not followed", "put a copy here")
		return
	}
	l.seen[real] = true
	if len(l.seen) > maxFiles || l.total >= MaxTotal {
		l.overflow(path)
		return
	}
	limit := min(MaxFile, MaxTotal-l.total)
	text, rest, err := textFile(path, limit)
	if err != nil {
		l.note(skill.Warning, "memory-unreadable", path, 0, "the memory file was not read: "+err.Error(), "make it a readable file of UTF-8 text")
		return
	}
	if rest > 0 {
		l.note(skill.Warning, "memory-cut", path, 0,
			fmt.Sprintf("only the first %d bytes are shown to agents; %d more are left out", len(text), rest), "shorten it, or move parts into skills")
		text = strings.TrimRight(text, "\n") + fmt.Sprintf("\n\n[%d more bytes of this file are not shown; read %s for the rest]\n", rest, attribute(path))
	}
	if key := strings.TrimSpace(text); key == "" || l.said[key] {
		return
	} else {
		l.said[key] = true
	}
	l.total += len(text)
	l.m.Files = append(l.m.Files, File{Path: path, Level: level, Text: text, By: by})
	l.imports(ctx, text, path, level, depth)
}

// isMissing reports whether nothing can be at path: there is no such file, or a
// file stands where a directory had to be.
func isMissing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func (l *loader) overflow(path string) {
	if !l.full {
		l.full = true
		l.note(skill.Warning, "memory-cut", path, 0,
			fmt.Sprintf("the memory files before this one hold %d bytes already; it and what follows are left out", l.total), "shorten them, or move parts into skills")
	}
}

func (l *loader) boundary() string {
	if l.o.Repository != "" {
		return physical(l.o.Repository)
	}
	if n := len(l.o.Project); n > 0 {
		return physical(l.o.Project[n-1])
	}
	return ""
}

// imports reads what a file imports as @path, relative to itself.
func (l *loader) imports(ctx context.Context, text, path string, level Level, depth int) {
	line, counted := 1, 0
	for _, r := range References(text) {
		line += strings.Count(text[counted:r.Start], "\n")
		counted = r.Start
		target := absolute(r.Path, filepath.Dir(path), l.o.Home)
		info, err := os.Stat(target)
		switch {
		case err != nil && !r.looksLikePath():
		case err != nil && isMissing(target):
			l.note(skill.Warning, "import-missing", path, line, fmt.Sprintf("it imports @%s, which does not exist", attribute(r.Path)), "correct the path, or put the word into backticks")
		case err != nil:
			l.note(skill.Warning, "import-missing", path, line, fmt.Sprintf("it imports @%s, which cannot be read: %v", attribute(r.Path), reason(err)), "make it readable, or remove the import")
		case info.IsDir():
			if r.looksLikePath() {
				l.note(skill.Info, "import-refused", path, line, fmt.Sprintf("it imports @%s, which is a directory", attribute(r.Path)), "name files, or put the path into backticks")
			}
		case depth >= maxImports:
			if !l.seen[physical(target)] {
				l.note(skill.Warning, "import-refused", path, line, fmt.Sprintf("@%s is not imported: imports lie more than %d deep in one another", attribute(r.Path), maxImports), "import it further up")
			}
		default:
			l.imported(ctx, target, path, line, level, depth)
		}
	}
}

// imported reads one import, if it may be.
func (l *loader) imported(ctx context.Context, target, by string, line int, level Level, depth int) {
	i := Import{Path: target, Real: physical(target), By: by, Level: level}
	if why, ok := l.allowed(i); !ok {
		l.note(skill.Warning, "import-refused", by, line, fmt.Sprintf("@%s is not imported: %s", attribute(target), why), "put a copy into the project, or import it from "+filepath.Join("~", ".claude", "CLAUDE.md"))
		return
	}
	l.file(ctx, target, level, by, depth+1)
}

// allowed is the policy about imports: the organisation may bring in anything,
// everybody else what lies in the place that the file speaks for.
func (l *loader) allowed(i Import) (why string, ok bool) {
	switch {
	case i.Level == Managed:
		return "", true
	case i.Level == User && within(i.Real, physical(l.o.UserDir)):
		return "", true
	case i.Level != User && within(i.Real, l.boundary()):
		return "", true
	case l.o.Allow != nil:
		return l.o.Allow(i)
	}
	return "it lies outside of what this file speaks for", false
}
