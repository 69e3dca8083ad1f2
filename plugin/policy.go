package plugin

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/knack-skills/knack/settings"
	"github.com/knack-skills/knack/skill"
)

// A Policy is what the administrator says of where plugins may come from (spec
// S-11). The zero value allows everything.
type Policy struct {
	strict  bool // only what is listed
	known   []pattern
	blocked []pattern
	files   [2]string // that say so: strictKnownMarketplaces, blockedMarketplaces
}

// A pattern is one item of both lists: a text, which is the name of a
// marketplace or what [Origin.String] and a person call its origin, or an object
// whose keys must all be those of the origin.
type pattern struct {
	text   string
	origin Origin
	host   *regexp.Regexp // hostPattern: of the host of a URL
	path   *regexp.Regexp // pathPattern: of a file or directory
}

// A PolicyError says that a plugin or a marketplace is not allowed.
type PolicyError struct{ What, Why string }

// Error returns it in one line.
func (e *PolicyError) Error() string { return e.What + " is not allowed: " + e.Why }

// PolicyOf reads the two lists of the managed settings. An item that cannot be
// read allows nothing in the one list, and blocks everything in the other.
func PolicyOf(s *settings.Settings) (Policy, []skill.Problem) {
	const strictKey, blockedKey = "strictKnownMarketplaces", "blockedMarketplaces"
	p := Policy{strict: s.StrictKnownMarketplaces != nil, files: [2]string{s.From(strictKey), s.From(blockedKey)}}
	var problems []skill.Problem
	read := func(key string, list json.RawMessage, file, instead string) (out []pattern) {
		var items []json.RawMessage
		_ = json.Unmarshal(list, &items) // the settings hold lists alone
		for _, item := range items {
			one, err := parsePattern(item)
			if err != nil {
				problems = append(problems, skill.Problem{Code: "setting-value", Severity: skill.Error, Path: file,
					Message: fmt.Sprintf("%s: %.80s %v; %s", key, item, err, instead),
					Fix:     `write the name of a marketplace, or an object such as {"source": "github", "repo": "owner/name"}`})
			}
			out = append(out, one)
		}
		return out
	}
	p.known = read(strictKey, s.StrictKnownMarketplaces, p.files[0], "it allows nothing")
	p.blocked = read(blockedKey, s.BlockedMarketplaces, p.files[1], "everything is blocked")
	for i := range p.blocked {
		if p.blocked[i] == (pattern{}) {
			p.blocked[i].text = "*"
		}
	}
	return p, problems
}

func parsePattern(item json.RawMessage) (pattern, error) {
	var p pattern
	if json.Unmarshal(item, &p.text) == nil && p.text != "" {
		return p, nil
	}
	var o struct {
		Origin
		Host string `json:"hostPattern"`
		Dir  string `json:"pathPattern"`
	}
	if err := json.Unmarshal(item, &o); err != nil || o.Origin == (Origin{}) && o.Host == "" && o.Dir == "" {
		return pattern{}, fmt.Errorf("is no source")
	}
	var err error
	switch o.Kind {
	case "hostPattern":
		p.host, err = regexp.Compile("^(?:" + o.Host + ")$")
	case "pathPattern":
		p.path, err = regexp.Compile("^(?:" + o.Dir + ")$")
	default:
		p.origin = o.Origin
		if p.origin.same() == (Origin{}) {
			err = fmt.Errorf("names no source")
		}
	}
	if err != nil {
		return pattern{}, err
	}
	return p, nil
}

// same returns the origin in the form in which two of them are compared: a
// repository has one name, whichever way it is written.
func (o Origin) same() Origin {
	out := Origin{Kind: o.Kind, Repo: strings.ToLower(o.Repo), Ref: o.Ref, SHA: o.SHA, Path: o.Path, Package: o.Package, Version: o.Version,
		Registry: strings.TrimSuffix(o.Registry, "/"), SHA256: strings.ToLower(o.SHA256)}
	if o.Kind == Directory || o.Kind == File {
		out.Path = filepath.Join(o.Root, filepath.FromSlash(o.Path))
	}
	where := strings.TrimSuffix(strings.TrimSuffix(o.URL, "/"), ".git")
	if rest, ok := strings.CutPrefix(where, "git@"); ok {
		where = "https://" + strings.Replace(rest, ":", "/", 1)
	}
	if u, err := url.Parse(where); err == nil && u.Host != "" {
		where = strings.ToLower(u.Host) + u.Path
	}
	if repo, ok := strings.CutPrefix(where, "github.com/"); ok && strings.Count(repo, "/") == 1 {
		out.Kind, out.Repo, where = GitHub, strings.ToLower(repo), ""
	}
	if out.Kind == Hosted || out.Kind == GitSubdir {
		out.Kind = Git
	}
	out.URL = where
	return out
}

// matches reports whether the pattern means a marketplace of that name, which is
// empty for a plugin without one, and origin.
func (p pattern) matches(name string, o Origin) bool {
	is := o.same()
	switch {
	case p.text != "":
		want := strings.ToLower(strings.TrimSuffix(p.text, ".git"))
		typed, _ := Guess(p.text, func(string) string { return "" })
		guess := typed.same()
		return p.text == "*" || name != "" && p.text == name || want == is.Repo || is.Repo != "" && guess.Repo == is.Repo ||
			is.URL != "" && guess.URL == is.URL ||
			is.Path != "" && is.Kind == Directory && filepath.Clean(p.text) == is.Path || is.Package != "" && p.text == is.Package
	case p.host != nil:
		host := strings.SplitN(is.URL, "/", 2)[0]
		if is.Kind == GitHub {
			host = "github.com"
		}
		return host != "" && p.host.MatchString(host)
	case p.path != nil:
		return (is.Kind == Directory || is.Kind == File) && p.path.MatchString(is.Path)
	}
	want := p.origin.same()
	if want == (Origin{}) {
		return false
	}
	for _, pair := range [][2]string{
		{want.Kind, is.Kind}, {want.Repo, is.Repo}, {want.URL, is.URL}, {want.Ref, is.Ref}, {want.SHA, is.SHA}, {want.Path, is.Path},
		{want.Package, is.Package}, {want.Version, is.Version}, {want.Registry, is.Registry}, {want.SHA256, is.SHA256},
	} {
		if pair[0] != "" && pair[0] != pair[1] {
			return false
		}
	}
	return true
}

// Allows reports whether a marketplace of that name and origin, or a plugin
// without one when the name is empty, may be used. The error is a [*PolicyError].
func (p Policy) Allows(name string, o Origin) error {
	what := "marketplace " + name
	if name == "" {
		what = "a plugin from " + o.String()
	}
	for _, b := range p.blocked {
		if b.matches(name, o) {
			return &PolicyError{what, "blockedMarketplaces in " + p.files[1]}
		}
	}
	if !p.strict {
		return nil
	}
	for _, k := range p.known {
		if k.matches(name, o) {
			return nil
		}
	}
	return &PolicyError{what, "it is not among strictKnownMarketplaces in " + p.files[0]}
}
