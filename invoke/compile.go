package invoke

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/prompt"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/turn"
)

// What stands in the place of a command that may not run (spec P-13, S-9).
const (
	offByPolicy    = "[shell command execution disabled by policy]"
	offByUntrusted = "[not run: workspace is not trusted]"
)

// NotTrusted begins the notice that a workspace is not trusted (spec S-9), so
// that a host can tell that it has said so before.
const NotTrusted = "the workspace is not trusted"

// override is what the skill changes for the rest of the turn (spec I-5), with
// a notice for each grant that was held back (spec S-6).
func override(e *catalog.Entry, in skill.Instructions, env Env) (turn.Override, []string) {
	o := turn.Override{
		DisallowedTools: e.Run.DisallowedTools,
		Model:           keepSuffix(e.Run.Model, env.Model),
		Effort:          e.Run.Effort,
	}
	var notices []string
	if in.Note != "" {
		notices = append(notices, in.Note) // such as files that could not be extracted (spec B-2)
	}
	inert := e.Origin.FromWorkspace() && !env.Trusted
	switch {
	case e.Origin.Remote() && !env.approved:
		// Remote text grants nothing until exactly it is approved (spec C-13, S-6).
		if len(e.Run.AllowedTools) > 0 {
			notices = append(notices, "grants ignored: the skill comes from an MCP server")
		}
	case inert && hasInert(e, in):
		notices = append(notices, NotTrusted+": the skill's grants, hooks and inline commands are off; use --trust for this run, or `knack doctor --trust` to remember it")
	case inert:
		// Nothing to hold back, nothing to say.
	case env.ManagedRulesOnly && !e.Origin.ShippedOrManaged():
		if len(e.Run.AllowedTools) > 0 {
			notices = append(notices, "grants ignored: allowManagedPermissionRulesOnly is set by the administrator")
		}
	default:
		o.AllowedTools = prompt.ExpandRules(e.Run.AllowedTools, vars(e, in, env))
	}
	return o, notices
}

// hooksOf returns the hooks that e may register (spec H-8, H-10), or why it may
// not. What an untrusted workspace holds back is said once, by override.
func hooksOf(e *catalog.Entry, env Env) (hooks hook.Config, held string) {
	switch {
	case len(e.Run.Hooks) == 0:
	case e.Origin.Remote():
		held = "the skill comes from an MCP server"
	case e.Origin.FromWorkspace() && !env.Trusted:
	default:
		if held = env.HooksHeld(e.Origin); held == "" {
			return e.Run.Hooks, ""
		}
	}
	if held != "" {
		held = fmt.Sprintf("hooks of skill %s are not registered: %s", idOf(e), held)
	}
	return nil, held
}

// HooksHeld says why policy lets nothing of this origin register hooks; empty
// means that it may (spec H-10).
func (env Env) HooksHeld(o skill.Origin) string {
	switch {
	case env.NoHooks != "" || o.ShippedOrManaged() || o.Administered():
		return env.NoHooks
	case env.ManagedHooks != "" || o.Source == skill.Plugin:
		return env.ManagedHooks
	}
	return env.PluginHooks
}

// hasInert reports whether trust would change anything for e (spec S-9).
func hasInert(e *catalog.Entry, in skill.Instructions) bool {
	return len(e.Run.AllowedTools) > 0 || len(e.Run.Hooks) > 0 ||
		slices.ContainsFunc(prompt.Parse(in.Text), func(s prompt.Segment) bool { return s.Command })
}

// keepSuffix gives the skill's model the "[1m]"-like suffix of the session's
// model, unless it names one itself.
func keepSuffix(model, session string) string {
	i := strings.IndexByte(session, '[')
	if model == "" || i < 0 || strings.Contains(model, "[") {
		return model
	}
	return model + session[i:]
}

func vars(e *catalog.Entry, in skill.Instructions, env Env) prompt.Vars {
	v := prompt.Vars{SkillDir: in.Dir, ProjectDir: env.ProjectDir, Effort: e.Run.Effort}
	if env.Session != nil {
		v.SessionID = env.Session.ID
	}
	if e.Origin.Source == skill.Plugin {
		v.PluginRoot = e.Origin.OwnerDir
		v.PluginData = env.PluginDir(e.Origin.Owner)
		if env.PluginOptions != nil {
			v.UserConfig = env.PluginOptions(e.Origin.Owner)
		}
	}
	if v.Effort == "" {
		v.Effort = env.Effort
	}
	if v.Effort == "" {
		v.Effort = "medium"
	}
	return v
}

// PluginDir is where a plugin keeps its data; empty if there is no such place.
func (env Env) PluginDir(owner string) string {
	if env.PluginData == "" {
		return ""
	}
	return filepath.Join(env.PluginData, plainName(owner))
}

// plainName makes one harmless directory name of a plugin's name.
func plainName(owner string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '-'
	}, owner)
}

// compile turns the body into the text that is injected, running inline
// commands with the skill's own grants in force (spec P-10).
func compile(ctx context.Context, r *Result, in skill.Instructions, req Request, env Env) error {
	e := r.Entry
	runner := env.Shell
	if runner != nil && env.Audit != nil {
		runner = auditedShell{runner, env, agentOf(req), e}
	}
	out, err := prompt.Compile(ctx, e.Skill, in, req.Args, prompt.Env{
		Vars:     vars(e, in, env),
		WorkDir:  env.WorkDir,
		Environ:  env.Environ,
		Base:     env.ArgumentBase,
		Shell:    runner,
		Off:      off(e, env),
		NoShell:  env.NoShell,
		SpillDir: env.SpillDir,
		Now:      env.Now,
		Decide: func(ctx context.Context, line string) (prompt.Permission, error) {
			return decideCommand(ctx, r, line, req, env)
		},
	})
	if err != nil {
		return err
	}
	r.Text, r.Trace, r.Commands = out.Text, out.Trace, out.Commands
	if note, notice := missingNote(e, env); note != "" {
		r.Text = strings.TrimRight(r.Text, "\n") + "\n\n" + note + "\n"
		r.Notices = append(r.Notices, notice)
	}
	return nil
}

// off returns what replaces each inline command of e, or "".
func off(e *catalog.Entry, env Env) string {
	switch {
	case e.Origin.FromWorkspace() && !env.Trusted:
		return offByUntrusted
	case env.ShellOff && !e.Origin.ShippedOrManaged():
		return offByPolicy
	}
	return ""
}

// decideCommand judges one inline command with the skill's grants in force
// (spec P-10), and writes down what came of it.
func decideCommand(ctx context.Context, r *Result, line string, req Request, env Env) (prompt.Permission, error) {
	rules := env.Rules.With(grantRules(r)...)
	if env.Session != nil {
		// The person may have said it for the session a moment ago.
		rules = rules.With(env.Session.Kept(agentOf(req)).Allow...)
	}
	d := rules.Decide(commandRequest(r.Entry, line, env))
	p, outcome, err := askCommand(ctx, r, line, d, req, env)
	if err == nil {
		env.noteDecision(agentOf(req), commandTool(r.Entry), r.Entry, d, outcome, line)
	}
	return p, err
}

func askCommand(ctx context.Context, r *Result, line string, d permission.Decision, req Request, env Env) (p prompt.Permission, outcome string, err error) {
	p = prompt.Permission{Decision: d.Verdict.String(), Reason: d.Reason}
	if d.Rule != nil {
		p.Rule = d.Rule.Text
	}
	if d.Verdict != permission.Ask {
		return p, d.Verdict.String(), nil
	}
	a, notice, err := Put(ctx, env, agentOf(req), Question{Skill: idOf(r.Entry), Source: r.Entry.Origin.Source, Path: r.Entry.Origin.Path,
		Command: line, Reason: d.Reason, Suggest: d.Suggest, Firm: d.Firm})
	if notice != "" {
		r.Notices = append(r.Notices, notice)
	}
	if errors.Is(err, ErrNobody) {
		return p, permission.Deny.String(), nil
	}
	if err != nil {
		return p, "", fmt.Errorf("asking about a command of skill %q: %w", idOf(r.Entry), err)
	}
	if a.Allow {
		return prompt.Permission{Decision: permission.Allow.String(), Rule: "approved", Reason: "approved for this run"}, outcomeApproved, nil
	}
	return prompt.Permission{Decision: permission.Deny.String(), Reason: declined(a)}, outcomeDeclined, nil
}

// grantRules parses the grants in force. A grant that is no rule grants
// nothing; `knack check` reports it (rule-syntax).
func grantRules(r *Result) []permission.Rule {
	var out []permission.Rule
	for _, text := range r.Override.AllowedTools {
		rule, err := permission.ParseRule(text)
		if err != nil {
			continue
		}
		rule.From, rule.Scope, rule.Root = "skill "+idOf(r.Entry), "skill", r.Entry.Origin.Dir
		out = append(out, rule)
	}
	return out
}
