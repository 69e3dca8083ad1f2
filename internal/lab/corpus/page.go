package corpus

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/knack-skills/knack/skill"
)

// recovering are the codes with which a reader says that it took something
// else than the format would have given, or left a part out.
var recovering = []string{
	"bad-value", "arguments-prose", "duplicate-key", "frontmatter-too-large", "hook-invalid", "hook-unknown-event",
	"invalid-utf8", "merge-conflict", "no-opening-fence", "outer-code-fence", "security-field-lost", "text-shortened",
	"too-many-patterns", "unclosed-frontmatter", "unclosed-rule", "yaml-alias", "yaml-recovered", "plugin-path", "marketplace-entry",
}

// An outcome is the best that can be said of one file.
type outcome int

const (
	silent outcome = iota
	findings
	recovered
	refused
	outcomes
)

func (l *Loaded) outcome() outcome {
	is := func(p skill.Problem) bool { return slices.Contains(recovering, p.Code) }
	switch {
	case l.Refused:
		return refused
	case slices.ContainsFunc(l.Problems, is):
		return recovered
	case len(l.Problems)+len(l.Findings) > 0:
		return findings
	}
	return silent
}

// Page returns docs/corpus.md. Only the line that starts with "Reading" changes
// from run to run.
func (r *Report) Page() string {
	var b strings.Builder
	examples := 0
	for i := range r.Files {
		if r.Files[i].Kind == Example {
			examples++
		}
	}
	fmt.Fprintf(&b, intro, len(r.Files)-examples, examples)
	b.WriteString("| kind | files | without a word | with findings | recovered | refused |\n|---|---|---|---|---|---|\n")
	for _, k := range kinds {
		n, total := [outcomes]int{}, 0
		for i := range r.Files {
			if r.Files[i].Kind == k.kind {
				n[r.Files[i].outcome()]++
				total++
			}
		}
		if k.read == nil {
			fmt.Fprintf(&b, "| %s | %d | not read in this release | | | |\n", k.kind, total)
			continue
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d |\n", k.kind, total, n[silent], n[findings], n[recovered], n[refused])
	}
	fmt.Fprintf(&b, "\nReading them all took %d ms in one goroutine, on the machine that wrote this page.\n", r.Time.Milliseconds())
	r.codes(&b, "What reading said", readText, func(l *Loaded) []skill.Problem { return l.Problems })
	r.codes(&b, "What `knack check` adds", lintText, func(l *Loaded) []skill.Problem { return l.Findings })
	r.text(&b)
	r.security(&b)
	return b.String()
}

// codes counts files by code, for the kinds that are read.
func (r *Report) codes(b *strings.Builder, title, about string, of func(*Loaded) []skill.Problem) {
	files := map[string]map[Kind]int{}
	for i := range r.Files {
		seen := map[string]bool{}
		for _, p := range of(&r.Files[i]) {
			if seen[p.Code] {
				continue
			}
			seen[p.Code] = true
			if files[p.Code] == nil {
				files[p.Code] = map[Kind]int{}
			}
			files[p.Code][r.Files[i].Kind]++
		}
	}
	fmt.Fprintf(b, "\n## %s\n\n%s\n| code | SKILL.md | examples | commands | plugins | marketplaces |\n|---|---|---|---|---|---|\n", title, about)
	for _, code := range slices.Sorted(maps.Keys(files)) {
		n := files[code]
		fmt.Fprintf(b, "| `%s` | %d | %d | %d | %d | %d |\n", code, n[Skill], n[Example], n[Command], n[Plugin], n[Marketplace])
	}
}

// text sums up how the YAML that needed recovery was broken.
func (r *Report) text(b *strings.Builder) {
	keys := map[string]int{}
	for i := range r.Files {
		if r.Files[i].Kind == Example {
			continue // there is one of each on purpose
		}
		for _, p := range r.Files[i].Problems {
			if p.Code != "yaml-recovered" {
				continue
			}
			_, rest, ok := strings.Cut(p.Message, "cannot read `")
			key, _, _ := strings.Cut(rest, "`")
			if !ok {
				key = ""
			}
			keys[key]++
		}
	}
	b.WriteString("\n## Which key was broken\n\n" + brokenText + "\n| key | files |\n|---|---|\n")
	for _, key := range slices.SortedFunc(maps.Keys(keys), func(a, c string) int { return keys[c] - keys[a] }) {
		name := "`" + key + "`"
		if key == "" {
			name = "no single key"
		}
		fmt.Fprintf(b, "| %s | %d |\n", name, keys[key])
	}
}

const intro = `# What public skill files do to the reader

<!-- Made by go test ./internal/lab/corpus -update; changes here are lost. -->

%d public files under permissive licences, and %d tiny examples with one
oddity each, are read by the readers of this program. *Without a word* means no
problem and no finding. *With findings* means that the file says what it should,
and that ` + "`knack check`" + ` has advice. *Recovered* means that the file breaks the
format and the reader took what its author wrote. *Refused* means that nothing
of it was loaded, and one problem says why.

`

const readText = `Files with each code, reported while loading. Paths that a plugin names and that
are not in the archive are left out.
`

const lintText = `Files with each code. Links to missing files are left out: the archive holds
the SKILL.md files without what lies beside them.
`

const brokenText = `In files that are not valid YAML, the examples left out: the first key that was
taken from the source text.
`
