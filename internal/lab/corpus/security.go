package corpus

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/scan"
	"github.com/knack-skills/knack/skill"
)

// textual are the kinds that the scanner reads as a skill is read.
var textual = map[Kind]bool{Skill: true, Command: true, Agent: true}

// Scan runs the scanner over every file but the examples, which are odd on
// purpose. Findings are kept with the files.
func (r *Report) Scan(ctx context.Context) error {
	s := scan.New(scan.Options{})
	for i := range r.Files {
		l := &r.Files[i]
		if err := ctx.Err(); err != nil {
			return err
		}
		if l.Kind == Example {
			continue
		}
		found, err := scanned(ctx, s, l)
		if err != nil {
			return err
		}
		l.Security = found
	}
	return nil
}

func scanned(ctx context.Context, s *scan.Scanner, l *Loaded) ([]scan.Finding, error) {
	data, err := os.ReadFile(l.Path)
	if err != nil || !textual[l.Kind] {
		return s.Text(l.Path, string(data)), err
	}
	// Loading sets the fields of agents and commands apart; for the scanner all
	// are text with grants and hooks.
	d, _ := frontmatter.Parse(l.Path, data)
	sk := &skill.Skill{Origin: skill.Origin{Path: l.Path}}
	d.Fill(sk, l.Kind == Command)
	return s.Skill(ctx, sk)
}

// security counts what the scanner says.
func (r *Report) security(b *strings.Builder) {
	type counts struct{ findings, files [3]int }
	levels := []skill.Severity{skill.Error, skill.Warning, skill.Info}
	by := map[string]*counts{}
	files, alarmed, narrow := 0, 0, 0
	for i := range r.Files {
		if r.Files[i].Kind == Example {
			continue
		}
		files++
		seen, loud, other := map[string]bool{}, false, false
		for _, f := range r.Files[i].Security {
			c := by[f.Rule.ID]
			if c == nil {
				c = &counts{}
				by[f.Rule.ID] = c
			}
			for n, level := range levels {
				if f.Severity != level {
					continue
				}
				c.findings[n]++
				if key := f.Rule.ID + string(level); !seen[key] {
					seen[key] = true
					c.files[n]++
				}
			}
			loud = loud || f.Severity != skill.Info
			other = other || f.Severity != skill.Info && f.Rule.Name != "broad-grant"
		}
		if loud {
			alarmed++
		}
		if other {
			narrow++
		}
	}
	fmt.Fprintf(b, securityText, alarmed, files, percent(alarmed, files), narrow, percent(narrow, files))
	for _, rule := range scan.Rules() {
		c := by[rule.ID]
		if c == nil {
			c = &counts{}
		}
		fmt.Fprintf(b, "| %s `%s` | %s | %s | %s |\n", rule.ID, rule.Name, pair(c.findings[0], c.files[0]), pair(c.findings[1], c.files[1]), pair(c.findings[2], c.files[2]))
	}
}

func percent(n, of int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(max(of, 1))) }

func pair(findings, files int) string {
	if findings == 0 {
		return "–"
	}
	return fmt.Sprintf("%d in %d", findings, files)
}

const securityText = `
## What ` + "`knack check --security`" + ` says

The files are public and, as far as anybody knows, honest, but for the test data
of a scanner among them (its hostile samples are found, and count here). %d of %d
files (%s) have an error or a warning; without grants of everything, which the
rule for grants is there to report, %d (%s). Numbers are findings and files.

| rule | errors | warnings | hints |
|---|---|---|---|
`
