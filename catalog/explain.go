package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/knack-skills/knack/skill"
)

// A Step is one line of an explanation (spec G-7, K-7). Outcome is one of the
// stable words listed at the constants.
type Step struct {
	Rule    string `json:"rule"`
	Outcome string `json:"outcome"`
	Detail  string `json:"detail"`
	Path    string `json:"path"`
	Line    int    `json:"line"`
}

// The outcomes of steps. People script against them (spec K-7).
const (
	OutcomeFound     = "found"     // C-6 the name means a skill; C-2 to C-4, B-1, D-1, X-1, X-6 where it is
	OutcomeUnknown   = "unknown"   // C-6 no skill has the name
	OutcomeAmbiguous = "ambiguous" // C-6 several skills claim the name
	OutcomeTrusted   = "trusted"   // C-13 trusted as it is
	OutcomeWorkspace = "workspace" // C-13 trusted after workspace trust
	OutcomeEnabled   = "enabled"   // C-13 trusted after its plugin was enabled; C-9 the callback agrees
	OutcomeRemote    = "remote"    // C-13 never trusted
	OutcomeNamed     = "named"     // C-6, D-1 which id it has
	OutcomeTaken     = "taken"     // C-6 the display name means another skill, or several
	OutcomeSame      = "same-file" // C-7 one file, reached more than once
	OutcomeWon       = "won"       // C-5 it has the id and shadows another
	OutcomeLost      = "lost"      // C-5 another has the id
	OutcomeUnique    = "unique"    // C-5 nobody else claims the id
	OutcomeProblem   = "problem"   // F-3 its file has a problem
	OutcomePass      = "pass"      // a rule that could hide it does not
	OutcomeLimited   = "limited"   // C-9 name-only
	OutcomeHidden    = "hidden"    // a rule hides it from one view, or from both
	OutcomeActive    = "active"    // D-3 its condition was met
	OutcomeWaiting   = "waiting"   // D-3 its condition was not met yet
	OutcomeVisible   = "visible"   // C-10 the result of one view
)

// Explain returns every catalog rule that decided about name, in order: where
// it was found, which name it got, whom it shadows or who shadows it, which
// settings and fields decide its two views. The last two steps are the results
// of the model view and the user view. For a name that means no single skill
// the entry is nil and the steps say why.
func (s *Snapshot) Explain(name string, active func(id string) bool) (*Entry, []Step) {
	e, how, err := s.resolve(name)
	if err != nil {
		return nil, s.explainMiss(name, err)
	}
	steps := []Step{{
		Rule: "C-6", Outcome: OutcomeFound, Path: e.Origin.Path,
		Detail: fmt.Sprintf("%q means %s: %s", name, e.where(), how),
	}, found(e), trust(e)}
	steps = append(steps, s.naming(e)...)
	steps = append(steps, s.contest(e)...)
	steps = append(steps, s.fileProblems(e)...)
	steps = append(steps, s.settingSteps(e)...)
	steps = append(steps, s.fieldSteps(e, active)...)
	ok, why := s.VisibleToModel(e, active)
	if why.Rule == "S-3" {
		steps = append(steps, Step{Rule: "S-3", Outcome: OutcomeHidden, Detail: "hidden from the model: " + why.Detail})
	}
	steps = append(steps, result10("model", ok, why))
	ok, why = s.VisibleToUser(e)
	return e, append(steps, result10("user", ok, why))
}

// result10 is the step that closes the explanation of one view (spec C-10).
func result10(view string, visible bool, why Reason) Step {
	if visible {
		return Step{Rule: "C-10", Outcome: OutcomeVisible, Detail: view + " view: listed"}
	}
	return Step{
		Rule: "C-10", Outcome: OutcomeHidden, Path: why.Path, Line: why.Line,
		Detail: fmt.Sprintf("%s view: not listed, by %s: %s", view, why.Rule, why.Detail),
	}
}

// explainMiss tells why name means no skill, and names those that lost it.
func (s *Snapshot) explainMiss(name string, err error) []Step {
	step := Step{Rule: "C-6", Outcome: OutcomeUnknown, Detail: err.Error()}
	var steps []Step
	if ambiguous, ok := errors.AsType[*AmbiguousError](err); ok {
		step.Outcome = OutcomeAmbiguous
		for _, id := range ambiguous.IDs {
			e := s.byID[id]
			steps = append(steps, Step{
				Rule: "C-6", Outcome: OutcomeTaken, Path: e.Origin.Path,
				Detail: fmt.Sprintf("%q claims the name: %s", id, e.where()),
			})
		}
	}
	for _, e := range s.shadowed {
		if e.bare == nfc(name) {
			steps = append(steps, lostStep(e))
		}
	}
	return append([]Step{step}, steps...)
}

// places says which rule found the skills of a source, and how to put it.
var places = map[skill.Source]struct{ rule, detail string }{
	skill.Bundled:    {"B-1", "compiled into the program"},
	skill.Managed:    {"C-2", "found in a directory that the administrator manages"},
	skill.User:       {"C-2", "found in a skills directory of the user"},
	skill.Project:    {"C-2", "found in a skills directory of the project"},
	skill.Additional: {"C-2", "found in the skills directory of an added directory"},
	skill.Legacy:     {"C-4", "a command file"},
	skill.Workflow:   {"C-1", "a workflow"},
	skill.Plugin:     {"X-1", "part of a plugin"},
	skill.MCP:        {"X-6", "offered by an MCP server"},
}

func found(e *Entry) Step {
	o := &e.Origin
	p, ok := places[o.Source]
	if !ok {
		p.rule, p.detail = "C-1", "given by the source "+string(o.Source)
	}
	if o.Below != "" {
		p.rule, p.detail = "D-1", fmt.Sprintf("found below the working directory, in %s, when a file there was touched", o.Below)
	}
	d := p.detail
	if o.Scope != "" {
		d += fmt.Sprintf(" (%s)", o.Scope)
	}
	if o.Owner != "" {
		d += fmt.Sprintf(" called %q", o.Owner)
	}
	if o.Root != "" {
		d += ": " + o.Root
	}
	if o.Category != "" {
		d += fmt.Sprintf(", category %s (C-3)", o.Category)
	}
	if o.Linked {
		d += ", through a link (C-7)"
	}
	return Step{Rule: p.rule, Outcome: OutcomeFound, Detail: d, Path: o.Path}
}

// trust states the trust class of the origin, written out for each (spec C-13).
func trust(e *Entry) Step {
	step := Step{Rule: "C-13", Outcome: OutcomeTrusted, Detail: "trusted by its owner", Path: e.Origin.Path}
	switch o := &e.Origin; {
	case o.Remote():
		step.Outcome = OutcomeRemote
		step.Detail = "remote text: runs no shell commands, sees no local path, registers no hooks"
	case o.ShippedOrManaged():
		step.Detail = "shipped or managed: trusted"
	case o.Source == skill.Plugin:
		step.Outcome = OutcomeEnabled
		step.Detail = "trusted because its plugin is enabled"
	case o.FromWorkspace():
		step.Outcome = OutcomeWorkspace
		step.Detail = "came with the repository: its grants, hooks and commands need workspace trust (S-9)"
	}
	return step
}

// naming tells which ids e has and whether its display name means it (spec C-6).
func (s *Snapshot) naming(e *Entry) []Step {
	step := Step{Rule: "C-6", Outcome: OutcomeNamed, Path: e.Origin.Path}
	step.Detail = fmt.Sprintf("its id is %q, always also %q", e.ID, e.Qualified)
	switch {
	case e.Winner != nil:
		step.Detail = fmt.Sprintf("it lost the id %q; it is called %q", e.ID, e.Qualified)
	case e.ID != e.bare:
		step.Rule = "D-1"
		step.Detail = fmt.Sprintf("%q was taken, so its id is %q, always also %q", e.bare, e.ID, e.Qualified)
	}
	steps := []Step{step}
	if message, taken := s.nameTaken(e.displayName(), e); taken {
		steps = append(steps, Step{Rule: "C-6", Outcome: OutcomeTaken, Detail: message, Path: e.Origin.Path})
	}
	return steps
}

// contest tells whom e beat and who beat it (spec C-5, C-7).
func (s *Snapshot) contest(e *Entry) []Step {
	if e.Winner != nil {
		return []Step{lostStep(e)}
	}
	var steps []Step
	unique := true
	for _, l := range s.shadowed {
		if l.Winner != e {
			continue
		}
		if l.lost.Rule == "C-7" {
			steps = append(steps, Step{
				Rule: "C-7", Outcome: OutcomeSame, Path: l.Origin.Path,
				Detail: fmt.Sprintf("the same file is also %s; it counts once", l.where()),
			})
			continue
		}
		unique = false
		steps = append(steps, Step{
			Rule: "C-5", Outcome: OutcomeWon, Path: l.Origin.Path,
			Detail: fmt.Sprintf("it shadows %s, which is called %q: %s", l.where(), l.Qualified, l.lost.Detail),
		})
	}
	if unique {
		steps = append(steps, Step{Rule: "C-5", Outcome: OutcomeUnique, Detail: fmt.Sprintf("no other skill claims the id %q", e.ID), Path: e.Origin.Path})
	}
	return steps
}

func lostStep(e *Entry) Step {
	outcome := OutcomeLost
	if e.lost.Rule == "C-7" {
		outcome = OutcomeSame
	}
	return Step{
		Rule: e.lost.Rule, Outcome: outcome, Path: e.lost.Path,
		Detail: fmt.Sprintf("%s is called %q: %s", e.where(), e.Qualified, e.lost.Detail),
	}
}

// fileProblems lists what reading e's file found, the loss of a security field
// among it (spec F-3).
func (s *Snapshot) fileProblems(e *Entry) []Step {
	if e.Origin.Path == "" {
		return nil
	}
	var steps []Step
	for _, p := range s.ProblemsOf(e.Origin.Path) {
		if slices.Contains(ownCodes, p.Code) {
			continue
		}
		steps = append(steps, Step{
			Rule: "F-3", Outcome: OutcomeProblem, Path: p.Path, Line: p.Line,
			Detail: fmt.Sprintf("%s: %s [%s]", p.Severity, p.Message, p.Code),
		})
	}
	return steps
}

// settingSteps tells what the settings and the skill's callback say (spec C-9).
func (s *Snapshot) settingSteps(e *Entry) []Step {
	var steps []Step
	if e.override != "" {
		step := Step{
			Rule: "C-9", Outcome: OutcomePass, Path: s.opts.OverridesFrom[e.override],
			Detail: fmt.Sprintf("skillOverrides sets %q to %s", e.override, e.Visibility),
		}
		switch e.Visibility {
		case Off, UserInvocableOnly:
			step.Outcome = OutcomeHidden
		case NameOnly:
			step.Outcome = OutcomeLimited
		}
		steps = append(steps, step)
	}
	if e.State == Disabled && e.Visibility != Off {
		steps = append(steps, Step{Rule: e.Reason.Rule, Outcome: OutcomeHidden, Detail: e.Reason.Detail, Path: e.Reason.Path})
	}
	if e.Trigger.Enabled != nil {
		step := Step{Rule: "C-9", Outcome: OutcomeEnabled, Detail: "the skill says that it is available"}
		if !e.Trigger.Enabled() {
			step.Outcome, step.Detail = OutcomeHidden, hiddenByCallback
		}
		steps = append(steps, step)
	}
	if len(steps) == 0 {
		steps = append(steps, Step{Rule: "C-9", Outcome: OutcomePass, Detail: "no setting hides it"})
	}
	return steps
}

// fieldSteps tells what the author's fields say about the two views.
func (s *Snapshot) fieldSteps(e *Entry, active func(id string) bool) []Step {
	path := e.Origin.Path
	var steps []Step
	add := func(rule, outcome, detail string) {
		steps = append(steps, Step{Rule: rule, Outcome: outcome, Detail: detail, Path: path})
	}
	if e.Trigger.HiddenFromUser {
		add("C-10", OutcomeHidden, hiddenFromUser)
	}
	if e.Trigger.HiddenFromModel {
		add(cmp.Or(lossRule(s.ProblemsOf(path)), "C-10"), OutcomeHidden, "hidden from the model: "+hiddenByAuthor)
	}
	if e.Trigger.HiddenFromUser && e.Trigger.HiddenFromModel {
		add("C-10", OutcomeHidden, "nobody can start it: both views leave it out")
	}
	switch {
	case !e.Trigger.Conditional:
		add("D-3", OutcomePass, "it has no paths, so it needs no activation")
	case active != nil && active(e.LastingID()):
		add("D-3", OutcomeActive, "a file that matches its paths was touched: "+strings.Join(e.Trigger.Paths, ", "))
	case len(e.Trigger.Paths) == 0:
		add("D-3", OutcomeWaiting, "its paths hold no usable pattern, so nothing activates it")
	default:
		add("D-3", OutcomeWaiting, hiddenUntilTouched+": "+strings.Join(e.Trigger.Paths, ", "))
	}
	if !described(e) && !slices.Contains(offeredWithoutDescription, e.Origin.Source) {
		add("C-10", OutcomeHidden, "hidden from the model: "+hiddenUndescribed)
	}
	return steps
}

// codeFieldLost is the problem of package frontmatter that hides a skill from
// the model (spec F-3).
const codeFieldLost = "security-field-lost"

// lossRule returns F-3 when the file has lost a security field.
func lossRule(problems []skill.Problem) string {
	for _, p := range problems {
		if p.Code == codeFieldLost {
			return "F-3"
		}
	}
	return ""
}
