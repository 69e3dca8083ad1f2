package knack

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks is how many links one path may lead through, as in Linux.
const maxLinks = 40

// behindLinks returns where an absolute path leads once its links are followed.
// What does not exist yet stays as it is, also behind a link to nothing: writing
// there would create it. A loop leads nowhere, so its path stays as well.
func behindLinks(path string) string {
	const separator = string(filepath.Separator)
	start := func(p string) (root string, names []string) {
		volume := filepath.VolumeName(p)
		return volume + separator, strings.Split(p[len(volume):], separator)
	}
	at, rest := start(filepath.Clean(path))
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..": // of a target: it counts from where the link has led
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		target, err := os.Readlink(next)
		if err != nil {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return path
		}
		names := strings.Split(filepath.FromSlash(target), separator)
		if filepath.IsAbs(target) {
			at, names = start(filepath.FromSlash(target))
		}
		rest = slices.Concat(names, rest)
	}
	return at
}
