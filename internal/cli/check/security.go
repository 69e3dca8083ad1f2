package check

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/scan"
	"github.com/knack-skills/knack/skill"
)

// security is check --security (spec S-16).
func (o *options) security(cmd *cobra.Command, args []string) error {
	if o.fix {
		return output.Usagef("--security finds what nobody can repair automatically: leave out --fix, or run the two one after the other")
	}
	e, err := o.flags.Open(cmd)
	if err != nil {
		return err
	}
	progress := output.NewProgress(cmd.ErrOrStderr(), "scanned")
	defer progress.Done()
	v := &vetting{engine: e, step: progress.Step, seen: map[string]bool{}}
	if err := v.all(cmd.Context(), args); err != nil {
		return err
	}
	progress.Done()
	r := newSecurityReport(v)
	out := cmd.OutOrStdout()
	switch o.format {
	case "json":
		err = output.JSON(out, r)
	case "sarif":
		err = output.JSON(out, securitySARIF(r, e.ProjectDir()))
	case "github":
		err = github(out, r.plain(), e.ProjectDir())
	default:
		err = writeSecurity(out, o.flags.Style(out), r, o.flags.Verbose)
	}
	if err != nil {
		return err
	}
	if r.Errors > 0 || o.strict && r.Warnings > 0 {
		return output.ErrFound
	}
	return nil
}

// A vetting is one run over skills and the plugins they are in.
type vetting struct {
	engine  *knack.Engine
	step    func(i, of int)
	checked int
	found   []scan.Finding
	seen    map[string]bool // plugins that were scanned
}

func (v *vetting) all(ctx context.Context, args []string) error {
	if len(args) == 0 {
		targets, _ := inCatalog(v.engine)
		return v.targets(ctx, targets, "")
	}
	for _, a := range args {
		if !filepath.IsAbs(a) {
			a = filepath.Join(v.engine.Dir(), a)
		}
		if err := v.path(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// path scans one argument: a skill, a command file, a plugin, a directory that
// holds any number of them, or any other file or directory.
func (v *vetting) path(ctx context.Context, path string) error {
	fi, err := os.Stat(path)
	if err != nil {
		return output.Usagef("cannot check %s: %v", path, err)
	}
	if !fi.IsDir() && filepath.Ext(path) != ".md" {
		v.checked++
		data, err := os.ReadFile(path)
		if err != nil {
			return output.Usagef("cannot check %s: %v", path, err)
		}
		v.found = append(v.found, scan.New(v.options("")).Text(path, string(data))...)
		return nil
	}
	targets, _, err := below(ctx, v.engine, path)
	if err != nil {
		return err
	}
	if len(targets) > 0 {
		return v.targets(ctx, targets, path)
	}
	v.checked++
	found, err := scan.New(v.options("")).Tree(ctx, path, nil)
	v.found = append(v.found, found...)
	return err
}

func (v *vetting) options(boundary string) scan.Options {
	return scan.Options{Catalog: v.engine.Snapshot(), Boundary: boundary}
}

// targets scans skills, and then the rest of each plugin that one of them is
// in. limit is the directory above which no plugin is looked for.
func (v *vetting) targets(ctx context.Context, targets []target, limit string) error {
	scanner := scan.New(v.options(""))
	plugins := map[string]*scan.Scanner{}
	dirs := map[string]bool{} // what is scanned as a skill
	if _, err := os.Stat(filepath.Join(limit, ".claude-plugin", "plugin.json")); limit != "" && err == nil {
		plugins[limit] = scan.New(v.options(limit))
	}
	for i, t := range targets {
		v.step(i, len(targets))
		v.checked++
		if t.skill == nil {
			v.found = append(v.found, refused(t)...)
			continue
		}
		s := scanner
		if root := pluginOf(t, limit); root != "" {
			if plugins[root] == nil {
				plugins[root] = scan.New(v.options(root))
			}
			s = plugins[root]
		}
		dirs[t.path] = true
		if o := t.skill.Origin; o.Dir != "" && o.Source != skill.Legacy && plugins[o.Dir] == nil {
			dirs[o.Dir] = true
		}
		found, err := s.Skill(ctx, t.skill)
		if err != nil {
			return err
		}
		v.found = append(v.found, found...)
	}
	for root, s := range plugins {
		if v.seen[root] {
			continue
		}
		v.seen[root] = true
		found, err := s.Tree(ctx, root, func(path string) bool { return dirs[path] })
		if err != nil {
			return err
		}
		v.found = append(v.found, found...)
	}
	return nil
}

// pluginOf returns the plugin that a skill is in, or "".
func pluginOf(t target, limit string) string {
	if dir := t.skill.Origin.OwnerDir; dir != "" {
		return dir
	}
	if limit == "" {
		return ""
	}
	for dir := filepath.Dir(t.path); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".claude-plugin", "plugin.json")); err == nil {
			return dir
		}
		if rel, err := filepath.Rel(limit, dir); err != nil || rel == "." || !filepath.IsLocal(rel) {
			return ""
		}
	}
}

// refused are the findings about a file of which nothing was loaded: the
// scanner has not seen it either.
func refused(t target) []scan.Finding {
	rules := scan.Rules()
	i := slices.IndexFunc(rules, func(r scan.Rule) bool { return r.Name == "not-scanned" })
	var out []scan.Finding
	for _, p := range t.problems {
		rule := rules[i]
		if strings.HasPrefix(p.Code, "link-") {
			rule = rules[slices.IndexFunc(rules, func(r scan.Rule) bool { return r.Name == "link-leaves-skill" })]
		}
		out = append(out, scan.Finding{Rule: rule, Severity: skill.Warning, Path: p.Path, Line: p.Line, Column: p.Column,
			Where: scan.InBody, Message: "the file is not loaded: " + p.Message})
	}
	return out
}
