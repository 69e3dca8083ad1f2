package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	source "github.com/knack-skills/knack/source/plugin"
	"github.com/knack-skills/knack/state"
)

// A Keyring keeps secrets of the person, as the operating system does.
type Keyring interface {
	Get(service, name string) (string, error)
	Set(service, name, secret string) error
	Delete(service, name string) error
}

// keyringService is under which secrets stand in the keyring.
const keyringService = "knack plugin"

// Values keeps what plugins were given for their options (spec X-2): secrets in
// the keyring, and where there is none in a file of the store that only its owner
// can read. It is a value, and safe for concurrent use by several processes.
type Values struct {
	Store   Store
	Keyring Keyring // nil means that there is none
}

// Where the value of an option is.
const (
	inKeyring = "keyring"
	inFile    = "file"
)

type valuesFile struct {
	Plugins map[string]map[string]json.RawMessage `json:"plugins,omitempty"`
	Secrets map[string]map[string]string          `json:"secrets,omitempty"` // where each is
}

type secretsFile struct {
	Plugins map[string]map[string]string `json:"plugins"`
}

func (v Values) file() state.File[valuesFile] {
	return state.File[valuesFile]{Path: filepath.Join(v.Store.Dir, "options.json")}
}

func (v Values) secrets() state.File[secretsFile] {
	return state.File[secretsFile]{Path: filepath.Join(v.Store.Dir, "secrets.json")}
}

// ErrInFile reports that a secret was kept in a file, because there is no keyring.
var ErrInFile = errors.New("there is no keyring that answers, so the secret stands in a file that only you can read")

// Set keeps the value of an option of the plugin id. A text is taken as what the
// option's type needs; one that may be given several times takes them all. The
// error is [ErrInFile] when the value was kept, in the second-best place.
func (v Values) Set(id string, o source.Option, texts ...string) error {
	value, err := Read(o, texts...)
	if err != nil {
		return err
	}
	where := ""
	if o.Sensitive {
		if where, err = v.hide(id, o.Key, strings.Join(texts, "\n")); err != nil {
			return err
		}
	}
	err = v.file().Update(func(f *valuesFile) error {
		if f.Plugins == nil {
			f.Plugins = map[string]map[string]json.RawMessage{}
		}
		if f.Secrets == nil {
			f.Secrets = map[string]map[string]string{}
		}
		if f.Plugins[id] == nil {
			f.Plugins[id] = map[string]json.RawMessage{}
		}
		if f.Secrets[id] == nil {
			f.Secrets[id] = map[string]string{}
		}
		delete(f.Plugins[id], o.Key)
		delete(f.Secrets[id], o.Key)
		if where != "" {
			f.Secrets[id][o.Key] = where
		} else {
			f.Plugins[id][o.Key] = value
		}
		return nil
	})
	if err == nil && where == inFile {
		return ErrInFile
	}
	return err
}

// hide keeps a secret and says where.
func (v Values) hide(id, key, secret string) (where string, err error) {
	if v.Keyring != nil && v.Keyring.Set(keyringService, id+"/"+key, secret) == nil {
		return inKeyring, nil
	}
	return inFile, v.secrets().Update(func(f *secretsFile) error {
		if f.Plugins == nil {
			f.Plugins = map[string]map[string]string{}
		}
		if f.Plugins[id] == nil {
			f.Plugins[id] = map[string]string{}
		}
		f.Plugins[id][key] = secret
		return nil
	})
}

// Get returns the values of a plugin's options as texts, those of several joined
// by line breaks, defaults where nothing was set, and secrets only when asked for.
// unset are the required ones without a value, and those whose secret is lost.
func (v Values) Get(id string, options []source.Option, secrets bool) (values map[string]string, unset []string, err error) {
	if len(options) == 0 {
		return nil, nil, nil
	}
	var f valuesFile
	if v.Store.Dir != "" { // without it nothing is kept, and defaults hold
		if f, err = v.file().Read(); err != nil {
			return nil, nil, err
		}
	}
	values = map[string]string{}
	for _, o := range options {
		raw, set := f.Plugins[id][o.Key]
		where := f.Secrets[id][o.Key]
		switch {
		case where != "" && !secrets:
			continue
		case where != "":
			secret, err := v.reveal(id, o.Key, where)
			if err != nil {
				unset = append(unset, o.Key)
				continue
			}
			values[o.Key] = secret
			continue
		case !set && len(o.Default) > 0:
			raw, set = o.Default, true
		}
		if o.Sensitive && !secrets {
			continue
		}
		if set {
			values[o.Key] = textOf(raw)
		} else if o.Required {
			unset = append(unset, o.Key)
		}
	}
	return values, unset, nil
}

func (v Values) reveal(id, key, where string) (string, error) {
	if where == inKeyring {
		if v.Keyring == nil {
			return "", errors.New("there is no keyring")
		}
		return v.Keyring.Get(keyringService, id+"/"+key)
	}
	f, err := v.secrets().Read()
	if err != nil {
		return "", err
	}
	secret, ok := f.Plugins[id][key]
	if !ok {
		return "", errors.New("the secret is gone")
	}
	return secret, nil
}

// Forget removes all values of a plugin, wherever they are.
func (v Values) Forget(id string) error {
	f, err := v.file().Read()
	if err != nil || f.Plugins[id] == nil && f.Secrets[id] == nil {
		return err
	}
	inFiles := false
	for key, where := range f.Secrets[id] {
		if where == inKeyring && v.Keyring != nil {
			_ = v.Keyring.Delete(keyringService, id+"/"+key) // gone already, or locked
		}
		inFiles = inFiles || where == inFile
	}
	if inFiles {
		if err := v.secrets().Update(func(f *secretsFile) error { delete(f.Plugins, id); return nil }); err != nil {
			return err
		}
	}
	return v.file().Update(func(f *valuesFile) error {
		delete(f.Plugins, id)
		delete(f.Secrets, id)
		return nil
	})
}

// textOf returns a value as the text that programs are given.
func textOf(raw json.RawMessage) string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return one
	}
	var many []json.RawMessage
	if json.Unmarshal(raw, &many) == nil {
		texts := make([]string, len(many))
		for i, m := range many {
			texts[i] = textOf(m)
		}
		return strings.Join(texts, "\n")
	}
	return string(raw)
}

// Read makes a value of texts that a person gave, or says why it is none of the
// option's type.
func Read(o source.Option, texts ...string) (json.RawMessage, error) {
	if len(texts) != 1 && !o.Multiple {
		return nil, fmt.Errorf("%s takes one value", o.Key)
	}
	items := make([]any, len(texts))
	for i, text := range texts {
		item, err := readOne(o, text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Key, err)
		}
		items[i] = item
	}
	if o.Multiple {
		return json.Marshal(items)
	}
	return json.Marshal(items[0])
}

func readOne(o source.Option, text string) (any, error) {
	if text == "" && o.Required {
		return nil, errors.New("a value is required")
	}
	if strings.ContainsRune(text, 0) {
		return nil, errors.New("it cannot hold NUL")
	}
	switch o.Type {
	case "boolean":
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("%q is neither true nor false", text)
		}
		return b, nil
	case "number":
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
			return nil, fmt.Errorf("%q is no number", text)
		}
		if o.Min != nil && n < *o.Min || o.Max != nil && n > *o.Max {
			return nil, fmt.Errorf("%s is not %s", text, between(o))
		}
		return json.Number(strconv.FormatFloat(n, 'f', -1, 64)), nil
	case "directory", "file":
		path, err := filepath.Abs(text)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %s", path, bare(err))
		}
		if info.IsDir() != (o.Type == "directory") {
			return nil, fmt.Errorf("%s is no %s", path, o.Type)
		}
		return path, nil
	}
	return text, nil
}

func between(o source.Option) string {
	switch {
	case o.Min == nil:
		return fmt.Sprintf("at most %v", *o.Max)
	case o.Max == nil:
		return fmt.Sprintf("at least %v", *o.Min)
	}
	return fmt.Sprintf("from %v to %v", *o.Min, *o.Max)
}

// Environ returns values as programs of the plugin find them in their
// environment, sorted.
func Environ(values map[string]string) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		for _, prefix := range []string{"CLAUDE_", "KNACK_"} {
			out = append(out, prefix+"PLUGIN_OPTION_"+key+"="+values[key])
		}
	}
	slices.Sort(out)
	return out
}

// Expand replaces each ${user_config.KEY} in a text, which is data and no line of
// a shell.
func Expand(text string, values map[string]string) string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		pairs = append(pairs, "${user_config."+key+"}", values[key])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
