// Package doctor is `knack doctor` (spec K-14): what this machine and workspace
// look like to knack, and what to mend.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/shell"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// A Finding is one thing that was looked at.
type Finding struct {
	Area   string `json:"area"`
	Name   string `json:"name"`
	Status string `json:"status"` // ok, missing or bad
	Detail string `json:"detail"`
	Fix    string `json:"fix"`
}

type report struct {
	Findings []Finding       `json:"findings"`
	Problems []skill.Problem `json:"problems"`
}

// New returns the command.
func New(f *workspace.Flags) *cobra.Command {
	var store, forget bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the machine and the workspace, and say what to mend",
		Long: `Look at everything that decides how skills behave here: directories, settings,
policies and who set them, hooks whose program is missing, shells, keys, trust,
approvals that do not hold any more, the audit log, what the sandbox of this
machine really holds (each promise with -v), and every problem of the catalog,
each with its fix.

With --trust, doctor also remembers that this workspace is trusted: the grants,
hooks and inline commands of its skills then work. --distrust takes it back.`,
		Example: `  knack doctor
  knack doctor --trust
  knack doctor --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store = f.Trust
			if store && forget {
				return output.Usagef("--trust and --distrust exclude each other")
			}
			e, err := f.Open(cmd)
			if err != nil {
				return err
			}
			if store || forget {
				if err := e.TrustStore().Store(e.ProjectDir(), store); err != nil {
					return fmt.Errorf("storing the answer: %w", err)
				}
			}
			tried, err := sandboxes(cmd.Context(), e, f.Verbose || f.JSON)
			if err != nil {
				return err
			}
			mcp, err := f.Connect(cmd, e)
			if err != nil {
				return err
			}
			r := report{Findings: slices.Concat(findings(cmd.Context(), e), tried, mcpServers(e, f, mcp)), Problems: e.Problems()}
			if r.Problems == nil {
				r.Problems = []skill.Problem{}
			}
			return print(cmd.OutOrStdout(), f, r)
		},
	}
	cmd.Flags().BoolVar(&forget, "distrust", false, "remember that this workspace is not trusted")
	return cmd
}

func findings(ctx context.Context, e *knack.Engine) []Finding {
	var out []Finding
	for _, part := range []func(*knack.Engine) []Finding{system, roots, settingsFiles, policies, hooks, shells, keys, trust} {
		out = append(out, part(e)...)
	}
	return slices.Concat(out, approvals(ctx, e), state(e))
}

func system(e *knack.Engine) []Finding {
	return []Finding{
		{Area: "system", Name: "platform", Status: "ok", Detail: runtime.GOOS + "/" + runtime.GOARCH},
		{Area: "system", Name: "workspace", Status: "ok", Detail: e.Dir()},
		{Area: "system", Name: "project", Status: "ok", Detail: e.ProjectDir()},
	}
}

// roots lists every place that is searched, with how many skills came from it.
func roots(e *knack.Engine) []Finding {
	count := map[string]int{}
	for entry := range e.Snapshot().All() {
		count[entry.Origin.Root]++
	}
	for entry := range e.Snapshot().Shadowed() {
		count[entry.Origin.Root]++
	}
	var out []Finding
	for _, r := range e.Place().Roots() {
		f := Finding{Area: "root", Name: string(r.Source), Status: "ok", Detail: r.Path + ": " + skills(count[r.Path])}
		if fi, err := os.Stat(r.Path); errors.Is(err, os.ErrNotExist) {
			f.Status, f.Detail = "missing", r.Path+": does not exist"
		} else if err != nil {
			f.Status, f.Detail, f.Fix = "bad", err.Error(), "make the directory readable"
		} else if !fi.IsDir() {
			f.Status, f.Detail, f.Fix = "bad", r.Path+": not a directory", "replace it by a directory"
		}
		out = append(out, f)
	}
	return out
}

func skills(n int) string {
	if n == 1 {
		return "1 skill"
	}
	return fmt.Sprintf("%d skills", n)
}

func settingsFiles(e *knack.Engine) []Finding {
	var out []Finding
	for _, s := range e.Settings().Files {
		f := Finding{Area: "settings", Name: string(s.Level), Status: "ok", Detail: s.Path}
		if !s.Exists {
			f.Status, f.Detail = "missing", s.Path+": does not exist"
		}
		for _, p := range e.SettingsProblems() {
			if p.Path == s.Path && p.Severity == skill.Error {
				f.Status, f.Detail = "bad", s.Path+": "+p.Message
				break
			}
		}
		out = append(out, f)
	}
	return out
}

func shells(*knack.Engine) []Finding {
	var out []Finding
	for _, name := range []string{"bash", "powershell"} {
		f := Finding{Area: "shell", Name: name, Status: "ok", Detail: "inline commands of skills can run"}
		if err := (shell.Exec{}).Available(name); err != nil {
			f.Status, f.Detail = "missing", err.Error()
			f.Fix = "install it if a skill says `shell: " + name + "`"
		}
		out = append(out, f)
	}
	f := Finding{Area: "shell", Name: "git", Status: "ok", Detail: "found"}
	if _, err := exec.LookPath("git"); err != nil {
		f.Status, f.Detail, f.Fix = "missing", "not on PATH", "install git: many skills use it"
	}
	return append(out, f)
}

// keys says which providers could be used; a key is never printed.
func keys(*knack.Engine) []Finding {
	var out []Finding
	for _, k := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"} {
		f := Finding{Area: "key", Name: k, Status: "missing", Detail: "not set; the offline model needs none"}
		if os.Getenv(k) != "" {
			f.Status, f.Detail = "ok", "set"
		}
		out = append(out, f)
	}
	return out
}

func trust(e *knack.Engine) []Finding {
	f := Finding{Area: "trust", Name: "workspace", Status: "ok", Detail: e.ProjectDir() + " is trusted"}
	if trusted, known, err := e.TrustStore().Trusted(e.ProjectDir()); err != nil {
		f.Status, f.Detail, f.Fix = "bad", err.Error(), "run `knack doctor --trust` to store the answer again"
	} else if !trusted {
		f.Status, f.Detail, f.Fix = "missing", "not trusted: grants, hooks and inline commands of its skills are off", "`knack doctor --trust`, if you trust this repository"
		if known {
			f.Detail = "distrusted by your stored answer"
		}
	}
	return []Finding{f}
}

func print(w io.Writer, f *workspace.Flags, r report) error {
	bad := false
	for _, x := range r.Findings {
		bad = bad || x.Status == "bad"
	}
	for _, p := range r.Problems {
		bad = bad || p.Severity == skill.Error
	}
	var err error
	if f.JSON {
		err = output.JSON(w, r)
	} else {
		write(w, f.Style(w), r)
	}
	if err == nil && bad {
		return output.ErrFound
	}
	return err
}

func write(w io.Writer, st output.Style, r report) {
	mark := map[string]func(string) string{"ok": st.Green, "missing": st.Dim, "bad": st.Red}
	for _, x := range r.Findings {
		status := mark[x.Status](x.Status + strings.Repeat(" ", 7-len(x.Status)))
		fmt.Fprintf(w, "%s  %-8s %s: %s\n", status, x.Area, text.Terminal(x.Name), output.Tilde(text.Terminal(x.Detail)))
		if x.Fix != "" {
			fmt.Fprintf(w, "    fix: %s\n", output.Tilde(text.Terminal(x.Fix)))
		}
	}
	for _, p := range r.Problems {
		fmt.Fprintln(w, output.Problem(p))
	}
}
