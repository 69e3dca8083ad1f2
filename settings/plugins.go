package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/knack-skills/knack/state"
)

// pluginOnlyValue reports whether raw is a value of strictPluginOnlyCustomization.
func pluginOnlyValue(raw json.RawMessage) bool {
	var all bool
	if json.Unmarshal(raw, &all) == nil {
		return true
	}
	var kinds []string
	return json.Unmarshal(raw, &kinds) == nil &&
		!slices.ContainsFunc(kinds, func(k string) bool { return !slices.Contains(customizations, k) })
}

// PluginOnly reports whether one kind of customisation, "skills", "hooks",
// "agents" or "mcp", may come from plugins, the administrator and the program
// alone (spec S-11), and which file says so.
func (s *Settings) PluginOnly(kind string) (file string, on bool) {
	var kinds []string
	if string(s.StrictPluginOnlyCustomization) != "true" &&
		(json.Unmarshal(s.StrictPluginOnlyCustomization, &kinds) != nil || !slices.Contains(kinds, kind)) {
		return "", false
	}
	return s.From(keyPluginOnly), true
}

// Plugin reports whether enabledPlugins switches the plugin on, by its id or
// else by its name alone, which file says so and of which level; the level is
// empty when none does.
func (s *Settings) Plugin(id, name string) (on bool, from Level, file string) {
	for _, key := range []string{id, name} {
		if on, ok := s.EnabledPlugins[key]; ok {
			return on, s.levelOf(keyPlugins + "." + key), s.From(keyPlugins + "." + key)
		}
	}
	return false, "", ""
}

// Enable writes into the file whether a plugin is on.
func (w Writer) Enable(id string, on bool) error { return w.plugin(id, strconv.FormatBool(on)) }

// Forget takes a plugin out of the file.
func (w Writer) Forget(id string) error { return w.plugin(id, "") }

func (w Writer) plugin(id, value string) error {
	if err := w.plain(); err != nil {
		return err
	}
	err := state.Edit(w.Path, w.Lock, maxFile, func(data []byte) ([]byte, error) {
		return setPlugin(data, id, value)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", w.Path, err)
	}
	return nil
}

// setPlugin returns data with another value for one plugin; "" removes it.
func setPlugin(data []byte, id, value string) ([]byte, error) {
	text, marked := bytes.CutPrefix(data, byteOrderMark)
	if len(bytes.TrimSpace(text)) == 0 {
		if value == "" {
			return data, nil
		}
		text = []byte("{}\n")
	}
	if p, bad := syntaxProblem(text); bad {
		return nil, fmt.Errorf("line %d: %s; nothing is written to it", p.Line, p.Message)
	}
	var want, got map[string]any
	if err := json.Unmarshal(text, &want); err != nil {
		return nil, err
	}
	plugins, isObject := want[keyPlugins].(map[string]any)
	if want[keyPlugins] != nil && !isObject {
		return nil, errors.New("\"enabledPlugins\" is no object; nothing is written to it")
	}
	had, there := plugins[id]
	if value == "" && !there || there && had == (value == "true") && value != "" {
		return data, nil
	}
	out, err := editPlugin(text, id, value)
	if err != nil {
		return nil, err
	}
	// Whatever the text looked like: nothing but this plugin may have changed.
	if plugins == nil {
		plugins = map[string]any{}
	}
	if want[keyPlugins] = plugins; value == "" {
		delete(plugins, id)
	} else {
		plugins[id] = value == "true"
	}
	if err := json.Unmarshal(out, &got); err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(got, want) {
		return nil, errors.New("enabledPlugins cannot be changed without changing something else; do it by hand")
	}
	if marked {
		out = slices.Concat(byteOrderMark, out)
	}
	return out, nil
}

// editPlugin changes the text at the place of the plugin.
func editPlugin(text []byte, id, value string) ([]byte, error) {
	top := bytes.IndexByte(text, '{')
	plugins, topEmpty, err := lookup(text, top, keyPlugins)
	if err != nil {
		return nil, err
	}
	if plugins < 0 || text[plugins] != '{' {
		if plugins >= 0 {
			return nil, errors.New("\"enabledPlugins\" is null; remove it")
		}
		const indent = "  "
		object := "{\n" + indent + indent + jsonText(id) + ": " + value + "\n" + indent + "}"
		return member(text, top, keyPlugins, object, topEmpty, "\n"+indent)
	}
	at, empty, err := lookup(text, plugins, id)
	switch {
	case err != nil:
		return nil, err
	case at < 0:
		return member(text, plugins, id, value, empty, "\n    ")
	case value == "":
		return cutMember(text, plugins, id)
	}
	var old json.RawMessage
	d := json.NewDecoder(bytes.NewReader(text[at:]))
	if err := d.Decode(&old); err != nil {
		return nil, err
	}
	return slices.Concat(text[:at], []byte(value), text[at+int(d.InputOffset()):]), nil
}

// cutMember removes a member of the object at at, with one comma.
func cutMember(text []byte, at int, key string) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text[at:]))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	end := at + 1 // of the member before, or of the brace
	for first := true; d.More(); first = false {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		if _, _, err := next(text, at, d); err != nil {
			return nil, err
		}
		after := at + int(d.InputOffset())
		if name != key {
			end = after
			continue
		}
		if rest := bytes.TrimLeft(text[after:], " \t\r\n"); first && len(rest) > 0 && rest[0] == ',' {
			after = len(text) - len(rest) + 1 // the comma behind it
		}
		return slices.Concat(text[:end], text[after:]), nil
	}
	return text, nil
}
