package catalog

import (
	"fmt"
	"maps"
	"slices"

	"github.com/knack-skills/knack/skill"
	"golang.org/x/text/unicode/norm"
)

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
// Maps and slices must not change after they were handed over.
type Options struct {
	// Precedence orders the sources; nil means [DefaultPrecedence]. Missing
	// sources follow in default order. Plugin and MCP skills never take the id
	// of another skill, wherever they stand.
	Precedence []skill.Source
	// AllowBundledOverride lets managed, user and project skills replace a
	// bundled skill of the same id.
	AllowBundledOverride bool
	// Overrides is by qualified id or id. A bare id also covers the nested and
	// shadowed skills of that id, so that "off" cannot be passed by a
	// qualified id; the more exact key wins.
	Overrides map[string]Visibility
	// OverridesFrom names the settings file of each key of Overrides, and of
	// "disableBundledSkills" and "skillPrecedence", for explanations.
	OverridesFrom map[string]string
	// DisableBundled disables bundled skills; they give up their ids (spec B-4).
	DisableBundled bool
	// Denied reports that a permission rule denies the skill to the model, with
	// the rule as reason (spec S-3: a denied skill is not listed); nil denies
	// none. It is asked each time a model view is built and must be safe for
	// concurrent use.
	Denied func(e *Entry) (reason string, denied bool)
}

// Keys of OverridesFrom that are no skill ids.
const (
	keyDisableBundled = "disableBundledSkills"
	keyPrecedence     = "skillPrecedence"
)

// nfc returns s in Unicode normal form C, the form in which names are compared
// (spec C-6). Text that is in it already is not copied.
func nfc(s string) string { return norm.NFC.String(s) }

// checked returns o with overrides ready for look-up (keys in normal form, only
// known values), and what is wrong with it.
func (o Options) checked() (Options, []skill.Problem) {
	var problems []skill.Problem
	overrides := make(map[string]Visibility, len(o.Overrides))
	from := make(map[string]string, len(o.OverridesFrom))
	for _, k := range slices.Sorted(maps.Keys(o.OverridesFrom)) {
		from[nfc(k)] = o.OverridesFrom[k]
	}
	for _, k := range slices.Sorted(maps.Keys(o.Overrides)) {
		v := o.Overrides[k]
		switch v {
		case On, NameOnly, UserInvocableOnly, Off:
		case "":
			v = On
		default:
			problems = append(problems, skill.Problem{
				Code: codeUnknownVisibility, Severity: skill.Warning, Path: o.OverridesFrom[k],
				Message: fmt.Sprintf("skillOverrides: %q has the unknown value %q; the skill is hidden from the model", k, v),
				Fix:     `write "on", "name-only", "user-invocable-only" or "off"`,
			})
			v = UserInvocableOnly // the safe value, as for fields (spec F-5)
		}
		overrides[nfc(k)] = v
	}
	known := DefaultPrecedence()
	for i, s := range o.Precedence {
		var wrong string
		switch {
		case !slices.Contains(known, s):
			wrong = "is no source of skills"
		case slices.Contains(o.Precedence[:i], s):
			wrong = "is named twice; the first place counts"
		default:
			continue
		}
		problems = append(problems, skill.Problem{
			Code: codeBadPrecedence, Severity: skill.Warning, Path: o.OverridesFrom[keyPrecedence],
			Message: fmt.Sprintf("skillPrecedence: %q %s", s, wrong),
			Fix:     fmt.Sprintf("use each of these at most once: %v", known),
		})
	}
	o.Overrides, o.OverridesFrom = overrides, from
	return o, problems
}

// apply sets the visibility and, from it and the skill's own fields, the state
// of e (spec C-9, K-1). Ids and qualified ids must be final.
func (o *Options) apply(e *Entry) {
	e.Visibility = On
	if len(o.Overrides) > 0 {
		for _, k := range [...]string{e.Qualified, e.ID, e.alias(), e.bare} {
			if v, ok := o.Overrides[k]; ok {
				e.Visibility, e.override = v, k
				break
			}
		}
	}
	switch {
	case e.Visibility == Off:
		e.State = Disabled
		e.Reason = Reason{
			Rule:   "C-9",
			Detail: fmt.Sprintf("skillOverrides sets %q to off", e.override),
			Path:   o.OverridesFrom[e.override],
		}
	case o.DisableBundled && e.Origin.Source == skill.Bundled:
		e.State = Disabled
		e.Reason = Reason{
			Rule:   "C-9",
			Detail: "disableBundledSkills switches all bundled skills off",
			Path:   o.OverridesFrom[keyDisableBundled],
		}
	case e.lost != nil:
		e.State = Shadowed
		e.Reason = *e.lost
	case e.Trigger.Conditional:
		e.State = Conditional
	default:
		e.State = Active
	}
}
