package plugin

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// Kinds of an [Origin].
const (
	Directory = "directory"  // Path, and Root that its links may lead to
	Git       = "git"        // URL, with Ref, SHA and Path below it
	GitHub    = "github"     // Repo, else as Git
	NPM       = "npm"        // Package, Version, Registry
	Archive   = "archive"    // URL (https), or Path; SHA256
	File      = "file"       // Path of a marketplace.json
	Hosted    = "url"        // URL of a marketplace.json
	GitSubdir = "git-subdir" // how marketplaces write Git with Path
	relative  = "relative"   // Path below the marketplace
)

// An Origin says where a plugin or a marketplace is to be had.
type Origin struct {
	Kind     string `json:"source"`
	Root     string `json:"root,omitempty"`
	Path     string `json:"path,omitempty"`
	Repo     string `json:"repo,omitempty"`
	URL      string `json:"url,omitempty"`
	Ref      string `json:"ref,omitempty"` // a branch or a tag
	SHA      string `json:"sha,omitempty"` // a commit; beats Ref
	Package  string `json:"package,omitempty"`
	Version  string `json:"version,omitempty"` // exact, a range or a tag; empty means latest
	Registry string `json:"registry,omitempty"`
	SHA256   string `json:"sha256,omitempty"` // of the archive, in hex
}

// String describes it for a person.
func (o Origin) String() string {
	at := cmp.Or(o.SHA, o.Ref)
	if at != "" {
		at = " at " + at
	}
	if o.Path != "" && (o.Kind == Git || o.Kind == GitHub) {
		at = " in " + o.Path + at
	}
	switch o.Kind {
	case GitHub:
		return "github " + o.Repo + at
	case NPM:
		return "npm " + o.Package + strings.TrimPrefix("@"+o.Version, "@@")
	case Directory, File:
		return filepath.Join(o.Root, filepath.FromSlash(o.Path))
	}
	return cmp.Or(o.URL, o.Path) + at
}

// The forms of what is given to other programs. They are compiled when they are
// needed: most runs have nothing to do with plugins.
var (
	commitForm  = form(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	digestForm  = form(`^[0-9a-fA-F]{64}$`)
	refForm     = form(`^[A-Za-z0-9_][A-Za-z0-9_./@+-]{0,199}$`)
	repoForm    = form(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}/[A-Za-z0-9_.-]{1,100}$`)
	packageForm = form(`^(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*$`)
	archiveForm = form(`(?i)\.(zip|tar|tgz|tar\.gz|mcpb|dxt|skill)$`)
	scpForm     = form(`^[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:[^:]`)
)

func form(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// parseOrigin reads the source of an entry of a marketplace.
func parseOrigin(raw json.RawMessage) (Origin, error) {
	var path string
	if json.Unmarshal(raw, &path) == nil {
		return Origin{Kind: relative, Path: path}, nil
	}
	var o struct {
		Origin
		Commit string `json:"commit"` // another name of sha that is in use
	}
	if len(raw) == 0 || json.Unmarshal(raw, &o) != nil {
		return Origin{}, errors.New("it has no source that can be read")
	}
	o.Root, o.SHA = "", cmp.Or(o.SHA, o.Commit)
	switch o.Kind {
	case Hosted, GitSubdir, Git:
		o.Kind = Git
	case Directory, File, relative: // a marketplace must not name what lies elsewhere on this machine
		return Origin{}, fmt.Errorf("a source of kind %q cannot stand in a marketplace", o.Kind)
	}
	return o.Origin, o.Check()
}

// Check reports what is wrong with an origin. What is given to other programs
// later has a form in which it cannot be taken for something else.
func (o Origin) Check() error {
	if o.SHA != "" && !commitForm().MatchString(o.SHA) {
		return fmt.Errorf("%.80q is no commit: 40 or 64 hexadecimal digits", o.SHA)
	}
	if o.Ref != "" && (!refForm().MatchString(o.Ref) || strings.Contains(o.Ref, "..")) {
		return fmt.Errorf("%.80q is no branch or tag", o.Ref)
	}
	if o.SHA256 != "" && !digestForm().MatchString(o.SHA256) {
		return fmt.Errorf("%.80q is no SHA-256", o.SHA256)
	}
	if p := filepath.FromSlash(o.Path); o.Path != "" && (o.Kind == Git || o.Kind == GitHub || o.Root != "") && (!filepath.IsLocal(p) || strings.Contains(o.Path, `\`)) {
		return fmt.Errorf("the path %.200q leads out", o.Path)
	}
	switch o.Kind {
	case GitHub:
		if !repoForm().MatchString(o.Repo) || strings.Contains(o.Repo, "..") {
			return fmt.Errorf("%.80q is no repository: write owner/name", o.Repo)
		}
	case Git:
		return checkGitURL(o.URL)
	case NPM:
		if len(o.Package) > 214 || !packageForm().MatchString(o.Package) {
			return fmt.Errorf("%.80q is no npm package", o.Package)
		}
		if o.Registry != "" {
			return checkWebURL(o.Registry)
		}
	case Archive, Hosted:
		if o.Kind == Archive && o.URL == "" && o.Path != "" {
			return nil
		}
		return checkWebURL(o.URL)
	case Directory, File:
	default:
		return fmt.Errorf("there is no source of kind %.40q", o.Kind)
	}
	return nil
}

// checkWebURL takes https, and http on this machine alone.
func checkWebURL(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return fmt.Errorf("%.200q is no URL", s)
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !Loopback(u.Hostname())) {
		return fmt.Errorf("%.200q: only https is taken", s)
	}
	return nil
}

// Loopback reports whether host is this machine.
func Loopback(host string) bool {
	return host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}

// checkGitURL takes what git reads over a network or from a directory. Helpers
// such as ext:: run programs.
func checkGitURL(s string) error {
	switch {
	case s == "" || strings.HasPrefix(s, "-") || strings.Contains(s, "::") || strings.ContainsAny(s, "\x00\n\r"):
		return fmt.Errorf("%.200q is no repository", s)
	case filepath.IsAbs(s), scpForm().MatchString(s):
		return nil
	}
	u, err := url.Parse(s)
	if err != nil || strings.HasPrefix(u.Host, "-") {
		return fmt.Errorf("%.200q is no URL", s)
	}
	switch u.Scheme {
	case "https", "ssh", "git+ssh", "file":
		return nil
	case "http":
		if Loopback(u.Hostname()) {
			return nil
		}
	}
	return fmt.Errorf("%.200q: only https, ssh and file are taken", s)
}

// Guess reads what a person typed for a plugin or a marketplace that is not known
// by name: npm:PACKAGE, OWNER/REPOSITORY, a URL with #REF, or a file or directory,
// which kind tells apart ("dir", "file" or ""). ok is false for everything else.
func Guess(arg string, kind func(path string) string) (o Origin, ok bool) {
	if pkg, is := strings.CutPrefix(arg, "npm:"); is {
		o = Origin{Kind: NPM, Package: pkg}
		if i := strings.LastIndexByte(pkg, '@'); i > 0 {
			o.Package, o.Version = pkg[:i], pkg[i+1:]
		}
		return o, true
	}
	if !strings.Contains(arg, "://") && !scpForm().MatchString(arg) {
		switch kind(arg) {
		case "dir":
			return Origin{Kind: Directory, Path: arg}, true
		case "file":
			if strings.EqualFold(filepath.Ext(arg), ".json") {
				return Origin{Kind: File, Path: arg}, true
			}
			return Origin{Kind: Archive, Path: arg}, true
		}
		if repo, ref, _ := strings.Cut(arg, "#"); repoForm().MatchString(repo) && !strings.HasPrefix(arg, ".") {
			return Origin{Kind: GitHub, Repo: repo, Ref: ref}, true
		}
		return Origin{}, false
	}
	where, ref, _ := strings.Cut(arg, "#")
	if commitForm().MatchString(ref) {
		o.SHA = ref
	} else {
		o.Ref = ref
	}
	o.URL = where
	path := where
	if u, err := url.Parse(where); err == nil {
		path = u.Path
	}
	switch web := strings.HasPrefix(where, "http"); {
	case web && archiveForm().MatchString(path):
		o.Kind = Archive
	case web && strings.HasSuffix(path, ".json"):
		o.Kind = Hosted
	default:
		o.Kind = Git
	}
	return o, true
}
