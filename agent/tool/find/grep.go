package find

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/llm"
)

//go:embed grep.md
var grepDoc string

// headLimit is how many lines or files one call returns unless it is told.
const headLimit = 250

// The ways to show what was found.
const (
	modeContent = "content"
	modeFiles   = "files_with_matches"
	modeCount   = "count"
)

// maxShown bounds what a call returns that asks for everything.
const maxShown = 20_000

// A Grep finds text in files.
type Grep struct{ o Options }

// NewGrep returns the tool.
func NewGrep(o Options) *Grep { return &Grep{o} }

func grepInput() tool.Input {
	return tool.Input{Tool: "Grep", Fields: []tool.Field{
		{Name: "pattern", Type: tool.String, Required: true, Filled: true, Doc: "the regular expression to look for, in RE2 syntax"},
		{Name: "path", Type: tool.String, Doc: "the file or directory to search; the working directory when left out"},
		{Name: "glob", Type: tool.String, Doc: "which files to search, such as *.js or src/**/*.{ts,tsx}"},
		{Name: "type", Type: tool.String, Doc: "which kind of files to search, such as go, py, js, ts or rust"},
		{Name: "output_mode", Type: tool.String, Enum: []string{modeContent, modeFiles, modeCount}, Doc: "what to return: lines, names of files, or numbers of lines; files_with_matches when left out"},
		{Name: "-A", Type: tool.Integer, Max: 1000, Doc: "how many lines to show after each match; with content only"},
		{Name: "-B", Type: tool.Integer, Max: 1000, Doc: "how many lines to show before each match; with content only"},
		{Name: "-C", Type: tool.Integer, Max: 1000, Doc: "how many lines to show before and after each match; with content only"},
		{Name: "-i", Type: tool.Boolean, Doc: "make no difference between upper and lower case"},
		{Name: "-n", Type: tool.Boolean, Doc: "show line numbers; true when left out; with content only"},
		{Name: "head_limit", Type: tool.Integer, Doc: "how many lines or files to return; 250 when left out, 0 for all"},
		{Name: "multiline", Type: tool.Boolean, Doc: "let matches span lines, and . match line ends"},
	}}
}

// Spec implements [agent.Tool].
func (t *Grep) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: "Grep", Description: grepDoc, InputSchema: grepInput().Schema()}
}

// grepCall is the input of a call.
type grepCall struct {
	Pattern   string `json:"pattern"`
	Path      string `json:"path"`
	Glob      string `json:"glob"`
	Type      string `json:"type"`
	Mode      string `json:"output_mode"`
	After     *int   `json:"-A"`
	Before    *int   `json:"-B"`
	Around    int    `json:"-C"`
	Fold      bool   `json:"-i"`
	Numbers   bool   `json:"-n"`
	Limit     int    `json:"head_limit"`
	Multiline bool   `json:"multiline"`
}

// Plan implements [agent.Tool].
func (t *Grep) Plan(input json.RawMessage) (agent.Plan, error) {
	in := grepCall{Mode: modeFiles, Numbers: true, Limit: headLimit}
	if err := grepInput().Decode(input, &in); err != nil {
		return agent.Plan{}, err
	}
	q, err := newQuery(in.Pattern, in.Fold, in.Multiline)
	if err != nil {
		return agent.Plan{}, err
	}
	f, err := newFilter(in.Glob, in.Type)
	if err != nil {
		return agent.Plan{}, err
	}
	if in.Limit == 0 {
		in.Limit = maxShown
	}
	q.before, q.after = orElse(in.Before, in.Around), orElse(in.After, in.Around)
	q.numbers, q.lines, q.most = in.Numbers, in.Mode == modeContent, in.Limit
	req, err := t.o.request("Grep", in.Path)
	if err != nil {
		return agent.Plan{}, err
	}
	s := search{o: t.o, req: req, q: q, filter: f, mode: in.Mode, limit: in.Limit}
	return agent.Plan{Ask: req, ReadOnly: true, Run: s.run}, nil
}

func orElse(n *int, other int) int {
	if n == nil {
		return other
	}
	return *n
}

// nothing says that a search found nothing, and where.
func (s *search) nothing() string {
	where := s.o.Base.Show(s.req.Input.Path)
	if s.filter.written != "" {
		where += " (" + s.filter.written + ")"
	}
	return fmt.Sprintf("No matches in %s.", where)
}
