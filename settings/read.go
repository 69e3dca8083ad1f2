package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/state"
)

// maxFile is the size up to which a file is read, in bytes. A large settings
// file has a few hundred lines.
const maxFile = 1 << 20

// inlinePath stands for the file when --settings holds the JSON itself.
const inlinePath = "--settings"

// A loader collects files, strongest first.
type loader struct {
	src      Sources
	files    []File
	problems []skill.Problem
}

// managed reads the managed directories; the first is the strongest. In one,
// managed-settings.d comes after managed-settings.json, in byte order, and the
// later file is the stronger one (spec S-11).
func (l *loader) managed() {
	for _, dir := range l.src.Managed {
		parts := filepath.Join(dir, ManagedParts)
		entries, err := os.ReadDir(parts)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			// There may be policies in there.
			l.unreadable(File{Level: ManagedLevel, Path: parts, Exists: true}, reason(err))
		}
		for _, e := range slices.Backward(entries) { // ReadDir sorts by name
			if name := e.Name(); strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".") {
				l.file(ManagedLevel, filepath.Join(parts, name))
			}
		}
		l.file(ManagedLevel, filepath.Join(dir, "managed-settings.json"))
	}
}

// flag reads what --settings says: an object, or the name of a file that has
// to exist.
func (l *loader) flag() {
	if strings.TrimSpace(l.src.Flag) == "" {
		return
	}
	f := File{Level: CommandLineLevel, Path: l.src.Flag, Exists: true}
	if strings.HasPrefix(strings.TrimSpace(l.src.Flag), "{") {
		f.Path = inlinePath
		l.text(f, []byte(l.src.Flag))
		return
	}
	f.Path = expandHome(f.Path, l.src.home())
	if l.held(f.Level, f.Path) {
		return
	}
	data, err := state.ReadFile(f.Path, maxFile)
	if err != nil {
		f.Exists = !errors.Is(err, fs.ErrNotExist)
		l.unreadable(f, reason(err))
		return
	}
	l.text(f, data)
}

// file reads one file. One that is not there is not a problem.
func (l *loader) file(level Level, path string) {
	if !l.src.wants(level) {
		return
	}
	if l.held(level, path) {
		return
	}
	f := File{Level: level, Path: path, Exists: true}
	data, err := state.ReadFile(path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !dangling(path):
		f.Exists = false
		l.files = append(l.files, f)
	case err != nil:
		l.unreadable(f, reason(err))
	default:
		l.text(f, data)
	}
}

// text decodes data into f.
func (l *loader) text(f File, data []byte) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if p, bad := syntaxProblem(data); bad {
		p.Path = f.Path
		l.refuse(f, p)
		return
	}
	d := newDecoder(&f, data, l.src)
	d.root()
	l.files = append(l.files, f)
	l.problems = append(l.problems, d.problems...)
}

func (l *loader) unreadable(f File, why string) {
	l.refuse(f, skill.Problem{
		Code: "settings-unreadable", Severity: skill.Error, Path: f.Path,
		Message: "the settings cannot be read: " + why,
		Fix:     fmt.Sprintf("make it a readable JSON file of at most %d KiB, or remove it", maxFile>>10),
	})
}

// refuse keeps f as an empty file, or, when it is managed, as one that fails
// closed (spec S-11).
func (l *loader) refuse(f File, p skill.Problem) {
	if f.Level == ManagedLevel {
		f.close()
		p.Message += "; until it is repaired, only managed hooks and managed allow rules count, and bypassing permissions is off"
	} else if l.kept(f) {
		p.Message += "; what the file said before still counts"
		l.problems = append(l.problems, p)
		return
	} else {
		p.Message += "; nothing in this file is in force"
	}
	f.refused = true
	l.files = append(l.files, f)
	l.problems = append(l.problems, p)
}

// wants reports whether the level is read. Managed settings and the command
// line cannot be deselected.
func (s Sources) wants(l Level) bool {
	return s.Only == nil || l == ManagedLevel || l == CommandLineLevel || slices.Contains(s.Only, l)
}

func (s Sources) home() string {
	if s.Home != "" {
		return s.Home
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}

// expandHome replaces "~" at the start of path. Without a home directory path
// stays as it is.
func expandHome(path, home string) string {
	rest, ok := skill.CutHome(path)
	if home == "" || !ok {
		return path
	}
	return filepath.Join(home, rest)
}

// reason is err without the path, which a Problem has already.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// dangling reports whether path is a link to nowhere: somebody wanted a file
// to be there.
func dangling(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.Mode()&fs.ModeSymlink != 0
}

// isUserFile reports whether path is read as the user's file: in the home
// directory the project file is the person's own.
func (s Sources) isUserFile(path string) bool {
	return s.UserDir != "" && s.wants(UserLevel) && sameFile(path, filepath.Join(s.UserDir, "settings.json"))
}

func sameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	fa, errA := os.Stat(a)
	fb, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(fa, fb)
}
