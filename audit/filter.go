package audit

import (
	"strings"
	"time"
)

// A Filter says which records are wanted. The zero Filter wants all of them.
// Of one field any value may match; in a value "*" stands for any text.
type Filter struct {
	Since, Until time.Time // from Since on, and before Until; zero is no limit

	Session, Agent, Kind, Tool, Skill, Rule, Source, Outcome []string
}

// Wants reports whether r passes.
func (f *Filter) Wants(r *Record) bool {
	if !f.Since.IsZero() && r.Time.Before(f.Since) || !f.Until.IsZero() && !r.Time.Before(f.Until) {
		return false
	}
	return anyOf(f.Session, r.SessionID) && anyOf(f.Agent, r.AgentID) && anyOf(f.Kind, string(r.Kind)) &&
		anyOf(f.Tool, r.Tool) && anyOf(f.Skill, r.Skill) && anyOf(f.Rule, r.Rule) &&
		anyOf(f.Source, r.Source) && anyOf(f.Outcome, r.Outcome)
}

// anyOf reports whether one of the patterns matches s; none at all match.
func anyOf(patterns []string, s string) bool {
	for _, p := range patterns {
		if matches(p, s) {
			return true
		}
	}
	return len(patterns) == 0
}

// matches compares s with a pattern in which "*" stands for any text.
func matches(pattern, s string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == s
	}
	if !strings.HasPrefix(s, head) {
		return false
	}
	for s = s[len(head):]; ; {
		var part string
		if part, rest, star = strings.Cut(rest, "*"); !star {
			return strings.HasSuffix(s, part)
		}
		// The first place is as good as any: "*" takes what is between.
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
}
