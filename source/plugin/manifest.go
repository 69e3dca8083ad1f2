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

	"github.com/knack-skills/knack/skill"
)

// maxManifest is the largest plugin.json that is read, in bytes.
const maxManifest = 1 << 20

// A shape is a kind of JSON value.
type shape string

const (
	text    shape = "a string"
	boolean shape = "true or false"
	list    shape = "an array"
	texts   shape = "an array of strings"
	object  shape = "an object"
)

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

// A manifest is what this package needs of plugin.json. Paths are local.
type manifest struct {
	name     string
	skills   []string
	commands []string // nil: not given
}

// readManifest reads the manifest of the plugin in dir; there need not be one.
// It reports false when the plugin must not load.
func readManifest(dir string) (manifest, []skill.Problem, bool) {
	path := filepath.Join(dir, ".claude-plugin", "plugin.json")
	data, err := readLocal(dir, filepath.Join(".claude-plugin", "plugin.json"))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(dir); err != nil {
			return manifest{}, []skill.Problem{broken(dir, "the plugin's directory cannot be read: "+bare(err))}, false
		}
		return manifest{}, nil, true
	}
	if err != nil {
		return manifest{}, []skill.Problem{broken(path, "the manifest cannot be read: "+bare(err))}, false
	}
	return parseManifest(dir, path, data)
}

// readLocal reads the file name below dir. os.Root keeps links from leaving
// dir (spec X-1), and the type is checked before opening, which might block.
func readLocal(dir, name string) ([]byte, error) {
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
	data, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxManifest {
		return nil, fmt.Errorf("it has more than %d bytes", maxManifest)
	}
	return data, nil
}

// parseManifest reads data. Only whether the paths in it exist is looked up.
func parseManifest(dir, path string, data []byte) (m manifest, problems []skill.Problem, ok bool) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		p := broken(path, "the manifest is no JSON object: "+err.Error())
		if se, ok := errors.AsType[*json.SyntaxError](err); ok {
			p.Line, p.Column = position(data, se.Offset)
		}
		return manifest{}, []skill.Problem{p}, false
	}
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		if string(raw[key]) == "null" { // absent, as in frontmatter (spec F-5)
			delete(raw, key)
			continue
		}
		shapes, known := fields[key]
		if known && !slices.ContainsFunc(shapes, func(s shape) bool { return s.fits(raw[key]) }) {
			return manifest{}, []skill.Problem{broken(path, fmt.Sprintf("%q must be %s", key, either(shapes)))}, false
		}
	}
	m.name = textsOf(raw["name"], "")[0]
	if m.name != "" && !plainName(m.name) {
		return manifest{}, []skill.Problem{broken(path, fmt.Sprintf("%q cannot be a name: it is the part of every id before the colon", m.name))}, false
	}
	local := func(key string) []string {
		var paths []string
		for _, p := range textsOf(raw[key]) {
			rel, err := localPath(p)
			if err == nil {
				if _, serr := os.Stat(filepath.Join(dir, rel)); serr != nil {
					err = errors.New("cannot be read: " + bare(serr))
				}
			}
			if err != nil {
				problems = append(problems, badPath(path, fmt.Sprintf("%s: %q %v", key, p, err)))
				continue
			}
			paths = append(paths, rel)
		}
		return paths
	}
	m.skills = local("skills")
	if raw["commands"] != nil {
		m.commands = append([]string{}, local("commands")...)
	}
	return m, problems, true
}

// fits reports whether data, which is valid JSON, has the shape.
func (s shape) fits(data json.RawMessage) bool {
	var v any
	switch s {
	case text:
		v = new(string)
	case boolean:
		v = new(bool)
	case list:
		v = new([]json.RawMessage)
	case texts:
		v = new([]string)
	case object:
		v = new(map[string]json.RawMessage)
	}
	return json.Unmarshal(data, v) == nil
}

func either(shapes []shape) string {
	var names []string
	for _, s := range shapes {
		names = append(names, string(s))
	}
	return strings.Join(names, " or ")
}

// textsOf returns the strings of a value that is one or an array of them, or
// fallback.
func textsOf(data json.RawMessage, fallback ...string) []string {
	var one string
	if json.Unmarshal(data, &one) == nil {
		return []string{one}
	}
	var many []string
	if json.Unmarshal(data, &many) == nil {
		return many
	}
	return fallback
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

// plainName reports whether name can be one part of an id that people type.
func plainName(name string) bool {
	return name != "" && len(name) <= 128 && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(r rune) bool {
			return r == ':' || r == '/' || r == '\\' || unicode.IsSpace(r) || !unicode.IsGraphic(r)
		})
}

// position turns an offset after some byte into line and column, in characters.
func position(data []byte, offset int64) (line, column int) {
	before := data[:min(max(offset-1, 0), int64(len(data)))]
	line = 1 + bytes.Count(before, []byte("\n"))
	return line, 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

func broken(path, message string) skill.Problem {
	return skill.Problem{
		Code: "plugin-manifest", Severity: skill.Error, Path: path,
		Message: "the plugin is not loaded: " + message,
		Fix:     "correct .claude-plugin/plugin.json, or update the plugin",
	}
}

func badPath(path, message string) skill.Problem {
	return skill.Problem{
		Code: "plugin-path", Severity: skill.Error, Path: path, Message: message,
		Fix: "write paths relative to the plugin, starting with ./",
	}
}

// bare is err without the operation and the path, which the problem has.
func bare(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}
