package fetch

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/knack-skills/knack/extract"
	"github.com/knack-skills/knack/plugin"
)

// gitSafe are the settings under which git runs: none of them lets the repository
// start a program.
var gitSafe = []string{
	"-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=false", "-c", "core.fsmonitor=false", "-c", "protocol.ext.allow=never",
	"-c", "submodule.recurse=false", "-c", "fetch.recurseSubmodules=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
	"-c", "advice.detachedHead=false", "-c", "transfer.fsckObjects=false",
}

// A repository is one bare repository of our own.
type repository struct{ dir string }

// command makes a run of git. It has no terminal to ask on, and the directory is
// named, so that no other repository is meant.
func (r repository) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append(append([]string{}, gitSafe...), args...)...)
	cmd.Dir = r.dir
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "GIT_") || name == "GIT_SSH_COMMAND" || name == "GIT_SSL_CAINFO" {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_NOSYSTEM=1", "GIT_DIR="+r.dir, "GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C",
		"GIT_LFS_SKIP_SMUDGE=1", "GIT_ALLOW_PROTOCOL=https:http:ssh:file:git+ssh")
	return cmd
}

func (r repository) run(ctx context.Context, args ...string) (string, error) {
	var out, errs bytes.Buffer
	cmd := r.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return "", errors.New("there is no program git; install it")
		}
		return "", fmt.Errorf("git %s: %w: %s", args[0], cmp.Or(ctx.Err(), err), lastLine(errs.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// lastLine is what git says the matter is.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for _, l := range lines {
		if strings.HasPrefix(l, "fatal:") || strings.HasPrefix(l, "error:") {
			return l
		}
	}
	return lines[len(lines)-1]
}

// git fetches one commit and reads its tree. Nothing is checked out.
func (f Fetcher) git(ctx context.Context, o plugin.Origin, into string) (plugin.Fetched, error) {
	from := o.URL
	if o.Kind == plugin.GitHub {
		from = "https://github.com/" + o.Repo + ".git"
	}
	temp, err := os.MkdirTemp("", "knack-git-*")
	if err != nil {
		return plugin.Fetched{}, err
	}
	defer os.RemoveAll(temp)
	r := repository{temp}
	if _, err := r.run(ctx, "init", "--quiet", "--bare", "--", temp); err != nil {
		return plugin.Fetched{}, err
	}
	commit, err := r.fetch(ctx, from, o)
	if err != nil {
		return plugin.Fetched{}, err
	}
	got, err := f.write(into, true, func(w *extract.Writer) error {
		return r.tree(ctx, w, commit, path.Clean(filepath.ToSlash(cmp.Or(o.Path, "."))))
	})
	got.Commit = commit
	return got, err
}

// fetch gets the commit that o means, alone where the server lets it.
func (r repository) fetch(ctx context.Context, from string, o plugin.Origin) (commit string, err error) {
	fetch := func(args ...string) error {
		_, err := r.run(ctx, append([]string{"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"}, args...)...)
		return err
	}
	want := o.SHA
	if want == "" {
		err = fetch("--depth=1", "--", from, "+"+cmp.Or(o.Ref, "HEAD")+":refs/knack/want")
		want = "refs/knack/want"
	} else if err = fetch("--depth=1", "--", from, o.SHA); err != nil && ctx.Err() == nil {
		// A server that gives no single commits gives all that it has a name for.
		err = fetch("--", from, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
	}
	if err != nil {
		return "", err
	}
	commit, err = r.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", want+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("there is no commit %s in it", cmp.Or(o.SHA, o.Ref, "HEAD"))
	}
	if o.SHA != "" && commit != o.SHA {
		return "", fmt.Errorf("the commit is %s, and %s was expected", commit, o.SHA)
	}
	return commit, nil
}

// A blob is one file or link of a tree.
type blob struct{ mode, hash, name string }

// tree writes the files of a commit below sub.
func (r repository) tree(ctx context.Context, w *extract.Writer, commit, sub string) error {
	args := []string{"ls-tree", "-r", "-z", "--full-tree", commit}
	if sub != "." {
		args = append(args, "--", sub+"/")
	}
	list, err := r.command(ctx, args...).Output()
	if err != nil {
		return fmt.Errorf("git ls-tree: %w", err)
	}
	var blobs []blob
	for line := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		head, name, ok := strings.Cut(line, "\t")
		fields := strings.Fields(head)
		if !ok || len(fields) != 3 {
			continue
		}
		if sub != "." {
			if name, ok = strings.CutPrefix(name, sub+"/"); !ok {
				continue
			}
		}
		if fields[1] != "blob" {
			w.Skip(name, "is a repository in the repository")
			continue
		}
		blobs = append(blobs, blob{fields[0], fields[2], name})
	}
	if len(blobs) == 0 {
		return fmt.Errorf("there is no directory %q in it", sub)
	}
	return r.copy(ctx, w, blobs)
}

// copy reads blobs from one process of git.
func (r repository) copy(ctx context.Context, w *extract.Writer, blobs []blob) (err error) {
	cmd := r.command(ctx, "cat-file", "--batch")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		_ = in.Close()
		if err != nil {
			_ = cmd.Process.Kill() // it may be in the middle of a large file
		}
		err = cmp.Or(err, cmd.Wait())
	}()
	read := bufio.NewReader(out)
	for _, b := range blobs {
		if _, err := fmt.Fprintln(in, b.hash); err != nil {
			return err
		}
		head, err := read.ReadString('\n')
		if err != nil {
			return fmt.Errorf("git cat-file: %w", err)
		}
		fields := strings.Fields(head)
		if len(fields) != 3 || fields[1] != "blob" {
			return fmt.Errorf("git cat-file: %.100s", head)
		}
		size, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			return fmt.Errorf("git cat-file: %.100s", head)
		}
		body := io.LimitReader(read, size)
		if b.mode == "120000" {
			err = link(w, b.name, body)
		} else {
			err = w.File(b.name, b.mode == "100755", body)
		}
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, body); err != nil {
			return err
		}
		if _, err := read.Discard(1); err != nil {
			return err
		}
	}
	return nil
}

const maxTarget = 4096

func link(w *extract.Writer, name string, body io.Reader) error {
	target, err := io.ReadAll(io.LimitReader(body, maxTarget))
	if err != nil {
		return err
	}
	return w.Link(name, string(target))
}
