package cli_test

import (
	"slices"
	"strings"
	"testing"
)

// repository makes one with a first commit of everything in it.
const repository = `rm -rf .git; git init -q -b main; git config user.name A; git config user.email a@example.com;
	printf 'alpha\n' > a.txt; printf 'beta\n' > b.txt; git add -A; git commit -qm 'Begin'`

// bash is a call of the tool.
func bash(command string) string {
	return `{"name":"Bash","input":{"description":"d","command":` + quoted(command) + `}}`
}

// start is a call of the Agent tool.
func start(kind, task string) string {
	return `{"name":"Agent","input":{"description":"d","subagent_type":"` + kind + `","prompt":` + quoted(task) + `}}`
}

// calls is one step of a model.
func calls(list ...string) string { return `{"calls":[` + strings.Join(list, ",") + `]}` }

// steps joins what a model does.
func steps(list ...string) string { return strings.Join(list, ",") }

// scenes has one for each bundled skill, by id.
func scenes() map[string]scene {
	all := map[string]scene{}
	for _, some := range []map[string]scene{changing(), looking(), writing()} {
		for id, s := range some {
			all[id] = s
		}
	}
	return all
}

// changing are the skills that change the project.
func changing() map[string]scene {
	return map[string]scene{
		"commit": {
			args: "ticket 12, only a.txt", setup: []string{repository, "printf 'gamma\n' >> a.txt; printf 'delta\n' >> b.txt"},
			told: []string{"git add -- path", "never `--no-verify`", "**Never:**", "push, even when asked"},
			steps: steps(calls(bash("git status --short --branch"), bash("git diff HEAD --stat"), bash("git log --oneline -n 10")),
				calls(bash("git add -- a.txt"), bash("git diff --cached --stat"), bash("git commit -m 'Add gamma' -m 'For $5.'")),
				calls(bash("git push"), bash("git reset --hard"), bash("git commit -m x && git push"))),
			results: "......xxx",
			after: func(t *testing.T, w *world, _ []recordedRequest) {
				if log := w.sh("git log --format=%s/%b -n 1; git status --short"); !strings.Contains(log, "Add gamma/For $5.") || !strings.Contains(log, " M b.txt") {
					t.Errorf("the log says %s", log)
				}
			},
		},
		"simplify": {
			args: "a.txt the cache", setup: []string{repository},
			told: []string{"Start **three agents in one message**", "**Brief 1: reuse.**", "**Brief 2: quality.**", "**Brief 3: efficiency.**", "Do not commit."},
			steps: steps(calls(start("Explore", "Brief of reuse"), start("Explore", "Brief of quality"), start("Explore", "Brief of efficiency")),
				calls(`{"name":"Read","input":{"file_path":"a.txt"}}`), calls(`{"name":"Edit","input":{"file_path":"a.txt","old_string":"alpha","new_string":"a"}}`)),
			subagents: `"Explore":[` + steps(calls(bash("git diff HEAD"), `{"name":"Write","input":{"file_path":"made","content":"x"}}`), `{"text":"found"}`) + `]`,
			flags:     []string{"--permission-mode", "acceptEdits"},
			results:   ".....",
			after: func(t *testing.T, w *world, asked []recordedRequest) {
				if got := tasks(asked); !slices.Equal(got, []string{"Brief of efficiency", "Brief of quality", "Brief of reuse"}) {
					t.Errorf("the agents were told %q", got)
				}
				if w.exists("made") || !strings.Contains(w.sh("git diff"), "+a\n") {
					t.Error("a reviewer changed something, or the fix is missing")
				}
			},
		},
		"batch": {
			args: "rename alpha and beta", setup: []string{repository},
			told: []string{"subagents edit", "git worktree add .worktrees/<unit>", "Only an explicit yes", "subagents cannot ask", "No push"},
			steps: steps(calls(bash(`knack permissions explain Edit '{"file_path": ".worktrees/x/a.txt"}'`)),
				calls(bash("git worktree add .worktrees/one -b batch/names-one HEAD"), bash("git worktree add .worktrees/two -b batch/names-two HEAD")),
				calls(start("general-purpose", "Unit one"), start("general-purpose", "Unit two")),
				calls(`{"name":"Read","input":{"file_path":".worktrees/one/a.txt"}}`),
				calls(`{"name":"Edit","input":{"file_path":".worktrees/one/a.txt","old_string":"alpha","new_string":"ALPHA"}}`),
				calls(bash("git -C .worktrees/one commit -qam 'Rename alpha'"), bash("git worktree remove .worktrees/two"), bash("git push"))),
			subagents: `"general-purpose":[` + steps(calls(`{"name":"Grep","input":{"pattern":"alpha|beta"}}`, bash("touch made")), `{"text":"reported"}`) + `]`,
			flags:     []string{"--allowedTools", "Edit(.worktrees/**)", "--allowedTools", "Bash(git worktree:*)", "--allowedTools", "Bash(git -C .worktrees/one commit:*)"},
			// What a subagent does itself is not among the results of its parent.
			results: ".........x",
			after: func(t *testing.T, w *world, asked []recordedRequest) {
				if got := tasks(asked); !slices.Equal(got, []string{"Unit one", "Unit two"}) {
					t.Errorf("the agents were told %q", got)
				}
				if got := w.sh("git show batch/names-one:a.txt; git show main:a.txt; git worktree list"); !strings.HasPrefix(got, "ALPHA\nalpha\n") || strings.Contains(got, "names-two") {
					t.Errorf("the branches hold %s", got)
				}
				if w.exists("made") {
					t.Error("a subagent ran what nobody allowed")
				}
			},
		},
	}
}

// tasks are what subagents began with, sorted.
func tasks(asked []recordedRequest) (out []string) {
	seen := map[string]bool{"main": true}
	for _, r := range asked {
		if !seen[r.Agent] {
			seen[r.Agent] = true
			out = append(out, r.Messages[0].Content[0].Text)
		}
	}
	slices.Sort(out)
	return out
}

// looking are the skills that find something out.
func looking() map[string]scene {
	return map[string]scene{
		"review": {
			args: "a.txt for races", setup: []string{repository, "printf 'gamma\n' >> a.txt"},
			told: []string{"You work alone, see no conversation, cannot ask, and change nothing", "N findings: a critical, b high, c medium, d low", "git diff <default>...<branch>"},
			subagents: `"review":[` + steps(
				calls(bash("git status --short"), bash("git diff HEAD"), `{"name":"Grep","input":{"pattern":"gamma"}}`, `{"name":"Read","input":{"file_path":"a.txt"}}`),
				calls(`{"name":"Write","input":{"file_path":"made","content":"x"}}`, bash("touch made"), `{"name":"AskUserQuestion","input":{"questions":[{"question":"Which?","options":[{"label":"a"},{"label":"b"}]}]}}`),
				`{"text":"end of the fork"}`) + `]`,
			results: "",
			after: func(t *testing.T, w *world, asked []recordedRequest) {
				for _, r := range asked {
					if r.Agent == "main" {
						continue
					}
					if got := names(r.Tools); slices.Contains(got, "Write") || slices.Contains(got, "Edit") || slices.Contains(got, "WebFetch") || !slices.Contains(got, "Bash") {
						t.Errorf("the reviewer has the tools %q", got)
					}
				}
				last := asked[len(asked)-1]
				for _, r := range slices.Backward(asked) {
					if r.Agent != "main" {
						last = r
						break
					}
				}
				if got := outcomes([]recordedRequest{{Agent: "main", Messages: last.Messages}}, false); got != "....xxx" || w.exists("made") {
					t.Errorf("results of the reviewer %q", got)
				}
			},
		},
		"verify": {
			args: "that a.txt has one line", setup: []string{repository},
			told:    []string{"Reading code, type checks and green tests are no proof", "git worktree add --detach", "**works**, **does not work**, or **works except**"},
			steps:   calls(bash("wc -l a.txt"), bash("git diff HEAD"), bash("git stash")),
			results: "..x",
		},
		"debug": {
			args:  "aaa did not run",
			told:  []string{"knack doctor", "knack audit --session ID", "Change nothing until the cause is known", "KNACK_RECORD=DIR"},
			steps: calls(bash("knack doctor"), bash("knack version"), bash("knack explain aaa --by model"), bash("knack list --all"), bash("knack listing"), bash(`knack search "first"`), bash("knack permissions list"), bash("knack doctor --trust"), bash("knack render aaa")),
			// The last two do more than look.
			results: ".......xx",
			after: func(t *testing.T, _ *world, asked []recordedRequest) {
				list := resultsOf(asked)
				for i, want := range []string{"workspace", "knack ", "aaa", "aaa"} {
					if got := list[len(list)-9+i].Text; !strings.Contains(got, want) {
						t.Errorf("call %d answers %q", i+1, got)
					}
				}
			},
		},
		"stuck": {
			args:    "the build hangs",
			told:    []string{"end or delete nothing until you know", "Never by name", "knack doctor", "Three different attempts with the same failure"},
			steps:   calls(bash("df -h ."), bash("knack doctor"), bash(`knack permissions explain Bash '{"command": "make"}'`), bash("kill -9 1"), bash("pkill make"), bash("rm .git/index.lock")),
			results: "...xxx",
		},
	}
}

// writing are the skills that write something down.
func writing() map[string]scene {
	ask := `{"name":"AskUserQuestion","input":{"questions":[{"question":"Who starts it?","options":[{"label":"me"},{"label":"you"}]}]}}`
	write := func(path, text string) string {
		return `{"name":"Write","input":{"file_path":"` + path + `","content":` + quoted(text) + `}}`
	}
	return map[string]scene{
		"update-config": {
			args: "[hooks-only] format after each edit",
			told: []string{"begins with `[hooks-only]`", "references/settings.schema.json", "Base directory for this skill: ", "Exit 0 is fine, exit 2 blocks"},
			steps: calls(bash("knack doctor"), bash("knack permissions list"), bash(`knack permissions explain Bash '{"command": "npm test"}'`), bash("knack explain aaa --by model"),
				write(".claude/settings.json", "{}"), bash("knack doctor --trust")),
			results: "....xx",
		},
		"remember": {
			args:    "we use pnpm here",
			told:    []string{"one true line in the right file", "`CLAUDE.local.md`", "**Never:** passwords", "count from the next one", "Only the person"},
			steps:   calls(write("CLAUDE.md", "Use pnpm.\n")),
			flags:   []string{"--permission-mode", "acceptEdits"},
			results: ".",
			after: func(t *testing.T, w *world, _ []recordedRequest) {
				if _, asked := w.requests(`{"steps":[{"text":"next"}]}`, "-p", "next"); len(asked) != 1 || !strings.Contains(asked[0].System, "Use pnpm.") {
					t.Error("the next session does not know it")
				}
			},
		},
		"skillify": {
			args:  "cutting a release",
			told:  []string{"The conversation is the source", "AskUserQuestion", "knack check DIR", "Dry run", "name: cut-release", "if it is refused because nobody can be asked"},
			steps: steps(calls(bash("knack list"), bash("knack search release")), calls(ask), calls(write(".agents/skills/cut-release/SKILL.md", "---\ndescription: Cuts a release\n---\nTag $ARGUMENTS.\n"))),
			flags: []string{"--permission-mode", "acceptEdits"},
			// Nobody is there to be asked, and .agents is protected.
			results: "..xx",
			after: func(t *testing.T, w *world, asked []recordedRequest) {
				list := resultsOf(asked)
				if !strings.Contains(list[len(list)-2].Text, "nobody to ask") || w.exists(".agents/skills/cut-release") {
					t.Errorf("%+v", list)
				}
			},
		},
		"create-skill": {
			args:    "writes changelogs",
			told:    []string{"references/skill-format.md", "references/checklist.md", "Base directory for this skill: ", "knack render NAME --no-shell", "The **description** decides"},
			steps:   calls(bash("knack list --all"), bash("knack search changelog"), bash("knack explain aaa"), bash("knack check --fix .")),
			results: "...x",
		},
	}
}
