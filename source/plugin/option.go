package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// An Option is one value that a plugin asks its user for (spec X-2).
type Option struct {
	Key         string `json:"-"`
	Type        string `json:"type"` // one of [OptionTypes]
	Title       string `json:"title"`
	Description string `json:"description"`
	Sensitive   bool   `json:"sensitive"` // kept in the system's keyring, and shown to no model
	Required    bool   `json:"required"`
	// Multiple takes a list of texts, directories or files.
	Multiple bool            `json:"multiple"`
	Default  json.RawMessage `json:"default"`
	Min      *float64        `json:"min"` // of a number
	Max      *float64        `json:"max"`
}

// OptionTypes returns the types that an option may have.
func OptionTypes() []string { return slices.Clone(optionTypes) }

var optionTypes = []string{"string", "number", "boolean", "directory", "file"}

// optionKey reports whether a key can be part of the name of an environment
// variable.
func optionKey(key string) bool {
	return key != "" && len(key) <= 100 && (key[0] < '0' || key[0] > '9') && !strings.ContainsFunc(key, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// options reads userConfig.
func options(data json.RawMessage) ([]Option, error) {
	if data == nil {
		return nil, nil
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, err // its shape was checked
	}
	var out []Option
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		o := Option{Key: key}
		if !optionKey(key) {
			return nil, fmt.Errorf("userConfig: %q cannot be a key: use letters, digits and _", key)
		}
		if err := json.Unmarshal(raw[key], &o); err != nil {
			if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
				return nil, fmt.Errorf("userConfig.%s: %s cannot be a %s", key, te.Field, te.Value)
			}
			return nil, fmt.Errorf("userConfig.%s: %w", key, err)
		}
		if !slices.Contains(optionTypes, o.Type) {
			return nil, fmt.Errorf("userConfig.%s: the type is %q, not one of %v", key, o.Type, optionTypes)
		}
		if string(o.Default) == "null" {
			o.Default = nil
		}
		if o.Title == "" {
			o.Title = key
		}
		out = append(out, o)
	}
	return out, nil
}

// A Dependency is another plugin that this one needs.
type Dependency struct {
	Name        string `json:"name"`
	Version     string `json:"version"`     // a range; empty means any
	Marketplace string `json:"marketplace"` // empty means the plugin's own
}

// dependencies reads a list of names and objects.
func dependencies(data json.RawMessage) ([]Dependency, error) {
	var out []Dependency
	for _, item := range each(data) {
		var d Dependency
		if text.fits(item) {
			d.Name = textOf(item)
		} else if err := json.Unmarshal(item, &d); err != nil {
			return nil, fmt.Errorf("dependencies: a name, or an object with name and version, is expected, not %.40s", item)
		}
		if !PlainName(d.Name) {
			return nil, fmt.Errorf("dependencies: %q is no name of a plugin", d.Name)
		}
		out = append(out, d)
	}
	return out, nil
}
