package plugin_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knack-skills/knack/plugin"
	"github.com/knack-skills/knack/skill"
	source "github.com/knack-skills/knack/source/plugin"
)

type problem = skill.Problem

// ring is a keyring in memory, which can be absent.
type ring struct {
	secrets map[string]string
	gone    bool
}

func (r *ring) Get(service, name string) (string, error) {
	s, ok := r.secrets[service+"/"+name]
	if r.gone || !ok {
		return "", errors.New("no secret")
	}
	return s, nil
}

func (r *ring) Set(service, name, secret string) error {
	if r.gone {
		return errors.New("no keyring")
	}
	r.secrets[service+"/"+name] = secret
	return nil
}

func (r *ring) Delete(service, name string) error {
	delete(r.secrets, service+"/"+name)
	return nil
}

func number(f float64) *float64 { return &f }

// TestRead: values have the type that the plugin asks for (spec X-2).
func TestRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	must(t, os.WriteFile(file, nil, 0o600))
	tests := []struct {
		o     source.Option
		texts []string
		want  string // empty: refused
	}{
		{source.Option{Type: "string"}, []string{"a b"}, `"a b"`},
		{source.Option{Type: "string", Required: true}, []string{""}, ""},
		{source.Option{Type: "string"}, []string{"a", "b"}, ""},
		{source.Option{Type: "string", Multiple: true}, []string{"a", "b"}, `["a","b"]`},
		{source.Option{Type: "number"}, []string{"1.5"}, `1.5`},
		{source.Option{Type: "number"}, []string{"one"}, ""},
		{source.Option{Type: "number"}, []string{"NaN"}, ""},
		{source.Option{Type: "number", Min: number(1), Max: number(3)}, []string{"3"}, `3`},
		{source.Option{Type: "number", Min: number(1), Max: number(3)}, []string{"4"}, ""},
		{source.Option{Type: "boolean"}, []string{"true"}, `true`},
		{source.Option{Type: "boolean"}, []string{"yes"}, ""},
		{source.Option{Type: "directory"}, []string{dir}, `"` + dir + `"`},
		{source.Option{Type: "directory"}, []string{file}, ""},
		{source.Option{Type: "file"}, []string{file}, `"` + file + `"`},
		{source.Option{Type: "file"}, []string{file + "x"}, ""},
	}
	for _, tt := range tests {
		got, err := plugin.Read(tt.o, tt.texts...)
		if string(got) != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%+v %q: %s %v", tt.o, tt.texts, got, err)
		}
	}
}

// TestSecrets are in the keyring, or in a file that only the owner reads, and
// nobody who does not ask for them gets them (spec X-2).
func TestSecrets(t *testing.T) {
	token := source.Option{Key: "token", Type: "string", Sensitive: true, Required: true}
	name := source.Option{Key: "name", Type: "string", Default: json.RawMessage(`"Ann"`)}
	needed := source.Option{Key: "needed", Type: "string", Required: true}
	all := []source.Option{token, name, needed}
	for _, gone := range []bool{false, true} {
		r := &ring{secrets: map[string]string{}, gone: gone}
		dir := t.TempDir()
		v := plugin.Values{Store: plugin.Store{Dir: dir}, Keyring: r}
		if err := v.Set("p@m", token, "s3cret"); gone != errors.Is(err, plugin.ErrInFile) || !gone && err != nil {
			t.Fatal(err)
		}
		values, unset, err := v.Get("p@m", all, true)
		if err != nil || values["token"] != "s3cret" || values["name"] != "Ann" || strings.Join(unset, " ") != "needed" {
			t.Errorf("%v %v %v", values, unset, err)
		}
		values, _, err = v.Get("p@m", all, false)
		if _, told := values["token"]; told || err != nil {
			t.Errorf("%v %v", values, err)
		}
		entries, err := os.ReadDir(dir)
		must(t, err)
		inFile := false
		for _, e := range entries {
			info, err := e.Info()
			must(t, err)
			if info.Mode().Perm() != 0o600 {
				t.Errorf("%s has mode %v", e.Name(), info.Mode())
			}
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			must(t, err)
			inFile = inFile || strings.Contains(string(data), "s3cret")
		}
		if inFile != gone || (len(r.secrets) == 0) != gone {
			t.Errorf("in a file: %v; in the keyring: %v", inFile, r.secrets)
		}
		must(t, v.Forget("p@m"))
		if values, _, err := v.Get("p@m", all, true); err != nil || values["token"] != "" || len(r.secrets) > 0 {
			t.Errorf("%v %v %v", values, r.secrets, err)
		}
	}
}

// TestVersionNumbers orders versions as numbers, and reads ranges as npm does.
func TestVersionNumbers(t *testing.T) {
	ascending := []string{"nope", "1.0.0-alpha", "1.0.0-alpha.2", "1.0.0-alpha.10", "1.0.0-beta", "1.0.0", "1.9.0", "1.10.0", "9.0.0", "10.0.0"}
	for i := 1; i < len(ascending); i++ {
		if plugin.Compare(ascending[i-1], ascending[i]) >= 0 || plugin.Compare(ascending[i], ascending[i-1]) <= 0 {
			t.Errorf("%s is not before %s", ascending[i-1], ascending[i])
		}
	}
	tests := []struct{ in, has, not string }{
		{"", "1.0.0 0.0.1", "1.0.0-a"}, {"*", "1.0.0", "x"}, {"1.2.3", "1.2.3 v1.2.3", "1.2.4"}, {"1.2", "1.2.0 1.2.9", "1.3.0 1.1.9 1.3.0-a"},
		{"1.x", "1.0.0 1.9.9", "2.0.0 2.0.0-a"}, {"^1.2.3", "1.2.3 1.9.0", "1.2.2 2.0.0 2.0.0-a"}, {"^0.2.3", "0.2.3 0.2.9", "0.3.0"}, {"^0.0.3", "0.0.3", "0.0.4"},
		{"^0", "0.9.0", "1.0.0"}, {"~1.2.3", "1.2.3 1.2.9", "1.3.0"}, {"~1", "1.0.0 1.9.0", "2.0.0"}, {">=1.2 <2", "1.2.0 1.9.9", "1.1.9 2.0.0"}, {"> 1.2", "1.3.0", "1.2.9"},
		{"<=1.2", "1.2.9 0.1.0", "1.3.0"}, {"1.2 - 2", "1.2.0 2.9.0", "3.0.0 1.1.0"}, {"^1 || ^3", "1.5.0 3.5.0", "2.0.0"}, {"^1.0.0-beta", "1.0.0-beta 1.0.0-rc 1.2.0", "1.1.0-beta 1.0.0-alpha"},
	}
	for _, tt := range tests {
		r, err := plugin.ParseRange(tt.in)
		must(t, err)
		for v := range strings.FieldsSeq(tt.has) {
			if !r.Has(v) {
				t.Errorf("%q has not %s", tt.in, v)
			}
		}
		for v := range strings.FieldsSeq(tt.not) {
			if r.Has(v) {
				t.Errorf("%q has %s", tt.in, v)
			}
		}
	}
	for _, bad := range []string{"latest", "1.2.3.4", ">>1", "1.-2"} {
		if _, err := plugin.ParseRange(bad); err == nil {
			t.Errorf("%q is taken for a range", bad)
		}
	}
}
