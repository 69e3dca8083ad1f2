package ask_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/agent/tool/question"
	"github.com/knack-skills/knack/internal/cli/ask"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/text"
)

func put(t *testing.T, typed string, q invoke.Question) (invoke.Answer, string) {
	t.Helper()
	var out bytes.Buffer
	a, err := ask.New(strings.NewReader(typed), &out, output.Style{}).Ask(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return a, out.String()
}

var both = []invoke.Keep{invoke.ForSession, invoke.Always}

// Nothing but a clear yes is a yes.
func TestAnswers(t *testing.T) {
	yes := func(k invoke.Keep) invoke.Answer { return invoke.Answer{Allow: true, Keep: k} }
	no := func(why string) invoke.Answer { return invoke.Answer{Reason: why} }
	for _, tt := range []struct {
		typed string
		keeps []invoke.Keep
		want  invoke.Answer
	}{
		{"y\n", both, yes(invoke.Once)}, {"Y\n", nil, yes(invoke.Once)}, {" yes \r\n", nil, yes(invoke.Once)},
		{"s\n", both, yes(invoke.ForSession)}, {"session\n", both, yes(invoke.ForSession)},
		{"a\n", both, yes(invoke.Always)}, {"always\n", both, yes(invoke.Always)},
		{"\n", both, no("")}, {"n\n", both, no("")}, {"no\n", both, no("")}, {"n too risky, really\n", both, no("too risky, really")}, {"no: later\n", both, no("later")},
		{"", both, no("no answer")}, {"x\n", both, no("no answer")}, {"x\nx\nx\ny\n", both, no("no clear answer")},
		{"x\ny\n", both, yes(invoke.Once)}, {"a\nn\n", nil, no("")}, {"s\nn\n", []invoke.Keep{invoke.Always}, no("")},
		{"yes but not the last\nn\n", both, no("")}, {"y n\n\n", both, no("")}, {"\x1b[Ay\n\n", both, no("")}, {"у\n\n", both, no("")}, // not a Latin letter
		{strings.Repeat("y", 100_000) + "\n", both, no("no answer")},
	} {
		got, shown := put(t, tt.typed, invoke.Question{Skill: "x", Keeps: tt.keeps})
		if got != tt.want {
			t.Errorf("%.40q of %q: %+v, want %+v", tt.typed, tt.keeps, got, tt.want)
		}
		if offers := strings.Contains(shown, "a always"); offers != (len(tt.keeps) > 0 && tt.keeps[len(tt.keeps)-1] == invoke.Always) {
			t.Errorf("%q offers %q", tt.keeps, shown)
		}
	}
}

// What is asked for is shown whole and harmless: nothing that a terminal obeys,
// nothing that is not seen, and no line over its width.
func TestShown(t *testing.T) {
	evil := "git push\x1b[2K\x1b]0;title\a \u202eover\u200b\u00ad\U000e0041 a\u00a0b\tend\r\n\x00rm\xff -rf ~"
	for name, q := range map[string]invoke.Question{
		"command": {Skill: evil, Command: evil, Path: evil, Reason: evil, Note: evil},
		"tool":    {Tool: evil, Input: []byte(evil), Suggest: []string{evil}, Keeps: both},
		"skill":   {Skill: "x", Source: "project", Path: "/p/SKILL.md", Unsafe: []string{evil}, Details: []string{evil}, Changed: []string{evil}, Diff: evil, Keeps: both},
		"long":    {Skill: "x", Command: strings.Repeat("word ", 100) + "\n" + strings.Repeat("x", 300) + strings.Repeat("界", 100)},
	} {
		_, shown := put(t, "n\n", q)
		if hidden := text.FindHidden(shown); len(hidden) > 0 {
			t.Errorf("%s: shows %+v", name, hidden)
		}
		if strings.ContainsAny(shown, "\x1b\r\x00\a\u00a0\ufffd") {
			t.Errorf("%s: %q", name, shown)
		}
		for l := range strings.Lines(shown) {
			if w := text.Width(strings.TrimRight(l, "\n")); w > 80 {
				t.Errorf("%s: %d columns: %q", name, w, l)
			}
		}
	}
	_, shown := put(t, "n\n", invoke.Question{Skill: "x", Command: evil})
	shown = strings.ReplaceAll(shown, "\n    ", "")
	for _, want := range []string{"<U+001B>", "<U+202E>", "<U+200B>", "<U+00AD>", "<U+E0041>", "<U+00A0>", "<U+0000>", "<?>"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %s in %q", want, shown)
		}
	}
	if !strings.Contains(shown, "-rf ~") {
		t.Errorf("the end is lost: %q", shown)
	}
}

// Everything that decides is there; of too much the middle is left out, and
// said to be.
func TestShownWhole(t *testing.T) {
	_, shown := put(t, "n\n", invoke.Question{Skill: "deploy", Source: "project", Path: "/repo/SKILL.md", Unsafe: []string{"allowed-tools", "hooks"},
		Details: []string{"allows without asking: Bash(git *)"}, Changed: []string{"run.sh has changed"}, Diff: "-a\n+b\n", Note: "mind the gap", Keeps: both})
	want := `
The skill deploy is not what you approved.
  source: project
  path: /repo/SKILL.md
  because of: allowed-tools, hooks
  - allows without asking: Bash(git *)
  changed: run.sh has changed
  | -a
  | +b
  note: mind the gap
y once / s this session / a always / n no, why [n]: `
	if d := cmp.Diff(want, shown); d != "" {
		t.Error(d)
	}
	var lines []string
	for i := range 1000 {
		lines = append(lines, fmt.Sprint("echo ", i))
	}
	_, shown = put(t, "n\n", invoke.Question{Skill: "x", Command: strings.Join(lines, "\n")})
	for _, want := range []string{"$ echo 0\n", "$ echo 999\n", "[880 more lines, which are not shown]"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q", want)
		}
	}
	_, shown = put(t, "n\n", invoke.Question{Tool: "Bash", Input: []byte(`{"command":"npm test"}`), Command: "npm test", Reason: "no rule", Suggest: []string{"Bash(npm test:*)"}, Keeps: both})
	for _, want := range []string{"$ npm test\n", "why: no rule\n", "always means the rule: Bash(npm test:*)\n"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in %q", want, shown)
		}
	}
}

// A question ends with its context, also while nobody types, and what comes
// afterwards answers nothing.
func TestCancelled(t *testing.T) {
	in, typing := io.Pipe()
	defer typing.Close()
	shown := &signal{seen: make(chan struct{}), want: "[n]: "}
	term := ask.New(in, shown, output.Style{})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := term.Ask(ctx, invoke.Question{Skill: "x"})
		done <- err
	}()
	<-shown.seen
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := term.Ask(ctx, invoke.Question{Skill: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("asked with an ended context: %v", err)
	}
	if _, err := fmt.Fprintln(typing, "y"); err != nil { // for the question that is gone
		t.Fatal(err)
	}
	typing.Close()
	if a, err := term.Ask(t.Context(), invoke.Question{Skill: "other"}); err != nil || a.Allow {
		t.Errorf("the next question: %+v, %v", a, err)
	}
}

// A signal is closed when its text was written.
type signal struct {
	mu   sync.Mutex
	text strings.Builder
	want string
	seen chan struct{}
	once sync.Once
}

func (s *signal) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	if strings.Contains(s.text.String(), s.want) {
		s.once.Do(func() { close(s.seen) })
	}
	return len(p), nil
}

// Questions that come at once are put one after the other.
func TestOneAtATime(t *testing.T) {
	var out bytes.Buffer
	term := ask.New(strings.NewReader(strings.Repeat("y\n", 20)), &out, output.Style{})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if a, err := term.Ask(t.Context(), invoke.Question{Skill: fmt.Sprint("s", i), Command: "c"}); err != nil || !a.Allow {
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
	wg.Wait()
	if n := strings.Count(out.String(), "wants to run a command.\n  $ c\ny once / n no, why [n]: "); n != 20 {
		t.Errorf("%d whole questions in\n%s", n, out.String())
	}
}

func TestConfirm(t *testing.T) {
	for typed, want := range map[string][2]bool{"y\n": {true, true}, "Yes\n": {true, true}, "n\n": {false, true}, "\n\n\n": {}, "": {}, "maybe\ny\n": {true, true}, "q\nq\nq\ny\n": {}} {
		yes, known, err := ask.New(strings.NewReader(typed), io.Discard, output.Style{}).Confirm(t.Context(), "Text.\n", "Sure?")
		if err != nil || [2]bool{yes, known} != want {
			t.Errorf("%q: %t, %t, %v", typed, yes, known, err)
		}
	}
}

func TestValue(t *testing.T) {
	for _, secret := range []bool{false, true} {
		for typed, want := range map[string]string{" a b \n": "a b", "\n": "", "": ""} {
			var out bytes.Buffer
			value, known, err := ask.New(strings.NewReader(typed), &out, output.Style{}).Value(t.Context(), "Text.\n", "key", secret)
			if err != nil || value != want || known != (want != "") || !strings.HasPrefix(out.String(), "Text.\nkey: ") {
				t.Errorf("%q: %q, %t, %v, %q", typed, value, known, err, out.String())
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, known, err := ask.New(strings.NewReader("x\n"), io.Discard, output.Style{}).Value(ctx, "", "key", true); known || !errors.Is(err, context.Canceled) {
		t.Error(known, err)
	}
}

// The questions of a model are answered by number, by name, or in words.
func TestQuestions(t *testing.T) {
	q := question.Question{Text: "Which\x1b[1m one?", Header: "Choice", Options: []question.Option{{Label: "red", Description: "a colour"}, {Label: "blue"}, {Label: "7"}}}
	several := q
	several.Multiple = true
	for _, tt := range []struct {
		q     question.Question
		typed string
		want  question.Answer
	}{
		{q, "2\n", question.Answer{Chosen: []string{"blue"}}}, {q, "Blue\n", question.Answer{Chosen: []string{"blue"}}}, {q, "7\n", question.Answer{Chosen: []string{"7"}}},
		{q, "green, please\n", question.Answer{Text: "green, please"}}, {q, "4\n", question.Answer{Text: "4"}}, {q, "0\n", question.Answer{Text: "0"}}, {q, "\n", question.Answer{}},
		{q, "1,2\n", question.Answer{Text: "1,2"}}, {several, "2, 1,2\n", question.Answer{Chosen: []string{"red", "blue"}}}, {several, "1 3\n", question.Answer{Chosen: []string{"red", "7"}}},
		{several, "1,9\n", question.Answer{Text: "1,9"}},
	} {
		var out bytes.Buffer
		got, ok, err := ask.Questions{Terminal: ask.New(strings.NewReader(tt.typed), &out, output.Style{})}.Ask(t.Context(), []question.Question{tt.q})
		if err != nil || !ok || len(got) != 1 || cmp.Diff(tt.want, got[0]) != "" {
			t.Errorf("%q: %+v, %t, %v", tt.typed, got, ok, err)
		}
		if strings.Contains(out.String(), "\x1b") || !strings.Contains(out.String(), "  1  red: a colour\n") {
			t.Errorf("%q", out.String())
		}
	}
	got, ok, err := ask.Questions{Terminal: ask.New(strings.NewReader("1\n"), io.Discard, output.Style{})}.Ask(t.Context(), []question.Question{q, q})
	if ok || err != nil || got != nil {
		t.Errorf("only one of two answered: %+v, %t, %v", got, ok, err)
	}
}
