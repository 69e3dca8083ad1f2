package mcpconfig

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// An expander fills variables into the texts of one server.
type expander struct {
	getenv func(string) string
	plugin *PluginServers // nil for servers of no plugin
	unset  []string       // variables and options without a value and without a default
}

// variable is ${NAME} or ${NAME:-default}, and of a plugin ${user_config.KEY} too.
func variable() *regexp.Regexp {
	return regexp.MustCompile(`\$\{(user_config\.)?([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)
}

// text replaces variables. An empty one takes the default, as in a shell. What
// follows from a variable is not expanded again.
func (x *expander) text(s string) string {
	out, last := "", 0
	for _, m := range variable().FindAllStringSubmatchIndex(s, -1) {
		name := s[m[4]:m[5]]
		var value string
		var ok bool
		if m[2] >= 0 {
			values, known := x.option(name)
			if !known {
				continue // it stays, as in a skill of the plugin
			}
			value, ok = strings.Join(values, "\n"), len(values) > 0 || !x.required(name)
			name = "the option " + name
		} else {
			value, ok = x.value(name)
		}
		switch {
		case m[6] >= 0 && (!ok || value == ""):
			value = s[m[8]:m[9]]
		case !ok && !slices.Contains(x.unset, name):
			x.unset = append(x.unset, name)
		}
		out += s[last:m[0]] + value
		last = m[1]
	}
	return out + s[last:]
}

// option returns the values of an option of the plugin.
func (x *expander) option(key string) (values []string, known bool) {
	if x.plugin == nil {
		return nil, false
	}
	values, known = x.plugin.Options[key]
	return values, known
}

func (x *expander) required(key string) bool {
	return x.plugin != nil && slices.Contains(x.plugin.Unset, key)
}

func (x *expander) value(name string) (string, bool) {
	if x.plugin != nil {
		if v, ok := x.plugin.Vars[name]; ok {
			return v, true
		}
	}
	if x.getenv == nil {
		return "", false
	}
	v := x.getenv(name)
	return v, v != ""
}

// list expands arguments. One that is an option and nothing else becomes as many
// as the option has values: none when nobody has set it.
func (x *expander) list(in []string) (out []string) {
	for _, s := range in {
		m := variable().FindStringSubmatch(s)
		if m != nil && m[0] == s && m[1] != "" && m[3] == "" {
			if values, known := x.option(m[2]); known && !x.required(m[2]) {
				out = append(out, values...)
				continue
			}
		}
		out = append(out, x.text(s))
	}
	return out
}

func (x *expander) values(in map[string]string) map[string]string {
	if in == nil {
		return nil
	}
	out := make(map[string]string, len(in))
	for k, v := range in {
		out[k] = x.text(v)
	}
	return out
}

// own puts what every program of the plugin finds in its environment beside what
// the entry says, which counts.
func (x *expander) own(env map[string]string) map[string]string {
	if x.plugin == nil || len(x.plugin.Env) == 0 {
		return env
	}
	out := maps.Clone(x.plugin.Env)
	maps.Copy(out, env)
	return out
}

// remedy says what to do about what is not set.
func (x *expander) remedy() string {
	if x.plugin != nil && len(x.plugin.Unset) > 0 {
		return fmt.Sprintf("give it a value: `knack plugin config %s %s=VALUE`", x.plugin.Plugin, x.plugin.Unset[0])
	}
	return "set it, or write a default as ${NAME:-default}"
}
