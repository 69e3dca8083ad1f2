package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knack-skills/knack/extract"
	"github.com/knack-skills/knack/skill"
	source "github.com/knack-skills/knack/source/plugin"
	"github.com/knack-skills/knack/state"
	"github.com/knack-skills/knack/text"
)

// elsewhere are keys of a manifest that mean something to other programs.
var elsewhere = []string{"$schema", "displayName", "metadata", "workflows", "outputStyles", "lspServers", "experimental", "channels",
	"category", "tags", "strict", "source", "relevance"}

// Validate checks a plugin's directory, or a marketplace and the plugins that lie
// in it, and says how many manifests it read. The error is that of ctx.
func Validate(ctx context.Context, path string) (checked int, problems []skill.Problem, err error) {
	file := filepath.Base(path) == filepath.Base(MarketFile)
	_, merr := os.Lstat(filepath.Join(path, filepath.FromSlash(MarketFile)))
	isMarket := file || merr == nil
	if file && filepath.Base(filepath.Dir(path)) == filepath.Dir(filepath.FromSlash(MarketFile)) {
		path = filepath.Dir(filepath.Dir(path)) // with the plugins beside it
	}
	_, perr := os.Lstat(filepath.Join(path, filepath.FromSlash(source.ManifestFile)))
	if isMarket {
		checked, problems, err = validateMarket(ctx, path)
	}
	if err != nil || isMarket && perr != nil {
		return checked, problems, err
	}
	more, err := validate(ctx, path, "", nil)
	for _, p := range more {
		if !slices.Contains(problems, p) {
			problems = append(problems, p)
		}
	}
	return checked + 1, problems, err
}

func validateMarket(ctx context.Context, path string) (checked int, problems []skill.Problem, err error) {
	m, problems := ReadMarket(path)
	if m == nil {
		return 1, problems, nil
	}
	for _, o := range m.Plugins {
		if o.Why != "" || o.Origin.Kind != Directory {
			continue
		}
		more, err := validateOffer(ctx, o)
		if err != nil {
			return checked, problems, err
		}
		checked++
		for _, p := range more {
			if !slices.Contains(problems, p) {
				problems = append(problems, p)
			}
		}
	}
	return checked + 1, problems, nil
}

// validateOffer checks a plugin as it would be installed: links to other parts of
// the marketplace are copies then.
func validateOffer(ctx context.Context, o Offer) ([]skill.Problem, error) {
	broken := func(err error) []skill.Problem {
		return []skill.Problem{{Code: "marketplace-entry", Severity: skill.Error, Path: o.Entry.Path,
			Message: fmt.Sprintf("the plugin %s cannot be installed: %s", o.Name, bare(err)), Fix: "correct its source, or the files there"}}
	}
	temp, err := os.MkdirTemp("", "knack-validate-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	root, err := os.OpenRoot(o.Origin.Root)
	if err != nil {
		return broken(err), nil
	}
	defer root.Close()
	w, err := extract.New(temp, extract.Limits{Lenient: true})
	if err != nil {
		return nil, err
	}
	defer w.Close()
	if err := w.Tree(ctx, root, o.Origin.Path); err != nil {
		return broken(err), ctx.Err()
	}
	problems, err := validate(ctx, temp, o.Name, &o.Entry)
	for i := range problems {
		if rest, ok := strings.CutPrefix(problems[i].Path, temp); ok {
			problems[i].Path = o.Origin.String() + rest
		}
	}
	return problems, err
}

// validate checks one plugin.
func validate(ctx context.Context, dir, name string, e *source.Entry) ([]skill.Problem, error) {
	m, problems := source.Read(dir, e)
	if m == nil {
		return problems, nil
	}
	if name != "" {
		m.Name = name
	}
	b, err := survey(ctx, m, e, problems)
	if err != nil {
		return nil, err
	}
	manifest := filepath.Join(dir, filepath.FromSlash(source.ManifestFile))
	problems = append(b.Problems, unknownKeys(manifest)...)
	if b.Empty() {
		problems = append(problems, skill.Problem{Code: "plugin-empty", Severity: skill.Warning, Path: dir,
			Message: "the plugin brings nothing: no skill, command, agent, hook or server was found", Fix: "put skills into skills/NAME/SKILL.md"})
	}
	return problems, nil
}

// unknownKeys names keys of a manifest that nobody reads, and what was meant.
func unknownKeys(path string) (out []skill.Problem) {
	data, err := state.ReadFile(path, maxMarket)
	var raw map[string]json.RawMessage
	if err != nil || json.Unmarshal(data, &raw) != nil {
		return nil // reported where it is read
	}
	known := source.Fields()
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		if slices.Contains(known, key) || slices.Contains(elsewhere, key) {
			continue
		}
		p := skill.Problem{Code: "plugin-unknown-key", Severity: skill.Warning, Path: path,
			Message: fmt.Sprintf("nothing reads the key %.60q", key), Fix: "remove it, unless another program reads it"}
		if near := text.Near(key, known, 1); len(near) > 0 {
			p.Fix = fmt.Sprintf("did you mean %q?", near[0])
		}
		out = append(out, p)
	}
	return out
}
