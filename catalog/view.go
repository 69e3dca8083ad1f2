package catalog

import (
	"iter"
	"slices"
)

// Reasons why an entry is missing from a view. They are constants so that
// building a view allocates nothing.
const (
	hiddenByCallback    = "the skill says that it is not available now"
	hiddenByOverride    = "skillOverrides sets it to user-invocable-only"
	hiddenByAuthor      = "disable-model-invocation is set, or a security field could not be read"
	hiddenFromUser      = "user-invocable is false: only the model can use this skill"
	hiddenUntilTouched  = "no file that matches its paths was touched yet"
	hiddenUndescribed   = "plugin, workflow and MCP skills need a description or when_to_use of their author"
	hiddenByShadow      = "another skill has its id; it can be called by its qualified id"
	hiddenWithoutReason = "a permission rule denies it"
)

// ModelView yields what a model may be told of (spec C-10). active tells
// whether a conditional skill was activated, by its [Entry.LastingID]; nil means
// none is.
func (s *Snapshot) ModelView(active func(id string) bool) iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for _, e := range s.ordered {
			if ok, _ := s.VisibleToModel(e, active); ok && !yield(e) {
				return
			}
		}
	}
}

// UserView yields what a person may type (spec C-10).
func (s *Snapshot) UserView() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for _, e := range s.ordered {
			if ok, _ := s.VisibleToUser(e); ok && !yield(e) {
				return
			}
		}
	}
}

// VisibleToModel reports whether [Snapshot.ModelView] yields e, and if not,
// the first rule that hides it.
func (s *Snapshot) VisibleToModel(e *Entry, active func(id string) bool) (bool, Reason) {
	if r, hidden := hiddenFromAll(e); hidden {
		return false, r
	}
	switch {
	case e.Visibility == UserInvocableOnly:
		return false, Reason{Rule: "C-9", Detail: hiddenByOverride, Path: s.opts.OverridesFrom[e.override]}
	case e.Trigger.HiddenFromModel:
		return false, Reason{Rule: "C-10", Detail: hiddenByAuthor, Path: e.Origin.Path}
	case e.State == Conditional && (active == nil || !active(e.LastingID())):
		return false, Reason{Rule: "D-3", Detail: hiddenUntilTouched, Path: e.Origin.Path}
	case !described(e) && !slices.Contains(offeredWithoutDescription, e.Origin.Source):
		return false, Reason{Rule: "C-10", Detail: hiddenUndescribed, Path: e.Origin.Path}
	}
	if s.opts.Denied != nil {
		if reason, denied := s.opts.Denied(e); denied {
			if reason == "" {
				reason = hiddenWithoutReason
			}
			return false, Reason{Rule: "S-3", Detail: reason}
		}
	}
	return true, Reason{}
}

// VisibleToUser reports whether [Snapshot.UserView] yields e, and if not, the
// first rule that hides it. Every surface for people asks here (spec C-10).
func (s *Snapshot) VisibleToUser(e *Entry) (bool, Reason) {
	if r, hidden := hiddenFromAll(e); hidden {
		return false, r
	}
	if e.Trigger.HiddenFromUser {
		return false, Reason{Rule: "C-10", Detail: hiddenFromUser, Path: e.Origin.Path}
	}
	return true, Reason{}
}

// hiddenFromAll decides what holds for both views.
func hiddenFromAll(e *Entry) (Reason, bool) {
	switch {
	case e.State == Disabled:
		return e.Reason, true
	case e.Winner != nil:
		return Reason{Rule: e.lost.Rule, Detail: hiddenByShadow, Path: e.lost.Path}, true
	case e.Trigger.Enabled != nil && !e.Trigger.Enabled():
		return Reason{Rule: "C-9", Detail: hiddenByCallback}, true
	}
	return Reason{}, false
}

// described reports whether the author, not the body, says what e is for.
func described(e *Entry) bool {
	return e.Description != "" && !e.DescriptionFallback || e.WhenToUse != ""
}
