package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/skilltool"
	"github.com/knack-skills/knack/listing"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// A kind says what a piece of a request is there for.
type kind int

const (
	talk      kind = iota // made up, the same for all
	discovery             // which skills there are: tools, listings, names, searches
	body                  // the text of a skill that was invoked
	restored              // such texts, put back after a compaction
	kinds
)

// A block is a piece of a request. Blocks with the same text are the same to a
// prompt cache.
type block struct {
	kind   kind
	text   string
	tokens int
}

func written(k kind, s string) block { return block{k, s, text.Tokens(s)} }

// A simulation is one session under one strategy.
type simulation struct {
	*library
	strategy
	report
	memory  *session.Session
	now     []listing.Entry // the skills there are
	uses    map[string]int
	finder  finder
	fixed   []block // tools and system prompt
	history []block
	sent    []block // the latest request
}

// simulate runs the session with so many requests a turn, besides those that the
// strategy adds.
func simulate(ctx context.Context, l *library, s strategy, requests int) (report, error) {
	sim := &simulation{library: l, strategy: s, report: report{name: s.name},
		memory: session.New("simulation"), uses: map[string]int{}}
	sim.fixed = sim.tools()
	run := invocations()
	for turn := range turns {
		turn++
		sim.look(turn)
		if slices.Contains(compactions(), turn) {
			sim.compact(turn)
		}
		sim.announce()
		sim.say(turn, "asks", askTokens)
		if i, ok := run[turn]; ok {
			if err := sim.invoke(ctx, turn, l.entries[i].ID); err != nil {
				return report{}, err
			}
		}
		for i := range requests {
			sim.request()
			sim.say(turn, fmt.Sprintf("works %d", i), workTokens/requests)
		}
	}
	return sim.report, nil
}

// tools is what stands before the conversation, without the bodies.
func (s *simulation) tools() []block {
	var specs []llm.ToolSpec
	if !s.inSystem {
		specs = append(specs, skilltool.Skill{}.Spec())
	}
	if s.search {
		specs = append(specs, skilltool.Search{}.Spec())
	}
	var out []block
	for _, spec := range specs {
		out = append(out, written(discovery, spec.Name+"\n"+spec.Description+"\n"+string(spec.InputSchema)))
		s.put[discovery] += out[len(out)-1].tokens
	}
	return append(out, block{talk, "system prompt", systemTokens})
}

// look reads the skills that exist now.
func (s *simulation) look(turn int) {
	s.now = s.at(turn)
	for i := range s.now {
		s.now[i].Rank = float64(s.uses[s.now[i].ID])
	}
	if turn == 1 || turn == changeTurn || turn == arrivalTurn {
		s.finder = s.library.finder(s.now)
	}
}

func (s *simulation) add(b block) {
	s.history = append(s.history, b)
	s.put[b.kind] += b.tokens
}

func (s *simulation) say(turn int, what string, tokens int) {
	s.add(block{talk, fmt.Sprintf("turn %d %s", turn, what), tokens})
}

// request sends everything to the model. The prefix that equals that of the
// request before is read from the cache; the rest is written to it.
func (s *simulation) request(more ...block) {
	all := slices.Concat(s.fixed, s.history, more)
	same := 0
	for same < min(len(all), len(s.sent)) && all[same] == s.sent[same] {
		same++
	}
	read, size := total(all[:same]), total(all)
	s.reads += read
	s.writes += size - read
	s.largest = max(s.largest, size)
	s.sent = all
}

func total(blocks []block) (n int) {
	for _, b := range blocks {
		n += b.tokens
	}
	return n
}

// announce tells of the skills there are, or of what is new.
func (s *simulation) announce() {
	told := s.memory.Told(session.Main)
	delta := listing.Diff(told, s.now)
	if delta.Empty() {
		return
	}
	known := map[string]skill.Summary{}
	for _, e := range s.now {
		known[e.ID] = e.Summary
	}
	s.memory.Tell(session.Main, known, delta.Removed...)
	switch {
	case s.inSystem:
		s.rewrite()
	case len(told) == 0:
		s.add(written(discovery, listing.Format(s.now, s.options).Text))
	default:
		s.add(written(discovery, listing.FormatDelta(delta, s.options).Text))
	}
}

// rewrite makes the system prompt that holds every body.
func (s *simulation) rewrite() {
	before := s.fixed
	s.fixed = []block{{talk, "system prompt", systemTokens}}
	for _, e := range s.now {
		b := written(discovery, "# Skill "+e.ID+"\n"+e.Description+"\n\n"+s.bodies[e.ID])
		s.fixed = append(s.fixed, b)
		if !slices.Contains(before, b) {
			s.put[discovery] += b.tokens
		}
	}
}

// compact replaces the history by a summary, which names no skill.
func (s *simulation) compact(turn int) {
	s.request(block{talk, fmt.Sprintf("summary request %d", turn), promptTokens})
	s.history = nil
	s.say(turn, "summary", summaryTokens)
	if !s.inSystem {
		if r := s.memory.Restore(session.Main, session.Budget{}); r.Text != "" {
			s.add(written(restored, r.Text))
		}
	}
	if s.after != nil {
		s.add(written(discovery, s.after(s.now, s.options).Text))
	}
	s.measure()
}

// measure notes which skills the model can come to now.
func (s *simulation) measure() {
	var r reach
	for _, e := range s.now {
		place := 0
		if s.searches() {
			place = s.finder.place(e)
			r.allWords += one(s.finder.placeFor(e.Description, e) > 0)
		}
		named := s.sees(e.ID)
		r.named += one(named)
		r.firstFive += one(0 < place && place <= 5)
		r.found += one(place > 0)
		r.all += one(named || place > 0)
	}
	r.of = len(s.now)
	s.reachable = append(s.reachable, r)
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// reaches reports whether the model can come to a skill: its id stands in the
// context, or the context speaks of a search that is offered and finds it.
func (s *simulation) reaches(e listing.Entry) bool {
	return s.sees(e.ID) || s.searches() && s.finder.place(e) > 0
}

// searches reports whether the model has a search and was told of it in the
// conversation; that the tool exists is not counted.
func (s *simulation) searches() bool {
	return s.search && slices.ContainsFunc(s.history, func(b block) bool { return strings.Contains(b.text, "SkillSearch") })
}

func (s *simulation) sees(words string) bool {
	has := func(b block) bool { return strings.Contains(b.text, words) }
	return slices.ContainsFunc(s.fixed, has) || slices.ContainsFunc(s.history, has)
}

// invoke runs a skill. The model calls it where it can reach it; else the person
// types its name, so that the same work is done under every strategy.
func (s *simulation) invoke(ctx context.Context, turn int, id string) error {
	e := s.now[slices.IndexFunc(s.now, func(e listing.Entry) bool { return e.ID == id })]
	s.invocations++
	s.uses[id]++
	if s.reaches(e) {
		s.byModel++
	}
	if s.inSystem {
		return nil // it is there already
	}
	if s.search && !s.sees("- "+id) && !s.sees("## Skill "+id) {
		// At most its name is left. The model is charged as if it always looked.
		if err := s.lookUp(ctx, turn, e); err != nil {
			return err
		}
	}
	s.request()
	s.say(turn, "calls", callTokens)
	repeat := s.memory.Record(session.Main, session.Invoked{ID: id, Path: file(id), Text: s.bodies[id]})
	if repeat {
		s.add(written(body, "Skill "+id+" is already loaded above. Follow it again from the start."))
	} else {
		s.add(written(body, s.messages[id]))
	}
	return nil
}

// lookUp is what a search adds: the call, and the descriptions it answers with.
// When the first few hits are not enough, it is asked again for as many as may be.
func (s *simulation) lookUp(ctx context.Context, turn int, e listing.Entry) error {
	type query struct {
		Query string `json:"query"`
		Limit int    `json:"limit,omitempty"`
	}
	for _, limit := range []int{0, searchLimit} {
		input, err := json.Marshal(query{wish(e), limit})
		if err != nil {
			return err
		}
		plan, err := skilltool.Search{Finder: s.finder}.Plan(input)
		if err != nil {
			return err
		}
		r, err := plan.Run(ctx, agent.CallEnv{})
		if err != nil {
			return err
		}
		s.lookUps++
		s.request()
		s.add(block{discovery, fmt.Sprintf("turn %d searches %s", turn, input), callTokens})
		s.add(written(discovery, r.Text))
		if strings.Contains(r.Text, e.ID) {
			return nil
		}
	}
	return nil
}
