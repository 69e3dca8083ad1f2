// Package catalog holds the skills of a workspace. It merges sources in order
// of precedence and publishes the result as immutable snapshots (spec chapter 2).
package catalog

import (
	"context"
	"iter"

	"github.com/knack-skills/knack/skill"
)

// A Source supplies skills. Packages below source/ implement it without
// importing this package. Load may run in parallel with other sources.
type Source interface {
	Load(ctx context.Context) ([]*skill.Skill, []skill.Problem, error)
}

// A Visibility is the value of one skillOverrides entry (spec C-9).
type Visibility string

// The visibilities.
const (
	On                Visibility = "on"
	NameOnly          Visibility = "name-only"
	UserInvocableOnly Visibility = "user-invocable-only"
	Off               Visibility = "off"
)

// Options is the policy of a catalog. The zero value is the default policy.
type Options struct {
	Precedence           []skill.Source        // nil means [DefaultPrecedence]; missing sources follow in default order
	AllowBundledOverride bool                  // managed, user, project replace a bundled skill of the same id
	Overrides            map[string]Visibility // by id or qualified id
	OverridesFrom        map[string]string     // by the same key: the settings file, for explanations
	DisableBundled       bool
	// Denied reports that a permission rule denies the skill to the model, with
	// the rule as reason (spec S-3: a denied skill is not listed); nil denies none.
	Denied func(e *Entry) (reason string, denied bool)
}

// A State is where an entry stands (spec K-1).
type State string

// The states.
const (
	Active      State = "active"
	Conditional State = "conditional"
	Disabled    State = "disabled"
	Shadowed    State = "shadowed"
)

// An Entry is one skill in its place in the catalog. ID is the id by which the
// catalog knows it, which differs from Skill.ID when the bare one was taken.
type Entry struct {
	*skill.Skill
	ID         string
	Qualified  string // always resolvable, such as "project:deploy" (spec C-8)
	State      State
	Visibility Visibility
	Winner     *Entry // Shadowed: who won
	Reason     Reason // Shadowed or Disabled: why
}

// A Reason names the rule behind a decision, with its source.
type Reason struct {
	Rule   string // spec id, such as "C-5"
	Detail string
	Path   string
	Line   int
}

// A Snapshot is the set of skills at one moment. It never changes, and may be
// read from any goroutine (spec C-12).
type Snapshot struct {
	Generation uint64
	Problems   []skill.Problem // of all sources and of the merge, sorted
	// unexported: ordered entries, shadowed entries, indexes
}

// All yields every entry that is not shadowed, in order of precedence then id.
func (s *Snapshot) All() iter.Seq[*Entry] { panic("to be written") }

// Shadowed yields the losers (spec C-8).
func (s *Snapshot) Shadowed() iter.Seq[*Entry] { panic("to be written") }

// Len is the number of entries that All yields.
func (s *Snapshot) Len() int { panic("to be written") }

// Resolve finds the skill that name means (spec C-6): exact id, then qualified
// id, then a display name that nobody else claims. It returns a
// [*NotFoundError] or an [*AmbiguousError].
func (s *Snapshot) Resolve(name string) (*Entry, error) { panic("to be written") }

// Variants returns the nested skills that share e's bare id (spec D-1).
func (s *Snapshot) Variants(e *Entry) []*Entry { panic("to be written") }

// ModelView yields what a model may be told of (spec C-10). active tells
// whether a conditional skill was activated; nil means none is.
func (s *Snapshot) ModelView(active func(id string) bool) iter.Seq[*Entry] { panic("to be written") }

// UserView yields what a person may type (spec C-10).
func (s *Snapshot) UserView() iter.Seq[*Entry] { panic("to be written") }

// ProblemsOf returns the problems of one file.
func (s *Snapshot) ProblemsOf(path string) []skill.Problem { panic("to be written") }

// A Step is one line of an explanation (spec G-7, K-7).
type Step struct {
	Rule    string `json:"rule"`
	Outcome string `json:"outcome"`
	Detail  string `json:"detail"`
	Path    string `json:"path"`
	Line    int    `json:"line"`
}

// Explain returns every catalog rule that decided about name, in order: where
// it was found, which name it got, whom it shadows or who shadows it, which
// settings and fields decide its two views.
func (s *Snapshot) Explain(name string, active func(id string) bool) (*Entry, []Step) {
	panic("to be written")
}

// A NotFoundError reports that no skill has the wanted name.
type NotFoundError struct {
	Name string
	Near []string // up to three near names (spec C-6)
}

func (e *NotFoundError) Error() string { panic("to be written") }

// An AmbiguousError reports that several skills claim a display name.
type AmbiguousError struct {
	Name string
	IDs  []string
}

func (e *AmbiguousError) Error() string { panic("to be written") }

// A Catalog owns the current snapshot. It is safe for concurrent use.
type Catalog struct{}

// New returns an empty catalog over sources. Their order does not matter.
func New(opts Options, sources ...Source) *Catalog { panic("to be written") }

// Snapshot returns the current snapshot, without locking. Before the first
// Refresh it is empty, with generation 0.
func (c *Catalog) Snapshot() *Snapshot { panic("to be written") }

// Refresh loads all sources in parallel and publishes a new snapshot. A source
// that fails becomes a problem and the rest still load. Concurrent calls share
// one load. The only error is that of ctx.
func (c *Catalog) Refresh(ctx context.Context) (*Snapshot, error) { panic("to be written") }

// OnChange calls f with every later snapshot, never under a lock.
func (c *Catalog) OnChange(f func(*Snapshot)) { panic("to be written") }
