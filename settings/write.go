package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/state"
)

// A Writer adds to one settings file what the person said, and nothing else:
// everything that stands there stays as it is written. It is a value, and safe
// for concurrent use, also by several processes.
type Writer struct {
	Path string
	Lock string // a file in the state directory, for writers to take turns
}

// Allow adds allow rules to the file. Those that are in it are not added again.
// A file that cannot be understood is left alone.
func (w Writer) Allow(rules ...string) error {
	for _, r := range rules {
		if _, err := permission.ParseRule(r); err != nil {
			return err
		}
	}
	if err := w.plain(); err != nil {
		return err
	}
	err := state.Edit(w.Path, w.Lock, maxFile, func(data []byte) ([]byte, error) {
		return addAllow(data, rules)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", w.Path, err)
	}
	return nil
}

// plain refuses to write through a link: a repository can carry one, and the
// rule would be in force where nobody meant it.
func (w Writer) plain() error {
	for _, p := range []string{filepath.Dir(w.Path), w.Path} {
		fi, err := os.Lstat(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if !fi.IsDir() && !fi.Mode().IsRegular() {
			return fmt.Errorf("%s is a link or no plain file, so nothing is written there", p)
		}
	}
	return nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// addAllow returns data with more allow rules.
func addAllow(data []byte, rules []string) ([]byte, error) {
	text, marked := bytes.CutPrefix(data, byteOrderMark)
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	if p, bad := syntaxProblem(text); bad {
		return nil, fmt.Errorf("line %d: %s; nothing is written to it", p.Line, p.Message)
	}
	var before, after map[string]any
	if err := json.Unmarshal(text, &before); err != nil {
		return nil, err
	}
	have, err := allowOf(before)
	if err != nil {
		return nil, err
	}
	var fresh []string
	for _, r := range rules {
		if !slices.Contains(have, any(r)) && !slices.Contains(fresh, r) {
			fresh = append(fresh, r)
		}
	}
	if len(fresh) == 0 {
		return data, nil
	}
	out, err := insert(text, fresh)
	if err != nil {
		return nil, err
	}
	// Whatever the text looked like: nothing but the rules may have changed.
	want := have
	for _, r := range fresh {
		want = append(want, r)
	}
	if err := json.Unmarshal(out, &after); err != nil {
		return nil, err
	}
	if got, err := allowOf(after); err != nil || !reflect.DeepEqual(got, want) || !sameBut(before, after) {
		return nil, errors.New("the rules cannot be added without changing something else; add them by hand")
	}
	if marked {
		out = slices.Concat(byteOrderMark, out)
	}
	return out, nil
}

// allowOf is the list of allow rules of a file.
func allowOf(file map[string]any) ([]any, error) {
	value, ok := file["permissions"]
	if !ok {
		return nil, nil
	}
	p, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("\"permissions\" is no object; nothing is written to it")
	}
	if value, ok = p["allow"]; !ok {
		return nil, nil
	}
	list, ok := value.([]any)
	if !ok {
		return nil, errors.New("\"permissions.allow\" is no list; nothing is written to it")
	}
	return slices.Clone(list), nil
}

// sameBut compares two files without their allow rules.
func sameBut(a, b map[string]any) bool {
	for _, file := range []map[string]any{a, b} {
		if p, ok := file["permissions"].(map[string]any); ok {
			if delete(p, "allow"); len(p) == 0 {
				delete(file, "permissions")
			}
		}
	}
	return reflect.DeepEqual(a, b)
}

// insert puts rules into the text, at the place where they belong, with the
// blanks that are used there.
func insert(text []byte, rules []string) ([]byte, error) {
	top := bytes.IndexByte(text, '{')
	permissions, topEmpty, err := lookup(text, top, "permissions")
	if err != nil {
		return nil, err
	}
	if permissions < 0 {
		const indent = "  "
		value := "{\n" + indent + indent + `"allow": ` + listText(rules, "\n"+indent+indent+indent) + "\n" + indent + "}"
		return member(text, top, "permissions", value, topEmpty, "\n"+indent)
	}
	allow, empty, err := lookup(text, permissions, "allow")
	if err != nil {
		return nil, err
	}
	if allow < 0 {
		return member(text, permissions, "allow", listText(rules, ""), empty, "")
	}
	first, last, err := elements(text, allow)
	if err != nil {
		return nil, err
	}
	if last < 0 {
		end := allow + bytes.IndexByte(text[allow:], ']') + 1
		return slices.Concat(text[:allow], []byte(listText(rules, "")), text[end:]), nil
	}
	blank := string(text[allow+1 : first])
	var more []byte
	for _, r := range rules {
		more = append(more, ","+orSpace(blank)+jsonText(r)...)
	}
	return slices.Concat(text[:last], more, text[last:]), nil
}

func orSpace(blank string) string {
	if blank == "" {
		return " "
	}
	return blank
}

// member puts a member at the beginning of the object that starts at at. An
// object that has none gets the blanks of its own kind.
func member(text []byte, at int, key, value string, empty bool, blank string) ([]byte, error) {
	rest := text[at+1:]
	inner := rest[:len(rest)-len(bytes.TrimLeft(rest, " \t\r\n"))]
	entry := jsonText(key) + ": " + value
	if empty {
		close := at + 1 + len(inner)
		end := ""
		if blank != "" {
			end = "\n"
		}
		return slices.Concat(text[:at+1], []byte(blank+entry+end), text[close:]), nil
	}
	return slices.Concat(text[:at+1], inner, []byte(entry+","+orSpace(string(inner))), rest[len(inner):]), nil
}

// listText writes a list; blank stands before each of its items, without one it
// is a list on one line.
func listText(rules []string, blank string) string {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, r := range rules {
		switch {
		case i > 0 && blank == "":
			b.WriteString(", ")
		case i > 0:
			b.WriteByte(',')
		}
		b.WriteString(blank + jsonText(r))
	}
	if blank != "" {
		b.WriteString(blank[:len(blank)-2])
	}
	b.WriteByte(']')
	return b.String()
}

func jsonText(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // rules have < and > and & in them
	if err := enc.Encode(s); err != nil {
		return `""` // texts do not fail
	}
	return string(bytes.TrimRight(b.Bytes(), "\n"))
}

// lookup returns where the value of a key begins in the object at at, or -1. Of
// several the last counts, as for whoever reads the file.
func lookup(text []byte, at int, key string) (value int, empty bool, err error) {
	d := json.NewDecoder(bytes.NewReader(text[at:]))
	if _, err := d.Token(); err != nil {
		return 0, false, err
	}
	value, empty = -1, true
	for d.More() {
		empty = false
		name, err := d.Token()
		if err != nil {
			return 0, false, err
		}
		start, _, err := next(text, at, d)
		if err != nil {
			return 0, false, err
		}
		if name == key {
			value = start
		}
	}
	return value, empty, nil
}

// elements returns where the first element of the list at at begins and where
// the last one ends; last is -1 when there is none.
func elements(text []byte, at int) (first, last int, err error) {
	d := json.NewDecoder(bytes.NewReader(text[at:]))
	if _, err := d.Token(); err != nil {
		return 0, 0, err
	}
	first, last = -1, -1
	for d.More() {
		start, end, err := next(text, at, d)
		if err != nil {
			return 0, 0, err
		}
		if last = end; first < 0 {
			first = start
		}
	}
	return first, last, nil
}

// next reads one value and returns where it stands.
func next(text []byte, at int, d *json.Decoder) (start, end int, err error) {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return 0, 0, err
	}
	end = at + int(d.InputOffset())
	return end - len(bytes.TrimSpace(raw)), end, nil
}
