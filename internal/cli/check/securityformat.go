package check

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/version"
	"github.com/knack-skills/knack/scan"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// securityReport is what --json prints: the shape of every check (spec K-6), with more
// about each problem.
type securityReport struct {
	Checked  int       `json:"checked"`
	Errors   int       `json:"errors"`
	Warnings int       `json:"warnings"`
	Problems []finding `json:"problems"`
}

type finding struct {
	skill.Problem
	Rule    string `json:"rule"`
	Where   string `json:"where"`
	Excerpt string `json:"excerpt"`
	Why     string `json:"why"`
}

func newSecurityReport(v *vetting) securityReport {
	r := securityReport{Checked: v.checked, Problems: []finding{}}
	for _, f := range v.found {
		p := f.Problem()
		p.Message = f.Message
		r.Problems = append(r.Problems, finding{p, f.Rule.ID, f.Where, f.Excerpt, f.Rule.Why})
		switch f.Severity {
		case skill.Error:
			r.Errors++
		case skill.Warning:
			r.Warnings++
		}
	}
	slices.SortStableFunc(r.Problems, func(a, b finding) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), strings.Compare(a.Rule, b.Rule))
	})
	return r
}

// plain returns r as a report of any check.
func (r securityReport) plain() report {
	out := report{Checked: r.Checked, Errors: r.Errors, Warnings: r.Warnings}
	for _, f := range r.Problems {
		out.Problems = append(out.Problems, f.Problem)
	}
	return out
}

// defaultWidth is that of text that no terminal shows.
const defaultWidth = 80

// writeSecurity prints findings by file, then what the rules mean.
func writeSecurity(w io.Writer, st output.Style, r securityReport, hints bool) error {
	if st.Width == 0 {
		st.Width = defaultWidth
	}
	b := bufio.NewWriter(w)
	path, hidden := "", 0
	told := map[string]finding{}
	for _, f := range r.Problems {
		if f.Severity == skill.Info && !hints {
			hidden++
			continue
		}
		if f.Path != path {
			path = f.Path
			fmt.Fprintln(b, st.Bold(output.Tilde(text.Terminal(path))))
		}
		told[f.Rule] = f
		place := "-"
		if f.Line > 0 {
			place = fmt.Sprintf("%d:%d", f.Line, f.Column)
		}
		head := fmt.Sprintf("  %-8s %s %s %s", place, mark(st, f.Severity), f.Rule, f.Code)
		fmt.Fprintln(b, head)
		fmt.Fprintln(b, "           "+st.Wrap(text.Terminal(f.Message), 11, 11))
		if f.Excerpt != "" {
			fmt.Fprintln(b, "           "+st.Dim("| "+text.Fit(f.Excerpt, st.Width-13)))
		}
	}
	if len(told) > 0 {
		fmt.Fprintln(b)
	}
	for _, rule := range scan.Rules() {
		if _, ok := told[rule.ID]; !ok {
			continue
		}
		fmt.Fprintln(b, rule.ID+" "+st.Wrap(rule.Title+". "+rule.Why, 7, 7))
		fmt.Fprintln(b, "       "+st.Wrap("fix: "+rule.Fix, 7, 7))
	}
	fmt.Fprintf(b, "%d checked, %s, %s", r.Checked, count(r.Errors, "error"), count(r.Warnings, "warning"))
	if hidden > 0 {
		fmt.Fprintf(b, ", %s (shown with -v)", count(hidden, "hint"))
	}
	fmt.Fprintln(b)
	return b.Flush()
}

func mark(st output.Style, s skill.Severity) string {
	word := fmt.Sprintf("%-7s", s)
	switch s {
	case skill.Error:
		return st.Red(word)
	case skill.Warning:
		return st.Yellow(word)
	}
	return st.Dim(word)
}

// securitySARIF lists every rule, used or not, so that a dashboard knows them.
func securitySARIF(r securityReport, root string) sarifLog {
	level := map[skill.Severity]string{skill.Error: "error", skill.Warning: "warning", skill.Info: "note"}
	run := sarifRun{Results: []sarifResult{}, ColumnKind: "unicodeCodePoints"}
	index := map[string]int{}
	run.Tool.Driver = sarifDriver{Name: "knack", Version: version.Version}
	for i, rule := range scan.Rules() {
		index[rule.ID] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: rule.ID, Name: camel(rule.Name), Short: sarifText{rule.Title}, Full: &sarifText{rule.Why}, Help: &sarifText{"Fix: " + rule.Fix},
			Default: &sarifLevel{level[rule.Severity]}, Properties: &sarifTags{[]string{"security"}},
		})
	}
	for _, f := range r.Problems {
		loc := sarifPhysical{Artifact: sarifArtifact{URI: uri(within(root, f.Path))}}
		if f.Line > 0 {
			loc.Region = &sarifRegion{StartLine: f.Line, StartColumn: f.Column}
			if f.Excerpt != "" {
				loc.Region.Snippet = &sarifText{f.Excerpt}
			}
		}
		i := index[f.Rule]
		run.Results = append(run.Results, sarifResult{RuleID: f.Rule, Index: &i, Level: level[f.Severity],
			Message: sarifText{f.Message + ". Fix: " + f.Fix}, Locations: []sarifLocation{{loc}}})
	}
	return sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

// camel writes a rule's name as SARIF wants it: DownloadAndRun.
func camel(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "-") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}
