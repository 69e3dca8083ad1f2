package run

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/slash"
)

// said is the part of a message that the person wrote. What was piped in beside
// a prompt is material, and the words in it are nobody's wish.
func (o *Options) said(message string) string {
	if o.streamed() || blank(o.Prompt) {
		return message
	}
	return o.Prompt
}

// wanted lists the skills that the person's words stand for (spec I-1), each
// once, at most as many as can be stacked.
func wanted(e *knack.Engine, said string, notice func(string)) []string {
	table := e.Settings().SkillKeywords
	var out []string
	for _, word := range slash.Keywords(said, slices.Sorted(maps.Keys(table))) {
		id := table[word]
		switch {
		case slices.Contains(out, id):
		case len(out) == slash.MaxStack:
			notice(fmt.Sprintf("the keyword %q does not start %s: a message starts at most %d skills", word, id, slash.MaxStack))
		default:
			out = append(out, id)
		}
	}
	return out
}

// passed reports an error that only means that a keyword has nothing to start;
// the message goes its way without.
func passed(id string, err error, notice func(string)) bool {
	var missing *catalog.NotFoundError
	var several *catalog.AmbiguousError
	var refused *invoke.RefusedError
	if !errors.As(err, &missing) && !errors.As(err, &several) && !errors.As(err, &refused) {
		return false
	}
	notice(fmt.Sprintf("the setting skillKeywords names %s: %v", id, err))
	return true
}
