package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/sandbox"
	"github.com/knack-skills/knack/text"
)

// sandboxed makes the commands of an engine run as the setting `sandbox` says
// (spec S-13). The engine is made after its shell, so it is handed over later.
func (f *Flags) sandboxed(cmd *cobra.Command, o *knack.Options) (of func(*knack.Engine)) {
	var e *knack.Engine
	if o.Shell != nil {
		return func(*knack.Engine) {}
	}
	self, err := os.Executable()
	if err != nil {
		self = "" // then there is no sandbox, which the probe says
	}
	box := sandbox.New(sandbox.Options{
		Self:   self,
		Policy: func() sandbox.Policy { return policy(e) },
		Notice: func(m string) { fmt.Fprintln(cmd.ErrOrStderr(), "WARNING: "+text.Terminal(m)) },
	})
	o.Shell = box
	f.boxes = append(f.boxes, box)
	return func(made *knack.Engine) { e = made }
}

// policy is what the settings of a workspace allow its commands: to write in it,
// in its repository and in the directories that were added.
func policy(e *knack.Engine) sandbox.Policy {
	p := sandbox.Policy{Mode: sandbox.Mode(e.Settings().Sandbox), Dirs: append([]string{e.Dir()}, e.MoreDirs()...)}
	// A home that is a repository is still a home.
	if !holds(e.ProjectDir(), e.Place().Home) {
		p.Dirs = append(p.Dirs, e.ProjectDir())
	}
	return p
}

// holds reports whether path is dir or lies below it.
func holds(dir, path string) bool {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	rel, err := filepath.Rel(dir, path)
	return path != "" && err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// Close ends the MCP servers of this run, and removes what the commands of this run kept in their temporary directory.
func (f *Flags) Close() error {
	var errs []error
	for _, end := range f.closers {
		errs = append(errs, end())
	}
	for _, b := range f.boxes {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}
