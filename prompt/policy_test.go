package prompt

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/shell"
	"github.com/knack-skills/knack/skill"
)

// All is decided before anything runs (spec P-10).
func TestPermissionFirst(t *testing.T) {
	env := realShell(t)
	env.Vars.SkillDir = "/a b"
	var asked []string
	answers := map[string]Permission{
		"touch one":        {Decision: "allow", Rule: "Bash(touch:*)"},
		"touch '/a b'/two": {Decision: "ask", Rule: "Bash(touch /a b/*)", Reason: "outside the workspace"},
	}
	env.Decide = func(_ context.Context, line string) (Permission, error) {
		asked = append(asked, line)
		return answers[line], nil
	}
	in := skill.Instructions{Text: "!`touch one`\n!`touch ${CLAUDE_SKILL_DIR}/two`\n!`touch three`", Line: 10}
	_, err := Compile(t.Context(), project(), in, "", env)
	var denied *DeniedError
	if !errors.As(err, &denied) || denied.Source != 11 || denied.Permission.Decision != "ask" {
		t.Fatalf("error %v", err)
	}
	if want := []string{"touch one", "touch '/a b'/two"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	for _, part := range []string{"line 11", "touch '/a b'/two", "Bash(touch /a b/*)", "outside the workspace", "remove that rule", "nothing was run"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("message lacks %q:\n%v", part, err)
		}
	}
	if left, _ := os.ReadDir(env.WorkDir); len(left) > 0 {
		t.Errorf("something ran: %v", left)
	}

	broken := errors.New("policy is broken")
	for name, e := range map[string]Env{
		"no decider":     {Shell: shell.Exec{}},
		"no shell":       {Decide: allowAll},
		"empty answer":   {Shell: shell.Exec{}, Decide: func(context.Context, string) (Permission, error) { return Permission{}, nil }},
		"failing":        {Shell: shell.Exec{}, Decide: func(context.Context, string) (Permission, error) { return Permission{Decision: "allow"}, broken }},
		"unknown answer": {Shell: shell.Exec{}, Decide: func(context.Context, string) (Permission, error) { return Permission{Decision: "yes"}, nil }},
	} {
		e.WorkDir = env.WorkDir
		_, err := Compile(t.Context(), project(), skill.Instructions{Text: "!`touch one`"}, "", e)
		if name == "failing" && !errors.Is(err, broken) || name != "failing" && !errors.As(err, &denied) {
			t.Errorf("%s: error %v", name, err)
		}
		if left, _ := os.ReadDir(env.WorkDir); len(left) > 0 {
			t.Errorf("%s: something ran: %v", name, left)
		}
	}
}

// Who never runs commands (spec P-13).
func TestCommandsOff(t *testing.T) {
	const body = "a !`touch $0 ${CLAUDE_SESSION_ID}` b\n```!\ntouch x\n```\n\\!`c`"
	remote := project()
	remote.Origin.Source = skill.MCP
	for _, tt := range []struct {
		name string
		s    *skill.Skill
		env  func(*Env)
		want string
	}{
		{"remote", remote, func(*Env) {}, "a !`touch $0 ${CLAUDE_SESSION_ID}` b\n```!\ntouch x\n```\n!`c`\n\nARGUMENTS: y"},
		{"remote and off", remote, func(e *Env) { e.Off = "[off]" }, "a !`touch $0 ${CLAUDE_SESSION_ID}` b\n```!\ntouch x\n```\n!`c`\n\nARGUMENTS: y"},
		{"off", project(), func(e *Env) { e.Off = "[off]" }, "a [off] b\n[off]\n!`c`\n\nARGUMENTS: y"},
		{"no shell", project(), func(e *Env) { e.NoShell = true }, "a !`touch $0 ${CLAUDE_SESSION_ID}` b\n```!\ntouch x\n```\n!`c`"},
	} {
		env := realShell(t)
		env.Decide = func(context.Context, string) (Permission, error) {
			t.Errorf("%s: asked", tt.name)
			return Permission{Decision: "allow"}, nil
		}
		tt.env(&env)
		if got := text(t, tt.s, body, "y", env); got != tt.want {
			t.Errorf("%s: got\n%q, want\n%q", tt.name, got, tt.want)
		}
		if left, _ := os.ReadDir(env.WorkDir); len(left) > 0 {
			t.Errorf("%s: something ran: %v", tt.name, left)
		}
	}
}

func TestMissingShell(t *testing.T) {
	env := realShell(t)
	s := project()
	s.Run.Shell = "powershell"
	t.Setenv("PATH", t.TempDir())
	_, err := Compile(t.Context(), s, skill.Instructions{Text: "!`touch x`"}, "", env)
	var missing *shell.MissingError
	if !errors.As(err, &missing) {
		t.Errorf("error %v, want a MissingError", err)
	}
	if got := text(t, s, "no command", "", env); got != "no command" {
		t.Errorf("a body without commands needs no shell: %q", got)
	}
}

// TestFilled: arguments that a server has put into its text are not put in, or
// added, once more, and a value that looks like a placeholder is none.
func TestFilled(t *testing.T) {
	s := &skill.Skill{Origin: skill.Origin{Source: skill.MCP, Owner: "s"}, Content: skill.Content{Arguments: []string{"who"}, Positional: true}}
	const text = "For Ann: $ARGUMENTS $0 $who !`touch x` ${CLAUDE_SESSION_ID} ${CLAUDE_SKILL_DIR}"
	for filled, want := range map[bool]string{
		true:  "For Ann: $ARGUMENTS $0 $who !`touch x` id ${CLAUDE_SKILL_DIR}",
		false: "For Ann: Bob Bob Bob !`touch x` id ${CLAUDE_SKILL_DIR}",
	} {
		r, err := Compile(t.Context(), s, skill.Instructions{Text: text, Filled: filled}, "Bob", Env{Vars: Vars{SessionID: "id", SkillDir: "/secret"}})
		if err != nil || r.Text != want {
			t.Errorf("filled %v: %q, %v", filled, r.Text, err)
		}
	}
}
