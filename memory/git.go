package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/knack-skills/knack/text"
)

// A Git runs git with arguments in a directory and returns what it prints.
// [Program] is the installed one; tests bring their own.
type Git interface {
	Git(ctx context.Context, dir string, args ...string) (string, error)
}

// GitOptions configures [Status]. The zero value uses the installed git and
// does not trust the repository.
type GitOptions struct {
	Git     Git           // nil means Program
	Timeout time.Duration // for everything together; zero means 3 seconds
	// Trusted: the configuration of the repository may name programs that git
	// runs to compare files (spec S-9).
	Trusted bool
}

// The size of the status block.
const (
	maxChanged = 40 // changed files that are named
	maxCommits = 5
)

// A Repository is the state of a git repository, at one moment.
type Repository struct {
	Branch   string // empty when detached
	Upstream string // as git says it: "origin/main [ahead 1]"
	Commit   string // abbreviated; empty before the first commit
	Changes  []string
	More     int    // changed files that are not in Changes
	Skipped  string // why there are no Changes; empty when there are, or when all is clean
	Commits  []string
}

// Status asks git about the repository of dir (spec A-5). It is nil without
// git, without a repository, or when git does not answer in time; nothing here
// is worth an error. It changes nothing and starts no program that the
// repository names.
func Status(ctx context.Context, dir string, o GitOptions) *Repository {
	git := o.Git
	if git == nil {
		git = Program{}
	}
	limit := o.Timeout
	if limit == 0 {
		limit = 3 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if out, err := git.Git(ctx, dir, "rev-parse", "--is-inside-work-tree"); err != nil || strings.TrimSpace(out) != "true" {
		return nil
	}
	r := &Repository{}
	if out, err := git.Git(ctx, dir, "rev-parse", "--short", "HEAD"); err == nil {
		r.Commit = text.Line(out)
	}
	if out, err := git.Git(ctx, dir, "log", fmt.Sprintf("--max-count=%d", maxCommits), "--no-show-signature", "--no-decorate", "--format=%h %s"); err == nil && r.Commit != "" {
		for line := range strings.Lines(out) {
			r.Commits = append(r.Commits, text.Line(line))
		}
	}
	if r.Skipped = runsPrograms(ctx, git, dir, o.Trusted); r.Skipped != "" {
		if out, err := git.Git(ctx, dir, "symbolic-ref", "--short", "--quiet", "HEAD"); err == nil {
			r.Branch = text.Line(out)
		}
		return r
	}
	out, err := git.Git(ctx, dir, "status", "--porcelain=v1", "--branch", "--ignore-submodules=all", "--untracked-files=normal")
	if err != nil {
		r.Skipped = "git did not answer in time"
		if ctx.Err() == nil {
			r.Skipped = "git could not tell"
		}
		return r
	}
	r.readStatus(out)
	return r
}

// runsPrograms says why status is not asked for, or "": filters named in the
// configuration that comes with a repository are programs, and comparing files
// starts them.
func runsPrograms(ctx context.Context, git Git, dir string, trusted bool) string {
	if trusted {
		return ""
	}
	// Exit 1, an error here, means that nothing matches.
	out, err := git.Git(ctx, dir, "config", "--local", "--includes", "--name-only", "--get-regexp", `^filter\..*\.(clean|process)$`)
	if err == nil && strings.TrimSpace(out) != "" {
		return "the configuration of the repository names programs to compare files with, and the workspace is not trusted"
	}
	return ""
}

// readStatus reads the output of status --porcelain=v1 --branch.
func (r *Repository) readStatus(out string) {
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\r\n")
		if head, ok := strings.CutPrefix(line, "## "); ok {
			r.readBranch(head)
			continue
		}
		if len(line) < 4 {
			continue
		}
		if len(r.Changes) == maxChanged {
			r.More++
			continue
		}
		r.Changes = append(r.Changes, line[:2]+" "+text.Line(line[3:]))
	}
}

func (r *Repository) readBranch(head string) {
	for _, prefix := range []string{"No commits yet on ", "Initial commit on "} {
		head = strings.TrimPrefix(head, prefix)
	}
	if strings.HasPrefix(head, "HEAD (no branch)") {
		return
	}
	branch, upstream, _ := strings.Cut(head, "...")
	r.Branch, r.Upstream = text.Line(branch), text.Line(upstream)
}

// Render returns the block about the repository; "" for nil. The same state
// gives the same bytes.
func (r *Repository) Render() string {
	if r == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("Git, as it was when the conversation began (it is not updated):\n")
	switch {
	case r.Branch != "":
		b.WriteString("Branch: " + r.Branch)
	case r.Commit != "":
		b.WriteString("Branch: none, detached at " + r.Commit)
	default:
		b.WriteString("Branch: unknown")
	}
	if r.Upstream != "" {
		b.WriteString(" (tracks " + r.Upstream + ")")
	}
	b.WriteString("\nChanges:")
	switch {
	case r.Skipped != "":
		b.WriteString(" not known; " + r.Skipped + "\n")
	case len(r.Changes) == 0:
		b.WriteString(" none\n")
	default:
		b.WriteString("\n" + strings.Join(r.Changes, "\n") + "\n")
		if r.More > 0 {
			fmt.Fprintf(&b, "… and %d more\n", r.More)
		}
	}
	if len(r.Commits) == 0 {
		b.WriteString("Commits: none yet")
		return b.String()
	}
	b.WriteString("Last commits:\n" + strings.Join(r.Commits, "\n"))
	return b.String()
}

// Program is the installed git, told to change nothing, to ask nobody, to fetch
// nothing, and to start none of the programs that a configuration can name.
type Program struct{}

// maxOutput is how much of git's output is kept.
const maxOutput = 1 << 20

// hardened come before the subcommand.
var hardened = []string{
	"--no-pager", "--no-optional-locks",
	"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "log.showSignature=false",
	"-c", "core.quotePath=false", "-c", "color.ui=false", "-c", "submodule.recurse=false", "-c", "core.pager=cat",
}

// Git runs git. It returns an error for any exit status but 0.
func (Program) Git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", slices.Concat(hardened, args)...)
	cmd.Dir = dir
	cmd.Env = environment(os.Environ())
	cmd.WaitDelay = time.Second
	out := &head{}
	cmd.Stdout = out
	if err := cmd.Run(); err != nil {
		if errors.Is(err, exec.ErrDot) {
			return "", fmt.Errorf("git of the current directory is not run: %w", err)
		}
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return out.buf.String(), nil
}

// environment is env without what points git elsewhere or runs programs.
func environment(env []string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "GIT_")
	})
	return append(out, "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_PAGER=cat", "LC_ALL=C")
}

// head keeps the beginning of what is written to it.
type head struct{ buf bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	h.buf.Write(p[:min(len(p), maxOutput-h.buf.Len())])
	return len(p), nil
}
