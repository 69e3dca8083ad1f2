package doctor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/hookexec"
	"github.com/knack-skills/knack/internal/cli/chat"
	"github.com/knack-skills/knack/permission"
)

// policies are the restrictions in force, each with who says it (spec S-11).
func policies(e *knack.Engine) []Finding {
	var out []Finding
	for _, p := range e.Settings().Policies() {
		out = append(out, Finding{Area: "policy", Name: p.Key, Status: "ok", Detail: fmt.Sprintf("%s (%s, %s)", p.Value, p.File, p.Level)})
	}
	r := e.Env().Rules
	if n := len(r.Deny) + len(r.Ask) + len(r.Allow); n > 0 {
		out = append(out, Finding{Area: "policy", Name: "rules", Status: "ok",
			Detail: fmt.Sprintf("%d deny, %d ask, %d allow (`knack permissions list`)", len(r.Deny), len(r.Ask), len(r.Allow))})
	}
	return out
}

// hooks names those that cannot run because their program is not there: such a
// guard guards nothing.
func hooks(e *knack.Engine) []Finding {
	var out []Finding
	declared := chat.Hooks(e)
	if len(declared) == 0 {
		return nil
	}
	on := 0
	for _, d := range declared {
		if d.Off != "" {
			continue
		}
		on++
		for _, program := range missing(e, d.Entry) {
			f := Finding{Area: "hook", Name: string(d.Entry.Event), Status: "bad",
				Detail: fmt.Sprintf("%s: %s is not there, so `%s` cannot run", d.Entry.Owner, program, hookexec.Summary(d.Entry.Handler)),
				Fix:    "install " + program + ", or mend the hook"}
			if d.Entry.Level == hookexec.Skill || d.Entry.Level == hookexec.Agent {
				f.Status = "missing" // nobody may ever start that skill
			}
			out = append(out, f)
		}
	}
	return append([]Finding{{Area: "hook", Name: "declared", Status: "ok",
		Detail: fmt.Sprintf("%d, of which %d may run (`knack hooks list`)", len(declared), on)}}, out...)
}

// builtins are commands of bash that are no programs.
const builtins = " . : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable " +
	"eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly " +
	"return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait "

// missing lists the programs of a command hook that are not there, as far as
// their names stand in it.
func missing(e *knack.Engine, entry hookexec.Entry) []string {
	h := entry.Handler
	if h.Type != hook.Command || h.Shell == "powershell" || runtime.GOOS == "windows" {
		return nil
	}
	// Variables become words that mean nothing to a shell, and then directories.
	var hide, show []string
	i := 0
	for name, dir := range map[string]string{"SKILL_DIR": entry.Dirs.Skill, "PLUGIN_ROOT": entry.Dirs.PluginRoot,
		"PLUGIN_DATA": entry.Dirs.PluginData, "PROJECT_DIR": e.ProjectDir()} {
		for _, prefix := range []string{"CLAUDE_", "KNACK_"} {
			word := fmt.Sprintf("/KNACK-%d-DIR", i)
			i++
			hide = append(hide, "${"+prefix+name+"}", word, "$"+prefix+name, word)
			show = append(show, word, dir)
		}
	}
	hidden, shown := strings.NewReplacer(hide...), strings.NewReplacer(show...)
	if h.Args != nil {
		return absent(e, shown.Replace(hidden.Replace(h.Command)))
	}
	script, err := permission.ReadScript(hidden.Replace(h.Command))
	if err != nil || strings.Contains(h.Command, "()") || strings.Contains(h.Command, "function ") {
		return nil // no shell line, or one with programs of its own
	}
	var out []string
	for _, c := range script.Calls {
		if len(c.Words) == 0 || !c.Words[0].Static || strings.Contains(builtins, " "+c.Words[0].Value+" ") {
			continue
		}
		for _, p := range absent(e, shown.Replace(c.Words[0].Value)) {
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// absent returns program unless it is there.
func absent(e *knack.Engine, program string) []string {
	var candidates []string
	switch {
	case strings.ContainsRune(program, '/'):
		if !filepath.IsAbs(program) {
			program = filepath.Join(e.Dir(), program)
		}
		candidates = []string{program}
	default:
		path := os.Getenv("PATH")
		for _, kv := range e.Environ() {
			if p, ok := strings.CutPrefix(kv, "PATH="); ok {
				path = p // the last one counts
			}
		}
		for _, dir := range filepath.SplitList(path) {
			candidates = append(candidates, filepath.Join(dir, program))
		}
	}
	for _, c := range candidates {
		if _, err := exec.LookPath(c); err == nil {
			return nil
		}
	}
	return []string{program}
}
