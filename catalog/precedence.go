package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/knack-skills/knack/skill"
)

// A tier is one line of the precedence table. An empty scope matches any.
type tier struct{ source, scope skill.Source }

// tiers is the whole policy on who wins an id, highest first (spec C-5).
// [Options].Precedence moves the sources, never the scopes within one.
var tiers = []tier{
	{skill.Bundled, ""},
	{skill.Managed, ""},
	{skill.User, ""},
	{skill.Project, ""},    // nearest directory first: skill.Origin.Distance
	{skill.Additional, ""}, // flag order: skill.Origin.Distance
	{skill.Legacy, skill.Project},
	{skill.Legacy, skill.Additional},
	{skill.Legacy, skill.User},
	{skill.Legacy, ""},
	{skill.Workflow, ""},
	{skill.Plugin, skill.User},
	{skill.Plugin, skill.Project},
	{skill.Plugin, skill.Additional},
	{skill.Plugin, ""},
	{skill.MCP, ""},
}

// replacesBundled lists who may take the id of a bundled skill when
// allowBundledOverride is set (spec C-5).
var replacesBundled = []skill.Source{skill.Managed, skill.User, skill.Project}

// offeredWithoutDescription lists the sources whose skills a model is told of
// even if their author wrote no description (spec C-10).
var offeredWithoutDescription = []skill.Source{
	skill.Bundled, skill.Managed, skill.User, skill.Project, skill.Additional, skill.Legacy,
}

// A class says when a skill may claim its file and its id. All skills of one
// class claim before any of the next, whatever their rank.
type class uint8

const (
	classLocal      class = iota // directories, bundled, legacy, workflow
	classNamespaced              // plugin and MCP never shadow (spec C-5)
	classNested                  // skills known from the start keep their id (spec D-1)
	classRetired                 // bundled skills that are switched off (spec B-4)
)

// DefaultPrecedence returns the sources in default order, highest first.
func DefaultPrecedence() []skill.Source {
	var out []skill.Source
	for _, t := range tiers {
		if !slices.Contains(out, t.source) {
			out = append(out, t.source)
		}
	}
	return out
}

// An order turns origins into numbers that sort by precedence.
type order struct {
	rank    map[tier]uint64
	roots   map[string]uint64 // position of each root in byte order
	retired bool              // bundled skills are switched off

	last                *skill.Origin // the latest argument of keys, with its results
	lastClaim, lastShow key
}

func newOrder(o *Options, roots map[string]uint64) order {
	r := order{rank: make(map[tier]uint64, len(tiers)), roots: roots, retired: o.DisableBundled}
	for _, s := range slices.Concat(o.Precedence, DefaultPrecedence()) {
		for _, t := range tiers {
			if _, ok := r.rank[t]; t.source == s && !ok {
				r.rank[t] = uint64(len(r.rank))
			}
		}
	}
	names := make([]string, 0, len(roots))
	for root := range roots {
		names = append(names, root)
	}
	slices.Sort(names)
	for i, root := range names {
		roots[root] = uint64(i)
	}
	return r
}

func (r *order) rankOf(o *skill.Origin) uint64 {
	if n, ok := r.rank[tier{o.Source, o.Scope}]; ok {
		return n
	}
	if n, ok := r.rank[tier{o.Source, ""}]; ok {
		return n
	}
	return uint64(len(r.rank)) // a host's own source comes last
}

func (r *order) class(o *skill.Origin) class {
	switch {
	case o.Source == skill.Bundled && r.retired:
		return classRetired
	case o.Source == skill.Plugin || o.Source == skill.MCP:
		return classNamespaced
	case o.Below != "":
		return classNested
	}
	return classLocal
}

// Widths of the parts of a key, in bits.
const (
	classBits    = 2
	rankBits     = 6
	depthBits    = 12
	distanceBits = 22
	rootBits     = 20
	placeBits    = distanceBits + 1 + rootBits + 1 // with one bit each for .agents and links
)

// A key packs what decides before names and paths do, most important part
// first, so that ten thousand skills are compared by number.
type key uint64

// place is the part of both keys that orders skills of one rank: distance,
// .claude before .agents (spec C-2), root, real directories before links (spec C-7).
func (r *order) place(o *skill.Origin) uint64 {
	k := clamp(o.Distance, distanceBits)
	k = k<<1 | bit(isTwin(o.Root))
	k = k<<rootBits | clamp(int(r.roots[o.Root]), rootBits)
	return k<<1 | bit(o.Linked)
}

// keys returns the key by which o claims files and ids, and the one by which
// it is shown. Between nested skills depth alone decides who claims first,
// whatever their sources (spec D-1); shown, each stands with its source.
func (r *order) keys(o *skill.Origin) (claim, show key) {
	if r.last != nil && samePlace(r.last, o) { // most skills follow one of their root
		return r.lastClaim, r.lastShow
	}
	class, rank, nested, place := uint64(r.class(o)), r.rankOf(o), nestedOrder(o.Below), r.place(o)
	claim = key(((class<<depthBits|nested)<<rankBits|rank)<<placeBits | place)
	show = key((rank<<depthBits|nested)<<placeBits | place)
	r.last, r.lastClaim, r.lastShow = o, claim, show
	return claim, show
}

// samePlace reports whether a and b have the same keys.
func samePlace(a, b *skill.Origin) bool {
	return a.Root == b.Root && a.Source == b.Source && a.Scope == b.Scope &&
		a.Distance == b.Distance && a.Below == b.Below && a.Linked == b.Linked
}

// class returns the class that is part of a claim key.
func (k key) class() class { return class(k >> (64 - classBits)) }

// nestedOrder is 0 for a skill that is not nested, and smaller for deeper ones
// otherwise (spec D-1).
func nestedOrder(below string) uint64 {
	if below == "" {
		return 0
	}
	return 1<<depthBits - 1 - clamp(depth(below), depthBits-1)
}

func depth(below string) int { return 1 + strings.Count(below, "/") }

func clamp(n, bits int) uint64 { return uint64(min(max(n, 0), 1<<bits-1)) }

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// isTwin reports whether root is the vendor-neutral twin .agents/skills, which
// comes after .claude/skills of the same directory (spec C-2).
func isTwin(root string) bool {
	rest, ok := strings.CutSuffix(root, "skills")
	return ok && strings.HasSuffix(strings.TrimRight(rest, `/\`), ".agents")
}

// A claimant is an entry with what decides most comparisons at hand.
type claimant struct {
	key   key
	path  string
	entry *Entry
}

// compareClaims is the order in which skills claim files and ids: class,
// precedence, byte order of the paths (spec C-5, C-7).
func compareClaims(a, b claimant) int {
	if a.key != b.key {
		return cmp.Compare(a.key, b.key)
	}
	if c := strings.Compare(a.path, b.path); c != 0 {
		return c
	}
	return compareRest(a.entry, b.entry)
}

// owner returns the directory that a root and its twin belong to.
func owner(root string) string {
	for range 2 {
		root = strings.TrimRight(root, `/\`)
		root = root[:strings.LastIndexAny(root, `/\`)+1]
	}
	return root
}

// compareRest makes claims that are equal by every rule come out the same way
// on every run (spec C-11).
func compareRest(a, b *Entry) int {
	o, p := &a.Origin, &b.Origin
	return cmp.Or(
		strings.Compare(a.Skill.ID, b.Skill.ID),
		strings.Compare(o.Owner, p.Owner),
		strings.Compare(string(o.Source), string(p.Source)),
		strings.Compare(string(o.Scope), string(p.Scope)),
		strings.Compare(o.Root, p.Root),
		strings.Compare(o.Below, p.Below),
		strings.Compare(o.Category, p.Category),
		cmp.Compare(o.Distance, p.Distance),
		strings.Compare(o.Real, p.Real),
		cmp.Compare(o.Device, p.Device),
		cmp.Compare(o.Inode, p.Inode),
		strings.Compare(o.Dir, p.Dir),
		strings.Compare(a.Name, b.Name),
		strings.Compare(a.Description, b.Description),
		strings.Compare(a.WhenToUse, b.WhenToUse),
		strings.Compare(a.Version, b.Version),
		strings.Compare(a.ArgumentHint, b.ArgumentHint),
	)
}
