package permissions

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/knack-skills/knack/internal/cli/output"
)

// input names the fields of tool inputs that rules speak of, as models know them.
type input struct {
	Command      string `json:"command"`
	FilePath     string `json:"file_path"`
	NotebookPath string `json:"notebook_path"`
	Path         string `json:"path"`
	URL          string `json:"url"`
	Skill        string `json:"skill"`
	Args         string `json:"args"`
	Agent        string `json:"subagent_type"`
}

// known lists the keys that the input of a tool may have; those that rules
// speak of come first. Of a tool that is not here, as those of MCP servers,
// nothing is known.
var known = map[string]string{
	"Bash":         "command description timeout run_in_background",
	"PowerShell":   "command description timeout run_in_background",
	"Read":         "file_path path offset limit pages",
	"Write":        "file_path path content",
	"Edit":         "file_path path old_string new_string replace_all",
	"MultiEdit":    "file_path path edits",
	"NotebookEdit": "notebook_path file_path path cell_id cell_type edit_mode new_source",
	"NotebookRead": "notebook_path file_path path cell_id",
	"Glob":         "path file_path pattern",
	"Grep":         "path file_path pattern glob type output_mode head_limit offset multiline -A -B -C -n -i -o",
	"LS":           "path file_path ignore",
	"Skill":        "skill args",
	"Agent":        "subagent_type prompt description model name isolation run_in_background",
	"Task":         "subagent_type prompt description model name isolation run_in_background",
	"WebFetch":     "url prompt",
	"WebSearch":    "query allowed_domains blocked_domains",
}

// readInput reads the input of a call of tool. A key that the tool does not
// know would be decided without being looked at, so it is refused.
func readInput(tool, s string) (input, error) {
	var in input
	if !strings.HasPrefix(strings.TrimSpace(s), "{") {
		return in, output.Usagef("JSON_INPUT is not a JSON object: give the input of the tool, such as '{\"command\":\"git push\"}', not %q", s)
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal([]byte(s), &keys); err != nil {
		return in, output.Usagef("JSON_INPUT cannot be read: %v", err)
	}
	if list, ok := known[tool]; ok {
		allowed := strings.Fields(list)
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			if !slices.Contains(allowed, k) {
				return in, output.Usagef("JSON_INPUT: %s has no key %q; its keys are %s", tool, k, strings.Join(allowed, ", "))
			}
		}
	}
	if err := json.Unmarshal([]byte(s), &in); err != nil {
		return in, output.Usagef("JSON_INPUT cannot be read: %v", err)
	}
	for _, p := range []string{in.FilePath, in.NotebookPath} {
		if p != "" {
			in.Path = p
		}
	}
	return in, nil
}
