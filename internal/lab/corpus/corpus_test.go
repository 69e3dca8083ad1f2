package corpus_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/knack-skills/knack/internal/lab/corpus"
	"github.com/knack-skills/knack/lint"
	"github.com/knack-skills/knack/scan"
	"github.com/knack-skills/knack/skill"
)

var update = flag.Bool("update", false, "rewrite docs/corpus.md")

// TestCorpus reads all files of the corpus: none panics, each loads or says
// why not, and docs/corpus.md has the figures that are measured.
func TestCorpus(t *testing.T) {
	root := os.Getenv("KNACK_CORPUS")
	if root == "" {
		t.Skip("KNACK_CORPUS is not set")
	}
	tmp := t.TempDir()
	if err := corpus.Unpack(t.Context(), root, tmp); err != nil {
		t.Fatal(err)
	}
	files, err := corpus.Files(tmp, filepath.Join(root, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 1500 {
		t.Fatalf("only %d files", len(files))
	}
	r, err := corpus.Load(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Files {
		switch r.Files[i].Kind {
		case corpus.Skill, corpus.Example, corpus.Command:
			checkSkill(t, &r.Files[i])
		case corpus.Plugin, corpus.Marketplace:
			checkManifest(t, &r.Files[i])
		}
		checkCodes(t, &r.Files[i])
	}
	if err := r.Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkScan(t, r)
	checkPage(t, r.Page())
}

// checkSkill: a file loads, or one error says why; and its frontmatter is
// reported as recovered exactly when YAML does not read it (spec F-3).
func checkSkill(t *testing.T, l *corpus.Loaded) {
	bad, recovered, excused := 0, 0, false
	for _, p := range l.Problems {
		if p.Severity == skill.Error {
			bad++
		}
		switch p.Code {
		case "yaml-recovered":
			recovered++
		case "merge-conflict", "frontmatter-too-large", "yaml-alias", "invalid-utf8":
			excused = true // the one problem of a file that YAML refuses for this reason
		case "security-field-lost", "bad-value":
			excused = excused || strings.Contains(p.Message, "(YAML") // the same, of one field
		}
	}
	if l.Skill == nil {
		if bad != 1 || len(l.Problems) != 1 {
			t.Errorf("%s: refused, with %v", l.Path, l.Problems)
		}
		return
	}
	data, err := os.ReadFile(l.Path)
	if err != nil {
		t.Fatal(err)
	}
	header, ok := header(data)
	if !ok {
		return
	}
	if err := strict(header); err != nil && recovered != 1 && !excused {
		t.Errorf("%s: YAML says %v, and the reader %v", l.Path, err, l.Problems)
	} else if err == nil && recovered > 0 {
		t.Errorf("%s: YAML reads it, and the reader says %v", l.Path, l.Problems)
	}
}

// checkManifest: a manifest of a plugin or a marketplace loads, or one error says
// why not (spec ).
func checkManifest(t *testing.T, l *corpus.Loaded) {
	whole := 0
	for _, p := range l.Problems {
		if p.Severity == skill.Error && (p.Code == "plugin-manifest" || p.Code == "marketplace") {
			whole++
		}
	}
	if l.Refused != (whole == 1) || l.Refused && len(l.Problems) != 1 {
		t.Errorf("%s: refused %v, with %v", l.Path, l.Refused, l.Problems)
	}
}

// header cuts the frontmatter out by the rule of spec F-2, in a way of its own.
func header(data []byte) ([]byte, bool) {
	s := strings.TrimPrefix(string(data), "\uFEFF")
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	first, rest, _ := strings.Cut(s, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		return nil, false
	}
	head, _, ok := strings.Cut("\n"+rest, "\n---")
	return []byte(head), ok
}

// strict reads frontmatter as YAML that holds a map.
func strict(header []byte) error {
	if len(bytes.TrimSpace(header)) == 0 {
		return nil
	}
	// JSON writes characters beyond the basic plane as two escapes (spec F-4).
	header = pair.ReplaceAll(header, []byte("x"))
	var doc yaml.Node
	if err := yaml.Unmarshal(header, &doc); err != nil {
		return err
	}
	if len(doc.Content) == 1 && doc.Content[0].Kind != yaml.MappingNode {
		return errors.New("no map")
	}
	return nil
}

var pair = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)

// checkCodes: what is reported has a documented code and a place in the file.
func checkCodes(t *testing.T, l *corpus.Loaded) {
	known := map[string]bool{}
	for _, c := range lint.Codes() {
		known[c.Name] = true
	}
	for _, p := range append(l.Problems, l.Findings...) {
		if !known[p.Code] || p.Message == "" || p.Fix == "" || p.Line < 0 || p.Column < 0 {
			t.Errorf("%s: incomplete %+v", l.Path, p)
		}
	}
}

// checkScan: the scanner raises few alarms on files of honest people, and finds
// the hostile samples that are among them.
func checkScan(t *testing.T, r *corpus.Report) {
	loud, hostile := 0, 0
	for i := range r.Files {
		l := &r.Files[i]
		alarm := slices.ContainsFunc(l.Security, func(f scan.Finding) bool {
			return f.Severity != skill.Info && f.Rule.Name != "broad-grant"
		})
		switch {
		case alarm && strings.Contains(l.Path, "skill-scanner"):
			hostile++
		case alarm:
			loud++
		}
	}
	if loud > len(r.Files)/100 {
		t.Errorf("%d of %d files raise an alarm", loud, len(r.Files))
	}
	if hostile < 3 {
		t.Errorf("only %d hostile samples are found", hostile)
	}
}

// checkPage compares the page on disk with the one that was measured. The time
// is that of a machine, so that line does not count.
func checkPage(t *testing.T, page string) {
	path := filepath.Join("..", "..", "..", "docs", "corpus.md")
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(untimed(string(old)), untimed(page)); diff != "" {
		t.Errorf("docs/corpus.md is out of date (go test ./internal/lab/corpus -update):\n%s", diff)
	}
}

func untimed(page string) string {
	var b strings.Builder
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "Reading them all took ") {
			b.WriteString(line)
		}
	}
	return b.String()
}
