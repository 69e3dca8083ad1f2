package plugin

import (
	"errors"
	"slices"
	"strings"

	"github.com/knack-skills/knack/internal/cli/ask"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/plugin"
	source "github.com/knack-skills/knack/source/plugin"
)

// A setting is one value that was given for an option.
type setting struct {
	option source.Option
	texts  []string
}

// readValues holds KEY=VALUE against the options that there are.
func readValues(given []string, options []source.Option) ([]setting, error) {
	var out []setting
	for _, g := range given {
		key, value, ok := strings.Cut(g, "=")
		i := slices.IndexFunc(options, func(o source.Option) bool { return o.Key == key })
		if !ok || i < 0 {
			return nil, output.Usagef("%q: there is no such option, or no value; write KEY=VALUE", g)
		}
		if j := slices.IndexFunc(out, func(s setting) bool { return s.option.Key == key }); j >= 0 && options[i].Multiple {
			out[j].texts = append(out[j].texts, value)
			continue
		}
		out = append(out, setting{options[i], []string{value}})
	}
	for _, s := range out {
		if _, err := plugin.Read(s.option, s.texts...); err != nil {
			return nil, output.Usagef("%v", err)
		}
	}
	return out, nil
}

// keep stores values, and returns the required options that have none.
func (p place) keep(id string, values []setting, options []source.Option) ([]string, error) {
	for _, v := range values {
		err := p.PluginValues().Set(id, v.option, v.texts...)
		if errors.Is(err, plugin.ErrInFile) {
			p.say("notice: %s: %v", v.option.Key, err)
		} else if err != nil {
			return nil, err
		}
	}
	_, unset, err := p.PluginValues().Get(id, options, true)
	return append([]string{}, unset...), err
}

// maxTries is how often a value that the option does not take is asked for again.
const maxTries = 3

// askValues asks for the options that need a value and have none (spec X-5), if
// somebody is there who did not say --yes to everything. Who gives none is told
// later how to.
func (p place) askValues(id string, values []setting, options []source.Option) ([]setting, error) {
	if p.o.yes {
		return values, nil
	}
	_, unset, err := p.PluginValues().Get(id, options, true)
	if err != nil || len(unset) == 0 {
		return values, err
	}
	t := ask.Open(p.cmd.ErrOrStderr(), p.o.flags.NoColor)
	if t == nil {
		return values, nil
	}
	defer t.Close()
	for _, o := range options {
		given := slices.ContainsFunc(values, func(s setting) bool { return s.option.Key == o.Key })
		if given || !slices.Contains(unset, o.Key) {
			continue
		}
		texts, err := p.askValue(t, o)
		if err != nil {
			return nil, err
		}
		if len(texts) > 0 {
			values = append(values, setting{o, texts})
		}
	}
	return values, nil
}

// askValue asks for one option, until it is one that the option takes. Of an
// option that takes several, an empty line ends them.
func (p place) askValue(t *ask.Terminal, o source.Option) (texts []string, err error) {
	text := "\n" + ask.Lines("", 1, o.Title)
	if o.Description != "" {
		text += ask.Lines("", 4, o.Description)
	}
	question := show(o.Key) + " (" + o.Type + ")"
	if o.Multiple {
		text += "Several lines; an empty one ends them.\n"
	}
	for tries := 0; tries < maxTries; {
		value, known, err := t.Value(p.cmd.Context(), text, question, o.Sensitive)
		if err != nil || !known {
			return texts, err
		}
		text = ""
		if _, err := plugin.Read(o, value); err != nil {
			text, tries = ask.Lines("", 2, err.Error()), tries+1
			continue
		}
		if texts = append(texts, value); !o.Multiple {
			return texts, nil
		}
	}
	return texts, nil
}
