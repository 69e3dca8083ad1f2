package prompt

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/shell"
	"github.com/knack-skills/knack/skill"
	"pgregory.net/rapid"
)

// syntax are pieces that mean something in a body, a shell or an argument
// string.
var syntax = []string{
	"$ARGUMENTS", "$0", "$1", "$ARGUMENTS[0]", "$name", "${name}", "${CLAUDE_SKILL_DIR}", "${KNACK_SESSION_ID}", "!`touch pwned`",
	"\n```!\ntouch pwned\n```\n", "```", "`", "``", "\\", "\\$0", "'", "\"", " ", "\n", "\r\n", ";touch pwned;", "$(touch pwned)",
	"*", "~", "-x", "&&", "|", ">", "<<E", "don't", "é", "日本", "\xff", "a", "B", "#", "{", "}", "=",
}

func pieces(label string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(syntax), 0, 12).Draw(t, label), "")
	})
}

// What arguments and variables contain is never syntax (spec P-1): the text
// holds them as they are, no command is added and no command line changes.
func TestInsertedTextIsData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		args, name, session := pieces("args").Draw(t, "args"), pieces("name").Draw(t, "name"), pieces("session").Draw(t, "session")
		list := QuoteArg(name) + " " + args
		s := project("name")
		env := Env{NoShell: true, Vars: Vars{SessionID: session}}
		r, err := Compile(t.Context(), s, skill.Instructions{Text: "<$ARGUMENTS|$0|$name|${CLAUDE_SESSION_ID}> !`echo $0`"}, list, env)
		if err != nil {
			t.Fatal(err)
		}
		want := "<" + list + "|" + name + "|" + name + "|" + session + "> !`echo $0`"
		if r.Text != want {
			t.Fatalf("got %q, want %q", r.Text, want)
		}
	})
}

// The same with a real shell: the command prints its arguments as they are.
func TestArgumentsNeverRun(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		list := strings.ReplaceAll(pieces("args").Draw(rt, "args"), "\xff", "")
		var lines []string
		env := Env{Shell: shell.Exec{}, WorkDir: dir, Decide: func(_ context.Context, line string) (Permission, error) {
			lines = append(lines, line)
			return Permission{Decision: "allow"}, nil
		}}
		r, err := Compile(t.Context(), project("name"), skill.Instructions{
			Text: "!`printf '%s|' \"$ARGUMENTS\" \"$0\" \"$name\" \"$ARGUMENTS[1]\"`",
		}, list, env)
		if err != nil {
			rt.Fatal(err)
		}
		words := append(SplitArgs(list), "", "")
		if want := list + "|" + words[0] + "|" + words[0] + "|" + words[1] + "|"; r.Text != want {
			rt.Fatalf("got %q, want %q", r.Text, want)
		}
		if want := `printf '%s|' "$ARGUMENTS" "$0" "$name" "${KNACK_ARGUMENT_1}"`; !slices.Equal(lines, []string{want}) {
			rt.Fatalf("decided about %q", lines)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			rt.Fatalf("an argument ran: %v %v", left, err)
		}
	})
}

// Any body: the trace covers the text, the same input gives the same text, and
// without arguments, escapes and variables a body stays as it is.
func checkCompile(t testing.TB, body, args string) {
	s := project("name", "a-b")
	in := skill.Instructions{Text: body, Line: 3, Dir: "/d"}
	for _, env := range []Env{{NoShell: true, Base: -1}, {Off: "[off]", Base: 1}} {
		first, err := Compile(t.Context(), s, in, args, env)
		if err != nil {
			t.Fatal(err)
		}
		checkTrace(t, first)
		again, err := Compile(t.Context(), s, in, args, env)
		if err != nil || again.Text != first.Text || !slices.Equal(again.Trace, first.Trace) {
			t.Fatalf("%q with %q: %q, then %q (%v)", body, args, first.Text, again.Text, err)
		}
	}
	if strings.ContainsAny(body, "$\\") {
		return
	}
	r, err := Compile(t.Context(), project(), skill.Instructions{Text: body}, "", Env{NoShell: true})
	if err != nil || r.Text != body {
		t.Fatalf("%q became %q (%v)", body, r.Text, err)
	}
}

func TestCompileAnyBody(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		checkCompile(t, pieces("body").Draw(rt, "body"), pieces("args").Draw(rt, "args"))
	})
}

func FuzzCompile(f *testing.F) {
	f.Add("a $0 !`b $ARGUMENTS[1]` `$1` \\$2", "x 'y")
	f.Add("```!\n${CLAUDE_SKILL_DIR} <<E\nE\n```", "")
	f.Add("$a-b ${name} \\!`x`\r$ARGUMENTS", "\"")
	f.Fuzz(func(t *testing.T, body, args string) { checkCompile(t, body, args) })
}

// Real files compile, and those without commands are found to have none.
func TestCorpus(t *testing.T) {
	root := os.Getenv("KNACK_CORPUS")
	if root == "" {
		t.Skip("KNACK_CORPUS is not set")
	}
	n := 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n++
		body := string(b)
		checkRaw(t, body)
		checkCompile(t, body, "one 'two three'")
		for _, s := range Parse(body) {
			if s.Command && !s.Fenced && !strings.HasPrefix(s.Raw, "!`") {
				t.Errorf("%s:%d: command %q", path, s.Line, s.Raw)
			}
		}
		return nil
	})
	if err != nil || n == 0 {
		t.Errorf("read %d files, error %v", n, err)
	}
}

func BenchmarkCompile(b *testing.B) {
	const item = "- item with **bold** text and a [link](https://example.org/x)\n- another item, with `code` in it\n\n"
	const prose = "Read `docs/a.md` first, then run `go test ./...` and compare what it prints with the notes.\n\n" + item
	const dense = "Read `docs/a.md` first, then run `go test ./...` and look at $0. It costs $1.50, or \\$2.\n\n" + item
	const fence = "```bash\nfor f in *.go; do echo \"$f\" | awk '{print $1}'; done\n```\n\n"
	for name, para := range map[string]string{"prose": prose, "dense": dense} {
		body := "# Title for $ARGUMENTS\n\n"
		for len(body) < 10<<10 {
			body += strings.Repeat(para, 3) + fence
		}
		s := project()
		in := skill.Instructions{Text: body, Line: 5, Dir: "/skills/demo"}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Compile(b.Context(), s, in, "main", Env{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSplitArgs(b *testing.B) {
	for b.Loop() {
		SplitArgs(`fix "the login page" in src/app.ts --max 3 don\'t ask`)
	}
}
