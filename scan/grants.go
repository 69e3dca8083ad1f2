package scan

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/skill"
)

// grants judges allowed-tools.
func (f *file) grants(sk *skill.Skill) {
	at := f.key("allowed-tools", "allowed_tools", "allowedTools")
	for _, text := range sk.Run.AllowedTools {
		sev, why := broad(text)
		if why == "" {
			continue
		}
		where := at
		if at >= 0 {
			if i := strings.Index(f.text[at:max(f.body, at)], text); i > 0 {
				where = at + i
			}
		}
		f.found = append(f.found, raw{broadGrant, sev, max(where, 0), InFrontmatter, why})
	}
}

// key returns where a key of the frontmatter stands, or -1.
func (f *file) key(names ...string) int {
	at := 0
	for line := range strings.SplitAfterSeq(f.text[:f.body], "\n") {
		for _, n := range names {
			if strings.HasPrefix(line, n+":") || strings.HasPrefix(line, n+" :") {
				return at
			}
		}
		at += len(line)
	}
	return -1
}

// wide are specifiers that match everything.
var wide = set("* ** :* / // /** //** ~ ~/** ~/* ./** ")

// broad says what is wrong with a grant, or "".
func broad(text string) (skill.Severity, string) {
	rule, err := permission.ParseRule(text)
	if err != nil {
		return skill.Info, ""
	}
	all := !rule.HasSpec || wide[rule.Specifier]
	switch {
	case rule.Tool == "*" || rule.Tool == "mcp__*":
		return skill.Error, "every tool is allowed without a question"
	case rule.Tool == "Bash" && all:
		return skill.Warning, "every command is allowed without a question"
	case rule.Tool == "Bash":
		first := strings.FieldsFunc(rule.Specifier, func(r rune) bool { return r == ' ' || r == ':' })
		open := strings.HasSuffix(rule.Specifier, "*")
		if len(first) > 0 && open && len(first) <= 2 && (len(first) == 1 || first[1] == "*") {
			name := programName(first[0])
			switch {
			case slices.Contains([]string{"sudo", "doas", "su", "eval", "sh", "bash", "zsh", "dash", "xargs", "env", "ssh"}, name):
				return skill.Warning, fmt.Sprintf("%s runs any other command", name)
			case lexica().interpreters[name] || name == "npx" || name == "uvx":
				return skill.Info, fmt.Sprintf("%s runs any program text", name)
			case name == "curl" || name == "wget":
				return skill.Info, fmt.Sprintf("%s sends anything anywhere", name)
			case name == "rm":
				return skill.Info, "any file may be removed"
			}
		}
	case (rule.Tool == "Write" || rule.Tool == "Edit") && rule.HasSpec && everything(rule.Specifier):
		return skill.Warning, "every file may be written"
	case (rule.Tool == "Write" || rule.Tool == "Edit") && all:
		return skill.Info, "every file of the working directory may be written without a question"
	}
	return skill.Info, ""
}

// everything reports whether the specifier of a file tool covers the whole disk,
// or the home directory.
func everything(spec string) bool {
	if below, ok := skill.CutHome(spec); ok {
		return len(below) <= 1 || below[1] == '*'
	}
	return spec == "/" || spec == "//" || strings.HasPrefix(spec, "//*")
}

// hooks judges what events run.
func (f *file) hooks(c hook.Config) {
	where := f.where
	f.where = InHooks
	body := f.body
	f.body = 0
	defer func() { f.where, f.body = where, body }()
	for _, g := range c {
		for _, h := range g.Handlers {
			f.hook(h)
		}
	}
}

// hook judges one handler. Its command is looked for in the file, so that the
// finding has a place.
func (f *file) hook(h hook.Handler) {
	command := h.Command
	if len(h.Args) > 0 {
		command += " " + strings.Join(h.Args, " ")
	}
	at := max(0, strings.Index(f.text, firstLine(h.Command+h.URL+h.Prompt)))
	before := len(f.found)
	if command != "" {
		f.shell(command, at, runs, block{})
		if rule, message := codeRule(command); rule != "" {
			f.add(rule, skill.Error, at, message)
		}
	}
	for i := before; i < len(f.found); i++ {
		// Its place in the command says nothing about the file.
		f.found[i].at = at
		if f.found[i].rule == downloadAndRun {
			f.found[i].rule = remoteHook
		}
	}
	switch {
	case h.URL != "" && !lexica().local.MatchString(h.URL):
		f.add(remoteHook, skill.Warning, at, "a hook sends what happens to a server")
	case unpinned().MatchString(command):
		f.add(remoteHook, skill.Warning, at, "a hook runs the newest version of a package, whatever it is")
	}
	if h.Prompt != "" {
		g := newFile(f.path, []byte(h.Prompt))
		g.where = InHooks
		g.prosePatterns(block{kind: paragraphBlock, to: len(g.text)})
		for _, r := range g.found {
			r.at = at
			f.found = append(f.found, r)
		}
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

var unpinned = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[;&|]\s*)(?:npx|bunx|uvx|pipx\s+run|pnpm\s+dlx|yarn\s+dlx)\s+(?:-\S+\s+)*(?:@[\w.-]+/)?[A-Za-z0-9_][\w.-]*(?:@latest)?(?:\s|$)`)
})

// hooksFile judges hooks.json, or settings with hooks.
func (f *file) hooksFile() {
	var doc map[string]any
	if json.Unmarshal([]byte(f.text), &doc) != nil {
		return // whoever loads it says so
	}
	declared := doc["hooks"]
	if declared == nil {
		declared = any(doc)
	}
	config, _ := hook.Decode(declared)
	// Quotes are written with backslashes in JSON; what is looked for is not.
	f.hooks(config)
}

// serversFile judges .mcp.json: what each server is started with.
func (f *file) serversFile() {
	var doc struct {
		Servers map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
			URL     string   `json:"url"`
		} `json:"mcpServers"`
	}
	if json.Unmarshal([]byte(f.text), &doc) != nil {
		return
	}
	f.where = InHooks
	for name, s := range doc.Servers {
		at := max(0, strings.Index(f.text, `"`+name+`"`))
		words := append([]string{s.Command}, s.Args...)
		if slices.Contains([]string{"sh", "bash", "zsh"}, programName(s.Command)) || len(s.Args) == 0 {
			before := len(f.found)
			last := words[len(words)-1]
			f.shell(last, at, runs, block{})
			for i := before; i < len(f.found); i++ {
				f.found[i].at = at
			}
		}
		if strings.HasPrefix(s.URL, "http://") && !lexica().local.MatchString(s.URL) {
			f.add(remoteInstruction, skill.Warning, at, "an MCP server is reached without encryption")
		}
	}
}
