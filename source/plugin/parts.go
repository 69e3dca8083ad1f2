package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/skill"
)

// maxPart is the largest file of hooks or servers that is read, in bytes.
const maxPart = 4 << 20

// A part is one JSON object that a plugin brings, with the file it stands in.
type part struct {
	path string
	data []byte
}

// collect returns the default file, when it exists, and what a key of the
// manifest says: objects, paths of files, or a list of both.
func (m *Manifest) collect(standard, key string, value json.RawMessage) (out []part, problems []skill.Problem) {
	manifest := filepath.Join(m.Dir, filepath.FromSlash(ManifestFile))
	seen := map[string]bool{}
	read := func(rel string) error {
		if seen[rel] {
			return nil
		}
		seen[rel] = true
		data, err := readLocal(m.Dir, rel, maxPart)
		if err == nil {
			out = append(out, part{filepath.Join(m.Dir, rel), bytes.TrimPrefix(data, []byte("\uFEFF"))})
		}
		return err
	}
	file := filepath.FromSlash(standard)
	if err := read(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		problems = append(problems, badPart(filepath.Join(m.Dir, file), "the file cannot be read: "+bare(err)))
	}
	for _, item := range each(value) {
		if object.fits(item) {
			out = append(out, part{manifest, item})
			continue
		}
		if !text.fits(item) {
			problems = append(problems, badPart(manifest, fmt.Sprintf("%s: an object or a path is expected, not %.40s", key, item)))
			continue
		}
		p := textOf(item)
		rel, err := localPath(p)
		if err == nil {
			if err = read(rel); err != nil {
				err = errors.New("cannot be read: " + bare(err))
			}
		}
		if err != nil {
			problems = append(problems, badPath(manifest, fmt.Sprintf("%s: %q %v", key, p, err)))
		}
	}
	return out, problems
}

// readHooks reads hooks/hooks.json and what the manifest names. A file has the
// events below "hooks"; an object in the manifest may have them itself.
func (m *Manifest) readHooks() []skill.Problem {
	parts, problems := m.collect("hooks/hooks.json", "hooks", m.parts.hooks)
	for _, p := range parts {
		var tree map[string]any
		d := json.NewDecoder(bytes.NewReader(p.data))
		d.UseNumber()
		if err := d.Decode(&tree); err != nil {
			problems = append(problems, badPart(p.path, "hooks: the file is no JSON object, so none of them runs: "+err.Error()))
			continue
		}
		var events any = tree
		if inner, ok := tree["hooks"]; ok {
			events = inner
		}
		config, faults := hook.Decode(events)
		m.Hooks = append(m.Hooks, config...)
		problems = append(problems, inShell(p.path, config)...)
		for _, f := range faults {
			severity := skill.Warning
			if f.Lint {
				severity = skill.Info
			}
			problems = append(problems, skill.Problem{Code: f.Code, Severity: severity, Path: p.path, Message: "hooks: " + f.Message, Fix: f.Fix})
		}
	}
	return problems
}

// inShell reports values of options in lines of a shell, which would read them as
// program text; they are not put there.
func inShell(path string, config hook.Config) (out []skill.Problem) {
	for _, g := range config {
		for _, h := range g.Handlers {
			if h.Args == nil && strings.Contains(h.Command, "${user_config.") {
				p := badPart(path, fmt.Sprintf("hooks: %s: ${user_config.KEY} has no value in a line of a shell, so the hook fails", g.Event))
				p.Fix = "use $CLAUDE_PLUGIN_OPTION_KEY there, or give the hook its words in `args`"
				out = append(out, p)
			}
		}
	}
	return out
}

// readServers reads .mcp.json and what the manifest names. Both forms are in
// use: the servers themselves, or below "mcpServers". What is in them is for
// whoever connects; a name that comes again replaces the earlier one.
func (m *Manifest) readServers() []skill.Problem {
	parts, problems := m.collect(".mcp.json", "mcpServers", m.parts.servers)
	for _, p := range parts {
		var servers map[string]json.RawMessage
		err := json.Unmarshal(p.data, &servers)
		if inner, ok := servers["mcpServers"]; err == nil && ok {
			servers = nil
			err = json.Unmarshal(inner, &servers)
		}
		if err != nil {
			problems = append(problems, badPart(p.path, "mcpServers: this is no object of servers, so none of them starts: "+err.Error()))
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(servers)) {
			if strings.HasPrefix(name, "$") { // $schema
				continue
			}
			if !object.fits(servers[name]) {
				problems = append(problems, badPart(p.path, fmt.Sprintf("mcpServers: %q is no object, so it does not start", name)))
				continue
			}
			if m.Servers == nil {
				m.Servers = map[string]json.RawMessage{}
			}
			m.Servers[name] = servers[name]
		}
	}
	return problems
}
