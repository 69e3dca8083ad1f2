package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/knack-skills/knack/agentdef"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/turn"
)

// An agent is one history with its tools: the main one or a subagent. One
// goroutine runs it at a time.
type agent struct {
	c        *Conversation
	id       session.AgentID
	skill    string // that it runs as a fork; empty if none
	system   string
	tools    []Tool
	def      *agentdef.Definition // its type; nil for a main agent without one
	pool     *agentdef.Pool       // nil for a main agent without a type, which has every tool
	mode     Mode
	model    string // empty is the session's
	effort   string
	maxTurns int
	calls    int // tool calls so far
	// unwatched agents set off no hooks; purpose says for whom they work.
	unwatched bool
	purpose   llm.Purpose

	mu      sync.Mutex // guards the rules: invocations of the main agent come from elsewhere, too
	denied  []string   // taken away by its type or skill, as rules
	granted []string   // pre-approved by its skill, as rules

	history []llm.Message
	told    map[string]bool // notices that were given
	marks   []int           // where cache marks stood in the last request
	taken   int             // context tokens of the last request and its answer
	spent   llm.Usage       // by all requests
}

// ErrTurnLimit reports that a turn took too many model calls.
var ErrTurnLimit = errors.New("the limit of model calls was reached")

// run is one turn: msgs join the history, and the model is asked until it stops.
func (a *agent) run(ctx context.Context, msgs []turn.Message, o turn.Override) (ans Answer, err error) {
	ctx, end := a.c.frame(ctx, TurnStarted{Agent: a.id, Type: a.kind(), Skill: a.skill})
	defer func() { end(TurnEnded{Agent: a.id, Answer: ans, Err: err}) }()
	a.join(userMessage(nil, msgs), allMeta(msgs))
	blocked := 0 // times that hooks sent the agent back to work
	for ans.Turns < a.maxTurns {
		if err := a.compactIfNeeded(ctx); err != nil {
			return ans, err
		}
		a.announce(ctx)
		reply, err := a.ask(ctx, o)
		if err != nil {
			return ans, err
		}
		ans.Turns++
		ans.Usage, ans.Stop = ans.Usage.Add(reply.Done.Usage), reply.Done.Stop
		a.count(reply.Done.Usage)
		a.taken = reply.Done.Usage.Context()
		a.join(reply.Message, false)
		if len(reply.Calls) == 0 {
			ans.Text = reply.Text()
			if err := stopError(reply.Done.Stop); err != nil {
				return ans, err
			}
			again, err := a.atStop(ctx, ans.Text, blocked)
			if !again || err != nil {
				return ans, err
			}
			blocked++
			continue
		}
		results, follow, more, stop := a.callAll(ctx, reply.Calls, o)
		o = o.And(more)
		follow = append(follow, a.c.takePending(a.id)...)
		a.join(userMessage(results, follow), false)
		if err := errors.Join(ctx.Err(), stop); err != nil {
			return ans, err
		}
	}
	return ans, fmt.Errorf("%w: %d in one turn; say \"continue\" to go on", ErrTurnLimit, a.maxTurns)
}

// count adds to what this agent and the whole conversation have spent.
func (a *agent) count(u llm.Usage) {
	a.spent = a.spent.Add(u)
	a.c.count(u)
}

// stopError says why an answer is not complete; nil for one that is.
func stopError(s llm.StopReason) error {
	switch s {
	case llm.MaxTokens:
		return errors.New("the model's answer was cut off at its token limit; ask it to go on")
	case llm.Refusal:
		return errors.New("the model refused to answer")
	}
	return nil
}

// joinAll appends messages as they are, each with the role of its own.
func (a *agent) joinAll(msgs []turn.Message) {
	for _, m := range msgs {
		if m.Text != "" {
			a.join(llm.Message{Role: llm.Role(m.Role), Content: []llm.Block{{Type: llm.Text, Text: m.Text}}}, m.Meta)
		}
	}
}

// join appends a message to the history.
func (a *agent) join(m llm.Message, meta bool) {
	if len(m.Content) == 0 {
		return
	}
	a.history = append(a.history, m)
	a.c.observe(Message{Agent: a.id, Message: m, Meta: meta})
}

// announce adds the listing or its delta at the end of the history, so that
// everything before it keeps its bytes (spec L-6).
func (a *agent) announce(ctx context.Context) {
	if a.c.opts.Announce == nil || len(a.history) == 0 || !a.has("Skill") {
		return
	}
	if text := a.c.opts.Announce(ctx, a.id, textOf(a.history[len(a.history)-1])); text != "" {
		a.join(llm.Message{Role: llm.User, Content: []llm.Block{{Type: llm.Text, Text: text}}}, true)
	}
}

// textOf is the text of a message.
func textOf(m llm.Message) string {
	var texts []string
	for _, b := range m.Content {
		if b.Type == llm.Text {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func (a *agent) has(tool string) bool {
	for _, t := range a.tools {
		if t.Spec().Name == tool {
			return true
		}
	}
	return false
}

// ask makes one request and collects the answer.
func (a *agent) ask(ctx context.Context, o turn.Override) (llm.Answer, error) {
	var reply llm.Answer
	for e, err := range a.c.opts.Model.Stream(ctx, a.request(o)) {
		if err != nil {
			return reply, err
		}
		if d, ok := e.(llm.TextDelta); ok {
			a.c.observe(TextDelta{Agent: a.id, Text: d.Text})
		}
		reply.Add(e)
	}
	if reply.Done == nil {
		return reply, llm.ErrCut
	}
	return reply, nil
}

// request builds what the model is asked. Everything but the end of Messages is
// the same as last time, so that the provider's cache holds.
func (a *agent) request(o turn.Override) llm.Request {
	specs := make([]llm.ToolSpec, len(a.tools))
	for i, t := range a.tools {
		specs[i] = t.Spec()
	}
	last := len(a.history) - 1
	marks := []int{last}
	if n := len(a.marks); n > 0 && a.marks[n-1] < last {
		marks = []int{a.marks[n-1], last}
	}
	a.marks = marks
	return llm.Request{
		AgentID: string(a.id), AgentType: a.kind(), Skill: a.skill, Purpose: cmp.Or(a.purpose, llm.Turn),
		Model: a.pickModel(o.Model), Effort: first(o.Effort, a.effort, a.c.opts.Effort),
		System: a.system, Messages: a.history, Tools: specs, CacheAt: marks,
	}
}

// pickModel resolves the override's model, then the agent's, then the
// session's. An unknown or forbidden one keeps the session's, with a notice.
func (a *agent) pickModel(override string) string {
	name := first(override, a.model)
	if name == "" || name == "inherit" {
		return a.c.opts.ModelID
	}
	if a.c.opts.ResolveModel == nil {
		return name
	}
	id, err := a.c.opts.ResolveModel(name)
	if err != nil {
		a.noticeOnce(fmt.Sprintf("model %q is not used: %v", name, err))
		return a.c.opts.ModelID
	}
	return id
}

// noticeOnce tells the person what every request of the agent would repeat.
func (a *agent) noticeOnce(text string) {
	if a.told[text] {
		return
	}
	if a.told == nil {
		a.told = map[string]bool{}
	}
	a.told[text] = true
	a.c.observe(Notice{Agent: a.id, Text: text})
}

// kind is the agent type; empty for a main agent without one.
func (a *agent) kind() string {
	if a.def == nil {
		return ""
	}
	return a.def.Name
}

func first(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

// invoke runs a skill as this agent, in an environment made by its env.
func (a *agent) invoke(ctx context.Context, req invoke.Request, env invoke.Env) (*invoke.Result, error) {
	began := a.c.opts.Now()
	ctx, end := a.c.frame(ctx, InvocationStarted{Agent: a.id, By: req.By, Name: req.Name})
	err := a.beyond(req, env)
	var r *invoke.Result
	if err == nil {
		r, err = invoke.Invoke(ctx, req, env)
	}
	event := Invoked{Agent: a.id, By: req.By, Name: req.Name, Result: r, Err: err, Duration: a.c.opts.Now().Sub(began)}
	if err != nil {
		end(event)
		return nil, err
	}
	for _, n := range r.Notices {
		a.c.observe(Notice{Agent: a.id, Text: n})
	}
	if r.Mode != skill.Fork {
		a.mayRead(r.Dir)
		if a.c.opts.AttachSkill != nil && !r.Repeat {
			// Attachments follow the text that refers to them (spec I-5).
			r.Messages = slices.Insert(r.Messages, min(2, len(r.Messages)), a.c.opts.AttachSkill(ctx, r.Entry, r.Text)...)
		}
	}
	end(event)
	return r, nil
}

// mayRead lets an agent read the files of a skill that it runs: the text tells
// it to, wherever the skill lies.
func (a *agent) mayRead(dir string) {
	dir = filepath.ToSlash(dir)
	if !filepath.IsAbs(dir) || strings.ContainsAny(dir, "*?[]\\()!#") {
		return // a path that a pattern cannot say plainly is asked about
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if rule := "Read(/" + dir + "/**)"; !slices.Contains(a.granted, rule) {
		a.granted = append(a.granted, rule)
	}
}

// userMessage puts tool results and texts into one message of the user.
func userMessage(results []llm.Block, msgs []turn.Message) llm.Message {
	m := llm.Message{Role: llm.User, Content: results}
	for _, t := range msgs {
		if t.Text != "" {
			m.Content = append(m.Content, llm.Block{Type: llm.Text, Text: t.Text})
		}
	}
	return m
}

func allMeta(msgs []turn.Message) bool {
	for _, m := range msgs {
		if !m.Meta {
			return false
		}
	}
	return true
}
