package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/internal/cli"
	"github.com/knack-skills/knack/skill"
)

// The tests in cases_*_test.go hold the command line to what people reported of
// systems of this kind: the smallest input that shows the effect, and what has
// to come out. They call Main as a program would, and read its JSON.

// A place is a workspace with a home of its own.
type place struct {
	t   *testing.T
	dir string // holds repo, home, state and managed
}

// A row is one skill of `knack list --json`, as far as cases look at it.
type row struct {
	ID                  string
	Name                string
	Description         string
	DescriptionFallback bool   `json:"description_fallback"`
	WhenToUse           string `json:"when_to_use"`
	Source              string
	State               string
	ShadowedBy          string `json:"shadowed_by"`
	UserInvocable       bool   `json:"user_invocable"`
	ModelInvocable      bool   `json:"model_invocable"`
	Context             string
	Paths               []string
	ArgumentHint        string `json:"argument_hint"`
	Version             string
	Problems            []skill.Problem
}

// newPlace returns a place with the given files below it. A name that ends in
// "->" is a link to its content.
func newPlace(t *testing.T, files map[string]string) *place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range isolated(dir) {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	p := &place{t: t, dir: dir}
	p.write("repo/.git/HEAD", "ref: refs/heads/main\n")
	p.write("home/.keep", "")
	for name, content := range files {
		p.write(name, content)
	}
	return p
}

func (p *place) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

func (p *place) write(name, content string) {
	p.t.Helper()
	target, link := strings.CutSuffix(name, "->")
	at := p.path(target)
	err := os.MkdirAll(filepath.Dir(at), 0o755)
	if err == nil && link {
		err = os.Symlink(filepath.FromSlash(content), at)
	} else if err == nil {
		err = os.WriteFile(at, []byte(content), 0o644)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// run calls Main for the repository, or for the directory that -C names.
func (p *place) run(args ...string) output {
	if !slices.Contains(args, "-C") {
		args = append([]string{"-C", p.path("repo")}, args...)
	}
	var stdout, stderr bytes.Buffer
	code := cli.Main(args, strings.NewReader(""), &stdout, &stderr)
	return output{stdout.String(), stderr.String(), code}
}

// decode runs a command and reads its JSON into v.
func (p *place) decode(v any, args ...string) output {
	p.t.Helper()
	out := p.run(append(args, "--json")...)
	if err := json.Unmarshal([]byte(out.stdout), v); err != nil {
		p.t.Fatalf("knack %q: exit %d, %v\n%s%s", args, out.code, err, out.stdout, out.stderr)
	}
	return out
}

// list returns the skills by id; what comes with the program is left out.
func (p *place) list(args ...string) map[string]row {
	p.t.Helper()
	var rows []row
	p.decode(&rows, append([]string{"list", "--all"}, args...)...)
	found := map[string]row{}
	for _, r := range rows {
		if r.Source == "bundled" {
			continue
		}
		if _, twice := found[r.ID]; twice && r.State != "shadowed" {
			p.t.Errorf("%s is listed twice", r.ID)
		}
		if r.State != "shadowed" {
			found[r.ID] = r
		}
	}
	return found
}

// ids are the listed ids, sorted.
func ids(rows map[string]row) string {
	var all []string
	for id := range rows {
		all = append(all, id)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// problems is what `knack check` says, as "code" or, with a line, "code:line".
func (p *place) problems(args ...string) string {
	p.t.Helper()
	var r struct{ Problems []skill.Problem }
	p.decode(&r, append([]string{"check"}, args...)...)
	return codesOf(r.Problems)
}

func codesOf(problems []skill.Problem) string {
	var all []string
	for _, f := range problems {
		all = append(all, f.Code)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// fields returns the frontmatter as `knack show` prints it, and the body.
func (p *place) show(id string) (fields map[string]string, body string) {
	p.t.Helper()
	var s struct {
		Fields map[string]string
		Body   string
	}
	p.decode(&s, "show", id)
	return s.Fields, s.Body
}

// render returns what a call injects, and its tools.
func (p *place) render(args ...string) (text string, tools []string) {
	p.t.Helper()
	var r struct {
		Text     string
		Override struct {
			AllowedTools []string `json:"allowed_tools"`
		}
	}
	if out := p.decode(&r, append([]string{"render"}, args...)...); out.code != 0 {
		p.t.Fatalf("knack render %q: exit %d\n%s", args, out.code, out.stderr)
	}
	return r.Text, r.Override.AllowedTools
}
