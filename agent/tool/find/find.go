// Package find holds the tools that look for files and for text in them: Glob
// and Grep (spec A-3). They honour ignore files as git does, start no other
// program, and follow no links below the directory they start in.
//
// The tools hold no state and are safe for concurrent use.
package find

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
)

// Options say where to look and what to keep back.
type Options struct {
	Base tool.Base
	// Refused reports whether rules keep an agent from reading a file: it is
	// left out of results and a note counts it. A search is approved for a
	// directory, but a deny rule may speak of one file in it (spec S-8). It is
	// asked about files that match only, from several goroutines at once. Nil
	// refuses nothing.
	Refused func(a session.AgentID, path string) bool
}

func (o *Options) refused(a session.AgentID, path string) bool {
	return o.Refused != nil && o.Refused(a, path)
}

// Tools returns Glob and Grep.
func Tools(o Options) []agent.Tool { return []agent.Tool{NewGlob(o), NewGrep(o)} }

// request reads the path of a call; an empty one is the working directory.
func (o *Options) request(name, path string) (permission.Request, error) {
	if path == "" {
		path = o.Base.Dir
	}
	abs, err := o.Base.Abs("path", path)
	if err != nil {
		return permission.Request{}, fmt.Errorf("%s: %w", name, err)
	}
	req, err := o.Base.Request(name, abs)
	if err != nil {
		return req, fmt.Errorf("%s: %w", name, err)
	}
	return req, nil
}

// start looks at the place a search begins at, which may be a file.
func start(req permission.Request) (os.FileInfo, error) {
	if err := tool.Unmoved(req); err != nil {
		return nil, err
	}
	info, err := os.Stat(req.Input.RealPath)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be searched: %w", req.Input.Path, err)
	}
	return info, nil
}

// under is the path of a file that a walk found, as it is shown.
func under(req permission.Request, rel string) string {
	return filepath.Join(req.Input.Path, filepath.FromSlash(rel))
}

// failed is a result that tells the model what went wrong.
func failed(err error) (agent.Result, error) {
	return agent.Result{Text: err.Error(), IsError: true}, nil
}

// notes are the remarks below a result, one a line in brackets.
type notes []string

func (n *notes) add(format string, args ...any) {
	*n = append(*n, "["+fmt.Sprintf(format, args...)+"]")
}

// below joins a result and its notes.
func (n notes) below(text string) string {
	return strings.TrimSuffix(text, "\n") + "\n" + strings.Join(n, "\n")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
