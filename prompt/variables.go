package prompt

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/knack-skills/knack/skill"
)

// A variable is one row of spec P-7.
type variable struct {
	key    string
	value  func(Vars) string
	blank  bool // exists also when empty
	plugin bool // only for skills of plugins
	remote bool // also for remote skills
	rules  bool // also inside allowed-tools
}

// variables is the whole policy of spec P-7. Rules of plugin skills name their
// scripts by the plugin's directories, so these apply there too.
var variables = []variable{
	{key: "SKILL_DIR", value: func(v Vars) string { return filepath.ToSlash(v.SkillDir) }, rules: true},
	{key: "SESSION_ID", value: func(v Vars) string { return v.SessionID }, blank: true, remote: true, rules: true},
	{key: "PROJECT_DIR", value: func(v Vars) string { return filepath.ToSlash(v.ProjectDir) }, rules: true},
	{key: "EFFORT", value: func(v Vars) string { return v.Effort }, blank: true},
	{key: "PLUGIN_ROOT", value: func(v Vars) string { return filepath.ToSlash(v.PluginRoot) }, plugin: true, rules: true},
	{key: "PLUGIN_DATA", value: func(v Vars) string { return filepath.ToSlash(v.PluginData) }, plugin: true, rules: true},
}

// prefixes are the two names that each variable has.
var prefixes = []string{"CLAUDE_", "KNACK_"}

const (
	userConfig    = "user_config."
	userConfigEnv = "PLUGIN_OPTION_" // with a prefix, the name in the environment
)

// A scope is what one skill may see of the variables.
type scope struct {
	vars           Vars
	remote, plugin bool
}

func scopeOf(s *skill.Skill, v Vars) scope {
	return scope{vars: v, remote: s.Origin.Remote(), plugin: s.Origin.Source == skill.Plugin}
}

// visible reports whether the skill may see v, whatever its value.
func (s scope) visible(v variable) bool {
	return (v.remote || !s.remote) && (s.plugin || !v.plugin)
}

// get returns the value of v. Not every variable exists for every skill.
func (s scope) get(v variable) (string, bool) {
	value := v.value(s.vars)
	return value, s.visible(v) && (v.blank || value != "")
}

// find returns the variable called name, which has a prefix.
func find(name string) (variable, bool) {
	for _, prefix := range prefixes {
		if key, ok := strings.CutPrefix(name, prefix); ok {
			i := slices.IndexFunc(variables, func(v variable) bool { return v.key == key })
			if i >= 0 {
				return variables[i], true
			}
		}
	}
	return variable{}, false
}

// lookup returns the value of ${name}.
func (s scope) lookup(name string) (string, bool) {
	if key, ok := strings.CutPrefix(name, userConfig); ok {
		value, ok := s.vars.UserConfig[key]
		return value, ok && s.plugin && !s.remote
	}
	v, ok := find(name)
	if !ok {
		return "", false
	}
	return s.get(v)
}

// known reports whether ${name} is a variable that the skill may use, even if
// it has no value at the moment.
func (s scope) known(name string) bool {
	if strings.HasPrefix(name, userConfig) {
		return s.plugin && !s.remote
	}
	v, ok := find(name)
	return ok && s.visible(v)
}

// looksLikeVariable reports whether ${name} is meant for us, and not for a
// shell or a program in the text.
func looksLikeVariable(name string) bool {
	if strings.HasPrefix(name, userConfig) {
		return true
	}
	for _, prefix := range prefixes {
		if strings.HasPrefix(name, prefix) {
			return identifier(name)
		}
	}
	return false
}

// environ returns the variables as a command's environment has them, sorted by
// table and key.
func (s scope) environ() []string {
	var out []string
	for _, prefix := range prefixes {
		for _, v := range variables {
			if value, ok := s.get(v); ok {
				out = append(out, prefix+v.key+"="+value)
			}
		}
		if !s.plugin {
			continue
		}
		for key, value := range s.vars.UserConfig {
			if identifier(key) {
				out = append(out, prefix+userConfigEnv+key+"="+value)
			}
		}
	}
	slices.Sort(out)
	return out
}

// envName returns the environment variable that holds ${name}; empty if none.
func envName(name string) string {
	if key, ok := strings.CutPrefix(name, userConfig); ok {
		if !identifier(key) {
			return ""
		}
		return prefixes[1] + userConfigEnv + key
	}
	return name
}

// ExpandRules applies the variables that allowed-tools rules may use (spec
// P-7). A variable without a value stays: as empty text it would widen a rule.
// In a rule about commands a value is quoted where it has to be, as it is in
// the command (spec P-9, P-10), so that a directory with blanks is one word of
// both. Remote skills have no rules to expand (spec C-13).
func ExpandRules(rules []string, v Vars) []string {
	values := map[string]string{}
	for _, row := range variables {
		if value := row.value(v); row.rules && value != "" {
			for _, prefix := range prefixes {
				values[prefix+row.key] = value
			}
		}
	}
	out := make([]string, len(rules))
	for i, rule := range rules {
		out[i] = expandRule(rule, values)
	}
	return out
}

// expandRule works in one pass: values are not expanded again.
func expandRule(rule string, values map[string]string) string {
	if !strings.Contains(rule, "${") {
		return rule
	}
	tool, spec, _ := strings.Cut(rule, "(")
	var labels []shellByte // of the specifier, of a rule about commands
	if strings.TrimSpace(tool) == "Bash" {
		labels = scanShell(spec)
	}
	var b strings.Builder
	for i := 0; i < len(rule); {
		t, ok := token{}, false
		if rule[i] == '$' {
			t, ok = dollar(rule, i, nil)
		}
		value, known := values[t.name]
		if !ok || t.kind != variableToken || !known {
			b.WriteByte(rule[i])
			i++
			continue
		}
		if at := i - len(tool) - 1; labels != nil && at >= 0 {
			if quoted, ok := quoteBash(value, labels[at]); ok {
				value = quoted
			}
		}
		b.WriteString(value)
		i = t.end
	}
	return b.String()
}

// identifier reports whether s can be the name of a shell variable.
func identifier(s string) bool {
	for i := range len(s) {
		if !isWord(s[i]) || i == 0 && isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool {
	return c == '_' || isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
