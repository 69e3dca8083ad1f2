package skill

import (
	"path/filepath"
	"strings"
)

// CutHome reads the "~" that stands for the home directory in settings, rules,
// flags and the input of tools: alone, or before a separator of this system.
// rest is what follows it, empty or with the separator in front. A name such as
// "~joe" is no home directory, and on Unix neither is `~\x`.
func CutHome(path string) (rest string, ok bool) {
	return cutHome(path, "/"+string(filepath.Separator))
}

func cutHome(path, separators string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, "~")
	if !ok || rest != "" && !strings.Contains(separators, rest[:1]) {
		return "", false
	}
	return rest, true
}
