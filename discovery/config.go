package discovery

import (
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/knack-skills/knack/gitignore"
)

// A config is what of git's configuration decides which files are ignored.
type config struct {
	excludes string // core.excludesFile, or its default; empty is none
	fold     bool   // core.ignoreCase
	hashSize int    // bytes of an object name
}

// maxIncludes is how deep configuration files include others, as in git.
const maxIncludes = 10

// readConfig reads the files that git reads, weakest first. Conditions other
// than gitdir are not met.
func readConfig(o NestedOptions, git gitFiles) config {
	home, getenv := o.Home, o.Getenv
	xdg := getenv("XDG_CONFIG_HOME")
	if xdg == "" && home != "" {
		xdg = filepath.Join(home, ".config")
	}
	c := config{hashSize: 20}
	if xdg != "" {
		c.excludes = filepath.Join(xdg, "git", "ignore")
	}
	r := configReader{o: o, git: git, c: &c}
	if getenv("GIT_CONFIG_NOSYSTEM") == "" {
		system := systemConfigs()
		if path := getenv("GIT_CONFIG_SYSTEM"); path != "" {
			system = []string{path}
		}
		for _, path := range system {
			r.file(path, 0)
		}
	}
	if path := getenv("GIT_CONFIG_GLOBAL"); path != "" {
		r.file(path, 0)
	} else {
		if xdg != "" {
			r.file(filepath.Join(xdg, "git", "config"), 0)
		}
		if home != "" {
			r.file(filepath.Join(home, ".gitconfig"), 0)
		}
	}
	if git.common != "" {
		r.file(filepath.Join(git.common, "config"), 0)
		if r.perWorktree {
			r.file(filepath.Join(git.own, "config.worktree"), 0)
		}
	}
	n, _ := strconv.Atoi(getenv("GIT_CONFIG_COUNT"))
	for i := range min(n, 1000) {
		section, key, _ := cutLast(getenv("GIT_CONFIG_KEY_" + strconv.Itoa(i)))
		r.set(section, key, getenv("GIT_CONFIG_VALUE_"+strconv.Itoa(i)))
	}
	return c
}

// systemConfigs returns where builds of git look for the machine's configuration.
func systemConfigs() []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig", "/etc/gitconfig"}
	case "windows":
		return []string{`C:\Program Files\Git\etc\gitconfig`}
	}
	return []string{"/etc/gitconfig"}
}

// cutLast splits "a.b.c" into "a.b" and "c".
func cutLast(name string) (section, key string, ok bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "", name, false
	}
	return name[:i], name[i+1:], true
}

type configReader struct {
	o           NestedOptions
	git         gitFiles
	c           *config
	perWorktree bool // extensions.worktreeConfig
}

func (r *configReader) file(path string, depth int) {
	data, err := r.o.Files.Read(path)
	if err != nil || depth > maxIncludes {
		return
	}
	parseConfig(string(data[:min(len(data), maxIgnore)]), func(section, key, value string) {
		switch kind, sub, _ := strings.Cut(section, "."); {
		case key != "path":
		case strings.EqualFold(section, "include"),
			strings.EqualFold(kind, "includeIf") && r.holds(sub, path):
			r.file(joined(filepath.Dir(path), r.expand(value)), depth+1)
			return
		}
		r.set(section, key, value)
	})
}

// set takes one setting, if it is one of those that matter.
func (r *configReader) set(section, key, value string) {
	switch strings.ToLower(section + "." + key) {
	case "core.excludesfile":
		r.c.excludes = r.expand(value)
	case "core.ignorecase":
		r.c.fold = truth(value)
	case "extensions.worktreeconfig":
		r.perWorktree = truth(value)
	case "extensions.objectformat":
		if r.c.hashSize = 20; strings.EqualFold(value, "sha256") {
			r.c.hashSize = 32
		}
	}
}

func truth(value string) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on":
		return true
	}
	n, err := strconv.Atoi(value)
	return err == nil && n != 0
}

// expand replaces a leading ~ by the home directory.
func (r *configReader) expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && r.o.Home != "" {
		return filepath.Join(r.o.Home, filepath.FromSlash(rest))
	}
	return filepath.FromSlash(path)
}

// holds reports whether the condition of an includeIf in file is met.
func (r *configReader) holds(condition, file string) bool {
	kind, pattern, _ := strings.Cut(condition, ":")
	compile := gitignore.CompileFile
	switch kind {
	case "gitdir":
	case "gitdir/i":
		compile = gitignore.CompileFileFold
	default:
		return false
	}
	if r.git.own == "" || pattern == "" {
		return false
	}
	pattern = filepath.ToSlash(r.expand(pattern))
	if rest, ok := strings.CutPrefix(pattern, "./"); ok {
		pattern = filepath.ToSlash(filepath.Dir(file)) + "/" + rest
	}
	if !filepath.IsAbs(filepath.FromSlash(pattern)) {
		pattern = "**/" + pattern
	}
	if strings.HasSuffix(pattern, "/") || strings.HasSuffix(condition, "/") {
		pattern = strings.TrimSuffix(pattern, "/") + "/**"
	}
	dir := strings.TrimPrefix(filepath.ToSlash(r.git.own), "/")
	_, ok := compile("/"+strings.TrimPrefix(pattern, "/")).MatchSelf(dir, true)
	return ok
}

// parseConfig calls set for each setting of a configuration file: section and
// subsection joined by a dot, key in lower case. What is malformed is skipped,
// with the rest of its line.
func parseConfig(text string, set func(section, key, value string)) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	section := ""
	for text != "" {
		text = strings.TrimLeft(text, " \t\n")
		if strings.HasPrefix(text, "[") {
			head, rest, _ := strings.Cut(text[1:], "]")
			if strings.Contains(head, `"`) {
				// The name in quotes may hold a bracket.
				head, rest, _ = strings.Cut(text[1:], `"]`)
				name, sub, _ := strings.Cut(head, `"`)
				head = strings.TrimSpace(name) + "." + strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(sub)
			}
			section, text = strings.TrimSpace(head), rest
			continue
		}
		end := strings.IndexAny(text, "=\n#;")
		if end < 0 {
			end = len(text)
		}
		key, value := strings.ToLower(strings.TrimSpace(text[:end])), "true"
		if text = text[end:]; strings.HasPrefix(text, "=") {
			value, text = configValue(text[1:])
		} else if _, rest, more := strings.Cut(text, "\n"); more {
			text = rest
		} else {
			text = ""
		}
		if key != "" {
			set(section, key, value)
		}
	}
}

// configValue reads a value to the end of its line, and returns what follows.
func configValue(text string) (value, rest string) {
	var b strings.Builder
	quoted, solid := false, 0 // blanks behind solid bytes do not count
	i := 0
	for ; i < len(text) && (text[i] == ' ' || text[i] == '\t'); i++ {
	}
	for ; i < len(text) && text[i] != '\n'; i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text):
			i++
			if text[i] == '\n' {
				continue // the value goes on in the next line
			}
			if n := strings.IndexByte("ntb", text[i]); n >= 0 {
				c = "\n\t\b"[n]
			} else {
				c = text[i]
			}
			b.WriteByte(c)
			solid = b.Len()
			continue
		case c == '"':
			quoted = !quoted
			solid = b.Len()
			continue
		case !quoted && (c == '#' || c == ';'):
			_, rest, _ = strings.Cut(text[i:], "\n")
			return b.String()[:solid], rest
		}
		b.WriteByte(c)
		if quoted || c != ' ' && c != '\t' {
			solid = b.Len()
		}
	}
	return b.String()[:solid], strings.TrimPrefix(text[i:], "\n")
}
