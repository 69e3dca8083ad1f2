package main

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/internal/lab"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/listing"
	"github.com/knack-skills/knack/search"
)

// project stands for the temporary directory in all texts, so that its name
// does not change the counts.
const project = "/home/dev/project"

// A library is the generated skills, read and compiled by the real stages.
type library struct {
	entries  []listing.Entry
	bodies   map[string]string // compiled text by id
	messages map[string]string // what an invocation injects, by id
	options  listing.Options
}

func newLibrary(ctx context.Context, tmp string, skills int) (*library, error) {
	if least := 200; skills < least {
		return nil, fmt.Errorf("the scenario needs %d skills or more", least)
	}
	tmp, err := filepath.EvalSymlinks(tmp)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(tmp, "project")
	if err := (lab.Tree{Skills: skills, Seed: 1}).Write(dir); err != nil {
		return nil, err
	}
	e, err := knack.New(ctx, knack.Options{Dir: dir, Trust: true, NoBundled: true,
		Home: filepath.Join(tmp, "home"), StateDir: filepath.Join(tmp, "state"),
		Getenv: func(string) string { return "" }})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	l := &library{entries: e.Entries(), bodies: map[string]string{}, messages: map[string]string{}, options: e.ListingOptions()}
	if len(l.entries) != skills {
		return nil, fmt.Errorf("%d of %d skills were loaded", len(l.entries), skills)
	}
	anywhere := func(s string) string { return strings.ReplaceAll(s, dir, project) }
	for _, entry := range l.entries {
		r, err := e.Render(ctx, invoke.Request{Name: entry.ID, By: invoke.ByUser})
		if err != nil {
			return nil, err
		}
		l.bodies[entry.ID] = anywhere(r.Text)
		for _, m := range r.Messages {
			l.messages[entry.ID] += anywhere(m.Text)
		}
	}
	return l, nil
}

// at returns the skills that exist in a turn: one comes late, and the
// description of one changes.
func (l *library) at(turn int) []listing.Entry {
	now := slices.Clone(l.entries)
	if turn >= changeTurn {
		now[changedSkill].Description = "New in this version: asks before it writes. " + now[changedSkill].Description
	}
	if turn < arrivalTurn {
		now = slices.Delete(now, lateSkill, lateSkill+1)
	}
	return now
}

func file(id string) string { return path.Join(project, ".claude/skills", id, "SKILL.md") }

// A finder is the index over the skills of one moment.
type finder struct{ ix *search.Index }

func (l *library) finder(now []listing.Entry) finder {
	docs := make([]search.Doc, len(now))
	for i, e := range now {
		docs[i] = search.Doc{ID: e.ID, Name: e.Name, Description: e.Description, WhenToUse: e.WhenToUse,
			Headings: search.Headings(l.bodies[e.ID])}
	}
	return finder{search.Build(docs)}
}

func (f finder) Search(_ context.Context, query string, limit int) ([]search.Hit, error) {
	return f.ix.Search(query, limit), nil
}

// place returns the place of an entry among the hits for what a person who
// means it would ask for, from 1; 0 when it is not among the first twenty.
func (f finder) place(e listing.Entry) int { return f.placeFor(wish(e), e) }

func (f finder) placeFor(query string, e listing.Entry) int {
	hits := f.ix.Search(query, searchLimit)
	return 1 + slices.IndexFunc(hits, func(h search.Hit) bool { return h.ID == e.ID })
}

// searchLimit is the most that a search may ask for (spec L-8).
const searchLimit = 20

// wish returns the four words of a description that say what it is good for.
func wish(e listing.Entry) string {
	_, words, _ := strings.Cut(e.Description, "Use when the person asks for ")
	return strings.TrimSuffix(words, ".")
}
