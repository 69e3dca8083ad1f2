// Package usage remembers which skills are used in a project, how often and how
// recently (spec I-13), so that a listing can keep what is needed there (L-5).
//
// It counts and lets counts decay; what a score is good for is left to its
// callers.
package usage

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/knack-skills/knack/state"
)

// halfLife is the time after which a use counts half. Work has a rhythm of
// weeks: what was used every day last week must still lead on Monday, and what
// was used as often a month ago (a sixteenth) must not.
const halfLife = 7 * 24 * time.Hour

// The size of a file is bounded. Nobody uses as many skills as that in one
// project, so what is dropped was used once, long ago.
const (
	maxIDs = 2000
	maxID  = 1024 // bytes of one id
)

// A Store keeps one file per project in the directory "usage" of the state
// directory Dir (spec M-5). The name of the file is a hash of the project's
// link-free path. It is safe for concurrent use, also by several processes.
// Without a Dir nothing is known, and nothing can be recorded.
type Store struct{ Dir string }

// counts is the text of a file.
type counts struct {
	Project string           `json:"project"` // for a person who looks into the file
	Skills  map[string]count `json:"skills"`
}

// A count is the sum of all uses of a skill, each decayed from its own time to
// At. One number and one time are enough, because decay composes.
type count struct {
	Score float64   `json:"score"`
	At    time.Time `json:"at"`
}

// Record counts one use of the skill id in project. A file that is damaged is
// kept as *.broken, and counting begins again. When there is no state
// directory, and none can be made, the error is [state.ErrNoDirectory].
func (s Store) Record(project, id string, now time.Time) error {
	if id == "" || len(id) > maxID {
		return fmt.Errorf("usage of %.40q: an id has 1 to %d bytes", id, maxID)
	}
	f, real, err := s.file(project)
	if err != nil {
		return fmt.Errorf("usage in %s: %w", project, err)
	}
	now = now.UTC().Round(0)
	err = f.Update(func(c *counts) error {
		c.Project = real
		if c.Skills == nil {
			c.Skills = map[string]count{}
		}
		c.Skills[id] = c.Skills[id].used(now)
		c.trim(id, now)
		return nil
	})
	if err != nil {
		return fmt.Errorf("usage in %s: %w", project, err)
	}
	return nil
}

// Scores returns, for each skill that was used in project, the number of its
// uses, of which each counts half as much after every seven days. A project
// that does not exist has none. The error of a damaged file is a
// [*state.BrokenError].
func (s Store) Scores(project string, now time.Time) (map[string]float64, error) {
	if s.Dir == "" {
		return nil, nil
	}
	f, _, err := s.file(project)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("usage in %s: %w", project, err)
	}
	c, err := f.Read()
	if err != nil {
		return nil, fmt.Errorf("usage in %s: %w", project, err)
	}
	scores := make(map[string]float64, len(c.Skills))
	for id, n := range c.Skills {
		scores[id] = n.at(now)
	}
	return scores, nil
}

func (s Store) file(project string) (f state.File[counts], real string, err error) {
	if s.Dir == "" {
		return f, "", state.ErrNoDirectory
	}
	if real, err = state.RealPath(project); err != nil {
		return f, "", err
	}
	sum := sha256.Sum256([]byte(real))
	name := hex.EncodeToString(sum[:16]) + ".json"
	return state.File[counts]{Path: filepath.Join(s.Dir, "usage", name), Check: counts.check}, real, nil
}

// check refuses numbers that no use could have led to.
func (c counts) check() error {
	if c.Skills == nil {
		return errors.New("there are no skills in it")
	}
	for id, n := range c.Skills {
		if !(n.Score >= 0 && n.Score <= math.MaxFloat64/2) {
			return fmt.Errorf("the score of %q is %v", id, n.Score)
		}
	}
	return nil
}

// at returns the score at another time. A clock that lags behind the one that
// wrote the count is no reason to be imprecise, so decay also runs backwards,
// but only for a half-life: a time further ahead was a clock that was wrong, and
// counts as now.
func (c count) at(now time.Time) float64 {
	age := now.Sub(c.At)
	if age < -halfLife {
		age = 0
	}
	return c.Score * math.Exp2(-float64(age)/float64(halfLife))
}

// used adds a use at a time. Within a half-life the order in which uses are
// recorded makes no difference; beyond it, the time of c was wrong.
func (c count) used(now time.Time) count {
	use := count{Score: 1, At: now}
	if c.Score == 0 {
		return use
	}
	if c.At.After(now) && c.At.Sub(now) <= halfLife {
		return count{Score: c.Score + use.at(c.At), At: c.At}
	}
	return count{Score: c.at(now) + 1, At: now}
}

// trim drops the least, but not what was just used.
func (c *counts) trim(used string, now time.Time) {
	if len(c.Skills) <= maxIDs {
		return
	}
	ids := make([]string, 0, len(c.Skills))
	for id := range c.Skills {
		if id != used {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(c.Skills[b].at(now), c.Skills[a].at(now)), cmp.Compare(a, b))
	})
	for _, id := range ids[maxIDs-1:] {
		delete(c.Skills, id)
	}
}
