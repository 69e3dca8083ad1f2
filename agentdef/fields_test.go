package agentdef

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/skill"
)

func parse(text string, o Origin, trusted bool) (*Definition, []skill.Problem) {
	doc, problems := frontmatter.Parse("review.md", []byte(text))
	return read(doc, problems, o, "review", trusted)
}

func codes(problems []skill.Problem) string {
	var all []string
	for _, p := range problems {
		all = append(all, p.Code)
	}
	return strings.Join(all, " ")
}

const head = "name: review\ndescription: Reviews.\n"

func TestFields(t *testing.T) { // spec A-4
	type want = func(*Definition)
	nothing := func(*Definition) {}
	only := func(list ...string) want {
		return func(d *Definition) { d.Tools.Listed, d.Tools.Only = true, list }
	}
	tests := []struct {
		yaml string
		want want
		code string
	}{
		{"", nothing, ""},
		{"tools: Read, Grep", only("Read", "Grep"), ""},
		{"tools: Read Grep", only("Read", "Grep"), ""},
		{`tools: ["Read", "Bash(git log *)"]`, only("Read", "Bash(git log *)"), ""},
		{"tools:\n  - Read\n  - mcp__github__*", only("Read", "mcp__github__*"), ""},
		{"tools: Agent(worker, researcher), Read", only("Agent(worker, researcher)", "Read"), ""},
		{"tools: '*'", only("*"), ""},
		{"tools: []", only(), ""},
		{"tools:", nothing, ""},
		{"tools: null", nothing, ""},
		{"allowed-tools: [Read]", only("Read"), "did-you-mean"},
		{"tools: Read\nallowed-tools: Write", only("Read"), "did-you-mean"},
		{"disallowedTools: Write, Edit", func(d *Definition) { d.Tools.Without = []string{"Write", "Edit"} }, ""},
		{"disallowed-tools: Write", func(d *Definition) { d.Tools.Without = []string{"Write"} }, ""},
		{"disallowed_tools: Write", func(d *Definition) { d.Tools.Without = []string{"Write"} }, ""},
		{"tools: Read\ntools: Grep", only("Grep"), "duplicate-key"},
		{"disallowedTools: Write\ndisallowed-tools: Edit", func(d *Definition) { d.Tools.Without = []string{"Edit"} }, "duplicate-key"},
		{"model: opus", func(d *Definition) { d.Run.Model = "opus" }, ""},
		{"model: inherit", nothing, ""},
		{"effort: HIGH", func(d *Definition) { d.Run.Effort = "high" }, ""},
		{"effort: huge", nothing, "bad-value"},
		{"maxTurns: 12", func(d *Definition) { d.Run.MaxTurns = 12 }, ""},
		{"max-turns: 0", nothing, "bad-value"},
		{"maxTurns: many", nothing, "bad-value"},
		{"skills: [a, b:c]", func(d *Definition) { d.Run.Skills = []string{"a", "b:c"} }, ""},
		{"skills: a, b", func(d *Definition) { d.Run.Skills = []string{"a", "b"} }, ""},
		{"skills: {a: b}", nothing, "bad-value"},
		{"background: yes", func(d *Definition) { d.Run.Background = true }, ""},
		{"background: maybe", nothing, "bad-value"},
		{"permissionMode: plan", func(d *Definition) { d.Run.PermissionMode = "plan" }, ""},
		{"permissionMode: manual", func(d *Definition) { d.Run.PermissionMode = "default" }, ""},
		{"permissionMode: auto", nothing, "bad-value"},
		{"initialPrompt: /triage", func(d *Definition) { d.Run.InitialPrompt = "/triage" }, ""},
		{"colour: red", nothing, ""},
		{"color: red", nothing, ""},
		{"toolss: Read", nothing, "did-you-mean"},
		{"mode: plan", nothing, "did-you-mean"},
		// What limits and cannot be read must not turn into "everything".
		{"tools: {write: false}", func(d *Definition) { only()(d); d.Unusable = "its tools cannot be read" }, "security-field-lost"},
		{"tools: *all", only("*all"), "yaml-recovered"},
		{"disallowedTools: {write: true}", func(d *Definition) { d.Unusable = "its disallowed-tools cannot be read" }, "security-field-lost"},
		{"hooks: [x]", func(d *Definition) { d.Unusable = "its hooks cannot be read" }, "security-field-lost"},
	}
	for _, tt := range tests {
		yaml := tt.yaml
		if yaml != "" {
			yaml += "\n"
		}
		got, problems := parse("---\n"+head+yaml+"---\n\nYou review.\n", Origin{Source: skill.User}, true)
		want := &Definition{Name: "review", Description: "Reviews.", Prompt: "You review.", Origin: Origin{Source: skill.User}}
		tt.want(want)
		if got != nil && len(got.Tools.Only) == 0 {
			got.Tools.Only = nil
		}
		if d := cmp.Diff(want, got); d != "" || codes(problems) != tt.code {
			t.Errorf("%q: %v\n%s", tt.yaml, problems, d)
		}
	}
}

func TestIdentity(t *testing.T) {
	for _, tt := range []struct{ text, name, code string }{
		{"---\ndescription: d\n---\nb", "review", "agent-name"},
		{"---\nname: Company Researcher\ndescription: d\n---\nb", "Company Researcher", ""},
		{"---\nname: Prüfer\ndescription: d\n---\nb", "Prüfer", ""},
		{"---\nname: 007\ndescription: d\n---\nb", "007", ""},
		{"---\nname: x\n---\nb", "x", "agent-undescribed"},
		{"---\nname: x\ndescription: d\n---\n\n", "x", "agent-empty"},
		{"---\nname: -x\ndescription: d\n---\nb", "", "agent-name"},
		{"---\nname: a:b\ndescription: d\n---\nb", "", "agent-name"},
		{"---\nname: a(b)\ndescription: d\n---\nb", "", "agent-name"},
		{"---\nname: \"a\\nb\"\ndescription: d\n---\nb", "", "agent-name"},
		{"# Agents\n\nThis directory holds agents.\n", "", "not-an-agent"},
		{"<!-- note -->\n\n---\nname: x\n---\nb", "", "no-opening-fence not-an-agent"},
		{"---\nname: x\n\x00---\nb", "", "binary"},
		{"---\nname: x\ndescription: Use when: asked\n---\nb", "x", "yaml-recovered"},
		{"---\nname: x\ndescription: " + strings.Repeat("y", 70_000) + "\ntools: Read\n---\nb", "review", "frontmatter-too-large agent-name agent-undescribed"},
	} {
		d, problems := parse(tt.text, Origin{Source: skill.User}, true)
		name := ""
		if d != nil {
			name = d.Name
		}
		if name != tt.name || codes(problems) != tt.code {
			t.Errorf("%.60q: name %q, %v", tt.text, name, problems)
		}
		if strings.Contains(tt.code, "too-large") && d.Unusable == "" {
			t.Error("an agent whose limits were not read can be used")
		}
		if strings.Contains(tt.code, "agent-empty") && d.Prompt != builtinPrompt(GeneralPurpose) {
			t.Error("an agent without a body has no prompt")
		}
	}
}

// TestWhoMay is the table of fields that not every file may set (spec S-9).
func TestWhoMay(t *testing.T) {
	const hooks = "hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: make\n"
	for _, tt := range []struct {
		yaml    string
		source  skill.Source
		trusted bool
		mode    string
		hooks   int
		code    string
	}{
		{"permissionMode: bypassPermissions\n", skill.User, false, "bypassPermissions", 0, ""},
		{"permissionMode: bypassPermissions\n", skill.Managed, false, "bypassPermissions", 0, ""},
		{"permissionMode: bypassPermissions\n", skill.Project, true, "", 0, "agent-forbidden"},
		{"permissionMode: bypassPermissions\n", skill.Additional, true, "", 0, "agent-forbidden"},
		{"permissionMode: acceptEdits\n", skill.Project, true, "acceptEdits", 0, ""},
		{"permissionMode: acceptEdits\n", skill.Project, false, "", 0, "agent-untrusted"},
		{"permissionMode: plan\n", skill.Project, false, "plan", 0, ""},
		{"permissionMode: dontAsk\n", skill.Plugin, false, "dontAsk", 0, ""},
		{"permissionMode: acceptEdits\n", skill.Plugin, true, "", 0, "agent-forbidden"},
		{hooks, skill.User, false, "", 1, ""},
		{hooks, skill.Project, true, "", 1, ""},
		{hooks, skill.Project, false, "", 0, "agent-untrusted"},
		{hooks, skill.Plugin, true, "", 0, "agent-forbidden"},
		{hooks + "permissionMode: acceptEdits\n", skill.Additional, false, "", 0, "agent-untrusted"},
	} {
		d, problems := parse("---\n"+head+tt.yaml+"---\nb", Origin{Source: tt.source}, tt.trusted)
		if d.Run.PermissionMode != tt.mode || len(d.Run.Hooks) != tt.hooks || codes(problems) != tt.code {
			t.Errorf("%q from %s, trusted %t: mode %q, %d hooks, %v", tt.yaml, tt.source, tt.trusted, d.Run.PermissionMode, len(d.Run.Hooks), problems)
		}
	}
}

func TestPlaceOfProblems(t *testing.T) {
	_, problems := parse("---\nname: x\ndescription: d\nmaxTurns: many\n---\nb", Origin{Source: skill.User}, true)
	if len(problems) != 1 || problems[0].Line != 4 || problems[0].Column != 11 || problems[0].Path != "review.md" {
		t.Errorf("%v", problems)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"---\n" + head + "tools: [Read\n---\nb", "---\ntools: {a: b}\n---\n", "# x", "---\nname: &a x\ntools: *a\n---\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, problems := parse(text, Origin{Source: skill.Project}, false)
		if d == nil {
			if len(problems) == 0 {
				t.Error("nothing was read, and nobody is told")
			}
			return
		}
		if badName(d.Name) != "" || d.Prompt == "" || d.Run.PermissionMode == "bypassPermissions" || len(d.Run.Hooks) > 0 {
			t.Errorf("%+v", d)
		}
		for _, p := range problems {
			if p.Code == "security-field-lost" && d.Unusable == "" {
				t.Errorf("can be used in spite of %v", p)
			}
		}
	})
}
