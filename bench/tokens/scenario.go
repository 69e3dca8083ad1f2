package main

import "github.com/knack-skills/knack/listing"

// The session, the same for every strategy. Skills are named by their position.
const (
	turns        = 50
	changeTurn   = 20 // the description of changedSkill changes
	changedSkill = 20
	arrivalTurn  = 30 // lateSkill is installed
	lateSkill    = 150
)

// The made-up talk, in tokens.
const (
	systemTokens  = 3_000 // the system prompt and the other tools
	askTokens     = 60    // what the person says
	workTokens    = 2_000 // the answer, with what tools gave
	callTokens    = 60    // a tool call and the frame of its result
	promptTokens  = 250   // the request for a summary
	summaryTokens = 1_200
)

// compactions are the turns that begin with one.
func compactions() []int { return []int{13, 26, 39} }

// invocations has the skill that is run in a turn. Three come twice: within the
// same part of the session, in the next one, and in the one after that.
func invocations() map[int]int {
	return map[int]int{3: 4, 6: 17, 9: 4, 12: 88, 16: 120, 19: 17, 22: 63, 25: 171, 29: 190, 33: lateSkill, 41: 99, 46: 63}
}

// A strategy is a way to tell a model of skills.
type strategy struct {
	name     string
	inSystem bool // every body stands in the system prompt, and nothing else is told
	search   bool // SkillSearch is offered
	// after is what is said of the skills after a compaction; nil says nothing.
	after func([]listing.Entry, listing.Options) listing.Listing
}

func strategies() []strategy {
	return []strategy{
		{name: "every body in the system prompt", inSystem: true},
		{name: "listing again after compaction", after: listing.Format},
		{name: "listing once, nothing after compaction"},
		{name: "knack: listing once, then names and SkillSearch", search: true, after: listing.Names},
	}
}
