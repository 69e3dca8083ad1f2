// Package extract writes files that other people packed below one directory, and
// nowhere else (spec S-15). Every way in which a skill or a plugin reaches this
// machine ends here: archives, directories and trees of git.
//
// Names, kinds, sizes and links are checked in this one place. Directories are
// 0700 and files 0600, whatever the archive says; what must be started later is
// in [Summary].Programs. Nothing is ever run.
package extract

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Limits are what one extraction may bring. The zero value of a field is that of
// [Standard].
type Limits struct {
	Files int   // files, directories and links
	Bytes int64 // of all files
	Ratio int64 // of bytes to packed bytes, once there are many
	// Lenient leaves out links that lead out or to nothing, and says so in
	// Skipped; else one such link refuses everything.
	Lenient bool
}

// Standard are the limits of a plugin.
var Standard = Limits{Files: 20_000, Bytes: 256 << 20, Ratio: 200}

func (l Limits) filled() Limits {
	if l.Files == 0 {
		l.Files = Standard.Files
	}
	if l.Bytes == 0 {
		l.Bytes = Standard.Bytes
	}
	if l.Ratio == 0 {
		l.Ratio = Standard.Ratio
	}
	return l
}

// A RefusedError says why files are not taken in. Nothing of them may be used.
type RefusedError struct{ Name, Why string }

// Error says it in one line.
func (e *RefusedError) Error() string {
	if e.Name == "" {
		return "refused: " + e.Why
	}
	return fmt.Sprintf("refused: %.200q %s", e.Name, e.Why)
}

func refuse(name, why string, args ...any) error {
	return &RefusedError{Name: name, Why: fmt.Sprintf(why, args...)}
}

// A Summary says what was written.
type Summary struct {
	Files    int
	Bytes    int64
	Hash     string   // SHA-256 over the sorted list of paths and their SHA-256s
	Programs []string // files that were executable, with slashes, sorted
	Skipped  []string // links that were left out, with the reason, sorted
}

// A Writer writes below one directory. After an error nothing of what it wrote
// may be used. It is for one goroutine.
type Writer struct {
	root     *os.Root
	limits   Limits
	entries  int
	bytes    int64
	seen     map[string]string // folded name to name
	plain    map[string]bool   // names of files and links, which have nothing below them
	links    []link
	hashes   map[string]string
	programs []string
	skipped  []string
}

type link struct{ name, target string }

// New returns a Writer into dir, which has to be an empty directory of the
// caller's own.
func New(dir string, l Limits) (*Writer, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Writer{root: root, limits: l.filled(), seen: map[string]string{}, plain: map[string]bool{}, hashes: map[string]string{}}, nil
}

// Close lets go of the directory.
func (w *Writer) Close() error { return w.root.Close() }

// File writes one file. executable is only remembered.
func (w *Writer) File(name string, executable bool, from io.Reader) (err error) {
	name, err = w.claim(name, true)
	if err != nil {
		return err
	}
	// With O_EXCL an existing name is refused, and os.Root adds O_NOFOLLOW.
	out, err := w.root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, sum), io.LimitReader(from, w.limits.Bytes-w.bytes+1))
	if err != nil {
		return err
	}
	if w.bytes += n; w.bytes > w.limits.Bytes {
		return refuse(name, "makes it more than %d MiB", w.limits.Bytes>>20)
	}
	w.hashes[name] = hex.EncodeToString(sum.Sum(nil))
	if executable {
		w.programs = append(w.programs, name)
	}
	return nil
}

// Dir makes a directory.
func (w *Writer) Dir(name string) error {
	name = strings.TrimSuffix(name, "/")
	if name == "" || name == "." || name == "./" {
		return nil
	}
	_, err := w.claim(name, false)
	return err
}

// Link remembers a link, with slashes. [Writer.Finish] puts a copy of what it
// leads to in its place.
func (w *Writer) Link(name, target string) error {
	name, err := w.claim(name, true)
	if err == nil {
		w.links = append(w.links, link{name, target})
	}
	return err
}

// Finish resolves the links and says what was written.
func (w *Writer) Finish() (Summary, error) {
	if err := w.resolve(); err != nil {
		return Summary{}, err
	}
	sum := sha256.New()
	names := make([]string, 0, len(w.hashes))
	for name := range w.hashes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(sum, "%s\x00%s\n", name, w.hashes[name])
	}
	slices.Sort(w.programs)
	slices.Sort(w.skipped)
	return Summary{Files: len(names), Bytes: w.bytes, Hash: hex.EncodeToString(sum.Sum(nil)), Programs: w.programs, Skipped: w.skipped}, nil
}

// claim checks a name, takes it, and makes the directories above it; with plain
// nothing may lie below the name, without, it is a directory.
func (w *Writer) claim(name string, plain bool) (string, error) {
	name = strings.TrimPrefix(name, "./")
	if why := badName(name); why != "" {
		return "", refuse(name, "%s", why)
	}
	parts := strings.Split(name, "/")
	for i := range parts {
		at := strings.Join(parts[:i+1], "/")
		last := i == len(parts)-1
		fold := fold(at)
		before, taken := w.seen[fold]
		switch {
		case taken && before != at:
			return "", refuse(at, "differs from %.100q only in case or spelling, so it is one file on some systems", before)
		case taken && (w.plain[at] || last && plain):
			return "", refuse(name, "is there twice, or lies below a file or a link")
		case taken:
			continue
		}
		if w.entries++; w.entries > w.limits.Files {
			return "", refuse("", "there are more than %d files", w.limits.Files)
		}
		w.seen[fold] = at
		if last && plain {
			w.plain[at] = true
			break
		}
		if err := w.root.Mkdir(filepath.FromSlash(at), 0o700); err != nil {
			return "", err
		}
	}
	return name, nil
}

// fold is equal for names that some file system takes for one.
func fold(name string) string { return strings.ToLower(norm.NFKC.String(name)) }

// Limits of a name.
const (
	maxName = 1024 // bytes
	maxPart = 255  // bytes of one part
	maxDeep = 32   // parts
)

// badName says why name is none that every system can have below a directory,
// or "".
func badName(name string) string {
	switch {
	case len(name) > maxName || strings.Count(name, "/") >= maxDeep:
		return "is too long or too deep"
	case !utf8.ValidString(name):
		return "is not UTF-8"
	case strings.Contains(name, `\`):
		return "has a backslash"
	case path.IsAbs(name) || len(name) > 1 && name[1] == ':':
		return "is absolute"
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "..":
			return "leads out of the directory"
		case part == "" || part == ".":
			return "has an empty part"
		case len(part) > maxPart:
			return "is too long"
		case strings.ContainsFunc(part, func(r rune) bool { return r == 0 || unicode.IsControl(r) || strings.ContainsRune(`:*?"<>|`, r) }):
			return "has a character that a name cannot have on every system"
		case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
			return "ends with a dot or a blank, which some systems drop"
		case reserved(part):
			return "is the name of a device on Windows"
		}
	}
	return ""
}

// reserved reports whether Windows takes the name for a device.
func reserved(part string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(part), ".")
	switch stem = strings.TrimRight(stem, " "); stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	if rest, ok := strings.CutPrefix(stem, "COM"); ok || strings.HasPrefix(stem, "LPT") {
		if !ok {
			rest = stem[len("LPT"):]
		}
		return slices.Contains([]string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³"}, rest)
	}
	return false
}
