package mcpserver

import (
	"net/url"
	"strings"

	"github.com/knack-skills/knack/catalog"
)

const scheme = "skill://"

// pathOf is the id of a skill as a path of a URI: "plugin:review" is
// "plugin/review", so that the last segment is the name (spec X-8).
func pathOf(e *catalog.Entry) string {
	segments := strings.Split(strings.ReplaceAll(calledBy(e), ":", "/"), "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return strings.Join(segments, "/")
}

// uriOf is the URI of a file of a skill. Where the first segment could not be
// the authority of a URI, that is left empty.
func uriOf(e *catalog.Entry, p string) string {
	segments := strings.Split(p, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	whole := pathOf(e) + "/" + strings.Join(segments, "/")
	if _, err := url.Parse(scheme + whole); err != nil {
		return scheme + "/" + whole
	}
	return scheme + whole
}

// split finds the skill and the file that a URI means. Where one skill's path
// begins another's, the longer one is meant.
func split(snap *catalog.Snapshot, uri string) (e *catalog.Entry, p string, ok bool) {
	rest, ours := strings.CutPrefix(uri, scheme)
	if !ours {
		return nil, "", false
	}
	rest = strings.TrimPrefix(rest, "/")
	best := -1
	for entry := range snap.All() {
		if prefix := pathOf(entry) + "/"; len(prefix) > best && strings.HasPrefix(rest, prefix) {
			e, best = entry, len(prefix)
		}
	}
	if e == nil {
		return nil, "", false
	}
	p, err := url.PathUnescape(rest[best:])
	return e, p, err == nil && p != ""
}
