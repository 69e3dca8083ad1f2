package chat

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"strings"
	"time"

	"github.com/knack-skills/knack/agent/tool/remote"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/listing"
	"github.com/knack-skills/knack/memory"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/session/transcript"
	"github.com/knack-skills/knack/turn"
)

// system is the constant beginning of every request: who the agent is, where it
// runs, and what the people it works for have written down.
func (h *Host) system(ctx context.Context) (string, error) {
	base := systemPrompt
	if h.main != nil {
		base = cmp.Or(h.main.Prompt, base)
	}
	place := h.Engine.Place()
	m, err := h.memory(ctx)
	if err != nil {
		return "", err
	}
	lean := memory.Surroundings{WorkDir: h.Engine.Dir(), ProjectDir: h.Engine.ProjectDir(), MoreDirs: place.AddDirs,
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Shell: "bash", Date: time.Now(), Headless: true}
	around := lean
	around.Repository = memory.Status(ctx, h.Engine.Dir(), memory.GitOptions{Trusted: h.Engine.Trusted()})
	h.around = [2]string{paragraphs(around.Render(), m.Render()), paragraphs(lean.Render())}
	if h.main != nil && h.main.Run.Lean {
		return paragraphs(base, h.around[1], h.o.AppendSystem), nil
	}
	return paragraphs(base, h.around[0], h.o.AppendSystem), nil
}

// memory is what people have written down for agents; nothing in a bare run
// (spec A-7).
func (h *Host) memory(ctx context.Context) (memory.Memory, error) {
	if h.o.Bare {
		return memory.Memory{}, nil
	}
	place := h.Engine.Place()
	m, err := memory.Load(ctx, memory.Options{Place: memory.Place{Managed: place.Managed, UserDir: h.Engine.UserDir(),
		Project: place.ProjectDirs(), Repository: h.Engine.ProjectDir(), Home: place.Home}})
	if err != nil {
		return m, err
	}
	h.problem = append(h.problem, m.Problems...)
	return m, nil
}

func paragraphs(parts ...string) string { return strings.Join(deleteEmpty(parts), "\n\n") }

func deleteEmpty(parts []string) []string {
	out := parts[:0:0]
	for _, p := range parts {
		if strings.TrimSpace(p) != "" {
			out = append(out, strings.TrimSpace(p))
		}
	}
	return out
}

// announce tells an agent of skills, and writes down that it did (spec L-6).
func (h *Host) announce(ctx context.Context, id session.AgentID, prompt string) string {
	if h.o.NoSkills {
		return ""
	}
	m, ok, err := h.listing(ctx, id, prompt)
	if !ok || err != nil { // the turn ends with ctx
		return ""
	}
	if id == session.Main {
		a := transcript.AnnouncedOf(h.Engine.Session().Told(id))
		a.Anew = true
		h.keep(id, a)
	}
	return m.Text
}

// maxRanked is how much of a prompt is searched for; what is asked stands at
// its beginning or its end.
const maxRanked = 4000 // runes

// listing is what the agent is told. Where ranks count, the prompt has a say when
// an agent is told of skills for the first time. Finding out reads every skill,
// so nobody else pays for it (spec L-5).
func (h *Host) listing(ctx context.Context, id session.AgentID, prompt string) (turn.Message, bool, error) {
	first := 2 // the step of the listing from which ranks count
	if h.Engine.Settings().SkillListing != "ranked" {
		first = 3
	}
	if len(h.Engine.Session().Told(id)) > 0 || h.Engine.Listing().Step < first {
		m, ok := h.Engine.Announce(id)
		return m, ok, nil
	}
	if r := []rune(prompt); len(r) > maxRanked {
		prompt = string(r[:maxRanked/2]) + " " + string(r[len(r)-maxRanked/2:])
	}
	return h.Engine.AnnounceFor(ctx, id, prompt)
}

// names is what an agent is told of skills after a compaction (spec L-7).
func (h *Host) names(session.AgentID) string {
	if h.o.NoSkills {
		return ""
	}
	switch h.Engine.Settings().AfterCompaction {
	case "none":
		return ""
	case "full":
		return h.Engine.Listing().Text
	}
	return listing.Names(h.Engine.Entries(), h.Engine.ListingOptions()).Text
}

// attach reads the files that a message refers to (spec A-5).
func (h *Host) attach(ctx context.Context, text string) []turn.Message {
	list, err := memory.Attach(ctx, text, memory.AttachOptions{WorkDir: h.Engine.Dir(), Home: h.Engine.Place().Home, Allow: h.mayRead, Remote: h.resource})
	if err != nil {
		return nil
	}
	return messages(list)
}

// resource reads what a person refers to as @server:address. That they name it
// is their leave; a rule that denies the server still holds.
func (h *Host) resource(ctx context.Context, server, address string) (string, bool, error) {
	r := h.Engine.PermissionRequest(remote.Name(server, "resource"))
	if d := (permission.Rules{Deny: h.invokeEnv().Rules.Deny}).Decide(r); d.Verdict == permission.Deny {
		return "", true, errors.New(d.Reason)
	}
	return h.Servers.Read(ctx, server, address)
}

// attachSkill reads the files that the text of a skill refers to (spec I-5).
func (h *Host) attachSkill(ctx context.Context, e *catalog.Entry, text string) []turn.Message {
	list, err := memory.AttachSkill(ctx, text, e.Skill, h.Engine.Trusted(), memory.AttachOptions{
		WorkDir: h.Engine.Dir(), Home: h.Engine.Place().Home, Allow: h.mayRead})
	if err != nil {
		return nil
	}
	return messages(list)
}

func messages(list []memory.Attachment) (out []turn.Message) {
	for _, a := range list {
		out = append(out, turn.Message{Role: turn.User, Text: a.Block(), Meta: true})
	}
	return out
}

func (h *Host) mayRead(_ context.Context, a memory.Ask) (string, bool) {
	r := h.Engine.PermissionRequest("Read")
	r.Input = permission.Input{Path: a.Path, RealPath: a.Real}
	d := h.invokeEnv().Rules.Decide(r)
	// What belongs to the skill that runs needs no rule, unless one refuses it.
	return d.Reason, d.Verdict == permission.Allow || a.Own && d.Verdict == permission.Ask && !d.Firm
}
