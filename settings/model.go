package settings

import (
	"slices"
	"strconv"
	"strings"
)

// efforts are the words for an effort, and what older ones of them mean.
var efforts = map[string]string{
	"low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh", "max": "max", "quick": "low", "standard": "medium",
}

// EffortValue returns the effort in the form of a model request: a word of the
// list low, medium, high, xhigh, max, or a number of thinking tokens. It is
// empty when the setting is absent; ok is false when it is none of these.
func (v *Values) EffortValue() (effort string, ok bool) {
	w := strings.ToLower(strings.TrimSpace(v.Effort))
	if w == "" {
		return "", true
	}
	if e, ok := efforts[w]; ok {
		return e, true
	}
	if n, err := strconv.Atoi(w); err == nil && n > 0 {
		return strconv.Itoa(n), true
	}
	return "", false
}

// Environ returns the setting env in the form of os.Environ, by name.
func (v *Values) Environ() []string {
	var env []string
	for name, value := range v.Env {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// variable reports whether an environment can hold the variable.
func variable(name, value string) bool {
	return name != "" && !strings.ContainsAny(name, "=\x00") && !strings.Contains(value, "\x00")
}

// ModelFromWorkspace reports whether the setting model is from a file that came
// with the repository. Such a file may choose among models, but must not play
// the part of one (spec S-9).
func (s *Settings) ModelFromWorkspace() bool { return s.levelOf("model").fromWorkspace() }

// levelOf is the level of the file that [Settings.From] names.
func (s *Settings) levelOf(key string) Level {
	path := s.From(key)
	for i := range s.Files {
		if s.Files[i].Path == path && path != "" {
			return s.Files[i].Level
		}
	}
	return ""
}
