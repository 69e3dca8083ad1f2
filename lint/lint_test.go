package lint_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/lint"
	"github.com/knack-skills/knack/skill"
)

// parse reads text as the skill in dir, as a project source would.
func parse(dir, text string) (*skill.Skill, []byte) {
	path := filepath.Join(dir, "SKILL.md")
	s := &skill.Skill{
		Summary: skill.Summary{ID: filepath.Base(dir)},
		Origin:  skill.Origin{Source: skill.Project, Root: filepath.Dir(dir), Dir: dir, Path: path, Real: path},
	}
	doc, _ := frontmatter.Parse(path, []byte(text))
	doc.Fill(s, false)
	return s, []byte(text)
}

// codes writes problems as "code@line:column", separated by blanks.
func codes(ps []skill.Problem) string {
	var all []string
	for _, p := range ps {
		all = append(all, fmt.Sprintf("%s@%d:%d", p.Code, p.Line, p.Column))
	}
	return strings.Join(all, " ")
}

// A row is one skill, called "demo", and what is found in it.
type row struct {
	name, text, want string
}

// described is a skill with nothing to report.
const described = "---\ndescription: Writes notes.\n---\n"

func run(t *testing.T, o lint.Options, rows []row) {
	t.Helper()
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			s, data := parse(filepath.Join(t.TempDir(), "demo"), tt.text)
			found := lint.File(s, data, o)
			if got := codes(found); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
				for _, p := range found {
					t.Log(p)
				}
			}
			for _, p := range found {
				if p.Message == "" || p.Fix == "" || p.Path == "" || p.Severity == "" {
					t.Errorf("incomplete problem: %+v", p)
				}
			}
		})
	}
}

func TestDescription(t *testing.T) { // spec L-2, K-6
	long := strings.Repeat("word ", 49) // 245 characters
	run(t, lint.Options{}, []row{
		{"fine", described + "Body.", ""},
		{"missing", "---\nname: demo\n---\nBody text.", "description-missing@0:0"},
		{"no frontmatter", "# Title\n\nBody text.", "description-missing@0:0"},
		{"empty", "---\nname: demo\ndescription:\n---\nBody text.", "description-missing@3:1"},
		{"nothing at all", "", "description-missing@0:0"},
		{"fits exactly", "---\ndescription: " + long + "abcde\n---\n", ""},
		{"one over", "---\ndescription: " + long + "abcdef\n---\n", "description-cut@2:14"},
		{"when_to_use is cut", "---\nname: demo\ndescription: " + long + "\nwhen_to_use: for notes\n---\n", "description-cut@3:14"},
		{"both fit", "---\ndescription: Notes.\nwhen_to_use: for notes\n---\n", ""},
		{"no model reads it", "---\ndescription: " + long + long + "\ndisable-model-invocation: true\n---\n", ""},
		{"counts characters, not bytes", "---\ndescription: " + strings.Repeat("説", 250) + "\n---\n", ""},
		{"and cuts them", "---\ndescription: " + strings.Repeat("説", 251) + "\n---\n", "description-cut@2:14"},
	})
}

func TestDescriptionCutSeverity(t *testing.T) { // spec L-2
	filler := strings.Repeat("word ", 60)
	for _, tt := range []struct {
		text     string
		severity skill.Severity
		message  string
	}{
		{"---\ndescription: Use when writing notes. " + filler + "\n---\n", skill.Info, "a model sees 249 of 323 characters"},
		{"---\ndescription: " + filler + "Use when writing notes.\n---\n", skill.Warning, "the words that say when to use it are cut"},
		{"---\ndescription: " + filler + "\nwhen_to_use: notes\n---\n", skill.Warning, "when_to_use is cut"},
	} {
		s, data := parse(filepath.Join(t.TempDir(), "demo"), tt.text)
		found := lint.File(s, data, lint.Options{})
		if len(found) != 1 || found[0].Severity != tt.severity || !strings.Contains(found[0].Message, tt.message) {
			t.Errorf("%q: got %v, want one %s with %q", tt.text[:40], found, tt.severity, tt.message)
		}
	}
}

func TestMaxDescChars(t *testing.T) { // spec L-2: skillListingMaxDescChars
	text := "---\ndescription: twenty-one letters ok\n---\n"
	for _, tt := range []struct {
		max  int
		want string
	}{{21, ""}, {20, "description-cut@2:14"}, {0, ""}, {-1, ""}} {
		s, data := parse(filepath.Join(t.TempDir(), "demo"), text)
		if got := codes(lint.File(s, data, lint.Options{MaxDescChars: tt.max})); got != tt.want {
			t.Errorf("MaxDescChars %d: got %q, want %q", tt.max, got, tt.want)
		}
	}
}

func TestBundledIsNeverCut(t *testing.T) { // spec L-3
	s, data := parse(filepath.Join(t.TempDir(), "demo"), "---\ndescription: "+strings.Repeat("word ", 60)+"\n---\n")
	s.Origin = skill.Origin{Source: skill.Bundled}
	if got := codes(lint.File(s, data, lint.Options{})); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
}

func TestName(t *testing.T) { // spec C-6
	run(t, lint.Options{}, []row{
		{"same", "---\nname: demo\ndescription: Notes.\n---\n", ""},
		{"other", "---\ndescription: Notes.\nname: Demo Notes\n---\n", "name-differs-from-directory@3:7"},
		{"quoted", "---\nname: \"demo\"\ndescription: Notes.\n---\n", ""},
	})
}

func TestRules(t *testing.T) { // spec F-6
	run(t, lint.Options{}, []row{
		{"fine", "---\ndescription: Notes.\nallowed-tools: Read, Bash(git log:*)\n---\n", ""},
		{"in a list", "---\ndescription: Notes.\nallowed-tools:\n  - Read\n  - Read(!x)\n---\n", "rule-never-matches@5:5"},
		{"on one line", "---\ndescription: Notes.\nallowed-tools: Read, Read(!x)\n---\n", "rule-never-matches@3:22"},
		{"not a rule", "---\ndescription: Notes.\nallowed-tools: Read Bash()\n---\n", "rule-syntax@3:21"},
		{"loading tells what is not closed", "---\ndescription: Notes.\nallowed-tools: Read Bash(git\n---\n", ""},
		{"no tool has this name", "---\ndescription: Notes.\nallowed-tools: Read;Grep\n---\n", "rule-never-matches@3:16"},
		{"a map in the list", "---\ndescription: Notes.\nallowed-tools:\n  - Read: x\n---\n", "rule-never-matches@4:5"},
		{"names of tools of servers", "---\ndescription: Notes.\nallowed-tools: mcp__plugin:a-b__x.y, mcp__c__*\n---\n", ""},
		{"refused tools too", "---\ndescription: Notes.\ndisallowed-tools:\n- Read(!x)\n---\n", "rule-never-matches@4:3"},
		{"wrong case", "---\ndescription: Notes.\nallowed-tools: bash(ls:*)\n---\n", "rule-never-matches@3:16"},
		{"loading tells", "---\ndescription: Notes.\nallowed-tools: Bash(git:log:*)\n---\n", ""},
		{"loading tells one of two", "---\ndescription: Notes.\nallowed-tools: Bash(git:log:*) bash(ls)\n---\n", "rule-never-matches@3:32"},
		{"snake case key", "---\ndescription: Notes.\nallowed_tools: Read(!x)\n---\n", "rule-never-matches@3:16"},
	})
}

func TestPaths(t *testing.T) { // spec D-4
	head := "---\ndescription: Notes.\npaths:\n"
	run(t, lint.Options{}, []row{
		{"fine", head + "  - src/**/*.ts\n  - '*.md'\n  - /docs/\n  - 'a[bc].go'\n  - '\\!x'\n---\n", ""},
		{"everything", head + "  - '**'\n---\n", ""},
		{"dot", head + "  - src/./*.ts\n---\n", "pattern-never-matches@4:5"},
		{"parent", head + "  - '*.go'\n  - ../other/*.ts\n---\n", "pattern-never-matches@5:5"},
		{"home", head + "  - ~/notes/**\n---\n", "pattern-never-matches@4:5"},
		{"drive", head + "  - C:\\src\\*.ts\n---\n", "pattern-never-matches@4:5"},
		{"open class", head + "  - 'a[bc.go'\n---\n", "pattern-never-matches@4:6"},
		{"only exclusions", head + "  - '!*.md'\n---\n", "pattern-never-matches@3:1"},
		{"an exclusion after", head + "  - '*.md'\n  - '!x.md'\n---\n", ""},
		{"dots in names", head + "  - .github/**\n  - ..hidden\n---\n", ""},
	})
}

func TestArgsOneBased(t *testing.T) { // spec P-4
	hint := "---\ndescription: Notes.\nargument-hint: a b\n---\n"
	run(t, lint.Options{}, []row{
		{"from one", hint + "Move $1 to $2.\n", "args-one-based@5:6"},
		{"from zero", hint + "Move $0 to $1.\n", ""},
		{"only the third", hint + "See $2.\n", "args-one-based@5:5"},
		{"an amount besides", hint + "For $100, move $1.\n", "args-one-based@5:16"},
		{"only amounts", hint + "It is $12 a month.\n", "unescaped-dollar@5:7"},
		{"awk in code with intent", hint + "It's `awk '{print $2}'`.\n", "unescaped-dollar@5:19"},
		{"long form", hint + "Text\n\nMove $ARGUMENTS[1] away.\n", "args-one-based@7:6"},
		{"without a hint, in a row", described + "Move $1 to $2.\n", "args-one-based@4:6"},
		{"escaped", hint + "Costs \\$1.\n", ""},
		{"in code with intent", hint + "Run `mv $1 $2`.\n", "args-one-based@5:9"},
		{"in code without intent", described + "Run `awk '{print $1}'`.\n", ""},
		{"in a fence without intent", described + "```sh\nawk '{print $1}'\n```\n", ""},
		{"in a command", hint + "!`git show \"$1\"`\n", "args-one-based@5:13"},
		{"awk in a command", hint + "!`ls | awk '{print $1}'` for $0\n", ""},
		{"money", hint + "US$1, $1.50 and $1,000 or $5k\n", ""},
		{"glued fence", "---\ndescription: Notes.\nargument-hint: a\n--- Move $1.\n", "args-one-based@4:10"},
		{"crlf", strings.ReplaceAll(hint+"x\ny $1.\n", "\n", "\r\n"), "args-one-based@6:3"},
	})
}

func TestArgumentBase(t *testing.T) { // spec P-4: argumentBase
	text := "---\ndescription: Notes.\nargument-hint: a b\n---\nMove $1 to $2.\n"
	for base, want := range map[int]string{0: "args-one-based@5:6", 1: "", -1: ""} {
		s, data := parse(filepath.Join(t.TempDir(), "demo"), text)
		if got := codes(lint.File(s, data, lint.Options{ArgumentBase: base})); got != want {
			t.Errorf("argumentBase %d: got %q, want %q", base, got, want)
		}
	}
}

func TestUnescapedDollar(t *testing.T) { // spec P-4
	run(t, lint.Options{}, []row{
		{"price", described + "It costs $5 a month.\n", "unescaped-dollar@4:10"},
		{"prices", described + "One is $20.\nTwo are $50.\n", "unescaped-dollar@4:8"},
		{"escaped", described + "It costs \\$5 a month.\n", ""},
		{"decimal", described + "It costs $0.10 per GB.\n", ""},
		{"code", described + "`awk '{print $5}'`\n", ""},
		{"first argument", described + "Fix issue $0.\n", ""},
		{"argument", described + "Move $0 to $1.\n", ""},
		{"no digit", described + "The $ sign and $HOME.\n", ""},
	})
}

func TestUnknownVariable(t *testing.T) { // spec P-7
	run(t, lint.Options{}, []row{
		{"known", described + "${CLAUDE_SKILL_DIR}/a ${KNACK_SESSION_ID} ${CLAUDE_EFFORT}\n", ""},
		{"other word", described + "Read ${CLAUDE_SKILL_ROOT}/refs/a.\n", "unknown-variable@4:6"},
		{"typing error", described + "Read ${CLAUDE_SKIL_DIR}.\n", "unknown-variable@4:6"},
		{"own prefix", described + "Read ${KNACK_PROJECT_ROOT}.\n", "unknown-variable@4:6"},
		{"near, in code", described + "`ls ${CLAUDE_SKILL_PATH}`\n", "unknown-variable@4:5"},
		{"environment, in code", described + "`ls ${CLAUDE_CONFIG_DIR}`\n", ""},
		{"far, in text", described + "Look in ${CLAUDE_HOME}.\n", "unknown-variable@4:9"},
		{"not ours", described + "Set ${HOME} and ${user} and ${CLAUDETTE}.\n", ""},
		{"each use", described + "${CLAUDE_SKILL_ROOT}\n${CLAUDE_SKILL_ROOT}\n", "unknown-variable@4:1 unknown-variable@5:1"},
	})
}

func TestUnknownVariableSuggests(t *testing.T) {
	for _, tt := range []struct{ body, fix string }{
		{"${CLAUDE_SKILL_ROOT}", "did you mean ${CLAUDE_SKILL_DIR}?"},
		{"${KNACK_PROJECT_ROOT}", "did you mean ${KNACK_PROJECT_DIR}?"},
		{"${CLAUDE_SESION_ID}", "did you mean ${CLAUDE_SESSION_ID}?"},
		{"${CLAUDE_EFORT}", "did you mean ${CLAUDE_EFFORT}?"},
	} {
		s, data := parse(filepath.Join(t.TempDir(), "demo"), described+tt.body)
		found := lint.File(s, data, lint.Options{})
		if len(found) != 1 || found[0].Fix != tt.fix {
			t.Errorf("%s: got %v, want one problem with fix %q", tt.body, found, tt.fix)
		}
	}
}

// Variables of plugins exist in plugins only; what may be part of one is left
// alone.
func TestPluginVariable(t *testing.T) { // spec P-7
	for _, tt := range []struct {
		dir  string
		from skill.Source
		want string
	}{
		{".claude/skills/demo", skill.Project, "unknown-variable@4:1"},
		{".agents/skills/demo", skill.User, "unknown-variable@4:1"},
		{"some-plugin/skills/demo", skill.Project, ""},
		{"some-plugin/skills/demo", skill.Plugin, ""},
	} {
		s, data := parse(filepath.Join(t.TempDir(), filepath.FromSlash(tt.dir)), described+"${CLAUDE_PLUGIN_ROOT}/x")
		s.Origin.Source = tt.from
		if got := codes(lint.File(s, data, lint.Options{})); got != tt.want {
			t.Errorf("%s in %s: got %q, want %q", tt.from, tt.dir, got, tt.want)
		}
	}
}

func TestBodyLong(t *testing.T) { // spec K-6
	run(t, lint.Options{}, []row{
		{"500 lines", described + strings.Repeat("x\n", 500), ""},
		{"501 lines", described + strings.Repeat("x\n", 501), "body-long@4:0"},
		{"few long lines", described + strings.Repeat(strings.Repeat("some words here ", 200)+"\n", 20), "body-long@4:0"},
	})
}

// A file that no call will read is reported, and nothing else of it (spec F-7).
func TestRefusedFiles(t *testing.T) {
	for data, want := range map[string]string{
		"---\ndescription: x\n---\na\x00b $1":      "binary@4:2",
		strings.Repeat("x", frontmatter.MaxFile+1): "too-large@0:0",
	} {
		for _, profile := range []lint.Profile{lint.Knack, lint.AgentSkills} {
			if got := codes(lint.File(&skill.Skill{}, []byte(data), lint.Options{Profile: profile})); got != want {
				t.Errorf("%s: got %v, want %s", profile, got, want)
			}
		}
	}
}

// Bytes that are replaced in the body are reported, where loading stopped
// before them too (spec F-7).
func TestInvalidBody(t *testing.T) {
	run(t, lint.Options{}, []row{{"late", described + "Text.\n\nMore \xff.\n", "invalid-utf8@6:6"}})
}

func TestSorted(t *testing.T) { // spec C-11
	s, data := parse(filepath.Join(t.TempDir(), "demo"),
		"---\nname: x\nallowed-tools: bash(ls)\nargument-hint: x\n---\n[a](x.md)\n$1 ${CLAUDE_SKILL_ROOT}\n")
	found := lint.File(s, data, lint.Options{})
	if !slices.IsSortedFunc(found, skill.CompareProblems) || len(found) != 6 {
		t.Errorf("not sorted, or not six: %v", found)
	}
}

// Real files: no check fails on any, and every position lies in its file.
func TestCorpus(t *testing.T) {
	root := os.Getenv("KNACK_CORPUS")
	if root == "" {
		t.Skip("KNACK_CORPUS is not set")
	}
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.EqualFold(d.Name(), "SKILL.md") || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		s, _ := parse(filepath.Dir(path), string(data))
		inside(t, path, s, string(data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files", files)
}

// inside checks that every position lies in the file.
func inside(t *testing.T, name string, s *skill.Skill, text string) {
	t.Helper()
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(text, "\uFEFF")), "\n")
	for _, profile := range []lint.Profile{lint.Knack, lint.AgentSkills} {
		for _, p := range lint.File(s, []byte(text), lint.Options{Profile: profile}) {
			if p.Line < 0 || p.Line > len(lines) {
				t.Fatalf("%s: %s: line %d of %d", name, p.Code, p.Line, len(lines))
			}
			if p.Line > 0 && p.Column > len([]rune(lines[p.Line-1]))+1 {
				t.Fatalf("%s: %s: column %d in %q", name, p.Code, p.Column, lines[p.Line-1])
			}
		}
	}
}

// Whatever a file holds, checking it ends, and every position lies in the file.
func FuzzFile(f *testing.F) {
	for _, s := range []string{described, "---\na: [\n---\n$1 [a](b.md) ```", "\uFEFF---\r\nname: x\r\n--- x `a\r$2", "<!--[x](y/z) `` ` ", "---\nmetadata: {a: [b]}\nmetadata:\n  a:\n   - b\n---"} {
		f.Add(s)
	}
	dir := filepath.Join(f.TempDir(), "demo")
	f.Fuzz(func(t *testing.T, text string) {
		s, _ := parse(dir, text)
		inside(t, "SKILL.md", s, text)
	})
}
