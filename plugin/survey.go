package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/knack-skills/knack/agentdef"
	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/skill"
	source "github.com/knack-skills/knack/source/plugin"
)

// survey lists what a plugin brings. The error is that of ctx.
func survey(ctx context.Context, m *source.Manifest, e *source.Entry, problems []skill.Problem) (Brings, error) {
	b := Brings{Description: m.Description, Options: m.Options, Skills: []string{}, Commands: []string{}, Agents: []string{},
		Hooks: []string{}, Servers: []string{}, Skipped: []string{}, Problems: problems}
	skills, more, err := source.Source{Name: m.Name, Dir: m.Dir, Entry: e}.Load(ctx)
	if err != nil {
		return b, err
	}
	for _, p := range more {
		if !slices.Contains(b.Problems, p) {
			b.Problems = append(b.Problems, p)
		}
	}
	for _, s := range skills {
		if s.Content.Positional {
			b.Commands = append(b.Commands, s.ID)
		} else {
			b.Skills = append(b.Skills, s.ID)
		}
	}
	set, err := agentdef.Load(ctx, agentdef.Options{Roots: AgentRoots(m), NoBuiltin: true})
	if err != nil {
		return b, err
	}
	b.Problems = append(b.Problems, set.Problems()...)
	for _, d := range set.All() {
		b.Agents = append(b.Agents, d.Name)
	}
	for _, g := range m.Hooks {
		for _, h := range g.Handlers {
			b.Hooks = append(b.Hooks, strings.TrimSpace(fmt.Sprintf("%s %s: %s", g.Event, g.Matcher, what(h))))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Servers)) {
		b.Servers = append(b.Servers, name+": "+server(m.Servers[name]))
	}
	return b, nil
}

// AgentRoots returns where the agents of a plugin are.
func AgentRoots(m *source.Manifest) []agentdef.Root {
	var out []agentdef.Root
	for _, p := range m.AgentPaths() {
		out = append(out, agentdef.Root{Path: p, Source: skill.Plugin, Owner: m.Name, Boundary: m.Dir})
	}
	return out
}

// what a hook runs, in one line.
func what(h hook.Handler) string {
	return cmp.Or(strings.Join(append([]string{h.Command}, h.Args...), " "), h.URL, h.Type+" "+h.Tool)
}

// server says what a server is, a program or a place in the network, and what it
// is given besides, as it is written: that may be a key of the person.
func server(raw json.RawMessage) string {
	var s struct {
		Command      string
		Args         []string
		URL          string
		Env, Headers map[string]string
	}
	_ = json.Unmarshal(raw, &s) // shown as far as it can be read
	out := cmp.Or(s.URL, strings.Join(append([]string{s.Command}, s.Args...), " "))
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		out += ", with " + name + "=" + s.Env[name]
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		out += ", sends " + name + ": " + s.Headers[name]
	}
	return out
}
