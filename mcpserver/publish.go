package mcpserver

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/knack-skills/knack/catalog"
)

// An offer is what clients were offered last, as text to compare with.
type offer struct {
	generation uint64
	tool       string            // description of the tool Skill
	prompts    map[string]string // by name
	resources  map[string]string // by URI
}

func newOffer() offer {
	return offer{prompts: map[string]string{}, resources: map[string]string{}}
}

// publish offers what a snapshot holds. Only what changed is touched, so that
// clients are told of changes and of nothing else.
func (s *Server) publish(snap *catalog.Snapshot) {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	if snap.Generation < s.offered.generation {
		return // snapshots may come out of order
	}
	s.offered.generation = snap.Generation
	entries := s.listed(snap)
	instructions := fill(guide, entries)
	s.instructions.Store(&instructions)
	if d := fill(toolGuide, entries); d != s.offered.tool {
		s.offered.tool = d
		s.offerSkillTool(d)
	}
	s.publishPrompts(snap)
	s.publishResources(snap)
	s.lookAgain()
}

func (s *Server) publishPrompts(snap *catalog.Snapshot) {
	now := map[string]string{}
	for e := range snap.UserView() {
		p := promptOf(e)
		now[p.Name] = fingerprint(p)
		if s.offered.prompts[p.Name] != now[p.Name] {
			s.mcp.AddPrompt(p, s.prompt)
		}
	}
	if gone := missing(s.offered.prompts, now); len(gone) > 0 {
		s.mcp.RemovePrompts(gone...)
	}
	s.offered.prompts = now
}

// publishResources lists SKILL.md of each skill that models may use. All other
// files are read through the template.
func (s *Server) publishResources(snap *catalog.Snapshot) {
	now := map[string]string{}
	for e := range snap.ModelView(nil) {
		r := resourceOf(e)
		now[r.URI] = fingerprint(r)
		if s.offered.resources[r.URI] != now[r.URI] {
			s.mcp.AddResource(r, s.resource)
		}
	}
	if gone := missing(s.offered.resources, now); len(gone) > 0 {
		s.mcp.RemoveResources(gone...)
	}
	s.offered.resources = now
}

// fingerprint is equal for what clients see as equal.
func fingerprint(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error() // strings and booleans always encode
	}
	return string(b)
}

// missing returns the keys of before that are not in now.
func missing(before, now map[string]string) (gone []string) {
	for k := range before {
		if _, ok := now[k]; !ok {
			gone = append(gone, k)
		}
	}
	return gone
}

// describe is the description of a skill for a list of things to pick from.
func describe(e *catalog.Entry) string { return line(e.Description) }

// title is the display name of a skill, where it has one besides its id.
func title(e *catalog.Entry) string {
	if e.Name == "" || e.Name == calledBy(e) {
		return ""
	}
	return line(e.Name)
}

func resourceOf(e *catalog.Entry) *mcp.Resource {
	return &mcp.Resource{
		URI: uriOf(e, mainFile), Name: calledBy(e), Title: title(e), Description: describe(e), MIMEType: markdown,
	}
}
