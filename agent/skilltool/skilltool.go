// Package skilltool holds the two tools through which a model uses skills: Skill
// runs one, SkillSearch finds one (spec L-1, L-8, I-1). Their schemas name no
// skill, so that the cached prefix of requests never changes.
package skilltool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/listing"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/search"
)

// Skill is the tool that runs a skill.
type Skill struct{}

var _ agent.Tool = Skill{}

// Spec describes the tool.
func (Skill) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: listing.ToolName, Description: listing.ToolDescription(), InputSchema: skillInput().Schema()}
}

func skillInput() tool.Input {
	return tool.Input{Tool: listing.ToolName, Fields: []tool.Field{
		{Name: "skill", Type: tool.String, Required: true, Filled: true, Doc: "the id of the skill, exactly as listed"},
		{Name: "args", Type: tool.String, Doc: "what a person would type after the name; optional"},
	}}
}

// Plan reads a call. Permission is part of the road that it takes (spec S-2).
func (Skill) Plan(input json.RawMessage) (agent.Plan, error) {
	var in struct {
		Skill string `json:"skill"`
		Args  string `json:"args"`
	}
	if err := skillInput().Decode(input, &in); err != nil {
		return agent.Plan{}, err
	}
	if strings.TrimSpace(in.Skill) == "" {
		return agent.Plan{}, errors.New(`"skill" is blank: give the id of a listed skill`)
	}
	return agent.Plan{Skill: in.Skill, Run: func(ctx context.Context, env agent.CallEnv) (agent.Result, error) {
		r, err := env.Invoke(ctx, in.Skill, in.Args)
		if err != nil {
			if ctx.Err() != nil {
				return agent.Result{}, ctx.Err()
			}
			return agent.Result{Text: err.Error(), IsError: true}, nil
		}
		return agent.Result{Text: r.ToolResult(), Messages: r.Messages, Override: r.Override}, nil
	}}, nil
}

// For returns the thread of the main agent with both tools, for a loop of the
// host's own; *knack.Engine is an e.
func For(e interface {
	agent.Engine
	Finder
}) *agent.Thread {
	return agent.NewThread(e, Skill{}, Search{Finder: e})
}

// A Finder searches the skills that a model may use, best first.
type Finder interface {
	Search(ctx context.Context, query string, limit int) ([]search.Hit, error)
}

// Search is the tool that finds skills by words.
type Search struct{ Finder Finder }

var _ agent.Tool = Search{}

// The limits of one search (spec L-8).
const (
	defaultLimit = 5
	maxLimit     = 20
)

// Spec describes the tool.
func (Search) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: "SkillSearch",
		Description: "Find skills by words, when the list of skills was shortened or you no longer see it. " +
			"Answers with ids and descriptions, best match first. Call the Skill tool with an id to use one.",
		InputSchema: searchInput().Schema()}
}

func searchInput() tool.Input {
	return tool.Input{Tool: "SkillSearch", Fields: []tool.Field{
		{Name: "query", Type: tool.String, Required: true, Filled: true, Doc: "words that describe the task"},
		{Name: "limit", Type: tool.Integer, Min: 1, Max: maxLimit, Doc: "at most this many results; 5 when left out"},
	}}
}

// Plan reads a call.
func (s Search) Plan(input json.RawMessage) (agent.Plan, error) {
	in := struct {
		Query string `json:"query"`
		Limit int    `json:"limit"`
	}{Limit: defaultLimit}
	if err := searchInput().Decode(input, &in); err != nil {
		return agent.Plan{}, err
	}
	if strings.TrimSpace(in.Query) == "" {
		return agent.Plan{}, errors.New(`"query" is blank: give words that describe the task`)
	}
	return agent.Plan{ReadOnly: true, Run: func(ctx context.Context, _ agent.CallEnv) (agent.Result, error) {
		hits, err := s.Finder.Search(ctx, in.Query, in.Limit)
		if err != nil {
			return agent.Result{}, err
		}
		if len(hits) == 0 {
			return agent.Result{Text: "No skill matches. Use other words, or do the task without a skill."}, nil
		}
		var b strings.Builder
		for _, h := range hits {
			fmt.Fprintf(&b, "- %s: %s\n", h.ID, h.Snippet)
		}
		return agent.Result{Text: b.String()}, nil
	}}, nil
}
