package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/skill"
)

// ManifestFile is where the manifest of a plugin lies, with slashes.
const ManifestFile = ".claude-plugin/plugin.json"

// maxManifest is the largest plugin.json that is read, in bytes.
const maxManifest = 1 << 20

// A Manifest is what one plugin brings, as its files say it (spec X-1). It is
// read-only once it was read.
type Manifest struct {
	Name, Version, Description string
	Nameless                   bool   // Name is that of the directory
	Dir                        string // absolute
	DefaultOff                 bool   // defaultEnabled is false
	Hooks                      hook.Config
	// Servers are the plugin's MCP servers by name, each as it is written.
	Servers      map[string]json.RawMessage
	Options      []Option // userConfig, by key
	Dependencies []Dependency

	parts parts
}

// parts are the directories and files that a plugin names, relative to it.
type parts struct {
	only     bool // skills are those listed, and nothing is looked for
	skills   []string
	commands []string // nil: not given
	agents   []string // nil: not given
	hooks    json.RawMessage
	servers  json.RawMessage
}

// AgentPaths returns the directories and files that hold the plugin's agents,
// existing or not.
func (m *Manifest) AgentPaths() []string {
	paths := m.parts.agents
	if paths == nil {
		paths = []string{"agents"}
	}
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = filepath.Join(m.Dir, p)
	}
	return out
}

// fields are the manifest's known keys with the values they may have. Other
// keys are ignored (spec X-1).
var fields = map[string][]shape{
	"name":           {text},
	"version":        {text},
	"description":    {text},
	"author":         {text, object},
	"homepage":       {text},
	"repository":     {text, object},
	"license":        {text},
	"keywords":       {texts},
	"defaultEnabled": {boolean},
	"skills":         {text, texts},
	"commands":       {text, texts},
	"agents":         {text, texts},
	"hooks":          {text, list, object},
	"mcpServers":     {text, list, object},
	"userConfig":     {object},
	"dependencies":   {list},
}

// Fields returns the names of the manifest's known keys, sorted.
func Fields() []string { return slices.Sorted(maps.Keys(fields)) }

// components are the keys that say what a plugin brings.
var components = []string{"skills", "commands", "agents", "hooks", "mcpServers"}

// An Entry is what a marketplace says of a plugin, besides where it is to be
// had (spec X-4).
type Entry struct {
	Path   string          // the marketplace's file, for problems
	Fields json.RawMessage // an object that may hold the keys of a manifest
	Loose  bool            // strict is false: the entry says everything, and the manifest may not
}

// Read reads a plugin's manifest and all that it names, but for skills, commands
// and agents, which have readers of their own. It is nil when the plugin must
// not load; then one problem of the code plugin-manifest says why.
func Read(dir string, entry *Entry) (*Manifest, []skill.Problem) {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	m, problems, ok := readManifest(dir, entry)
	if !ok {
		return nil, problems
	}
	problems = append(problems, m.readHooks()...)
	problems = append(problems, m.readServers()...)
	return m, problems
}

// readManifest reads the manifest of the plugin in dir; there need not be one.
// It reports false when the plugin must not load.
func readManifest(dir string, entry *Entry) (*Manifest, []skill.Problem, bool) {
	path := filepath.Join(dir, filepath.FromSlash(ManifestFile))
	m := &Manifest{Dir: dir}
	data, err := readLocal(dir, filepath.FromSlash(ManifestFile), maxManifest)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(dir); err != nil {
			return nil, []skill.Problem{broken(dir, "the plugin's directory cannot be read: "+bare(err))}, false
		}
		data = []byte("{}")
	case err != nil:
		return nil, []skill.Problem{broken(path, "the manifest cannot be read: "+bare(err))}, false
	}
	problems, ok := m.parse(path, data, entry)
	if !ok {
		return nil, problems, false
	}
	if entry != nil {
		more, ok := m.add(entry)
		if problems = append(problems, more...); !ok {
			return nil, more, false
		}
	}
	if m.Name == "" {
		m.Name, m.Nameless = filepath.Base(dir), true
	}
	return m, problems, true
}

// readLocal reads the file name below dir. os.Root keeps links from leaving
// dir (spec X-1), and the type is checked before opening, which might block.
func readLocal(dir, name string, limit int64) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	st, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("it has more than %d bytes", limit)
	}
	return data, nil
}

// parse reads a manifest. Only whether the paths in it exist is looked up.
func (m *Manifest) parse(path string, data []byte, entry *Entry) (problems []skill.Problem, ok bool) {
	raw, bad := keysOf(path, "the manifest", data)
	if bad != nil {
		return []skill.Problem{*bad}, false
	}
	if entry != nil && entry.Loose {
		for _, c := range components {
			if raw[c] != nil {
				return []skill.Problem{broken(path, fmt.Sprintf("its marketplace says everything of it (strict is false), and the manifest names %q too", c))}, false
			}
		}
	}
	return m.take(path, raw)
}

// keysOf reads a JSON object whose known keys have the right types.
func keysOf(path, what string, data []byte) (map[string]json.RawMessage, *skill.Problem) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		p := broken(path, what+" is no JSON object: "+err.Error())
		if se, ok := errors.AsType[*json.SyntaxError](err); ok {
			p.Line, p.Column = position(data, se.Offset)
		}
		return nil, &p
	}
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		if string(raw[key]) == "null" { // absent, as in frontmatter (spec F-5)
			delete(raw, key)
			continue
		}
		shapes, known := fields[key]
		if known && !slices.ContainsFunc(shapes, func(s shape) bool { return s.fits(raw[key]) }) {
			p := broken(path, fmt.Sprintf("%q must be %s", key, either(shapes)))
			return nil, &p
		}
	}
	return raw, nil
}

// take fills in what the keys of a manifest say.
func (m *Manifest) take(path string, raw map[string]json.RawMessage) (problems []skill.Problem, ok bool) {
	m.Name, m.Version, m.Description = textOf(raw["name"]), textOf(raw["version"]), textOf(raw["description"])
	if m.Name != "" && !PlainName(m.Name) {
		return []skill.Problem{broken(path, fmt.Sprintf("%q cannot be a name: it is the part of every id before the colon", m.Name))}, false
	}
	m.DefaultOff = string(raw["defaultEnabled"]) == "false"
	var err error
	if m.Options, err = options(raw["userConfig"]); err == nil {
		m.Dependencies, err = dependencies(raw["dependencies"])
	}
	if err != nil {
		return []skill.Problem{broken(path, err.Error())}, false
	}
	m.parts.skills, problems = m.local(path, "skills", raw, problems)
	for key, to := range map[string]*[]string{"commands": &m.parts.commands, "agents": &m.parts.agents} {
		if raw[key] != nil {
			*to, problems = m.local(path, key, raw, problems)
			*to = append([]string{}, *to...)
		}
	}
	m.parts.hooks, m.parts.servers = raw["hooks"], raw["mcpServers"]
	slices.SortStableFunc(problems, skill.CompareProblems)
	return problems, true
}

// add lays what a marketplace says over the manifest: its list of skills is all
// that is looked at, the rest adds (spec X-4).
func (m *Manifest) add(entry *Entry) ([]skill.Problem, bool) {
	raw, bad := keysOf(entry.Path, "the entry of the marketplace", entry.Fields)
	if bad != nil {
		return []skill.Problem{*bad}, false
	}
	more := &Manifest{Dir: m.Dir}
	problems, ok := more.take(entry.Path, raw)
	if !ok {
		return problems, false
	}
	for _, s := range []struct{ to, from *string }{
		{&m.Name, &more.Name}, {&m.Version, &more.Version}, {&m.Description, &more.Description},
	} {
		if *s.to == "" {
			*s.to = *s.from
		}
	}
	m.DefaultOff = m.DefaultOff || more.DefaultOff
	if raw["skills"] != nil {
		m.parts.only = true
	}
	m.parts.skills = slices.Concat(m.parts.skills, more.parts.skills)
	m.parts.commands = join(m.parts.commands, more.parts.commands)
	m.parts.agents = join(m.parts.agents, more.parts.agents)
	m.parts.hooks = alike(m.parts.hooks, more.parts.hooks)
	m.parts.servers = alike(m.parts.servers, more.parts.servers)
	m.Options = append(m.Options, slices.DeleteFunc(more.Options, func(o Option) bool {
		return slices.ContainsFunc(m.Options, func(p Option) bool { return p.Key == o.Key })
	})...)
	m.Dependencies = append(m.Dependencies, more.Dependencies...)
	return problems, true
}

// join is both lists; nil, not given, only when both are.
func join(a, b []string) []string {
	if b == nil {
		return a
	}
	return append(append([]string{}, a...), b...)
}

// alike makes one JSON value of two that are each a path, an object or a list
// of these.
func alike(a, b json.RawMessage) json.RawMessage {
	if a == nil || b == nil {
		return append(a, b...)
	}
	out, err := json.Marshal(slices.Concat(each(a), each(b)))
	if err != nil {
		return a // both were valid
	}
	return out
}

// each returns the items of a list, or the one value itself.
func each(data json.RawMessage) []json.RawMessage {
	if data == nil {
		return nil
	}
	var items []json.RawMessage
	if json.Unmarshal(data, &items) == nil {
		return items
	}
	return []json.RawMessage{data}
}

// local returns the paths under a key that are inside the plugin and exist.
func (m *Manifest) local(path, key string, raw map[string]json.RawMessage, problems []skill.Problem) ([]string, []skill.Problem) {
	var paths []string
	for _, p := range textsOf(raw[key]) {
		rel, err := localPath(p)
		if err == nil {
			if _, serr := os.Stat(filepath.Join(m.Dir, rel)); serr != nil {
				err = errors.New("cannot be read: " + bare(serr))
			}
		}
		if err != nil {
			problems = append(problems, badPath(path, fmt.Sprintf("%s: %q %v", key, p, err)))
			continue
		}
		paths = append(paths, rel)
	}
	return paths, problems
}

// localPath checks a path of the manifest (spec X-1) and returns it relative to
// the plugin. "." alone means the plugin itself.
func localPath(p string) (string, error) {
	if p != "." && !strings.HasPrefix(p, "./") {
		return "", errors.New("does not start with ./")
	}
	local := filepath.Clean(filepath.FromSlash(p))
	if !filepath.IsLocal(local) || strings.ContainsAny(p, "\\\x00") {
		return "", errors.New("leads out of the plugin")
	}
	return local, nil
}

// PlainName reports whether name can be one part of an id that people type, and
// one directory.
func PlainName(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= 128 && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(r rune) bool {
			return r == ':' || r == '/' || r == '\\' || unicode.IsSpace(r) || !unicode.IsGraphic(r)
		})
}
