// Package mcpconfig finds out which MCP servers a workspace has and how each is
// reached (spec X-6): it reads the files that name them, decides between equal
// names, fills in variables, and tells which servers of the repository still
// wait for the person's word. It connects to nothing and asks nobody.
//
// All functions are safe for concurrent use; results belong to the caller.
package mcpconfig

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/knack-skills/knack/skill"
)

// A Scope is who named a server.
type Scope string

// The scopes, strongest first: of two servers of one name the first counts, as a
// whole.
const (
	Managed Scope = "managed" // managed-mcp.json of the administrator
	Flag    Scope = "flag"    // --mcp-config
	Local   Scope = "local"   // the person's, for this project
	Project Scope = "project" // .mcp.json of the repository
	User    Scope = "user"    // the person's, everywhere
	Plugin  Scope = "plugin"
)

// A Transport is how messages get to a server.
type Transport string

// The transports.
const (
	Stdio Transport = "stdio"
	HTTP  Transport = "http" // streamable HTTP
	SSE   Transport = "sse"
)

// A Server is one that can be started. Variables are filled in.
type Server struct {
	Name      string
	Scope     Scope
	Transport Transport
	Command   string
	Args      []string
	Env       map[string]string
	URL       string
	Headers   map[string]string
	OAuth     OAuth
	Timeout   time.Duration   // of one call; zero leaves it to the client
	Path      string          // the file that names it, or the flag
	Line      int             // where, from 1; zero when unknown
	Dir       string          // where a plugin's server runs; empty means the workspace
	Data      string          // a plugin's directory for its own files, which has to be there; empty means none
	Entry     json.RawMessage // as it is written; read-only
	Hash      string          // SHA-256 of the entry as it is written, in hexadecimal
}

// A Set is the servers of one workspace.
type Set struct {
	Servers  []Server // by name
	Waiting  []Server // of the repository; the person has to allow them first
	Problems []skill.Problem
}

// Sources says where servers are named.
type Sources struct {
	Managed    []string // directories of the administrator
	Flags      []string // --mcp-config: files, or JSON objects
	UserFile   string   // ~/.claude.json; empty means none
	ProjectDir string   // whose .mcp.json counts, and whose local entries
	WorkDir    string   // whose local entries count, too
	NoUser     bool     // --setting-sources leaves these out
	NoLocal    bool
	NoProject  bool
	PluginOnly bool // strictPluginOnlyCustomization
	Plugins    []PluginServers
	Getenv     func(string) string
	Trusted    bool
	// Verdict is what the person has said about a server of the repository.
	Verdict func(name, hash string) Verdict
}

// A PluginServers is what one plugin brings.
type PluginServers struct {
	Plugin  string
	Path    string // its manifest, for problems
	Dir     string
	Servers map[string]json.RawMessage
	Vars    map[string]string // ${NAME} of the plugin, such as CLAUDE_PLUGIN_ROOT
	Data    string            // its directory for its own files
	Env     map[string]string // what its programs find in their environment
	// Options are the values of its options, ${user_config.KEY}: one, or several
	// of an option that takes several, or none of one that is not set.
	Options map[string][]string
	// Unset are the options that need a value and have none: what names one of
	// them is not started.
	Unset []string
}

// A Verdict is what a person has said.
type Verdict int

// The verdicts.
const (
	Unknown Verdict = iota // nobody has been asked
	Allowed
	Refused
)

// Load reads everything. What is wrong is a problem, and the rest still loads.
func Load(src Sources) Set {
	l := &loader{src: src, taken: map[string]Server{}}
	if !l.managed() {
		if src.PluginOnly {
			l.leftOut()
		} else {
			l.flags()
			l.personal()
		}
		l.plugins()
	}
	l.set.Servers = slices.SortedFunc(maps.Values(l.taken), func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(l.set.Waiting, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(l.set.Problems, skill.CompareProblems)
	return l.set
}

type loader struct {
	src   Sources
	set   Set
	taken map[string]Server // by label
}

// personal reads the files of the person and of the repository, strongest first.
func (l *loader) personal() {
	user, local := l.userFile()
	if !l.src.NoLocal {
		for _, d := range local {
			l.all(d, Local)
		}
	}
	if !l.src.NoProject {
		l.project()
	}
	if !l.src.NoUser {
		l.all(user, User)
	}
}

// project takes the servers of the repository that the person allowed. Until the
// workspace is trusted there are none (spec S-9).
func (l *loader) project() {
	f := l.projectFile()
	if len(f.entries) == 0 {
		return
	}
	if !l.src.Trusted {
		l.problem("mcp-untrusted", skill.Warning, f.path, place{}, fmt.Sprintf(
			"not in force, because the workspace is not trusted: MCP servers %s", strings.Join(f.names(), ", ")),
			"read the file, then trust the workspace: `knack doctor --trust`, or --trust for one run")
		return
	}
	for _, e := range f.entries {
		s, ok := l.read(e, f, Project, nil)
		if !ok {
			continue
		}
		verdict := Unknown
		if l.src.Verdict != nil {
			verdict = l.src.Verdict(s.Name, s.Hash)
		}
		switch verdict {
		case Allowed:
			l.take(s)
		case Unknown:
			if _, there := l.taken[Label(s.Name)]; !there {
				l.set.Waiting = append(l.set.Waiting, s)
			}
		}
	}
}

// all takes every server of a file.
func (l *loader) all(f file, scope Scope) {
	for _, e := range f.entries {
		if s, ok := l.read(e, f, scope, nil); ok {
			l.take(s)
		}
	}
}

// plugins takes what plugins bring; their names cannot meet those of others.
func (l *loader) plugins() {
	for _, p := range l.src.Plugins {
		f := file{path: p.Path, dir: p.Dir}
		for _, name := range slices.Sorted(maps.Keys(p.Servers)) {
			e := entry{name: "plugin:" + p.Plugin + ":" + name, raw: p.Servers[name]}
			if s, ok := l.read(e, f, Plugin, &p); ok {
				l.take(s)
			}
		}
	}
}

// take keeps a server unless a stronger file has one of its name. Names that
// become the same in the names of tools are one name: rules speak of these.
func (l *loader) take(s Server) {
	label := Label(s.Name)
	first, there := l.taken[label]
	switch {
	case !there:
		l.taken[label] = s
	case first.Name != s.Name:
		l.problem("mcp-server", skill.Error, s.Path, place{s.Line, 0}, fmt.Sprintf(
			"the MCP server %q is not started: in names of tools and skills it cannot be told from %q of %s", s.Name, first.Name, first.Path),
			"give one of them another name")
	default:
		l.problem("mcp-shadowed", skill.Info, s.Path, place{s.Line, 0}, fmt.Sprintf(
			"the MCP server %q of the %s scope is not used: the one in %s counts", s.Name, s.Scope, first.Path), "nothing needs to be done")
	}
}

func (l *loader) problem(code string, severity skill.Severity, path string, at place, message, fix string) {
	l.set.Problems = append(l.set.Problems, skill.Problem{Code: code, Severity: severity, Path: path,
		Line: at.line, Column: at.column, Message: message, Fix: fix})
}

// Label is a server's name as names of tools and permission rules have it. Two
// underscores end it there, so it has no two beside each other.
func Label(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			r = '_'
		}
		if r == '_' && strings.HasSuffix(b.String(), "_") {
			continue
		}
		b.WriteRune(r)
	}
	if out := strings.Trim(b.String(), "_"); out != "" {
		return out
	}
	return "server"
}
