package permission

import (
	"fmt"
	"slices"
	"strings"
)

// maxTried is how many rules that did not match are kept in a decision.
const maxTried = 32

// Decide applies deny, then ask, then allow, then the built-in read-only table
// (spec S-1, S-7). It is total: every request gets a decision.
//
// A shell line is decided part by part: a refusal of any part refuses the
// line, and every part must be allowed (spec S-7). Protected paths and the
// removal of directories one stands in ask whatever is allowed (spec S-10).
// Without a rule, reading tools are allowed inside the working directory;
// everything else asks. Rules{}.Decide(req) is thus Allow exactly for what is
// read-only by itself.
func (r Rules) Decide(req Request) Decision {
	d := decider{rules: &r, req: &req}
	d.tried = make([]Try, 0, min(maxTried, len(r.Deny)+len(r.Ask)+len(r.Allow))+1)
	parts := partsOf(&req)
	verdicts := make([]verdict, 0, len(parts))
	worst := 0
	for i := range parts {
		verdicts = append(verdicts, d.judge(&parts[i]))
		if verdicts[i].rank() > verdicts[worst].rank() {
			worst = i
		}
		if verdicts[i].Verdict == Deny {
			break
		}
	}
	out := d.explain(&verdicts[worst], verdicts)
	out.Tried = d.tried
	return out
}

// partsOf splits a request into what rules are tried on.
func partsOf(req *Request) []part {
	if req.Tool == bashTool {
		return readLine(req)
	}
	p := part{tool: req.Tool, text: req.subject()}
	if req.Tool == "Skill" {
		p.names = namesOf(&req.Input)
	}
	if isPathTool(req.Tool) {
		p.place = requestPlace(req)
		if slices.Contains(readTools, req.Tool) {
			switch {
			case p.place.below(req.WorkDir):
				p.builtin = "reading inside the working directory changes nothing"
			case p.place.below(append([]string{req.WorkDir}, req.MoreDirs...)...):
				p.builtin = "reading inside a directory of the workspace changes nothing"
			}
		} else {
			p.firm = p.place.protected()
		}
	}
	return []part{p}
}

// subject is what a request is about, for people.
func (req *Request) subject() string {
	in := &req.Input
	switch req.Tool {
	case bashTool:
		return in.Command
	case "Skill":
		return in.Skill
	case "Agent", "Task":
		return in.Agent
	case "WebFetch":
		return in.URL
	}
	return in.Path
}

// A verdict is the decision about one part.
type verdict struct {
	Verdict
	part *part
	rule *Rule
	by   list // the list rule stands in
	why  string
}

// rank orders verdicts: a refusal first, then a rule or a fixed reason to ask,
// then the lack of a rule, then what a rule allowed.
func (v *verdict) rank() int {
	switch {
	case v.Verdict == Deny:
		return 5
	case v.Verdict == Ask && v.rule != nil:
		return 4
	case v.Verdict == Ask && v.part.firm != "":
		return 3
	case v.Verdict == Ask:
		return 2
	case v.rule != nil:
		return 1
	}
	return 0
}

// A decider holds what deciding one request needs.
type decider struct {
	rules  *Rules
	req    *Request
	tried  []Try
	missed int
	// concerns are the answers of concerning, by list.
	concerns [allowList + 1][]concern
}

// refusesSome reports whether a deny or ask rule covers a part of what a tool
// does: what cannot be seen could be that part.
func (r *Rules) refusesSome(tool string) bool {
	some := func(r Rule) bool { return r.Tool == tool && !r.all() }
	return slices.ContainsFunc(r.Deny, some) || slices.ContainsFunc(r.Ask, some)
}

// judge decides one part (spec S-1).
func (d *decider) judge(p *part) verdict {
	if rule := d.find(d.rules.Deny, denyList, p); rule != nil {
		return verdict{Deny, p, rule, denyList, ""}
	}
	if rule := d.find(d.rules.Ask, askList, p); rule != nil {
		return verdict{Ask, p, rule, askList, ""}
	}
	switch {
	case p.firm != "":
		return verdict{Ask, p, nil, askList, p.firm}
	case p.blind != "" && d.rules.refusesSome(bashTool):
		return verdict{Ask, p, nil, askList, "a rule may refuse what is in it: " + p.blind}
	case p.inside:
		return verdict{Allow, p, nil, allowList, "it belongs to a command that is decided by itself"}
	}
	if rule := d.find(d.rules.Allow, allowList, p); rule != nil {
		return verdict{Allow, p, rule, allowList, ""}
	}
	switch {
	case p.loose != "":
		return verdict{Ask, p, nil, askList, p.loose}
	case p.builtin == "":
	case p.hazy && d.rules.refusesSome("Read"):
		return verdict{Ask, p, nil, askList, "a rule may refuse the files it reads, which are only known when it runs"}
	default:
		return verdict{Allow, p, nil, allowList, p.builtin}
	}
	if p.cmd != nil {
		return verdict{Ask, p, nil, askList, p.cmd.demand.why()}
	}
	return verdict{Ask, p, nil, askList, ""}
}

// find returns the first rule of a list that covers p, and notes what it tried.
func (d *decider) find(rules []Rule, l list, p *part) *Rule {
	for _, i := range d.concerning(rules, l, p) {
		r := &rules[i]
		if !p.excludes(r) && r.matches(p, d.req, l) {
			d.tried = append(d.tried, Try{List: l.String(), Rule: *r, Matched: true, Part: p.text})
			return r
		}
		if d.missed < maxTried {
			d.missed++
			d.tried = append(d.tried, Try{List: l.String(), Rule: *r, Part: p.text})
		}
	}
	return nil
}

// concerning returns the places of the rules of a list that speak of the tool
// of p. A line has many parts and few tools, so it is worth remembering.
func (d *decider) concerning(rules []Rule, l list, p *part) []int32 {
	for i := range d.concerns[l] {
		if c := &d.concerns[l][i]; c.tool == p.tool && c.shell == p.shell {
			return c.places
		}
	}
	c := concern{tool: p.tool, shell: p.shell}
	s := subjectOf(p.tool)
	for i := range rules {
		if r := &rules[i]; p.shell && r.Tool == bashTool || r.speaksOf(&s, l) {
			if c.places == nil {
				c.places = make([]int32, 0, len(rules)-i)
			}
			c.places = append(c.places, int32(i))
		}
	}
	d.concerns[l] = append(d.concerns[l], c)
	return c.places
}

// excludes spares most comparisons of a shell command with rules about Bash.
func (p *part) excludes(r *Rule) bool {
	return p.cmd != nil && r.Tool == bashTool && r.HasSpec && p.cmd.excludes(r.Specifier) && r.Specifier != p.line
}

// A concern is what concerning found for one tool.
type concern struct {
	tool   string
	shell  bool
	places []int32
}

// explain puts the worst verdict into words.
func (d *decider) explain(v *verdict, all []verdict) Decision {
	out := Decision{Verdict: v.Verdict, Rule: copyOf(v.rule)}
	if d.req.Tool == bashTool {
		out.Part = v.part.text
	}
	about := ""
	if v.part.text != "" && v.part.text != strings.TrimSpace(d.req.subject()) {
		about = ": " + quote(v.part.text)
	}
	switch {
	case v.Verdict == Deny:
		out.Reason = "denied by " + d.named(v.rule) + about
	case v.Verdict == Allow && v.rule != nil:
		out.Reason = "allowed by " + d.named(v.rule) + about
	case v.Verdict == Allow:
		out.Reason = "allowed without a rule: " + v.why + about
	case v.rule != nil:
		out.Firm = true
		out.Reason = "needs approval by " + d.named(v.rule) + about
	case v.part.firm != "":
		out.Firm = true
		out.Reason = "needs approval whatever the rules allow: " + v.why + about
	default:
		d.missing(&out, v, all)
	}
	return out
}

// missing explains an Ask for want of a rule: all parts without one, and the
// rules that would do.
func (d *decider) missing(out *Decision, v *verdict, all []verdict) {
	out.Suggest = d.suggest(v, all)
	what := v.part.text
	if what == "" {
		what = d.req.Tool
	}
	out.Reason = "needs approval: no rule allows " + quote(what)
	if v.why != "" {
		out.Reason = "needs approval: " + quote(what) + ": " + v.why
	}
	switch len(out.Suggest) {
	case 0:
	case 1:
		out.Reason += "; " + out.Suggest[0] + " would allow it"
	default:
		join := " and "
		if d.req.Tool != bashTool {
			join = " or "
		}
		last := len(out.Suggest) - 1
		out.Reason += "; " + strings.Join(out.Suggest[:last], ", ") + join + out.Suggest[last] + " would allow it"
	}
}

// named is a rule with its file and scope (spec S-2, K-8).
func (d *decider) named(r *Rule) string {
	s := r.Text
	if s == "" {
		s = r.Tool
		if r.HasSpec {
			s += "(" + r.Specifier + ")"
		}
	}
	if from := r.From; from != "" {
		if rest, ok := strings.CutPrefix(from, d.req.Home); ok && d.req.Home != "" && strings.HasPrefix(rest, "/") {
			from = "~" + rest
		}
		s += " in " + from
	}
	if r.Scope != "" {
		s += " (" + r.Scope + ")"
	}
	return s
}

func copyOf(r *Rule) *Rule {
	if r == nil {
		return nil
	}
	c := *r
	return &c
}

// quote shortens text for a sentence and makes control characters visible.
func quote(s string) string {
	const most = 200
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
