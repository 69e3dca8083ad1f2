package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	source "github.com/knack-skills/knack/source/plugin"
)

// maxNeeded is how many plugins one may bring along.
const maxNeeded = 50

// PrepareAll prepares a plugin and, before it in the result, the plugins that it
// needs and that are not installed. All of them are to be discarded, also after
// an error.
func (in Installer) PrepareAll(ctx context.Context, name, market string, o Origin) ([]*Prepared, error) {
	main, err := in.Prepare(ctx, name, market, o)
	if err != nil {
		return nil, err
	}
	d := depending{in: in, done: map[string]bool{main.Record.ID: true}}
	if err := d.needs(ctx, main, market); err != nil {
		return append(d.all, main), err
	}
	return append(d.all, main), nil
}

type depending struct {
	in   Installer
	all  []*Prepared
	done map[string]bool // by id; a plugin that needs itself in the end is fine
}

// needs prepares what p needs. market is that of the plugin that was asked for.
func (d *depending) needs(ctx context.Context, p *Prepared, market string) error {
	for _, dep := range p.Depends {
		from := dep.Marketplace
		if from == "" {
			from = p.Record.Market
		}
		if err := d.allowed(market, from); err != nil {
			return fmt.Errorf("%s needs the plugin %s: %w", p.Record.ID, dep.Name, err)
		}
		id := ID(dep.Name, from)
		if d.done[id] {
			continue
		}
		d.done[id] = true
		if old, err := d.in.Store.Find(id); err == nil {
			if err := inRange(dep, old.Version); err != nil {
				return fmt.Errorf("%s needs the plugin %s: %w", p.Record.ID, id, err)
			}
			continue
		}
		if from == "" {
			return fmt.Errorf("%s needs the plugin %s, and comes from no marketplace that could have it: install that one first", p.Record.ID, dep.Name)
		}
		if len(d.all) == maxNeeded {
			return fmt.Errorf("%s needs more than %d plugins", p.Record.ID, maxNeeded)
		}
		needed, err := d.in.Prepare(ctx, dep.Name, from, Origin{})
		if err != nil {
			return fmt.Errorf("%s needs the plugin %s: %w", p.Record.ID, id, err)
		}
		needed.Record.Needed = []string{p.Record.ID}
		err = inRange(dep, needed.Record.Version)
		if err == nil {
			err = d.needs(ctx, needed, market)
		}
		d.all = append(d.all, needed) // behind what it needs itself
		if err != nil {
			return err
		}
	}
	return nil
}

// allowed reports whether plugins of one marketplace may bring those of another.
func (d *depending) allowed(root, other string) error {
	if root == other {
		return nil
	}
	known, err := d.in.Store.Market(root)
	if err != nil {
		return err
	}
	if m, _ := ReadMarket(d.in.Store.MarketPath(known)); m == nil || !slices.Contains(m.Others, other) {
		return fmt.Errorf("the marketplace %s does not say that its plugins may need those of %s", root, other)
	}
	return nil
}

func inRange(dep source.Dependency, version string) error {
	r, err := ParseRange(dep.Version)
	if err != nil {
		return err
	}
	if strings.TrimSpace(dep.Version) != "" && !r.Has(version) {
		return errors.New("its version is " + version + ", and " + dep.Version + " is needed")
	}
	return nil
}
