// Package workspace holds the flags that every command shares (spec chapter 14)
// and opens the engine that they describe.
package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/internal/cli/keyring"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/sandbox"
	"github.com/knack-skills/knack/settings"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// Flags are the common flags of all commands.
type Flags struct {
	Dir            string
	AddDirs        []string
	PluginDirs     []string
	Settings       string
	SettingSources string
	MCPConfig      []string
	Trust          bool
	JSON           bool
	NoColor        bool
	Verbose        bool

	Version string // of this program, for servers

	// Meet is called when a workspace is not trusted; again reports that it has
	// to be loaded again. Nil asks nobody.
	Meet func(ctx context.Context, e *knack.Engine) (again bool, err error)

	closers []func() error // of the MCP servers of this run

	boxes []*sandbox.Sandbox // of the engines of this run

	told notTrusted // what was said about trust

	// sourcesSet tells an empty --setting-sources from an absent one.
	sourcesSet bool
}

// Register adds the flags to fs.
func (f *Flags) Register(fs *pflag.FlagSet) {
	fs.StringVarP(&f.Dir, "directory", "C", ".", "workspace `DIR`")
	fs.StringArrayVar(&f.AddDirs, "add-dir", nil, "also use the skills of `DIR` (repeatable)")
	fs.StringArrayVar(&f.PluginDirs, "plugin-dir", nil, "also use the plugin in `DIR` (repeatable)")
	fs.StringVar(&f.Settings, "settings", "", "settings `FILE`, or a JSON object")
	fs.StringVar(&f.SettingSources, "setting-sources", "", "read only these of user,project,local (`LIST`)")
	fs.StringArrayVar(&f.MCPConfig, "mcp-config", nil, "also use MCP servers of `FILE`, or JSON")
	fs.BoolVar(&f.Trust, "trust", false, "treat the workspace as trusted for this run")
	fs.BoolVar(&f.JSON, "json", false, "print JSON")
	fs.BoolVar(&f.NoColor, "no-color", false, "print without colour (as NO_COLOR does)")
	fs.BoolVarP(&f.Verbose, "verbose", "v", false, "say more on standard error")
}

// Open loads the workspace that the flags of cmd describe. Problems of settings
// are reported on standard error; those of skills only with -v, since every
// command that lists skills shows them in its own way.
func (f *Flags) Open(cmd *cobra.Command, with ...func(*knack.Options)) (*knack.Engine, error) {
	e, err := f.load(cmd, with...)
	if err != nil {
		return nil, err
	}
	if f.Meet != nil && !e.Trusted() {
		again, err := f.Meet(cmd.Context(), e)
		if err != nil {
			return nil, errors.Join(err, e.Close())
		}
		if again {
			first := e
			if e, err = f.load(cmd, with...); err != nil {
				return nil, errors.Join(err, first.Close())
			}
			if err := first.Close(); err != nil {
				return nil, errors.Join(err, e.Close())
			}
		}
	}
	f.report(cmd.ErrOrStderr(), e)
	return e, f.usable(e)
}

func (f *Flags) load(cmd *cobra.Command, with ...func(*knack.Options)) (*knack.Engine, error) {
	f.sourcesSet = cmd.Flags().Changed("setting-sources")
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	o.AuditLost = func(err error) { fmt.Fprintln(cmd.ErrOrStderr(), "notice: "+text.Terminal(err.Error())) }
	for _, w := range with {
		w(&o)
	}
	of := f.sandboxed(cmd, &o)
	e, err := knack.New(cmd.Context(), o)
	of(e)
	return e, err
}

// usable refuses settings of the command line that cannot be read: what they
// were to forbid would otherwise be allowed.
func (f *Flags) usable(e *knack.Engine) error {
	if f.Settings == "" {
		return nil
	}
	for _, p := range e.SettingsProblems() {
		if p.Severity == skill.Error && (p.Path == f.Settings || p.Path == "--settings") {
			return output.Usagef("--settings: %s", p.Message)
		}
	}
	return nil
}

func (f *Flags) options() (knack.Options, error) {
	o := knack.Options{Dir: f.Dir, AddDirs: f.AddDirs, PluginDirs: f.PluginDirs, Settings: f.Settings, Trust: f.Trust,
		Keyring: keyring.System(os.Getenv)}
	if fi, err := os.Stat(f.Dir); err != nil || !fi.IsDir() {
		return o, output.Usagef("-C: %s is not a directory", f.Dir)
	}
	// What is typed is relative to where it is typed, whatever -C says.
	o.AddDirs, o.PluginDirs = slices.Clone(f.AddDirs), slices.Clone(f.PluginDirs)
	for _, list := range [][]string{o.AddDirs, o.PluginDirs} {
		for i, d := range list {
			abs, err := filepath.Abs(ExpandHome(d))
			if fi, serr := os.Stat(abs); err != nil || serr != nil || !fi.IsDir() {
				return o, output.Usagef("%s is not a directory (--add-dir and --plugin-dir take existing ones)", d)
			}
			list[i] = abs
		}
	}
	if !f.sourcesSet {
		return o, nil
	}
	o.SettingSources = []string{}
	for _, s := range strings.FieldsFunc(f.SettingSources, func(r rune) bool { return r == ',' || r == ' ' }) {
		switch settings.Level(s) {
		case settings.UserLevel, settings.ProjectLevel, settings.LocalLevel:
			o.SettingSources = append(o.SettingSources, s)
		default:
			return o, output.Usagef("--setting-sources: %q is none of user, project, local", s)
		}
	}
	return o, nil
}

// ExpandHome reads a leading "~" as the home directory; "~name" is left alone.
func ExpandHome(d string) string {
	if rest, ok := skill.CutHome(d); ok {
		if h, err := os.UserHomeDir(); err == nil {
			return h + rest
		}
	}
	return d
}

func (f *Flags) report(w io.Writer, e *knack.Engine) {
	var off []skill.Problem
	for _, p := range e.SettingsProblems() {
		if waits[p.Code] && !f.Verbose {
			off = append(off, p)
			continue
		}
		if p.Severity == skill.Info && !f.Verbose && managed(e, p.Path) {
			continue // hints for the administrator, who asks `knack doctor`
		}
		fmt.Fprintln(w, output.Problem(p))
	}
	f.told.settings(w, off)
	if !f.Verbose {
		return
	}
	for _, p := range e.Snapshot().Problems {
		fmt.Fprintln(w, output.Problem(p))
	}
	if err := e.IndexError(); err != nil {
		fmt.Fprintln(w, "notice: the index of skill files is not kept, so they are read at each start:", err)
	}
}

// managed reports whether path is a settings file of the administrator.
func managed(e *knack.Engine, path string) bool {
	return slices.ContainsFunc(e.Settings().Files, func(s settings.File) bool {
		return s.Level == settings.ManagedLevel && s.Path == path
	})
}

// Style returns how to print on w.
func (f *Flags) Style(w io.Writer) output.Style { return output.NewStyle(w, f.NoColor) }

// By reads the value of a --by flag.
func By(value string) (invoke.Caller, error) {
	switch c := invoke.Caller(value); c {
	case invoke.ByUser, invoke.ByModel:
		return c, nil
	}
	return "", output.Usagef("--by: %q is neither user nor model", value)
}

// Quiet loads the workspace without a word, for completion: a person is in the
// middle of typing.
func (f *Flags) Quiet(cmd *cobra.Command) (*knack.Engine, error) {
	if cmd.Context() == nil {
		cmd.SetContext(context.Background())
	}
	return f.load(cmd)
}

// CompleteNames completes skill names for commands that take one. It says
// nothing of problems: a person is in the middle of typing.
func (f *Flags) CompleteNames(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	if cmd.Context() == nil {
		cmd.SetContext(context.Background())
	}
	e, err := f.load(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for entry := range e.Snapshot().All() {
		if strings.HasPrefix(entry.ID, typed) {
			out = append(out, cobra.CompletionWithDesc(entry.ID, output.Brief(entry.Description)))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
