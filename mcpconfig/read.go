package mcpconfig

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/knack-skills/knack/skill"
)

// A file is one place that names servers.
type file struct {
	path    string
	dir     string // where its servers run; empty means the workspace
	entries []entry
}

func (f file) names() (out []string) {
	for _, e := range f.entries {
		out = append(out, e.name)
	}
	return out
}

// An entry is one server as it is written.
type entry struct {
	name string
	raw  json.RawMessage
	at   place
}

const maxFile = 16 << 20 // bytes; ~/.claude.json holds more than servers

// managedFile takes the place of every other file of servers.
const managedFile = "managed-mcp.json"

// managed reads the administrator's servers. With such a file there are no
// others, and one that cannot be read allows none (spec S-11).
func (l *loader) managed() (exclusive bool) {
	for _, dir := range l.src.Managed {
		path := filepath.Join(dir, managedFile)
		data, err := readFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			l.problem("mcp-config", skill.Error, path, place{}, "it cannot be read, so no MCP server is started: "+err.Error(), "tell your administrator")
			return true
		}
		l.all(l.parse(path, data, true), Managed)
		exclusive = true
	}
	return exclusive
}

// leftOut tells that the flags have no say: a person's word on the command line
// is theirs as well (spec S-11). The engine tells of the files.
func (l *loader) leftOut() {
	if len(l.src.Flags) > 0 {
		l.problem("mcp-config", skill.Warning, "--mcp-config", place{},
			"not in force: the administrator wants MCP servers from plugins alone (strictPluginOnlyCustomization)",
			"put the server into a plugin that is allowed, or ask your administrator")
	}
}

func (l *loader) flags() {
	for _, arg := range l.src.Flags {
		path, data := "--mcp-config", []byte(arg)
		if !strings.HasPrefix(strings.TrimSpace(arg), "{") {
			var err error
			path = arg
			if data, err = readFile(arg); err != nil {
				l.problem("mcp-config", skill.Error, path, place{}, "--mcp-config: "+err.Error(), "name a file with servers, or write the JSON itself")
				continue
			}
		}
		l.all(l.parse(path, data, false), Flag)
	}
}

// projectFile reads .mcp.json of the repository.
func (l *loader) projectFile() file {
	if l.src.ProjectDir == "" {
		return file{}
	}
	path := filepath.Join(l.src.ProjectDir, ".mcp.json")
	data, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return file{}
	}
	if err != nil {
		l.problem("mcp-config", skill.Error, path, place{}, "it cannot be read: "+err.Error(), "make it readable")
		return file{}
	}
	return l.parse(path, data, false)
}

// userFile reads what the person has everywhere and in this project.
func (l *loader) userFile() (user file, local []file) {
	path := l.src.UserFile
	if path == "" {
		return file{}, nil
	}
	data, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return file{}, nil
	}
	if err != nil {
		l.problem("mcp-config", skill.Error, path, place{}, "it cannot be read: "+err.Error(), "make it readable")
		return file{}, nil
	}
	if !bytes.Contains(data, []byte(`"mcpServers"`)) {
		return file{}, nil
	}
	top, ok := l.object(path, data, data, nil)
	if !ok {
		return file{}, nil
	}
	user = l.servers(path, data, top["mcpServers"], "mcpServers")
	projects, _ := l.object(path, data, top["projects"], []string{"projects"})
	dirs := []string{l.src.WorkDir, l.src.ProjectDir}
	for _, d := range slices.Compact(dirs) {
		if raw, there := projects[filepath.ToSlash(d)]; there && d != "" {
			at := []string{"projects", filepath.ToSlash(d)}
			p, _ := l.object(path, data, raw, at)
			local = append(local, l.servers(path, data, p["mcpServers"], append(at, "mcpServers")...))
		}
	}
	return user, local
}

// parse reads a file of servers: {"mcpServers": {…}}. The administrator's may
// hold nothing; any other without the key is a mistake.
func (l *loader) parse(path string, data []byte, empty bool) file {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	top, ok := l.object(path, data, data, nil)
	if !ok {
		return file{}
	}
	raw, there := top["mcpServers"]
	if !there && !empty {
		l.problem("mcp-config", skill.Error, path, place{1, 1}, `there is no "mcpServers", so it names no server`, `write {"mcpServers": {"NAME": {"command": "…"}}}`)
	}
	return l.servers(path, data, raw, "mcpServers")
}

func (l *loader) servers(path string, data []byte, raw json.RawMessage, at ...string) file {
	f := file{path: path}
	all, ok := l.object(path, data, raw, at)
	if !ok {
		return f
	}
	for name, raw := range all {
		f.entries = append(f.entries, entry{name: name, raw: raw, at: locate(data, append(slices.Clone(at), name)...)})
	}
	slices.SortFunc(f.entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return f
}

// object decodes an object; null and nothing are an empty one.
func (l *loader) object(path string, data []byte, raw json.RawMessage, at []string) (map[string]json.RawMessage, bool) {
	var out map[string]json.RawMessage
	if len(raw) == 0 && at != nil {
		return nil, true
	}
	err := json.Unmarshal(raw, &out)
	if err == nil {
		return out, true
	}
	where, what := locate(data, at...), strings.Join(at, ".")
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		where, what = position(data, int(syntax.Offset)-1), "it is not JSON: "+err.Error()
	case at == nil:
		what = "it is no JSON object"
	default:
		what += " is no object"
	}
	l.problem("mcp-config", skill.Error, path, where, what+"; none of its MCP servers is started", `write {"mcpServers": {"NAME": {"command": "…"}}}`)
	return nil, false
}

// written is an entry as JSON has it. Keys of other programs are left alone.
type written struct {
	Type    *string           `json:"type"`
	Command *string           `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	URL     *string           `json:"url"`
	Headers map[string]string `json:"headers"`
	OAuth   json.RawMessage   `json:"oauth"`
	Timeout *float64          `json:"timeout"` // milliseconds
	Off     bool              `json:"disabled"`
}

// transports are the words for them.
var transports = map[string]Transport{
	"stdio": Stdio, "http": HTTP, "streamable-http": HTTP, "streamableHttp": HTTP, "sse": SSE,
}

// read makes a server of an entry. What is wrong with it is a problem.
func (l *loader) read(e entry, f file, scope Scope, p *PluginServers) (Server, bool) {
	s := Server{Name: e.name, Scope: scope, Path: f.path, Line: e.at.line, Dir: f.dir, Entry: e.raw, Hash: hash(e.raw)}
	bad := func(message, fix string) (Server, bool) {
		l.problem("mcp-server", skill.Error, f.path, e.at, fmt.Sprintf("the MCP server %q is not started: %s", e.name, message), fix)
		return s, false
	}
	var w written
	if err := json.Unmarshal(e.raw, &w); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return bad(fmt.Sprintf("%s has the wrong type, %s", wrong.Field, wrong.Value), "write texts in quotes, args as a list, env and headers as objects of texts")
		}
		return bad("it is no object", `write {"command": "…"} or {"type": "http", "url": "…"}`)
	}
	if w.Off {
		return s, false
	}
	switch {
	case w.Type != nil:
		t, known := transports[*w.Type]
		if !known {
			return bad(fmt.Sprintf("the type %q is none of stdio, http, sse", *w.Type), "write one of these")
		}
		s.Transport = t
	case w.Command != nil:
		s.Transport = Stdio
	case w.URL != nil:
		return bad(`it has a "url" but no "type"`, `write "type": "http", or "sse" for an old server`)
	}
	if w.Timeout != nil {
		if *w.Timeout <= 0 || *w.Timeout > 24*3600*1000 {
			return bad("timeout is no number of milliseconds up to a day", "write for example 60000")
		}
		s.Timeout = time.Duration(*w.Timeout * float64(time.Millisecond))
	}
	x := expander{getenv: l.src.Getenv, plugin: p}
	s.fill(w, &x)
	var why string
	if s.OAuth, why = readOAuth(w.OAuth, &x); why != "" {
		return bad(why, `write "oauth": {"clientId": "…", "callbackPort": 8080, "scopes": "read write"}, each of them if it is needed`)
	}
	if len(x.unset) > 0 {
		l.problem("mcp-variable", skill.Error, f.path, e.at, fmt.Sprintf("the MCP server %q is not started: not set: %s", e.name, strings.Join(x.unset, ", ")), x.remedy())
		return s, false
	}
	if why := s.incomplete(); why != "" {
		return bad(why, `write {"command": "…"} or {"type": "http", "url": "https://…"}`)
	}
	return s, true
}

// fill takes what an entry says, with its variables filled in.
func (s *Server) fill(w written, x *expander) {
	s.Args, s.Env, s.Headers = x.list(w.Args), x.own(x.values(w.Env)), x.values(w.Headers)
	if w.Command != nil {
		s.Command = x.text(*w.Command)
	}
	if w.URL != nil {
		s.URL = x.text(*w.URL)
	}
	if x.plugin != nil {
		s.Data = x.plugin.Data
	}
}

// incomplete says what a server lacks, or "".
func (s Server) incomplete() string {
	if s.Transport == Stdio {
		if strings.TrimSpace(s.Command) == "" {
			return `it has no "command"`
		}
		return ""
	}
	if s.Transport == "" {
		return `it has neither "command" nor "url"`
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return `its "url" is no address that begins with http:// or https://`
	}
	return ""
}

// hash is of the entry without what is only layout.
func hash(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		b.Reset()
		b.Write(raw)
	}
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:])
}

// readFile reads a plain file. What it is comes first: opening a pipe waits for
// whoever writes to it.
func readFile(path string) ([]byte, error) {
	if fi, err := os.Stat(path); err != nil {
		return nil, err
	} else if !fi.Mode().IsRegular() {
		return nil, errors.New("it is no plain file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("it is no plain file"))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("it is larger than %d MiB", maxFile>>20)
	}
	return data, err
}
