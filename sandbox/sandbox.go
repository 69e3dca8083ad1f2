// Package sandbox runs commands so that they write only where they may and
// reach no network (spec S-13).
//
// [Sandbox] is a [shell.Runner]: it puts a sandbox in front of the interpreter
// and leaves everything else, from arguments to killing, to [shell.Exec]. What a
// mechanism of the machine really enforces is tried before the first command
// ([Sandbox.Probe]); what cannot be enforced is said and never pretended.
//
// On Linux the sandbox is a process of the program itself, which ties its own
// hands and then starts the interpreter. A program that uses this package
// therefore begins with
//
//	if code, mine := sandbox.Main(os.Args); mine {
//		os.Exit(code)
//	}
//
// and names itself in [Options.Self]. Reading is not limited: a command sees the
// files that its person sees.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/knack-skills/knack/shell"
)

// A Mode says what happens to a command where there is no sandbox.
type Mode string

// The modes are the values of the setting `sandbox`.
const (
	Off      Mode = "off"      // no sandbox
	On       Mode = "on"       // the best one there is; without any, one loud notice
	Required Mode = "required" // none of the promises may be missing, or nothing runs
)

// A Policy is what holds for a command.
type Policy struct {
	Mode Mode // empty is Off
	// Dirs may be written, besides the temporary directory. They are absolute.
	// One that does not exist is left out.
	Dirs    []string
	Network bool // the network may be reached
}

// Options configures [New].
type Options struct {
	// Policy is asked before each command, so that changed settings hold at
	// once. It may be called by several goroutines. Nil is Off.
	Policy func() Policy
	// Self is the path of an executable that begins with [Main], usually that of
	// os.Executable. Empty is none, and then Linux has no sandbox.
	Self string
	// Temp is where the private temporary directory is made; empty is os.TempDir.
	Temp string
	// Notice is told, once, what is not enforced in mode On. Nil tells nobody.
	Notice func(message string)
}

// A Sandbox runs commands of one session and keeps their temporary directory.
// It is safe for concurrent use. Protected paths of the writable directories,
// like .git, are read-only for its commands; see [Sandbox.Unprotected].
type Sandbox struct {
	o          Options // fixed at creation
	mechanisms []mechanism

	mu      sync.Mutex        // guards what follows
	report  *Report           // nil until probed
	chosen  *mechanism        // nil is none
	temp    string            // empty until needed
	real    map[string]string // directories as they were first; empty is none
	noticed bool
}

// New returns a sandbox. Nothing is tried or made before the first command.
func New(o Options) *Sandbox {
	o.Self = itself(o.Self)
	return &Sandbox{o: o, mechanisms: mechanisms()}
}

// An UnavailableError reports that a command did not run because its sandbox is
// required and something that it promises cannot be enforced.
type UnavailableError struct {
	Missing []Check // what is not enforced, and why
	Reason  string  // why there is none, when Missing is empty
}

// Error says what is missing and what to do.
func (e *UnavailableError) Error() string {
	reasons := []string{}
	for _, c := range e.Missing {
		reasons = append(reasons, string(c.Promise)+" ("+c.Detail+")")
	}
	if e.Reason != "" {
		reasons = append(reasons, e.Reason)
	}
	return "not run: a sandbox is required and not to be had here: " + strings.Join(reasons, "; ") +
		"; see `knack doctor -v`, or set sandbox to \"on\" to accept less"
}

// Run runs c in the sandbox that the policy asks for. In mode Required it
// returns an [*UnavailableError] where there is none.
func (s *Sandbox) Run(ctx context.Context, c shell.Command) (shell.Output, error) {
	return s.run(ctx, c, true)
}

// Available returns a [*shell.MissingError] when the interpreter is not installed.
func (*Sandbox) Available(name string) error { return shell.Exec{}.Available(name) }

// Unprotected returns a runner whose commands may also write protected paths of
// the writable directories. It is for commands that were decided one by one,
// such as those of the Bash tool: git could not commit otherwise.
func (s *Sandbox) Unprotected() shell.Runner { return unprotected{s} }

type unprotected struct{ s *Sandbox }

func (u unprotected) Run(ctx context.Context, c shell.Command) (shell.Output, error) {
	return u.s.run(ctx, c, false)
}

func (u unprotected) Available(name string) error { return u.s.Available(name) }

func (s *Sandbox) run(ctx context.Context, c shell.Command, protect bool) (shell.Output, error) {
	var p Policy
	if s.o.Policy != nil {
		p = s.o.Policy()
	}
	switch p.Mode {
	case "", Off:
		return shell.Exec{}.Run(ctx, c)
	case On, Required:
	default: // a word of a later version is no reason to run without
		return shell.Output{}, &UnavailableError{Reason: fmt.Sprintf("the mode %q is unknown", p.Mode)}
	}
	m, report, err := s.choose(ctx)
	if err != nil {
		return shell.Output{}, err
	}
	su, err := s.setup(p, protect)
	if err != nil {
		return shell.Output{}, err
	}
	missing := report.missing(p.Network, protect)
	if p.Mode == Required && len(missing) > 0 {
		return shell.Output{}, report.unavailable(missing)
	}
	if len(missing) > 0 {
		s.notice(report, missing)
	}
	if m == nil {
		return shell.Exec{}.Run(ctx, c)
	}
	g := guard(su)
	out, err := shell.Exec{Prepare: func(cmd *exec.Cmd) error {
		cmd.Env = append(cmd.Env, "TMPDIR="+su.temp, "TMP="+su.temp, "TEMP="+su.temp)
		return m.wrap(cmd, su)
	}}.Run(ctx, c)
	if note := g.withdraw(); note != "" {
		if c.Merge {
			out.Stdout = append(out.Stdout, note...)
		} else {
			out.Stderr = append(out.Stderr, note...)
		}
	}
	return out, err
}

// notice tells what does not hold, once.
func (s *Sandbox) notice(r Report, missing []Check) {
	s.mu.Lock()
	first := !s.noticed
	s.noticed = true
	s.mu.Unlock()
	if !first || s.o.Notice == nil {
		return
	}
	if r.Mechanism == "" {
		s.o.Notice("there is no sandbox here, so commands run with all your rights: " + strings.Join(r.Tried, "; "))
		return
	}
	var parts []string
	for _, c := range missing {
		parts = append(parts, string(c.Promise)+" ("+c.Detail+")")
	}
	s.o.Notice("the sandbox (" + r.Mechanism + ") does not hold everything here; not enforced: " + strings.Join(parts, "; "))
}

// setup is what one sandbox is made of.
type setup struct {
	self string
	// roots may be written. They are absolute and real, and none lies in
	// another: no command can put something else in their place.
	roots []string
	temp  string // below one of them
	// protected are paths that stay as they are, whether they exist or not.
	protected []string
	network   bool
}

// setup finds out what a command may do.
func (s *Sandbox) setup(p Policy, protect bool) (setup, error) {
	temp, err := s.tempDir()
	if err != nil {
		return setup{}, err
	}
	dirs, err := s.resolve(p.Dirs)
	if err != nil {
		return setup{}, err
	}
	su := setup{self: s.o.Self, roots: outermost(append([]string{temp}, dirs...)), temp: temp, network: p.Network}
	if protect {
		su.protected = protectedPaths(dirs)
	}
	return su, nil
}

// resolve returns directories without links. Each is resolved once, before a
// command can have made a link of it; one that was not there stays left out.
func (s *Sandbox) resolve(dirs []string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, d := range dirs {
		real, known := s.real[d]
		if !known {
			var err error
			if real, err = filepath.EvalSymlinks(d); err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, fmt.Errorf("sandbox: %w", err)
			}
			if s.real == nil {
				s.real = map[string]string{}
			}
			s.real[d] = real
		}
		switch {
		case real == "":
			continue
		case !filepath.IsAbs(real):
			return nil, fmt.Errorf("sandbox: %s is not absolute", d)
		case filepath.Dir(real) == real:
			return nil, &UnavailableError{Reason: real + " is to be written, which is everything: start in a directory below it"}
		}
		out = append(out, real)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// outermost leaves out what lies in another of the directories.
func outermost(dirs []string) []string {
	var out []string
	for i, d := range dirs {
		covered := false
		for j, other := range dirs {
			covered = covered || i != j && inside(d, other) && (d != other || j < i)
		}
		if !covered {
			out = append(out, d)
		}
	}
	return out
}

// inside reports whether path is dir or lies below it; both are clean.
func inside(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, dir+string(filepath.Separator))
}

// tempDir returns the private temporary directory.
func (s *Sandbox) tempDir() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.temp != "" {
		if fi, err := os.Lstat(s.temp); err == nil && fi.IsDir() {
			return s.temp, nil
		}
	}
	dir, err := os.MkdirTemp(s.o.Temp, "knack-")
	if err != nil {
		return "", fmt.Errorf("sandbox: %w", err)
	}
	if s.temp, err = filepath.EvalSymlinks(dir); err != nil {
		return "", fmt.Errorf("sandbox: %w", err)
	}
	return s.temp, nil
}

// Close removes the temporary directory. A later command gets a new one.
func (s *Sandbox) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.temp == "" {
		return nil
	}
	temp := s.temp
	s.temp = ""
	return os.RemoveAll(temp)
}
