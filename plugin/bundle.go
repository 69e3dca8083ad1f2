package plugin

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/knack-skills/knack/frontmatter"
	source "github.com/knack-skills/knack/source/plugin"
	"github.com/knack-skills/knack/state"
)

// BundleFile is the manifest of an .mcpb or .dxt bundle.
const BundleFile = "manifest.json"

// A bundle is what is read of that manifest (spec X-5).
type bundle struct {
	ManifestVersion string          `json:"manifest_version"`
	DXTVersion      string          `json:"dxt_version"`
	Name            string          `json:"name"`
	Version         string          `json:"version"`
	Description     string          `json:"description"`
	UserConfig      json.RawMessage `json:"user_config"`
	Prompts         []struct {
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Arguments   []string `json:"arguments"`
		Text        string   `json:"text"`
	} `json:"prompts"`
	Compatibility struct {
		Platforms []string `json:"platforms"`
	} `json:"compatibility"`
	Server struct {
		Type       string `json:"type"`
		EntryPoint string `json:"entry_point"`
		Config     struct {
			launch
			Overrides map[string]launch `json:"platform_overrides"`
		} `json:"mcp_config"`
	} `json:"server"`
}

// A launch is how a server starts.
type launch struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

// platforms are the names that bundles have for operating systems.
var platforms = map[string]string{"windows": "win32", "darwin": "darwin", "linux": "linux"}

// unbundle makes a plugin of a bundle, in its own directory: the server becomes
// an MCP server, the prompts become skills. What is no bundle stays as it is.
func unbundle(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(source.ManifestFile))); err == nil {
		return nil
	}
	data, err := state.ReadFile(filepath.Join(dir, BundleFile), maxMarket)
	if err != nil {
		return nil // there is none
	}
	var b bundle
	if err := json.Unmarshal(data, &b); err != nil || b.ManifestVersion == "" && b.DXTVersion == "" {
		if err != nil && strings.Contains(string(data), `"manifest_version"`) {
			return fmt.Errorf("%s of the bundle cannot be read: %w", BundleFile, err)
		}
		return nil // a manifest.json of something else
	}
	name := regexp.MustCompile(`[\s:/\\@]+`).ReplaceAllString(strings.TrimSpace(b.Name), "-")
	if !source.PlainName(name) {
		return fmt.Errorf("%q cannot be the name of a bundle", b.Name)
	}
	if here := platforms[runtime.GOOS]; len(b.Compatibility.Platforms) > 0 && !slices.Contains(b.Compatibility.Platforms, here) {
		return fmt.Errorf("the bundle is for %s, and this is %s", strings.Join(b.Compatibility.Platforms, ", "), cmp.Or(here, runtime.GOOS))
	}
	manifest := map[string]any{"name": name, "version": b.Version, "description": b.Description}
	if b.UserConfig != nil {
		manifest["userConfig"] = defaults(b.UserConfig)
	}
	start, err := b.start()
	if err != nil {
		return err
	}
	manifest["mcpServers"] = map[string]any{name: start}
	if err := b.skills(dir); err != nil {
		return err
	}
	text, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return err
	}
	return create(dir, source.ManifestFile, text)
}

// start is how the server starts here.
func (b *bundle) start() (map[string]any, error) {
	l := b.Server.Config.launch
	if o, ok := b.Server.Config.Overrides[platforms[runtime.GOOS]]; ok {
		l.Command = cmp.Or(o.Command, l.Command)
		if o.Args != nil {
			l.Args = o.Args
		}
		for k, v := range o.Env {
			if l.Env == nil {
				l.Env = map[string]string{}
			}
			l.Env[k] = v
		}
	}
	if l.Command == "" {
		switch entry := "${__dirname}/" + b.Server.EntryPoint; b.Server.Type {
		case "node":
			l.Command, l.Args = "node", []string{entry}
		case "python":
			l.Command, l.Args = "python3", []string{entry}
		case "uv":
			l.Command, l.Args = "uv", []string{"run", "--directory", "${__dirname}", entry}
		case "binary":
			l.Command = entry
		default:
			return nil, errors.New("the bundle does not say how its server starts")
		}
	}
	home := "${HOME}"
	if runtime.GOOS == "windows" {
		home = "${USERPROFILE}"
	}
	here := places(home, "${__dirname}", "${CLAUDE_PLUGIN_ROOT}", "${/}", "/", "${pathSeparator}", "/")
	args := []string{}
	for _, a := range l.Args {
		args = append(args, here.Replace(a))
	}
	env := map[string]string{}
	for k, v := range l.Env {
		env[k] = here.Replace(v)
	}
	return map[string]any{"command": here.Replace(l.Command), "args": args, "env": env}, nil
}

// places puts directories of the person, and what more is given, where a bundle
// names them.
func places(home string, more ...string) *strings.Replacer {
	return strings.NewReplacer(append(more, "${HOME}", home, "${DESKTOP}", home+"/Desktop",
		"${DOCUMENTS}", home+"/Documents", "${DOWNLOADS}", home+"/Downloads")...)
}

// defaults puts directories of the person into the defaults of options. Values of
// options are data, in which nothing is filled in later.
func defaults(config json.RawMessage) json.RawMessage {
	var options map[string]map[string]any
	home, err := os.UserHomeDir()
	if err != nil || json.Unmarshal(config, &options) != nil {
		return config // what is wrong with it is said when the plugin is read
	}
	here := places(filepath.ToSlash(home), "${/}", "/", "${pathSeparator}", "/")
	for _, o := range options {
		switch d := o["default"].(type) {
		case string:
			o["default"] = here.Replace(d)
		case []any:
			for i := range d {
				if text, ok := d[i].(string); ok {
					d[i] = here.Replace(text)
				}
			}
		}
	}
	out, err := json.Marshal(options)
	if err != nil {
		return config
	}
	return out
}

// argument is how the text of a prompt names one.
var argument = form(`\$\{arguments\.([A-Za-z_][A-Za-z0-9_]*)\}`)

// skills writes each prompt as a skill that people start. Its text is only text:
// what would be a command or a variable in a skill is none there.
func (b *bundle) skills(dir string) error {
	for _, p := range b.Prompts {
		if p.Text == "" {
			continue // the server has it
		}
		name := strings.Trim(plainName(p.Name), "-")
		if name == "" {
			return fmt.Errorf("the bundle has a prompt called %q", p.Name)
		}
		var body strings.Builder
		at := 0
		for _, m := range argument().FindAllStringSubmatchIndex(p.Text, -1) {
			body.WriteString(literal(p.Text[at:m[0]], p.Arguments) + "$" + p.Text[m[2]:m[3]])
			at = m[1]
		}
		body.WriteString(literal(p.Text[at:], p.Arguments))
		head := "---\ndescription: " + frontmatter.Quote(cmp.Or(p.Description, p.Name)) + "\ndisable-model-invocation: true\n"
		if len(p.Arguments) > 0 {
			var names []string
			for _, a := range p.Arguments {
				names = append(names, frontmatter.Quote(a))
			}
			head += "arguments: [" + strings.Join(names, ", ") + "]\n"
		}
		if err := create(dir, "skills/"+name+"/SKILL.md", []byte(head+"---\n"+body.String()+"\n")); err != nil {
			return fmt.Errorf("the prompt %q of the bundle: %w", p.Name, err)
		}
	}
	return nil
}

// literal takes the meaning from what a skill's text would expand or run.
func literal(s string, names []string) string {
	words := []string{"ARGUMENTS", "[0-9]", `\{CLAUDE_`, `\{KNACK_`, `\{user_config\.`}
	for _, n := range names {
		words = append(words, `\{?`+regexp.QuoteMeta(n))
	}
	s = regexp.MustCompile(`\$(`+strings.Join(words, "|")+`)`).ReplaceAllString(s, `\$$$1`)
	return strings.NewReplacer("!`", "\\!`", "```!", "``` !").Replace(s)
}

// create writes a file of our own into what was unpacked. Nothing is replaced.
func create(dir, name string, text []byte) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	path := filepath.FromSlash(name)
	if err := root.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
