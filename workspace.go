package knack

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/listing"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/settings"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/dir"
	"github.com/knack-skills/knack/state"
)

// A config is what the settings files say at one moment. It never changes; a
// reload puts another in its place (spec D-8).
type config struct {
	settings *settings.Settings
	rules    permission.Rules
	problems []skill.Problem // of settings and rules
	more     []string        // see MoreDirs
}

// conf returns what the settings say now. Whoever needs two answers that belong
// together asks once.
func (e *Engine) conf() *config { return e.config.Load() }

// configure loads settings, trust and rules, and what follows from them. Before
// is what the settings said until now, and held are files that still say that.
func (e *Engine) configure(before *settings.Settings, held []string) {
	o := &e.opts
	c := &config{}
	e.config.Store(c) // nobody else sees it before it is whole
	var only []settings.Level
	for _, s := range o.SettingSources {
		only = append(only, settings.Level(s))
	}
	if o.SettingSources != nil && only == nil {
		only = []settings.Level{}
	}
	c.settings = settings.Load(settings.Sources{
		Managed: e.place.Managed, UserDir: e.UserDir(), ProjectDir: e.ProjectDir(), WorkDir: e.real,
		Flag: o.Settings, Only: only, Home: o.Home,
		Before: before, Held: held,
	})
	var bad []skill.Problem
	if _, ok := e.budgetVariable(); !ok {
		bad = append(bad, skill.Problem{Code: "setting-value", Severity: skill.Warning,
			Message: fmt.Sprintf("%s is %q; it is left out", budgetVariable, o.Getenv(budgetVariable)),
			Fix:     "set it to a number of characters above 0, or unset it"})
	}
	if err := e.decideTrust(e.locateState()); err != nil {
		bad = append(bad, skill.Problem{Code: "trust-store", Severity: skill.Warning,
			Message: err.Error(), Path: o.StateDir, Fix: "run `knack doctor --trust` to store the answer again"})
	}
	if _, err := e.used(); err != nil {
		bad = append(bad, skill.Problem{Code: "usage-store", Severity: skill.Warning,
			Message: err.Error(), Path: o.StateDir, Fix: "make it readable or remove it; a damaged file makes way, as *.broken, when a skill is next used"})
	}
	// Only now may the workspace's own files say more than what restricts it.
	c.settings = c.settings.ForTrust(e.trusted)
	e.place.AddDirs = slices.Concat(o.AddDirs, c.settings.Permissions.AdditionalDirectories)
	c.more = e.moreDirs()
	if _, ok := c.settings.EffortValue(); !ok {
		bad = append(bad, skill.Problem{Code: "setting-value", Severity: skill.Warning, Path: c.settings.From("effort"),
			Message: fmt.Sprintf("effort is %q; it is left out", c.settings.Effort),
			Fix:     "set it to low, medium, high, xhigh, max or a number of thinking tokens"})
	}
	rules, unusable := c.settings.Rules(e.trusted)
	c.rules, c.problems = rules, slices.Concat(c.settings.Problems, unusable, bad, e.findPlugins(), e.leftOut())
}

// locateState finds the state directory. Without one, as in a container that
// has no home, everything works, but no answer about trust is known.
func (e *Engine) locateState() (err error) {
	o := &e.opts
	if o.StateDir == "" {
		o.StateDir, err = state.Dir(o.Getenv, o.Home)
		return err
	}
	abs, err := filepath.Abs(o.StateDir)
	if err == nil {
		o.StateDir = abs
	}
	return err
}

// UserDir is ~/.claude, or what CLAUDE_CONFIG_DIR puts in its place (spec C-2).
func (e *Engine) UserDir() string {
	if e.place.ConfigDir != "" {
		return e.absolute(e.place.ConfigDir)
	}
	if e.opts.Home == "" {
		return ""
	}
	return filepath.Join(e.opts.Home, ".claude")
}

// absolute expands a leading ~ and makes d absolute, relative to the workspace.
func (e *Engine) absolute(d string) string {
	if rest, ok := skill.CutHome(d); ok && e.opts.Home != "" {
		d = filepath.Join(e.opts.Home, rest)
	}
	if !filepath.IsAbs(d) {
		d = filepath.Join(e.opts.Dir, d)
	}
	return filepath.Clean(d)
}

// decideTrust answers whether the workspace is trusted (spec S-9): this run's
// word first, then the stored one. noState says why there is no place for one.
func (e *Engine) decideTrust(noState error) error {
	if e.decided {
		return nil
	}
	if e.opts.Trust || e.opts.Getenv("KNACK_TRUST") == "1" {
		e.trusted = true
		return nil
	}
	if noState != nil {
		return noState
	}
	var err error
	e.trusted, _, err = e.TrustStore().Trusted(e.ProjectDir())
	return err
}

// Trusted reports whether the workspace is trusted (spec S-9).
func (e *Engine) Trusted() bool { return e.trusted }

// TrustStore returns where the answer to workspace trust is kept.
func (e *Engine) TrustStore() settings.TrustStore { return settings.TrustStore{Dir: e.opts.StateDir} }

// ProjectDir returns the repository root, or the workspace outside of any. It
// is physical, like the directories of the project's skills: a workspace that
// is reached through a link has the repository, and the trust, of the place
// where it really is.
func (e *Engine) ProjectDir() string { return e.project }

// Settings returns the merged settings.
func (e *Engine) Settings() *settings.Settings { return e.conf().settings }

// Rules returns the permission rules in force.
func (e *Engine) Rules() permission.Rules { return e.conf().rules }

// Place returns where skills are looked for.
func (e *Engine) Place() dir.Place { return e.place }

// MoreDirs returns the further directories that belong to the workspace (--add-dir
// and permissions.additionalDirectories), as they are named and where their
// links lead, and where the workspace itself really is.
// Callers do not change the list.
func (e *Engine) MoreDirs() []string { return e.conf().more }

func (e *Engine) moreDirs() []string {
	out := []string{e.real}
	for _, d := range e.place.AddDirs {
		abs := e.absolute(d)
		out = append(out, abs, behindLinks(abs))
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(d string) bool { return d == e.opts.Dir })
}

// Dir returns the workspace as an absolute path.
func (e *Engine) Dir() string { return e.opts.Dir }

// Problems returns what is wrong with settings, rules and skills, sorted.
func (e *Engine) Problems() []skill.Problem {
	out := slices.Concat(e.conf().problems, e.Snapshot().Problems)
	slices.SortFunc(out, skill.CompareProblems)
	return out
}

func (e *Engine) catalogOptions() catalog.Options {
	s := e.conf().settings
	o := catalog.Options{
		AllowBundledOverride: isSet(s.AllowBundledOverride),
		DisableBundled:       isSet(s.DisableBundledSkills),
		Overrides:            map[string]catalog.Visibility{},
		OverridesFrom:        map[string]string{},
		Denied:               e.denied,
	}
	for _, p := range s.SkillPrecedence {
		o.Precedence = append(o.Precedence, skill.Source(p))
	}
	for id, v := range s.SkillOverrides {
		o.Overrides[id] = catalog.Visibility(v)
		o.OverridesFrom[id] = s.From("skillOverrides." + id)
	}
	return o
}

// denied tells the catalog which skills a rule keeps from the model (spec S-3).
func (e *Engine) denied(entry *catalog.Entry) (string, bool) {
	if len(e.conf().rules.Deny) == 0 {
		return "", false
	}
	d := permission.Rules{Deny: e.conf().rules.Deny}.Decide(permission.Request{Tool: "Skill",
		Input: permission.Input{Skill: entry.ID, Aliases: invoke.Aliases(entry)}})
	return d.Reason, d.Verdict == permission.Deny
}

// Entries returns what the main agent may be told of, ready to be listed. What
// is used in this project often and recently has a higher rank (spec L-5); the
// order does not depend on it.
func (e *Engine) Entries() []listing.Entry { return e.entries(nil) }

// entries ranks by use and, after that, by matches.
func (e *Engine) entries(matches map[string]float64) []listing.Entry {
	snap := e.Snapshot()
	out := make([]listing.Entry, 0, snap.Len())
	for entry := range snap.ModelView(e.session.Active) {
		sum := entry.Summary
		sum.ID = entry.ID
		out = append(out, listing.Entry{
			Summary:  sum,
			Pinned:   entry.Origin.Source == skill.Bundled,
			NameOnly: entry.Visibility == catalog.NameOnly,
		})
	}
	used, _ := e.used() // New reports a file that cannot be read
	rank(out, used, matches)
	return out
}

// ListingOptions returns the budget policy of settings and environment (spec L-2).
func (e *Engine) ListingOptions() listing.Options {
	s := e.conf().settings
	o := listing.Options{ContextTokens: e.opts.ContextTokens, Mode: listing.Mode(s.SkillListing)}
	if s.SkillListingBudget != nil {
		o.Chars = *s.SkillListingBudget
	}
	if s.SkillListingBudgetFraction != nil {
		o.Fraction = *s.SkillListingBudgetFraction
	}
	if s.SkillListingMaxDescChars != nil {
		o.MaxDescChars = *s.SkillListingMaxDescChars
	}
	if n, ok := e.budgetVariable(); ok && n > 0 {
		o.Chars = n
	}
	return o
}

// budgetVariable reads the variable that fixes the budget of the listing in
// characters (spec L-2); ok is false when it is set and no positive number.
func (e *Engine) budgetVariable() (chars int, ok bool) {
	text := strings.TrimSpace(e.opts.Getenv(budgetVariable))
	if text == "" {
		return 0, true
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n > 0
}

const budgetVariable = "SLASH_COMMAND_TOOL_CHAR_BUDGET"

func isSet(b *bool) bool { return b != nil && *b }

// newSessionID returns a random UUID, version 4.
func newSessionID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// SettingsProblems returns what is wrong with settings, rules and the trust
// store, in the order of the files.
func (e *Engine) SettingsProblems() []skill.Problem { return slices.Clone(e.conf().problems) }

// PermissionRequest returns a request for a tool in this workspace; the caller
// fills in its input.
func (e *Engine) PermissionRequest(tool string) permission.Request {
	return permission.Request{Tool: tool, WorkDir: e.opts.Dir, Home: e.opts.Home, Links: behindLinks, MoreDirs: e.conf().more}
}

// Environ returns the environment of commands: that of the process with the
// setting env over it (spec S-1), or nil when there is no such setting.
func (e *Engine) Environ() []string {
	own := e.conf().settings.Environ()
	if own == nil {
		return nil
	}
	return append(os.Environ(), own...)
}

// Getenv reads the environment that the engine was configured with.
func (e *Engine) Getenv(name string) string { return e.opts.Getenv(name) }
