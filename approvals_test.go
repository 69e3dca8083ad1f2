package knack_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/shell"
	"github.com/knack-skills/knack/skill"
)

// A person answers questions and remembers them. during is called while a
// question is on the screen.
type person struct {
	answer invoke.Answer
	during func(q invoke.Question)
	asked  []invoke.Question
}

func (p *person) Ask(_ context.Context, q invoke.Question) (invoke.Answer, error) {
	p.asked = append(p.asked, q)
	if p.during != nil {
		p.during(q)
	}
	return p.answer, nil
}

// script is a skill that runs a script of its own.
const script = "---\ndescription: d\nallowed-tools: Bash(sh *)\n---\nOut: !`sh ${CLAUDE_SKILL_DIR}/run.sh`\n"

// asking opens the repository with somebody who answers.
func (l *lab) asking(p *person, change ...func(*knack.Options)) *knack.Engine {
	return l.open(append([]func(*knack.Options){func(o *knack.Options) { o.Ask = p }}, change...)...)
}

func (l *lab) model(e *knack.Engine, name string) (string, error) {
	r, err := e.Invoke(l.t.Context(), invoke.Request{Name: name, By: invoke.ByModel})
	if err != nil {
		return "", err
	}
	return r.Text, nil
}

var always = invoke.Answer{Allow: true, Keep: invoke.Always}

// An "always" for a skill of others holds for what it consists of, in one
// workspace (spec S-14).
func TestApprovalIsBound(t *testing.T) {
	files := map[string]string{}
	for _, dir := range []string{"repo/.claude/skills", "other/.claude/skills", "plug/skills"} {
		files[dir+"/x/SKILL.md"], files[dir+"/x/run.sh"] = script, "echo one\n"
	}
	files["other/.git/HEAD"], files["plug/.claude-plugin/plugin.json"] = "", `{"name": "plug"}`
	l := newLab(t, files)
	plugin := func(o *knack.Options) { o.PluginDirs = []string{l.base + "/plug"} }
	ask := func(name string, p *person, change ...func(*knack.Options)) (string, error) {
		return l.model(l.asking(p, append(change, trusted, plugin)...), name)
	}
	for _, name := range []string{"x", "plug:x"} {
		dir := map[string]string{"x": "repo/.claude/skills", "plug:x": "plug/skills"}[name]
		p := &person{answer: always}
		if out, err := ask(name, p); err != nil || !strings.Contains(out, "Out: one") {
			t.Fatalf("%s: %q, %v", name, out, err)
		}
		if q := p.asked[0]; !slices.Equal(q.Keeps, []invoke.Keep{invoke.ForSession, invoke.Always}) || len(q.Changed) > 0 || q.Path == "" {
			t.Errorf("%s: asked %+v", name, q)
		}
		nobody := &person{}
		if out, err := ask(name, nobody); err != nil || len(nobody.asked) > 0 || !strings.Contains(out, "Out: one") {
			t.Errorf("%s: once more: %q, %v, asked %+v", name, out, err, nobody.asked)
		}
		l.write(dir+"/x/run.sh", "echo two\n")
		var refused *invoke.RefusedError
		if _, err := ask(name, &person{}, func(o *knack.Options) { o.Ask = nil }); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "run.sh has changed") {
			t.Errorf("%s: changed, and nobody there: %v", name, err)
		}
		p = &person{answer: always}
		if out, err := ask(name, p); err != nil || !strings.Contains(out, "Out: two") {
			t.Errorf("%s: changed: %q, %v", name, out, err)
		}
		if q := p.asked[0]; !slices.Equal(q.Changed, []string{"run.sh has changed"}) || !strings.Contains(q.Diff, "-echo one\n+echo two\n") {
			t.Errorf("%s: changed: asked %+v", name, q)
		}
	}
	// A skill of the same name in another repository was not meant.
	p := &person{}
	if _, err := ask("x", p, func(o *knack.Options) { o.Dir = l.base + "/other" }); err == nil || len(p.asked) != 1 || len(p.asked[0].Changed) > 0 {
		t.Errorf("another repository: %v, asked %+v", err, p.asked)
	}
}

// A person's own skill is kept as a rule of this workspace, in a file of which
// nothing else changes.
func TestOwnSkillIsARule(t *testing.T) {
	l := newLab(t, map[string]string{"home/.claude/skills/x/SKILL.md": script, "home/.claude/skills/x/run.sh": "echo one\n",
		"repo/.claude/settings.local.json": "{\n  \"unknown\": [1,2],\n  \"permissions\": {\"deny\": [\"Read(x)\"]}\n}\n"})
	p := &person{answer: always}
	if _, err := l.model(l.asking(p, trusted), "x"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(l.base, "repo/.claude/settings.local.json"))
	if want := "{\n  \"unknown\": [1,2],\n  \"permissions\": {\"allow\": [\"Skill(x)\"], \"deny\": [\"Read(x)\"]}\n}\n"; err != nil || string(data) != want {
		t.Errorf("%s, %v", data, err)
	}
	l.write("home/.claude/skills/x/run.sh", "echo two\n")
	nobody := &person{}
	if out, err := l.model(l.asking(nobody, trusted), "x"); err != nil || len(nobody.asked) > 0 || !strings.Contains(out, "two") {
		t.Errorf("%q, %v, asked %+v", out, err, nobody.asked)
	}
	// Where the rule would not be in force, it is not offered.
	p = &person{answer: always}
	if _, err := l.model(l.asking(p), "x"); err != nil || slices.Contains(p.asked[0].Keeps, invoke.Always) {
		t.Errorf("not trusted: %v, asked %+v", err, p.asked)
	}
}

// For the session means for this content, for this agent, in this session.
func TestApprovedForSession(t *testing.T) {
	l := newLab(t, map[string]string{"home/.claude/skills/x/SKILL.md": script, "home/.claude/skills/x/run.sh": "echo one\n"})
	p := &person{answer: invoke.Answer{Allow: true, Keep: invoke.ForSession}}
	e := l.asking(p, trusted)
	for range 3 {
		if _, err := l.model(e, "x"); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.asked) != 1 {
		t.Errorf("asked %d times", len(p.asked))
	}
	if _, err := e.Invoke(t.Context(), invoke.Request{Name: "x", By: invoke.ByModel, Agent: "other"}); err != nil || len(p.asked) != 2 {
		t.Errorf("another agent: %v, asked %d times", err, len(p.asked))
	}
	l.write("home/.claude/skills/x/run.sh", "echo two\n")
	if _, err := l.model(e, "x"); err != nil || len(p.asked) != 3 {
		t.Errorf("changed: %v, asked %d times", err, len(p.asked))
	}
	if _, err := l.model(l.asking(p, trusted), "x"); err != nil || len(p.asked) != 4 {
		t.Errorf("another session: %v, asked %d times", err, len(p.asked))
	}
}

// The approved bytes are the bytes that run: whatever changes while the person
// is asked is asked about again, and a skill that never rests does not start.
func TestApprovedBytesRun(t *testing.T) {
	const dir = "repo/.claude/skills/x/"
	grown := strings.Replace(script, "Out:", "Then:", 1)
	for name, tt := range map[string]struct {
		edit func(l *lab)
		want string
	}{
		"a script":    {func(l *lab) { l.write(dir+"run.sh", "echo evil\n") }, "evil"},
		"the body":    {func(l *lab) { l.write(dir+"SKILL.md", grown) }, "Then: one"},
		"a new file":  {func(l *lab) { l.write(dir+"more.sh", "x") }, "one"},
		"a lost file": {func(l *lab) { _ = os.Remove(l.base + "/" + dir + "data") }, "one"},
	} {
		l := newLab(t, map[string]string{dir + "SKILL.md": script, dir + "run.sh": "echo one\n", dir + "data": "d"})
		p := &person{answer: always}
		p.during = func(invoke.Question) {
			if len(p.asked) == 1 {
				tt.edit(l)
			}
		}
		out, err := l.model(l.asking(p, trusted), "x")
		if err != nil || !strings.Contains(out, tt.want) || len(p.asked) != 2 {
			t.Errorf("%s: %q, %v, asked %d times", name, out, err, len(p.asked))
		}
		// And it is the second content that is kept.
		nobody := &person{}
		if _, err := l.model(l.asking(nobody, trusted), "x"); err != nil || len(nobody.asked) > 0 {
			t.Errorf("%s: kept: %v, asked %+v", name, err, nobody.asked)
		}
	}
	l := newLab(t, map[string]string{dir + "SKILL.md": script, dir + "run.sh": "echo one\n"})
	p := &person{answer: always}
	p.during = func(invoke.Question) { l.write(dir+"run.sh", strings.Repeat("#", len(p.asked))+"\ntouch ran\n") }
	_, err := l.model(l.asking(p, trusted), "x")
	var refused *invoke.RefusedError
	if !errors.As(err, &refused) || refused.Rule != "S-14" {
		t.Errorf("never at rest: %v", err)
	}
	if _, err := os.Lstat(l.base + "/repo/ran"); err == nil {
		t.Error("it ran")
	}
}

// What changes between the approval and the first command is caught as well:
// here while one of the skill's commands is asked about.
func TestChangedBeforeCommand(t *testing.T) {
	const dir = "repo/.claude/skills/x/"
	body := "---\ndescription: d\n---\n!`sh ${CLAUDE_SKILL_DIR}/run.sh`\n"
	l := newLab(t, map[string]string{dir + "SKILL.md": body, dir + "run.sh": "echo one\n"})
	p := &person{answer: invoke.Answer{Allow: true}}
	commands := 0
	p.during = func(q invoke.Question) {
		if q.Command == "" {
			return
		}
		if commands++; commands == 1 {
			l.write(dir+"run.sh", "touch evil; echo two\n")
		}
	}
	out, err := l.model(l.asking(p, trusted), "x")
	if err != nil || !strings.Contains(out, "two") {
		t.Fatalf("%q, %v", out, err)
	}
	var kinds []string
	for _, q := range p.asked {
		kinds = append(kinds, map[bool]string{true: "skill", false: "command"}[q.Command == ""])
	}
	if want := []string{"skill", "command", "skill", "command"}; !slices.Equal(kinds, want) {
		t.Errorf("asked %q, want %q", kinds, want)
	}
	// Said no the second time, what was changed did not run.
	l.write(dir+"run.sh", "echo one\n")
	_ = os.Remove(l.base + "/repo/evil")
	commands = 0
	p.asked = nil
	change := p.during
	p.during = func(q invoke.Question) {
		change(q)
		p.answer.Allow = len(p.asked) < 3
	}
	if _, err := l.model(l.asking(p, trusted), "x"); err == nil {
		t.Error("started")
	}
	if _, err := os.Lstat(l.base + "/repo/evil"); err == nil {
		t.Error("the changed script ran")
	}
}

// What the frontmatter said when the skill was loaded is what would be in force,
// so a file that says something else by now is not what is approved.
func TestTermsAreBound(t *testing.T) {
	const file = "repo/.claude/skills/x/SKILL.md"
	wide := "---\ndescription: d\nallowed-tools: Bash\n---\nGo.\n"
	l := newLab(t, map[string]string{file: wide})
	p := &person{answer: always}
	e := l.asking(p, trusted)
	l.write(file, "---\ndescription: d\nallowed-tools: Bash(ls)\n---\nGo.\n")
	if _, err := l.model(e, "x"); err != nil {
		t.Fatal(err)
	}
	if got := p.asked[0].Details; !slices.Equal(got, []string{"allows without asking: Bash"}) {
		t.Errorf("shown %q", got)
	}
	if _, err := l.model(l.asking(p, trusted), "x"); err != nil || len(p.asked) != 2 {
		t.Errorf("loaded anew: %v, asked %d times", err, len(p.asked))
	}
}

// What cannot be kept holds once, is told, and is asked about the next time.
func TestCannotKeep(t *testing.T) {
	const dir = "repo/.claude/skills/x/"
	l := newLab(t, map[string]string{dir + "SKILL.md": script, dir + "run.sh": "echo one\n", "blocked": "a file"})
	p := &person{answer: always}
	blocked := func(o *knack.Options) { o.StateDir = l.base + "/blocked/state" }
	for i := range 2 {
		r, err := l.asking(p, trusted, blocked).Invoke(t.Context(), invoke.Request{Name: "x", By: invoke.ByModel})
		if err != nil || len(p.asked) != i+1 {
			t.Fatalf("%v, asked %d times", err, len(p.asked))
		}
		if !slices.ContainsFunc(r.Notices, func(n string) bool { return strings.Contains(n, "allowed for now only") }) {
			t.Errorf("notices %q", r.Notices)
		}
	}
	// A link out of the skill can change without it: never for good.
	if err := os.Symlink("/etc/passwd", filepath.Join(l.base, dir, "link")); err != nil {
		t.Skip("this system has no links:", err)
	}
	p.asked = nil
	for range 2 {
		if _, err := l.model(l.asking(p, trusted), "x"); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.asked) != 2 || slices.Contains(p.asked[0].Keeps, invoke.Always) || !strings.Contains(p.asked[0].Note, "leads out") {
		t.Errorf("asked %+v", p.asked)
	}
}

// remote is a skill of a server that grants something.
type remote struct{ text *string }

func (r remote) Load(context.Context) ([]*skill.Skill, []skill.Problem, error) {
	return []*skill.Skill{{Summary: skill.Summary{ID: "srv:x", Description: "d"}, Run: skill.Run{AllowedTools: []string{"Bash(git push)"}},
		Origin: skill.Origin{Source: skill.MCP, Owner: "srv"},
		Content: skill.Content{Body: skill.BodyFunc(func(context.Context) (skill.Instructions, error) {
			return skill.Instructions{Text: *r.text, Line: 1}, nil
		})}}}, nil, nil
}

// What a server grants is in force for exactly the text that was approved (spec
// C-13, S-6), also when a person types its name.
func TestRemoteGrants(t *testing.T) {
	text := "Go !`touch ran`."
	l := newLab(t, nil)
	with := func(o *knack.Options) { o.Sources = []catalog.Source{remote{&text}}; o.Fork = nil }
	grants := func(p *person, by invoke.Caller) []string {
		t.Helper()
		r, err := l.asking(p, trusted, with).Render(t.Context(), invoke.Request{Name: "srv:x", By: by})
		if err != nil {
			return []string{"refused"}
		}
		return r.Override.AllowedTools
	}
	no, yes := &person{}, &person{answer: always}
	equal(t, "typed, never approved", grants(no, invoke.ByUser), nil)
	equal(t, "called, declined", grants(no, invoke.ByModel), []string{"refused"})
	equal(t, "called, approved", grants(yes, invoke.ByModel), []string{"Bash(git push)"})
	equal(t, "called again", grants(&person{}, invoke.ByModel), []string{"Bash(git push)"})
	equal(t, "typed", grants(no, invoke.ByUser), []string{"Bash(git push)"})
	text = "Go on."
	equal(t, "typed, changed", grants(no, invoke.ByUser), nil)
	equal(t, "called, changed", grants(no, invoke.ByModel), []string{"refused"})
	if _, err := os.Lstat(l.base + "/repo/ran"); err == nil {
		t.Error("its command ran")
	}
}

// A deny rule more never lets more through, whatever was approved and whatever
// the person would answer (spec S-1).
func TestDenyNeverAllowsMore(t *testing.T) {
	files := map[string]string{}
	for id, text := range map[string]string{"plain": doc("d"), "runs": script, "grants": doc("d", "allowed-tools: Bash")} {
		files["repo/.claude/skills/"+id+"/SKILL.md"], files["repo/.claude/skills/"+id+"/run.sh"] = text, "echo one\n"
		files["home/.claude/skills/my-"+id+"/SKILL.md"] = strings.ReplaceAll(text, "sh ${CLAUDE_SKILL_DIR}/run.sh", "sh -c true")
	}
	l := newLab(t, files)
	yes := &person{answer: always}
	e := l.asking(yes, trusted)
	for _, id := range []string{"runs", "my-grants"} {
		if _, err := l.model(e, id); err != nil {
			t.Fatal(err)
		}
	}
	e = l.asking(&person{}, trusted)
	texts := []string{"Skill", "Skill(*)", "Skill(runs)", "Skill(project:runs)", "Skill(my-*)", "Skill(grants:*)", "Bash", "Bash(sh *)", "Bash(true)", "Read", "Skill(none)"}
	rapid.Check(t, func(t *rapid.T) {
		rule := func(name string) permission.Rule {
			r, err := permission.ParseRule(rapid.SampledFrom(texts).Draw(t, name))
			if err != nil {
				t.Fatal(err)
			}
			r.Scope = rapid.SampledFrom([]string{"user", "managed", "project"}).Draw(t, name+" of")
			return r
		}
		env := e.Env()
		env.Session, env.Shell = nil, quiet{}
		for range rapid.IntRange(0, 2).Draw(t, "allows") {
			env.Rules.Allow = append(env.Rules.Allow, rule("allow"))
		}
		for range rapid.IntRange(0, 2).Draw(t, "denies") {
			env.Rules.Deny = append(env.Rules.Deny, rule("deny"))
		}
		if rapid.Bool().Draw(t, "somebody") {
			env.Ask = &person{answer: invoke.Answer{Allow: rapid.Bool().Draw(t, "yes")}}
		}
		req := invoke.Request{Name: rapid.SampledFrom([]string{"plain", "runs", "grants", "my-plain", "my-runs", "my-grants"}).Draw(t, "skill"),
			By: rapid.SampledFrom([]invoke.Caller{invoke.ByUser, invoke.ByModel}).Draw(t, "by")}
		more := env
		more.Rules.Deny = append(slices.Clone(env.Rules.Deny), rule("one more"))
		_, before := invoke.Compile(context.Background(), req, env)
		if _, after := invoke.Compile(context.Background(), req, more); before != nil && after == nil {
			t.Fatalf("%+v: refused (%v), and let through with deny rules %+v", req, before, more.Rules.Deny)
		}
	})
}

// quiet runs nothing.
type quiet struct{}

func (quiet) Run(context.Context, shell.Command) (shell.Output, error) { return shell.Output{}, nil }
