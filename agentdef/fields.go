package agentdef

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/skill"
)

// fields are the keys of an agent definition, in kebab case.
var fields = []string{
	"name", "description", "tools", "disallowed-tools", "model", "effort", "max-turns", "skills", "hooks",
	"permission-mode", "initial-prompt", "background",
}

// confusions are keys that people write for ours.
var confusions = map[string]string{
	"allow-tools": "tools", "allowed-tool": "tools", "deny-tools": "disallowed-tools", "denied-tools": "disallowed-tools",
	"skill": "skills", "mode": "permission-mode", "permissions": "permission-mode", "turns": "max-turns",
}

// modes are the permission modes (spec S-10); true marks those that can only
// make things stricter.
var modes = map[string]bool{"default": true, "plan": true, "dontAsk": true, "acceptEdits": false, "bypassPermissions": false}

const unusable = "so the agent cannot be used"

// A draft is a definition that is being read.
type draft struct {
	def      *Definition
	v        *frontmatter.Values
	trusted  bool
	withheld []string // fields that are not in force until trust
}

// read makes a definition of a parsed file. It is nil when there is none to
// make; the problems say why. stem is the file name without its ending.
func read(doc *frontmatter.Document, parsed []skill.Problem, o Origin, stem string, trusted bool) (*Definition, []skill.Problem) {
	if doc.Refused != "" {
		return nil, parsed
	}
	large := slices.ContainsFunc(parsed, func(p skill.Problem) bool { return p.Code == "frontmatter-too-large" })
	if len(doc.Fields()) == 0 && !large {
		return nil, append(parsed, problem(skill.Info, "not-an-agent", doc.Path,
			"the file has no frontmatter, so it is not read as an agent definition", "begin it with ---, name, description, ---, or move it elsewhere"))
	}
	d := draft{v: doc.Values(unusable), trusted: trusted, def: &Definition{Origin: o, Prompt: strings.TrimSpace(doc.Body)}}
	if !d.identify(stem) {
		return nil, append(parsed, d.v.Problems()...)
	}
	d.tools()
	d.run()
	d.restricted()
	d.v.Suggest(append(slices.Clone(fields), "allowed-tools"), confusions)
	switch lost := d.v.Lost(); {
	case large:
		d.def.Unusable = "its frontmatter is larger than 64 KiB and was not read"
	case len(lost) > 0:
		d.def.Unusable = "its " + strings.Join(lost, " and ") + " cannot be read"
	}
	d.def.Prompt = strings.Clone(d.def.Prompt) // not the whole file
	return d.def, append(parsed, d.v.Problems()...)
}

func problem(sev skill.Severity, code, path, message, fix string) skill.Problem {
	return skill.Problem{Code: code, Severity: sev, Path: path, Message: message, Fix: fix}
}

// identify reads name, description and body. It is false when the name cannot
// be used.
func (d *draft) identify(stem string) bool {
	d.def.Name = d.v.Text("name")
	if d.def.Name == "" {
		d.def.Name = stem
		d.v.Report(skill.Warning, "agent-name", "name", fmt.Sprintf("the agent has no name; it is called %q after its file", stem), "add name: "+stem)
	}
	if why := badName(d.def.Name); why != "" {
		d.v.Report(skill.Error, "agent-name", "name", fmt.Sprintf("the agent cannot be called %q: %s; it is not loaded", d.def.Name, why), "use letters, digits and -")
		return false
	}
	if d.def.Description = d.v.Text("description"); d.def.Description == "" {
		d.v.Report(skill.Warning, "agent-undescribed", "description", "the agent has no description, so a model cannot tell when to use it", "say what it does and when to use it")
	}
	if d.def.Prompt == "" {
		d.def.Prompt = builtinPrompt(GeneralPurpose)
		d.v.Report(skill.Info, "agent-empty", "", "the file has no body; the prompt of "+GeneralPurpose+" is used", "write below the frontmatter how the agent works")
	}
	return true
}

// badName says why a name cannot be used, or "".
func badName(name string) string {
	switch {
	case len(name) > 200:
		return "it is too long"
	case strings.HasPrefix(name, "-"):
		return "it begins with -"
	case strings.Contains(name, ":"):
		return "a colon is for agents of plugins"
	case strings.ContainsAny(name, "(),") || strings.ContainsFunc(name, func(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsGraphic(r) }):
		return "it holds characters that a name cannot have"
	}
	return ""
}

func (d *draft) tools() {
	t := &d.def.Tools
	t.Only, t.Listed = d.v.Rules("tools")
	if !t.Listed {
		// What other programs call the list in skills means a limit here too.
		if t.Only, t.Listed = d.v.Rules("allowed-tools"); t.Listed {
			d.v.Report(skill.Warning, "did-you-mean", "allowed-tools", "in an agent definition the list of tools is called `tools`; it is read as that", "write tools")
		}
	} else if d.v.Has("allowed-tools") {
		d.v.Report(skill.Warning, "did-you-mean", "allowed-tools", "`allowed-tools` is not a field of an agent definition, and `tools` is there", "remove it")
	}
	t.Without, _ = d.v.Rules("disallowed-tools")
}

func (d *draft) run() {
	r := &d.def.Run
	r.Model, r.Effort = d.v.Model(), d.v.Effort()
	r.Background = d.v.Bool("background", false, false)
	r.Skills = d.v.Names("skills")
	r.InitialPrompt = d.v.Text("initial-prompt")
	const takes = "a whole number above 0"
	if w := d.v.Word("max-turns", takes); w != "" {
		n, err := strconv.Atoi(w)
		if err != nil || n <= 0 || n > 1_000_000 {
			d.v.Report(skill.Warning, "bad-value", "max-turns", "`maxTurns` takes "+takes+"; the usual limit is used", "write "+takes)
			return
		}
		r.MaxTurns = n
	}
}

// restricted reads the fields that not every file may set (spec S-9, X-1).
func (d *draft) restricted() {
	hooks := d.v.Hooks()
	mode := d.v.Word("permission-mode", "a permission mode")
	if mode == "manual" {
		mode = "default"
	}
	stricter, known := modes[mode]
	switch {
	case mode == "":
	case !known:
		d.v.Report(skill.Warning, "bad-value", "permission-mode", fmt.Sprintf("there is no permission mode %q; that of the session holds", mode),
			"write default, acceptEdits, plan, dontAsk or bypassPermissions")
		mode = ""
	case d.def.Origin.Source == skill.Plugin && !stricter:
		d.forbid("permission-mode", "a plugin must not stop the questions")
		mode = ""
	case d.def.Origin.fromWorkspace() && mode == "bypassPermissions":
		d.forbid("permission-mode", "a repository must not stop the questions")
		mode = ""
	case d.def.Origin.fromWorkspace() && !d.trusted && !stricter:
		d.withheld = append(d.withheld, "permissionMode")
		mode = ""
	}
	switch {
	case len(hooks) == 0:
	case d.def.Origin.Source == skill.Plugin:
		d.forbid("hooks", "hooks of a plugin stand in its hooks file")
		hooks = nil
	case d.def.Origin.fromWorkspace() && !d.trusted:
		d.withheld = append(d.withheld, "hooks")
		hooks = nil
	}
	d.def.Run.Hooks, d.def.Run.PermissionMode = hooks, mode
	if len(d.withheld) > 0 {
		d.v.Report(skill.Warning, "agent-untrusted", "", "not in force, because the workspace is not trusted: "+strings.Join(d.withheld, ", "),
			"read the file, then trust the workspace: `knack doctor --trust`, or --trust for one run")
	}
}

func (d *draft) forbid(key, why string) {
	d.v.Report(skill.Warning, "agent-forbidden", key, "the field has no effect here: "+why, "remove it")
}

// stemOf is the name of a file without its ending.
func stemOf(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}
