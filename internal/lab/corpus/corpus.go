// Package corpus reads a directory of public skill files with the product's own
// readers and reports what became of each: read without a word, read with
// findings, recovered, refused. docs/corpus.md is made of the report.
//
// A corpus is a directory with permissive.tar.zst, whose MANIFEST.tsv says what
// each file is, and examples/, one small skill for each known oddity. Nothing
// that stands in the files is run.
package corpus

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/knack-skills/knack/lint"
	market "github.com/knack-skills/knack/plugin"
	"github.com/knack-skills/knack/scan"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/dir"
	"github.com/knack-skills/knack/source/plugin"
)

// A Kind is what a file is for.
type Kind string

// The kinds, in the order of the report.
const (
	Skill       Kind = "SKILL.md"
	Example     Kind = "SKILL.md of the examples"
	Command     Kind = "command"
	Agent       Kind = "agent definition"
	Plugin      Kind = "plugin manifest"
	Marketplace Kind = "marketplace"
	Hooks       Kind = "hooks.json"
	MCP         Kind = ".mcp.json"
)

// kinds lists all kinds, each with the reader that takes it; nil kinds are not
// read in this release.
var kinds = []struct {
	kind Kind
	read func(context.Context, string) Loaded
}{
	{Skill, readSkill}, {Example, readSkill}, {Command, readSkill},
	{Plugin, readPlugin}, {Agent, nil}, {Marketplace, readMarket}, {Hooks, nil}, {MCP, nil},
}

// manifestKinds is how MANIFEST.tsv names the kinds.
var manifestKinds = map[string]Kind{
	"skill": Skill, "command": Command, "command-other": Command, "agent": Agent, "agent-other": Agent,
	"plugin-json": Plugin, "marketplace-json": Marketplace, "hooks-json": Hooks, "mcp-json": MCP,
}

// A File is one file of the corpus.
type File struct {
	Kind Kind
	Path string
}

// A Loaded is what a reader made of one file.
type Loaded struct {
	File
	Skill    *skill.Skill    // nil when the file was refused, and for plugins
	Refused  bool            // nothing of the file was loaded
	Problems []skill.Problem // of reading
	Findings []skill.Problem // of the lint, links to missing files left out
	Security []scan.Finding  // of the scanner, see [Report.Scan]
}

// Unpack unpacks the archive of the corpus into a directory, by the programs
// tar and zstd.
func Unpack(ctx context.Context, corpus, into string) error {
	archive := filepath.Join(corpus, "permissive.tar.zst")
	out, err := exec.CommandContext(ctx, "tar", "--zstd", "-xf", archive, "-C", into).CombinedOutput()
	if err != nil {
		return fmt.Errorf("unpacking %s: %w\n%s", archive, err, out)
	}
	return nil
}

// Files lists the files of an unpacked archive and of examples/, sorted by
// path. A kind that is unknown is an error: the report would leave it out.
func Files(unpacked, examples string) ([]File, error) {
	manifests, err := filepath.Glob(filepath.Join(unpacked, "*", "MANIFEST.tsv"))
	if err != nil {
		return nil, err
	}
	if len(manifests) != 1 {
		return nil, fmt.Errorf("%s: %d files MANIFEST.tsv, not one", unpacked, len(manifests))
	}
	f, err := os.Open(manifests[0])
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var files []File
	s := bufio.NewScanner(f)
	s.Scan() // the header
	for s.Scan() {
		row := strings.Split(s.Text(), "\t")
		kind, ok := manifestKinds[row[min(1, len(row)-1)]]
		if !ok {
			return nil, fmt.Errorf("%s: unknown kind in %q", manifests[0], s.Text())
		}
		files = append(files, File{kind, filepath.Join(filepath.Dir(manifests[0]), filepath.FromSlash(row[0]))})
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	small, err := filepath.Glob(filepath.Join(examples, "*", "SKILL.md"))
	if err != nil {
		return nil, err
	}
	for _, p := range small {
		files = append(files, File{Example, p})
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// A Report is what became of all files.
type Report struct {
	Files []Loaded
	Time  time.Duration // of reading, without the lint
}

// Load reads every file that has a reader.
func Load(ctx context.Context, files []File) (*Report, error) {
	r := &Report{}
	start := time.Now()
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l := Loaded{}
		if read := readerOf(f.Kind); read != nil {
			l = read(ctx, f.Path)
		}
		l.File = f
		r.Files = append(r.Files, l)
	}
	r.Time = time.Since(start)
	for i := range r.Files {
		if err := r.Files[i].lint(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func readerOf(k Kind) func(context.Context, string) Loaded {
	for _, x := range kinds {
		if x.kind == k {
			return x.read
		}
	}
	return nil
}

func readSkill(_ context.Context, path string) Loaded {
	s, problems := dir.LoadFile(path)
	return Loaded{Skill: s, Refused: s == nil, Problems: problems}
}

// readPlugin reads a manifest with the hooks and servers that it names. Only what
// is said of the manifest itself counts: much that it names is not in the archive.
func readPlugin(_ context.Context, path string) Loaded {
	root := filepath.Dir(filepath.Dir(path))
	_, problems := plugin.Read(root, nil)
	l := Loaded{}
	for _, p := range problems {
		if p.Path == path && !strings.Contains(p.Message, "no such file") {
			l.Problems = append(l.Problems, p)
			l.Refused = l.Refused || p.Code == "plugin-manifest" && p.Severity == skill.Error
		}
	}
	return l
}

// readMarket reads a marketplace. The plugins in it are not in the archive.
func readMarket(_ context.Context, path string) Loaded {
	m, problems := market.ReadMarket(filepath.Dir(filepath.Dir(path)))
	return Loaded{Refused: m == nil, Problems: problems}
}

// lint adds what `knack check` says. The archive holds the SKILL.md files
// without what lies beside them, so that links lead nowhere.
func (l *Loaded) lint() error {
	if l.Skill == nil {
		return nil
	}
	data, err := os.ReadFile(l.Path)
	if err != nil {
		return err
	}
	l.Findings = slices.DeleteFunc(lint.File(l.Skill, data, lint.Options{}),
		func(p skill.Problem) bool { return p.Code == "missing-resource" || slices.Contains(l.Problems, p) })
	return nil
}
