package knack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/knack-skills/knack/audit"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/listing"
	"github.com/knack-skills/knack/plugin"
	"github.com/knack-skills/knack/search"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/settings"
	"github.com/knack-skills/knack/shell"
	"github.com/knack-skills/knack/source/bundled"
	"github.com/knack-skills/knack/source/dir"
)

// Options configures [New]. The zero value is a workspace in the current
// directory with the standard bundled skills and everything that the person's
// and the administrator's settings say.
type Options struct {
	Dir            string   // workspace; empty means the current directory
	AddDirs        []string // further directories whose skills count (spec C-2), relative to Dir
	PluginDirs     []string // directories of plugins that are enabled for this run, relative to Dir
	Settings       string   // a settings file or JSON object, as --settings
	SettingSources []string // of user, project, local; nil means all
	Trust          bool     // treat the workspace as trusted, for this engine only
	ContextTokens  int      // size of the model's context window; zero means 200,000

	Bundled   []bundled.Skill  // nil means bundled.Standard
	NoBundled bool             // no compiled-in skills at all
	Sources   []catalog.Source // further sources of the host's own
	Bare      bool             // no skills but those of AddDirs (spec A-7)

	Home      string              // home directory; empty means os.UserHomeDir
	StateDir  string              // empty means state.Dir
	Getenv    func(string) string // environment of the configuration; nil means os.Getenv
	SessionID string              // empty means a new random one
	Session   *session.Session    // one that is resumed, with its own id; nil begins a new one
	Shell     shell.Runner        // runs inline commands; nil means shell.Exec
	Ask       invoke.Asker        // answers permission questions; nil refuses them
	Fork      invoke.Forker       // runs subagents; nil refuses forked skills
	Keyring   plugin.Keyring      // keeps what plugins are given in confidence; nil leaves it to a file
	// Audit is told what is decided and run (spec S-12); nil is audit.jsonl in
	// StateDir.
	Audit audit.Sink
	// AuditLost is told when that file cannot be written, once, by whichever
	// goroutine finds out; nil tells nobody.
	AuditLost func(error)
}

// DefaultContextTokens is the window that a listing is budgeted for when the
// host does not say.
const DefaultContextTokens = 200_000

// An Engine is the skills system of one workspace and one session. It is safe
// for concurrent use; its catalog is read through immutable snapshots.
type Engine struct {
	opts    Options // fixed at creation, defaults filled in
	real    string  // Dir without links
	project string  // see ProjectDir
	place   dir.Place
	trusted bool
	decided bool                   // trust is an answer already
	config  atomic.Pointer[config] // see conf
	catalog *catalog.Catalog
	session *session.Session
	audit   audit.Sink      // see Audit
	log     *audit.Log      // behind it; nil for a sink of the host's own
	bundled *bundled.Source // nil without compiled-in skills

	active   []plugin.Active // the plugins that are on
	pluginMu sync.Mutex      // guards the three fields below
	forgot   int             // how often the two below were
	plugins  []Plugin        // see Plugins; nil before
	hooks    []PluginHook    // see PluginHooks; nil before

	files    *dir.Cache // what skill files said
	reload   sync.Mutex // one refresh at a time, because each has its own limit
	held     holding    // changes that do not count
	live     watching   // see Watch
	indexes  indexing   // see IndexError
	touch    touching   // see Discover
	indexMu  sync.Mutex // guards the three fields below
	index    *search.Index
	indexed  indexKey
	headings headings // of the skills in it
}

// An indexKey tells when a search index is stale.
type indexKey struct {
	generation  uint64
	activations int
}

// New reads the settings and loads all skills of a workspace. Bad files are
// problems of the snapshot, not errors; an error means that the workspace
// itself cannot be used, or that ctx ended.
func New(ctx context.Context, o Options) (*Engine, error) {
	e := &Engine{opts: o}
	if err := e.locate(); err != nil {
		return nil, err
	}
	e.configure(nil, nil)
	e.openAudit()
	if e.session = e.opts.Session; e.session == nil {
		e.session = session.New(e.opts.SessionID)
	}
	e.files = dir.NewCache(e.stateDir("index"))
	e.catalog = catalog.New(e.catalogOptions(), slices.Concat(e.sources(), e.foundBefore())...)
	if _, err := e.catalog.Refresh(ctx); err != nil {
		return nil, fmt.Errorf("loading skills of %s: %w", e.opts.Dir, err)
	}
	e.keepIndex()
	return e, nil
}

// locate fills in where things are.
func (e *Engine) locate() error {
	o := &e.opts
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Shell == nil {
		o.Shell = shell.Exec{}
	}
	if o.ContextTokens == 0 {
		o.ContextTokens = DefaultContextTokens
	}
	if o.Session != nil {
		o.SessionID = o.Session.ID
	}
	if o.SessionID == "" {
		o.SessionID = newSessionID()
	}
	if o.Home == "" {
		o.Home, _ = os.UserHomeDir() // without a home there are no user skills
	}
	wd, err := workDir(o.Dir)
	if err != nil {
		return err
	}
	o.Dir, e.real = wd, wd
	if real, err := filepath.EvalSymlinks(wd); err == nil {
		e.real = real
	}
	if e.project = dir.RepositoryRoot(e.real); e.project == "" {
		e.project = e.real
	}
	e.place = dir.Place{
		WorkDir:   wd,
		Home:      o.Home,
		ConfigDir: o.Getenv("CLAUDE_CONFIG_DIR"),
		Managed:   dir.ManagedDirs(o.Getenv("KNACK_MANAGED_DIR")),
		AddDirs:   o.AddDirs,
		NoUser:    !wants(o.SettingSources, settings.UserLevel),
		NoProject: !wants(o.SettingSources, settings.ProjectLevel),
	}
	return nil
}

func workDir(d string) (string, error) {
	if d == "" {
		d = "."
	}
	abs, err := filepath.Abs(d)
	if err != nil {
		return "", fmt.Errorf("workspace %s: %w", d, err)
	}
	fi, err := os.Stat(abs)
	if err != nil {
		return "", fmt.Errorf("workspace %s: %w", d, err)
	}
	if !fi.IsDir() {
		return "", fmt.Errorf("workspace %s: not a directory", d)
	}
	return abs, nil
}

func wants(only []string, l settings.Level) bool {
	if only == nil {
		return true
	}
	for _, o := range only {
		if o == string(l) {
			return true
		}
	}
	return false
}

// sources returns everything the catalog merges.
func (e *Engine) sources() []catalog.Source {
	var out []catalog.Source
	if e.opts.Bare {
		place := e.place
		place.AddDirs = e.opts.AddDirs // and not what settings add to them
		for _, r := range place.Additional() {
			out = append(out, e.open(r))
		}
		return out
	}
	if !e.opts.NoBundled {
		set := e.opts.Bundled
		if set == nil {
			set = bundled.Standard()
		}
		e.bundled = bundled.New("", set...)
		out = append(out, e.bundled)
	}
	for _, r := range e.place.Roots() {
		out = append(out, e.open(r))
	}
	out = append(out, e.place) // no skills, but hints at those in the wrong place
	for _, a := range e.active {
		src := a.Source()
		src.Files = e.files
		out = append(out, e.gate(src, a.Dir))
	}
	return append(out, e.opts.Sources...)
}

// Snapshot returns the skills as they are now (spec C-12).
func (e *Engine) Snapshot() *catalog.Snapshot { return e.catalog.Snapshot() }

// Refresh loads all sources again and returns the new snapshot. Skill files that
// did not change are not read; one that an edit broke keeps its last good version
// (spec D-8). Changes that [WatchOptions].Allow did not let through still do not
// count. Settings are not read again: [Engine.Watch] does that. Directories that
// were looked into for skills of their own are looked into again when they are
// next touched.
func (e *Engine) Refresh(ctx context.Context) (*catalog.Snapshot, error) {
	e.Forget()
	return e.refresh(ctx, nil)
}

// Close ends the audit log, and removes the files that bundled skills extracted.
// Instructions that were compiled before name a directory that is gone then.
func (e *Engine) Close() error {
	var err error
	if e.log != nil {
		err = e.log.Close()
	}
	if e.bundled != nil {
		err = errors.Join(err, e.bundled.Close())
	}
	return err
}

// Session returns the memory of this engine's conversation.
func (e *Engine) Session() *session.Session { return e.session }

// Listing returns what a model is told of the skills (spec L-1).
func (e *Engine) Listing() listing.Listing {
	return listing.Format(e.Entries(), e.ListingOptions())
}

// Env returns what an invocation of this engine may use. A host changes the
// copy it gets, for example to add the grants of a running turn.
func (e *Engine) Env() invoke.Env {
	s := e.conf().settings
	effort, _ := s.EffortValue() // a bad one is among SettingsProblems
	noHooks, managedHooks := s.HookPolicy()
	return invoke.Env{
		NoHooks: noHooks, ManagedHooks: managedHooks, PluginHooks: s.PluginHooks(),
		Catalog: e.Snapshot(), Session: e.session, Rules: e.conf().rules,
		Ask: e.opts.Ask, Shell: e.opts.Shell, Fork: e.opts.Fork,
		Approvals: approvals{e}, Keeper: e.keeper(), Audit: e.audit,
		Environ: e.Environ(), WorkDir: e.opts.Dir, ProjectDir: e.ProjectDir(), Home: e.opts.Home, Links: behindLinks,
		Model: s.Model, Effort: effort, Trusted: e.trusted,
		ManagedRulesOnly: isSet(s.AllowManagedPermissionRulesOnly),
		ShellOff:         isSet(s.DisableSkillShellExecution),
		ArgumentBase:     s.ArgumentBaseValue(),
		PluginData:       e.stateDir("plugins", "data"),
		PluginOptions:    e.PluginOptions,
		SpillDir:         e.stateDir("output"),
	}
}

// stateDir returns a directory in the state directory; empty if there is none.
func (e *Engine) stateDir(names ...string) string {
	if e.opts.StateDir == "" {
		return ""
	}
	return filepath.Join(append([]string{e.opts.StateDir}, names...)...)
}

// Invoke runs a skill on the one road (spec I-1), and counts its use in this
// project (spec I-13). Its errors are those of [invoke.Invoke]; that a use could
// not be counted is a notice. No hooks run, those of an administrator neither: a
// host that runs some sets Hooks in what [Engine.Env] returns, and invokes with it.
func (e *Engine) Invoke(ctx context.Context, req invoke.Request) (*invoke.Result, error) {
	r, err := invoke.Invoke(ctx, req, e.Env())
	if err != nil {
		return nil, err
	}
	if err := e.RecordUse(r.Entry); err != nil {
		r.Notices = append(r.Notices, "this use is not counted: "+err.Error())
	}
	return r, nil
}

// Render compiles a skill as [Engine.Invoke] would, without remembering it and
// without starting a subagent.
func (e *Engine) Render(ctx context.Context, req invoke.Request) (*invoke.Result, error) {
	return invoke.Compile(ctx, req, e.Env())
}
