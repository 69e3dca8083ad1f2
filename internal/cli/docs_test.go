package cli_test

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/internal/cli"
	"github.com/knack-skills/knack/prompt"
)

var update = flag.Bool("update", false, "rewrite the transcripts in the documents")

// consoleBlock is a transcript: commands after "$ ", each with its output.
var consoleBlock = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")

// TestTranscripts runs every console block of every document in a copy of the
// example project, and compares what it prints. A line "[...]" in a document
// stands for any lines.
func TestTranscripts(t *testing.T) {
	for _, doc := range documents(t) {
		t.Run(filepath.Base(doc), func(t *testing.T) {
			data, err := os.ReadFile(doc)
			if err != nil {
				t.Fatal(err)
			}
			project := exampleProject(t)
			got := consoleBlock.ReplaceAllStringFunc(string(data), func(block string) string {
				body := consoleBlock.FindStringSubmatch(block)[1]
				return "```console\n" + replay(t, project, body) + "```"
			})
			switch {
			case got == string(data):
			case *update:
				if err := os.WriteFile(doc, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("transcripts differ (go test ./internal/cli -run Transcripts -update):\n%s", cmp.Diff(string(data), got))
			}
		})
	}
}

// documents returns the Markdown files whose transcripts are kept.
func documents(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob("../../*.md")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir("../../docs", func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "example" {
			return fs.SkipDir
		}
		if err == nil && filepath.Ext(p) == ".md" {
			docs = append(docs, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

// exampleProject copies docs/example into a repository of its own, with a home,
// a state directory and a managed directory that are empty.
func exampleProject(t *testing.T) string {
	t.Helper()
	tmp, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(tmp, "shop")
	if err := os.CopyFS(project, os.DirFS("../../docs/example")); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", project).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	t.Setenv("HOME", tmp)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(tmp, "cache"))
	t.Setenv("KNACK_STATE_DIR", filepath.Join(tmp, "state"))
	t.Setenv("KNACK_MANAGED_DIR", filepath.Join(tmp, "managed"))
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	t.Setenv("KNACK_TRUST", "")
	for _, name := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "KNACK_RECORD"} {
		t.Setenv(name, "") // a document speaks to no model
	}
	t.Setenv("COLUMNS", "80")
	return project
}

// replay runs the commands of one block and returns the block as it should be.
func replay(t *testing.T, project, body string) string {
	var out strings.Builder
	for _, part := range strings.SplitAfter("\n"+body, "\n$ ")[1:] {
		line, old, _ := strings.Cut(strings.TrimSuffix(part, "\n$ "), "\n")
		if strings.HasSuffix(part, "\n$ ") {
			old += "\n"
		}
		fmt.Fprintf(&out, "$ %s\n", line)
		got := execute(t, project, line)
		if elided(old, got) {
			got = old
		}
		out.WriteString(got)
	}
	return out.String()
}

// execute runs one knack command line in the project, standard error first. As
// in a shell, NAME=value before it holds for this command, and echo '...' | gives
// it an input.
func execute(t *testing.T, project, line string) string {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chdir(project); err != nil {
		t.Fatal(err)
	}
	defer os.Chdir(here)
	input := ""
	if m := piped.FindStringSubmatch(line); m != nil {
		input, line = m[1]+"\n", m[2]
	}
	words := prompt.SplitArgs(strings.TrimPrefix(line, "go run ./cmd/"))
	for len(words) > 0 && assignment.MatchString(words[0]) {
		name, value, _ := strings.Cut(words[0], "=")
		if rest, ok := strings.CutPrefix(value, "~/"); ok {
			value = filepath.Join(filepath.Dir(project), rest)
		}
		old := os.Getenv(name)
		os.Setenv(name, value)
		defer os.Setenv(name, old)
		words = words[1:]
	}
	if len(words) == 0 || words[0] != "knack" {
		t.Errorf("a transcript can only run knack, not %q", line)
		return ""
	}
	var stdout, stderr bytes.Buffer
	code := cli.Main(words[1:], strings.NewReader(input), &stdout, &stderr)
	text := stderr.String() + stdout.String()
	if code != 0 {
		text += fmt.Sprintf("[exit %d]\n", code)
	}
	text = clock.ReplaceAllString(took.ReplaceAllString(text, "1 ms"), "2026-11-30 10:00:00")
	return strings.ReplaceAll(text, filepath.Dir(project), "~")
}

var (
	assignment = regexp.MustCompile(`^[A-Z_]+=`)
	piped      = regexp.MustCompile(`^echo '([^']*)' \| (.*)$`)
	clock      = regexp.MustCompile(`\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b`) // what differs from run to run
	took       = regexp.MustCompile(`\b\d+ ms\b`)
)

// elided reports whether old, with "[...]" lines, stands for got.
func elided(old, got string) bool {
	if !strings.Contains(old, "[...]\n") {
		return false
	}
	parts := strings.Split(old, "[...]\n")
	if !strings.HasPrefix(got, parts[0]) || !strings.HasSuffix(got, parts[len(parts)-1]) {
		return false
	}
	for _, p := range parts {
		_, rest, ok := strings.Cut(got, p)
		if !ok {
			return false
		}
		got = rest
	}
	return true
}

// goBlock is a piece of Go in a document.
var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// TestSnippets: every piece of Go in a document stands in a test file or in an
// example, whose own tests run it, so that it compiles and runs.
func TestSnippets(t *testing.T) {
	var tests strings.Builder
	err := filepath.WalkDir("../..", func(p string, d fs.DirEntry, err error) error {
		example := strings.HasPrefix(filepath.ToSlash(p), "../../examples/") && filepath.Ext(p) == ".go"
		if err == nil && (example || strings.HasSuffix(p, "_test.go")) {
			data, err := os.ReadFile(p)
			tests.Write(data)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all := dedent(tests.String())
	for _, doc := range documents(t) {
		data, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range goBlock.FindAllStringSubmatch(string(data), -1) {
			if !strings.Contains(all, dedent(m[1])) {
				t.Errorf("%s: this piece of Go stands in no test:\n%s", doc, m[1])
			}
		}
	}
}

func dedent(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(strings.TrimLeft(line, " \t"))
	}
	return b.String()
}
