package find

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/permission"
)

//go:embed glob.md
var globDoc string

// maxGlob is how many paths one call returns.
const maxGlob = 100

// A Glob finds files by name.
type Glob struct{ o Options }

// NewGlob returns the tool.
func NewGlob(o Options) *Glob { return &Glob{o} }

func globInput() tool.Input {
	return tool.Input{Tool: "Glob", Fields: []tool.Field{
		{Name: "pattern", Type: tool.String, Required: true, Filled: true, Doc: "the glob that paths must match, such as **/*.go"},
		{Name: "path", Type: tool.String, Doc: "the directory to begin at; the working directory when left out"},
	}}
}

// Spec implements [agent.Tool].
func (t *Glob) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: "Glob", Description: globDoc, InputSchema: globInput().Schema()}
}

// Plan implements [agent.Tool].
func (t *Glob) Plan(input json.RawMessage) (agent.Plan, error) {
	var in struct{ Pattern, Path string }
	if err := globInput().Decode(input, &in); err != nil {
		return agent.Plan{}, err
	}
	if !doublestar.ValidatePattern(in.Pattern) {
		return agent.Plan{}, fmt.Errorf("Glob: %q is no valid glob: check its brackets and braces, and write a \\ before one that is meant as such", in.Pattern)
	}
	dir, pattern, err := t.split(in.Pattern, in.Path)
	if err != nil {
		return agent.Plan{}, err
	}
	req, err := t.o.request("Glob", dir)
	if err != nil {
		return agent.Plan{}, err
	}
	return agent.Plan{
		Ask:      req,
		ReadOnly: true,
		Run: func(ctx context.Context, env agent.CallEnv) (agent.Result, error) {
			return t.run(ctx, env, req, pattern, !strings.Contains(in.Pattern, "/"))
		},
	}, nil
}

// split takes the directories off a pattern that it begins with: they are where
// the search begins, and what permission is asked for.
func (t *Glob) split(whole, path string) (dir, pattern string, err error) {
	dir, pattern = doublestar.SplitPattern(whole)
	dir = unescape(dir)
	if !strings.HasPrefix(whole, "~/") && !filepath.IsAbs(dir) {
		if path == "" {
			path = "."
		}
		return strings.TrimSuffix(path, "/") + "/" + dir, pattern, nil
	}
	if path == "" {
		return dir, pattern, nil
	}
	outer, err := t.o.Base.Abs("path", path)
	if err != nil {
		return "", "", fmt.Errorf("Glob: %w", err)
	}
	inner, err := t.o.Base.Abs("pattern", dir)
	if err != nil {
		return "", "", fmt.Errorf("Glob: %w", err)
	}
	if rel, err := filepath.Rel(outer, inner); err != nil || rel == ".." || strings.HasPrefix(filepath.ToSlash(rel), "../") {
		return "", "", fmt.Errorf("Glob: the pattern begins at %s, which is not in the path %s: leave path out, or make the pattern relative to it", inner, outer)
	}
	return inner, pattern, nil
}

// unescape takes the backslashes out of a part of a pattern without wildcards.
func unescape(s string) string { return strings.ReplaceAll(s, `\`, "") }

// A globHit is one file found.
type globHit struct {
	path string
	at   time.Time
}

func (t *Glob) run(ctx context.Context, env agent.CallEnv, req permission.Request, pattern string, bare bool) (agent.Result, error) {
	info, err := start(req)
	if err != nil {
		return failed(err)
	}
	if !info.IsDir() {
		return failed(fmt.Errorf("%s is no directory: give the directory as path and the name as pattern", req.Input.Path))
	}
	var hits []globHit
	kept := 0
	w := walk{hidden: namesHidden(pattern), depth: depthOf(pattern)}
	w.visit = func(rel string, d fs.DirEntry) {
		if !doublestar.MatchUnvalidated(pattern, rel) {
			return
		}
		info, err := d.Info()
		if err != nil {
			return // it is gone
		}
		if d.Type()&fs.ModeSymlink != 0 {
			if target, err := os.Stat(filepath.Join(req.Input.RealPath, filepath.FromSlash(rel))); err == nil && target.IsDir() {
				return
			}
		}
		path := under(req, rel)
		if t.o.refused(env.Agent, path) {
			kept++
			return
		}
		hits = append(hits, globHit{path, info.ModTime()})
	}
	if err := w.run(ctx, req.Input.RealPath, t.o.Base.Home); err != nil {
		return agent.Result{}, err
	}
	return agent.Result{Text: t.show(hits, &w, kept, bare)}, nil
}

func (t *Glob) show(hits []globHit, w *walk, kept int, bare bool) string {
	slices.SortFunc(hits, func(a, b globHit) int {
		if c := b.at.Compare(a.at); c != 0 {
			return c
		}
		return strings.Compare(a.path, b.path)
	})
	var n notes
	if len(hits) > maxGlob {
		n.add("%d files match; the %d most recently changed are shown: make the pattern narrower to see others", len(hits), maxGlob)
		hits = hits[:maxGlob]
	}
	if kept > 0 {
		n.add("not shown because of permission rules: %s", count(kept, "file"))
	}
	w.explain(&n, len(hits) == 0)
	if len(hits) == 0 {
		if bare {
			n.add("the pattern names files of one directory; begin it with **/ to look below too")
		}
		return n.below("No files match.")
	}
	var b strings.Builder
	for _, h := range hits {
		b.WriteString(t.o.Base.Show(h.path) + "\n")
	}
	return n.below(b.String())
}

// depthOf is how many levels down a pattern can match; zero is any.
func depthOf(pattern string) int {
	if strings.Contains(pattern, "**") {
		return 0
	}
	return strings.Count(pattern, "/") + 1
}
