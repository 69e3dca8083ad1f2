package mcpconfig

import (
	"regexp"
	"slices"
)

// An expander fills variables into the texts of one server.
type expander struct {
	getenv func(string) string
	plugin *PluginServers // nil for servers of no plugin
	unset  []string       // variables without a value and without a default
}

// text replaces ${NAME} and ${NAME:-default}. An empty variable takes the
// default, as in a shell. What follows from a variable is not expanded again.
func (x *expander) text(s string) string {
	form := regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)
	own := func(s string) string {
		if x.plugin != nil && x.plugin.Expand != nil {
			return x.plugin.Expand(s)
		}
		return s
	}
	out, last := "", 0
	for _, m := range form.FindAllStringSubmatchIndex(s, -1) {
		name := s[m[2]:m[3]]
		value, ok := x.value(name)
		switch {
		case ok:
		case m[4] >= 0:
			value = s[m[6]:m[7]]
		case !slices.Contains(x.unset, name):
			x.unset = append(x.unset, name)
		}
		out += own(s[last:m[0]]) + value
		last = m[1]
	}
	return out + own(s[last:])
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

func (x *expander) list(in []string) (out []string) {
	for _, s := range in {
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
