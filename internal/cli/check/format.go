package check

import (
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/version"
	"github.com/knack-skills/knack/lint"
	"github.com/knack-skills/knack/skill"
)

// write prints r. What other programs map to files of a checkout names them
// relative to its root.
func write(w io.Writer, format, root string, r report) error {
	switch format {
	case "json":
		return output.JSON(w, r)
	case "sarif":
		return output.JSON(w, sarif(r, root))
	case "github":
		return github(w, r, root)
	}
	for _, p := range r.Problems {
		fmt.Fprintln(w, output.Problem(p))
	}
	_, err := fmt.Fprintf(w, "%d checked, %s, %s\n", r.Checked, count(r.Errors, "error"), count(r.Warnings, "warning"))
	return err
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// github prints workflow commands, which annotate a pull request.
func github(w io.Writer, r report, root string) error {
	kind := map[skill.Severity]string{skill.Error: "error", skill.Warning: "warning", skill.Info: "notice"}
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, p := range r.Problems {
		at := "file=" + property.Replace(filepath.ToSlash(within(root, p.Path)))
		if p.Line > 0 {
			at += fmt.Sprintf(",line=%d", p.Line)
		}
		if p.Column > 0 {
			at += fmt.Sprintf(",col=%d", p.Column)
		}
		message := p.Message
		if p.Fix != "" {
			message += "\nfix: " + p.Fix
		}
		if _, err := fmt.Fprintf(w, "::%s %s,title=%s::%s\n", kind[p.Severity], at, property.Replace(p.Code), data.Replace(message)); err != nil {
			return err
		}
	}
	return nil
}

// The part of SARIF 2.1.0 that code scanning reads.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		Results    []sarifResult `json:"results"`
		ColumnKind string        `json:"columnKind,omitempty"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID         string      `json:"id"`
		Name       string      `json:"name,omitempty"`
		Short      sarifText   `json:"shortDescription"`
		Full       *sarifText  `json:"fullDescription,omitempty"`
		Help       *sarifText  `json:"help,omitempty"`
		Default    *sarifLevel `json:"defaultConfiguration,omitempty"`
		Properties *sarifTags  `json:"properties,omitempty"`
	}
	sarifLevel struct {
		Level string `json:"level"`
	}
	sarifTags struct {
		Tags []string `json:"tags"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		Index     *int            `json:"ruleIndex,omitempty"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int        `json:"startLine"`
		StartColumn int        `json:"startColumn,omitempty"`
		Snippet     *sarifText `json:"snippet,omitempty"`
	}
)

// within returns path relative to root if it lies below it.
func within(root, path string) string {
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return rel
}

func uri(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
	}
	return u.String()
}

func sarif(r report, root string) sarifLog {
	used := map[string]bool{}
	run := sarifRun{Results: []sarifResult{}}
	level := map[skill.Severity]string{skill.Error: "error", skill.Warning: "warning", skill.Info: "note"}
	for _, p := range r.Problems {
		used[p.Code] = true
		loc := sarifPhysical{Artifact: sarifArtifact{URI: uri(within(root, p.Path))}}
		if p.Line > 0 {
			loc.Region = &sarifRegion{StartLine: p.Line, StartColumn: p.Column}
		}
		text := p.Message
		if p.Fix != "" {
			text += ". Fix: " + p.Fix
		}
		run.Results = append(run.Results, sarifResult{RuleID: p.Code, Level: level[p.Severity],
			Message: sarifText{text}, Locations: []sarifLocation{{loc}}})
	}
	run.Tool.Driver = sarifDriver{Name: "knack", Version: version.Version, Rules: []sarifRule{}}
	for _, c := range lint.Codes() {
		if used[c.Name] {
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: c.Name, Short: sarifText{c.Meaning}})
		}
	}
	return sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}
