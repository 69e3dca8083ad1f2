package dir

import (
	"context"

	"github.com/knack-skills/knack/skill"
)

// Limit makes loads read only the files for which may says yes, and take all
// others as the load before left them: changed, new and gone ones do not count
// yet (spec D-8). Roots that were never loaded are read as a whole. Nil lifts the
// limit. A load that has begun goes on as it began.
func (c *Cache) Limit(may func(path string) bool) {
	if may == nil {
		c.only.Store(nil)
		return
	}
	c.only.Store(&may)
}

func (c *Cache) limit() func(string) bool {
	if c == nil {
		return nil
	}
	if may := c.only.Load(); may != nil {
		return *may
	}
	return nil
}

// may reports whether what a file says now may count.
func (s *scan) may(path string) bool { return s.only == nil || s.only(path) }

// waits returns what counts of a file that may not count yet and that no entry
// tells of: that it was refused, or nothing.
func (s *scan) waits(p place) (f finding, waits bool) {
	if s.may(p.path) || s.before == nil {
		return finding{}, false
	}
	return s.before.refused[p.path], true
}

// stay returns the skills of files that are not there any more, or not as they
// were found, when that does not count yet.
func (s *scan) stay() (skills []*skill.Skill) {
	if s.only == nil || s.before == nil {
		return nil
	}
	found := make(map[string]bool, len(s.now))
	for _, e := range s.now {
		found[e.path] = true
	}
	for _, e := range s.before.entries {
		if !found[e.path] && !s.only(e.path) {
			s.take(e.finding())
			s.problems = append(s.problems, e.more...)
			skills = append(skills, e.skill)
		}
	}
	return skills
}

// absent is a load of a root that is not there, or may not be read.
func (s *scan) absent(ctx context.Context) []*skill.Skill {
	c := s.root.Cache
	if s.only != nil {
		c.mu.Lock()
		s.before = c.roots[s.root.key()]
		c.mu.Unlock()
	}
	skills := s.stay()
	if len(skills) == 0 {
		c.forget(s.root)
		return nil
	}
	s.fence = s.before.fence
	c.remember(ctx, s)
	s.identify(skills)
	return skills
}
