package cli_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/internal/lab/anthropicserver"
	"github.com/knack-skills/knack/internal/lab/loopback"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/llmtest"
	"github.com/knack-skills/knack/source/bundled"
)

// A scene is a bundled skill at work, played by a scripted model.
type scene struct {
	args  string   // of the call
	setup []string // commands of a shell, in the repository
	flags []string // of the run
	told  []string // what the model has to read, besides the arguments
	// steps are what the model does after it has read the skill, and subagents
	// what the agents do that it starts; both as in a scripted file.
	steps, subagents string
	results          string // of the calls in steps: "." for one that worked, "x" for one that failed
	after            func(t *testing.T, w *world, asked []recordedRequest)
}

// TestBundled takes every bundled skill through the loop, typed by a person and
// called by a model: what the model was told, what the skill's grants let it do,
// and what came of it.
func TestBundled(t *testing.T) { // spec B-3
	all := scenes()
	for _, s := range bundled.Standard() {
		if s.Feature != nil && !s.Feature.Built {
			w := newWorld(t)
			if out := w.run("-p", "/"+s.ID, "--model", "scripted:none"); out.code == 0 {
				t.Errorf("%s runs without its feature: %+v", s.ID, out)
			}
			continue
		}
		sc, ok := all[s.ID]
		if !ok {
			t.Errorf("no scene shows %s at work", s.ID)
			continue
		}
		for _, by := range []string{"person", "model"} {
			t.Run(s.ID+" by "+by, func(t *testing.T) { sc.play(t, s.ID, by) })
		}
		delete(all, s.ID)
	}
	for id := range all {
		t.Errorf("there is no bundled skill %s", id)
	}
}

// play runs one scene.
func (sc scene) play(t *testing.T, id, by string) {
	w := newWorld(t)
	for _, line := range sc.setup {
		w.sh(line)
	}
	forked := id == "review"
	steps, prompt := sc.steps, "/"+id+" "+sc.args
	if by == "model" {
		call := `{"calls":[{"name":"Skill","input":{"skill":"` + id + `","args":` + quoted(sc.args) + `}}]}`
		steps, prompt = strings.Trim(call+","+sc.steps, ","), "go"
	}
	script := `{"steps":[` + strings.Trim(steps+`,{"text":"end"}`, ",") + `],"subagents":{` + sc.subagents + `}}`
	out, asked := w.requests(script, append([]string{"-p", prompt}, sc.flags...)...)
	if out.code != 0 || len(asked) == 0 {
		t.Fatalf("%+v", out)
	}
	text := skillText(asked, "# ", sc.told)
	if text == "" {
		t.Fatalf("no message holds all of %q", sc.told)
	}
	if !strings.Contains(text, ">\n"+sc.args+"\n<") || strings.Contains(text, "ARGUMENTS") && id != "skillify" && id != "create-skill" {
		t.Errorf("the arguments are not where the text speaks of them:\n%.600s", text)
	}
	if want := w.rendered(id, sc.args); plainText(text) != plainText(want) {
		t.Errorf("the model read\n%s\nand knack render says\n%s", text, want)
	}
	for _, r := range asked {
		wholeHistory(t, r.Messages)
	}
	if forked && by == "person" {
		if strings.TrimSpace(out.stdout) != "end of the fork" {
			t.Errorf("the answer is %q", out.stdout)
		}
	} else if got := outcomes(asked, by == "model"); got != sc.results {
		t.Errorf("results %q, want %q: %.2000v", got, sc.results, resultsOf(asked))
	}
	if sc.after != nil {
		sc.after(t, w, asked)
	}
}

// sh runs a line in the repository.
func (w *world) sh(line string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "bash", "-euc", line)
	cmd.Dir, cmd.Env = w.repo, append(slices.Clone(w.env), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// rendered is what `knack render` says that a call injects.
func (w *world) rendered(id, args string, flags ...string) string {
	w.t.Helper()
	var r struct{ Text string }
	out := w.run(append([]string{"render", id, "--json", "--args", args}, flags...)...)
	if err := json.Unmarshal([]byte(out.stdout), &r); err != nil {
		w.t.Fatalf("knack render: %v, %+v", err, out)
	}
	return r.Text
}

// differs is what no two processes have in common: ids of sessions, and where
// the files of bundled skills were extracted.
var differs = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|\S+/cache/\S+`)

func plainText(s string) string {
	return strings.TrimRight(differs.ReplaceAllString(s, "ID"), "\n")
}

// skillText returns the first block that holds a heading and all pieces.
func skillText(asked []recordedRequest, heading string, pieces []string) string {
	for _, text := range texts(asked, heading) {
		if !slices.ContainsFunc(pieces, func(p string) bool { return !strings.Contains(text, p) }) {
			return text
		}
	}
	return ""
}

// resultsOf returns the tool results of the main agent's last request.
func resultsOf(asked []recordedRequest) (out []llm.Block) {
	for _, r := range slices.Backward(asked) {
		if r.Agent != "main" {
			continue
		}
		for _, m := range r.Messages {
			for _, b := range m.Content {
				if b.Type == llm.ToolResult {
					out = append(out, b)
				}
			}
		}
		return out
	}
	return nil
}

// outcomes writes the results as dots and crosses; the first is that of the
// skill's own call if a model made it.
func outcomes(asked []recordedRequest, called bool) string {
	list := resultsOf(asked)
	if called && len(list) > 0 && !list[0].IsError {
		list = list[1:]
	}
	var b strings.Builder
	for _, r := range list {
		if r.IsError {
			b.WriteByte('x')
		} else {
			b.WriteByte('.')
		}
	}
	return b.String()
}

func quoted(s string) string {
	data, _ := json.Marshal(s) // strings always marshal
	return string(data)
}

// TestBundledSpeaksOfFlags: every command that a bundled skill tells of exists,
// with the flags that it gives.
func TestBundledSpeaksOfFlags(t *testing.T) {
	command := regexp.MustCompile("`(?:[A-Z_]+=[A-Z]+ )?(knack [^`]*)`")
	flag := regexp.MustCompile(`(?:^| )(--?[a-z][a-z-]*)`)
	w := newWorld(t)
	help := map[string]string{}
	found := 0
	for _, s := range bundled.Standard() {
		for _, m := range command.FindAllStringSubmatch(s.File, -1) {
			words := strings.Fields(m[1])
			name := words[1]
			if name == "permissions" {
				name += " " + words[2]
			}
			if strings.HasPrefix(name, "-") {
				name = "" // the flags of a run
			}
			if _, known := help[name]; !known {
				out := w.run(append(strings.Fields("help "+name), []string{}...)...)
				if out.code != 0 {
					t.Errorf("%s speaks of %q: %s", s.ID, m[1], out.stderr)
				}
				help[name] = out.stdout
			}
			for _, f := range flag.FindAllStringSubmatch(m[1], -1) {
				found++
				if !regexp.MustCompile(`(^|[\s,])` + f[1] + `\b`).MatchString(help[name]) {
					t.Errorf("%s speaks of %q, and `knack %s` has no %s", s.ID, m[1], name, f[1])
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d flags were looked at", found)
	}
}

// TestBundledDebug: the skill may read the transcript of its own session, which
// lies outside of the workspace, and no other.
func TestBundledDebug(t *testing.T) { // spec B-3, S-8
	for _, by := range []string{"person", "model"} {
		w := newWorld(t)
		ids := map[string]string{}
		for _, name := range []string{"mine", "other"} {
			out, _ := w.requests(`{"steps":[{"text":"`+name+`"}]}`, "-p", name+" question", "--output-format", "json")
			var r struct {
				ID string `json:"session_id"`
			}
			if err := json.Unmarshal([]byte(out.stdout), &r); err != nil {
				t.Fatalf("%v: %+v", err, out)
			}
			ids[name] = r.ID
		}
		var doctor struct {
			Findings []struct{ Name, Detail string }
		}
		if err := json.Unmarshal([]byte(w.run("doctor", "--json").stdout), &doctor); err != nil {
			t.Fatal(err)
		}
		dir := ""
		for _, f := range doctor.Findings {
			if f.Name == "transcripts" {
				dir = f.Detail
			}
		}
		read := func(id string) string {
			return `{"name":"Read","input":{"file_path":` + quoted(filepath.Join(dir, id+".jsonl")) + `}}`
		}
		grep := `{"name":"Grep","input":{"pattern":"question","output_mode":"content","path":` + quoted(filepath.Join(dir, ids["mine"]+".jsonl")) + `}}`
		script, prompt := `{"calls":[`+steps(read(ids["mine"]), grep, read(ids["other"]), bash("knack audit --session "+ids["mine"]), bash("knack audit --session "+ids["other"]))+`]},{"text":"end"}`, "/debug what was asked"
		if by == "model" {
			script, prompt = `{"calls":[{"name":"Skill","input":{"skill":"debug"}}]},`+script, "go"
		}
		out, asked := w.requests(`{"steps":[`+script+`]}`, "-p", prompt, "--resume", ids["mine"])
		if got := outcomes(asked, by == "model"); out.code != 0 || got != "..x.x" {
			t.Fatalf("by %s: results %q, %+v: %+v", by, got, out, resultsOf(asked))
		}
		if list := resultsOf(asked); !strings.Contains(list[len(list)-5].Text, "mine question") || !strings.Contains(list[len(list)-4].Text, "mine question") {
			t.Errorf("by %s: the transcript was not read: %+v", by, list)
		}
		if text := skillText(asked, "# Debug", []string{ids["mine"]}); text == "" {
			t.Errorf("by %s: the text does not name the session", by)
		}
	}
}

// exists reports whether the repository has a file.
func (w *world) exists(name string) bool {
	_, err := os.Stat(w.path(name))
	return err == nil
}

// TestBundledFiles: the files that a skill names are there while it is at work,
// may be read without asking, and are gone afterwards.
func TestBundledFiles(t *testing.T) { // spec B-2, S-8
	base := regexp.MustCompile(`Base directory for this skill: (\S+)`)
	named := regexp.MustCompile("`(references/[a-z.-]+)`")
	for _, s := range bundled.Standard() {
		if s.Files == nil {
			continue
		}
		for _, by := range []string{"person", "model"} {
			w := newWorld(t)
			dir, files := "", []string(nil)
			model := anthropicserver.StartFunc(t, func(_ int, r loopback.Request) llmtest.Reply {
				use := func(id, name string, input any) llmtest.Part {
					data, _ := json.Marshal(input) // maps of strings always marshal
					return llmtest.Part{Call: &llm.ToolCall{ID: id, Name: name, Input: data}}
				}
				text := ""
				for _, b := range r.Blocks {
					if b.Type == llm.ToolResult && b.ToolUseID != "skill" {
						return llmtest.Reply{Parts: []llmtest.Part{{Text: "end"}}}
					}
					text += b.Text + "\n"
				}
				m := base.FindStringSubmatch(text)
				if m == nil {
					return llmtest.Reply{Stop: llm.ToolCalls, Parts: []llmtest.Part{use("skill", "Skill", map[string]string{"skill": s.ID})}}
				}
				dir = m[1]
				reply := llmtest.Reply{Stop: llm.ToolCalls}
				for _, f := range named.FindAllStringSubmatch(text, -1) {
					if !slices.Contains(files, f[1]) {
						files = append(files, f[1])
						reply.Parts = append(reply.Parts, use(fmt.Sprint("file", len(files)), "Read", map[string]string{"file_path": filepath.Join(dir, f[1])}))
					}
				}
				reply.Parts = append(reply.Parts, use("outside", "Read", map[string]string{"file_path": filepath.Join(dir, "..", "..", "x")}))
				return reply
			})
			w.env = append(w.env, "ANTHROPIC_BASE_URL="+model.URL, "ANTHROPIC_API_KEY="+anthropicserver.Key)
			prompt := "go"
			if by == "person" {
				prompt = "/" + s.ID + " x"
			}
			if out := w.run("-p", prompt, "--model", "anthropic/claude-test"); out.code != 0 {
				t.Fatalf("%s by %s: %+v", s.ID, by, out)
			}
			seen := model.Requests()
			results := map[string]llm.Block{}
			for _, b := range seen[len(seen)-1].Blocks {
				if b.Type == llm.ToolResult {
					results[b.ToolUseID] = b
				}
			}
			if len(files) == 0 || !strings.Contains(results["outside"].Text, "Permission denied") {
				t.Errorf("%s by %s: files %q, outside: %+v", s.ID, by, files, results["outside"])
			}
			for i, f := range files {
				got := results[fmt.Sprint("file", i+1)].Text
				want, err := fs.ReadFile(s.Files, f)
				if first, _, _ := strings.Cut(string(want), "\n"); err != nil || !strings.Contains(got, first) {
					t.Errorf("%s by %s: %s: %v, %.300s", s.ID, by, f, err, got)
				}
			}
			if _, err := os.Stat(dir); !os.IsNotExist(err) {
				t.Errorf("%s by %s: %s was left behind: %v", s.ID, by, dir, err)
			}
		}
	}
}
