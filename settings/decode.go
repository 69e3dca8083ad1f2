package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/knack-skills/knack/skill"
)

// maxFound is how many problems of one file are listed.
const maxFound = 100

// A decoder reads the text of one file, which is known to be a JSON object,
// into f, and notes where each key stands.
type decoder struct {
	f        *File
	src      Sources
	data     []byte
	dec      *json.Decoder
	cursor   cursor
	parts    map[string][]string // the keys below a key, as far as they have a place
	problems []skill.Problem
	more     int // problems over maxFound
}

func newDecoder(f *File, data []byte, src Sources) *decoder {
	f.places = map[string]place{}
	return &decoder{
		f: f, src: src, data: data, dec: json.NewDecoder(bytes.NewReader(data)),
		cursor: cursor{data: data}, parts: map[string][]string{},
	}
}

// root decodes the whole file.
func (d *decoder) root() {
	d.object(reflect.ValueOf(&d.f.Values).Elem(), "")
	if d.more > 0 {
		d.problems = append(d.problems, skill.Problem{
			Code: "settings-problems", Severity: skill.Warning, Path: d.f.Path,
			Message: fmt.Sprintf("and %d more problems in this file", d.more), Fix: "repair the first ones and look again",
		})
	}
}

// next returns the offset of the next key or value.
func (d *decoder) next() int {
	i := int(d.dec.InputOffset())
	for i < len(d.data) && strings.IndexByte(" \t\r\n,:", d.data[i]) >= 0 {
		i++
	}
	return i
}

// token reads a brace, a bracket or a key. The text was validated before, so
// that it cannot fail.
func (d *decoder) token() string {
	t, err := d.dec.Token()
	if err != nil {
		return ""
	}
	return fmt.Sprint(t)
}

// raw reads one whole value.
func (d *decoder) raw() json.RawMessage {
	var raw json.RawMessage
	if err := d.dec.Decode(&raw); err != nil {
		return json.RawMessage("null")
	}
	return raw
}

func (d *decoder) report(code string, severity skill.Severity, at place, message, fix string) {
	if len(d.problems) == maxFound {
		d.more++
		return
	}
	d.problems = append(d.problems, skill.Problem{
		Code: code, Severity: severity, Path: d.f.Path, Line: at.line, Column: at.column, Message: message, Fix: fix,
	})
}

// members calls read for each member of the object that comes next, with its
// key and place. A key that comes again replaces the earlier one.
func (d *decoder) members(prefix string, read func(name, key string, at place, again bool)) {
	d.token()
	seen := map[string]place{}
	for d.dec.More() {
		at := d.cursor.seek(d.next())
		name := d.token()
		key := prefix + name
		first, again := seen[name]
		if again {
			d.report("duplicate-setting", skill.Warning, at,
				fmt.Sprintf("%s is set twice, first in line %d; this one counts", key, first.line), "remove one of them")
			d.forget(key)
		}
		seen[name] = at
		read(name, key, at, again)
	}
	d.token()
}

// object decodes the object that comes next into the struct v.
func (d *decoder) object(v reflect.Value, prefix string) {
	d.members(prefix, func(name, key string, at place, again bool) {
		if canonical, ok := aliases[key]; ok {
			d.value(fieldOf(reflect.ValueOf(&d.f.Values).Elem(), canonical), id{key: canonical, rule: canonical}, at)
			return
		}
		field := fieldOf(v, name)
		if !field.IsValid() {
			d.raw()
			d.unknown(v.Type(), name, key, prefix, at)
			return
		}
		if again {
			field.SetZero()
		}
		d.value(field, id{key: key, rule: key, parent: strings.TrimSuffix(prefix, ".")}, at)
	})
}

func (d *decoder) unknown(t reflect.Type, name, key, prefix string, at place) {
	if slices.Contains(ignored, key) {
		return
	}
	if len(d.problems) == maxFound { // spares looking for what was meant
		d.more++
		return
	}
	fix, severity := "remove it, unless another program reads it", skill.Info
	if near := nearest(name, names(t)); near != "" {
		fix = fmt.Sprintf("did you mean %q?", prefix+near)
		if d.f.Level == ManagedLevel {
			severity = skill.Warning // a policy that is not in force
		}
	}
	d.report("unknown-setting", severity, at, fmt.Sprintf("%s is not a setting here", quoted(key)), fix)
}

// An id names a value: key is where it stands, rule is what policy.go calls it
// ("*" for any key of an object or item of a list), parent is what holds it.
type id struct{ key, rule, parent string }

// set notes that the value holds.
func (d *decoder) set(n id, at place) {
	if _, ok := d.f.places[n.key]; !ok {
		d.parts[n.parent] = append(d.parts[n.parent], n.key)
	}
	d.f.places[n.key] = at
}

// forget drops the places of key and of what is in it.
func (d *decoder) forget(key string) {
	delete(d.f.places, key)
	if key == keyHooks {
		d.f.hooks = nil
	}
	for _, part := range d.parts[key] {
		d.forget(part)
	}
	delete(d.parts, key)
}

// value decodes what comes next into v. A null is as if the key were not there.
func (d *decoder) value(v reflect.Value, n id, at place) {
	kind := d.data[d.next()]
	if kind == 'n' {
		d.raw()
		return
	}
	switch wants := wanted(v.Type(), n.rule); {
	case wants != "" && kindOf(kind) != wants:
		d.raw()
		d.report("setting-type", skill.Error, at,
			fmt.Sprintf("%s has to be %s, this is %s; %s", quoted(n.key), wants, kindOf(kind), d.instead(v, n, at)),
			"write "+example(n.rule, v.Type()))
	case v.Kind() == reflect.Struct:
		d.set(n, at)
		d.object(v, n.key+".")
	case v.Kind() == reflect.Map:
		d.set(n, at)
		d.entries(v, n)
	case v.Type() == listType:
		d.set(n, at)
		d.items(v, n)
	default:
		start := d.next()
		raw := d.raw()
		d.scalar(v, n, at, raw)
		if _, holds := d.f.places[n.key]; holds && n.rule == keyHooks {
			d.hooks(raw, start)
		}
	}
}

// instead puts in the place of a wrong value what policy says, and says so.
func (d *decoder) instead(v reflect.Value, n id, at place) string {
	if safe, ok := safeValues[n.rule]; ok {
		setJSON(v, safe)
		d.set(n, at)
		return "taken as " + safe + ", the safe value"
	}
	strict, ok := failClosedKey[n.rule]
	if !ok || d.f.Level != ManagedLevel {
		return "it is left out"
	}
	setJSON(v, strict)
	d.set(n, at)
	return "taken as " + strict + ", because the file is managed"
}

// entries decodes the object that comes next into the map v.
func (d *decoder) entries(v reflect.Value, n id) {
	v.Set(reflect.MakeMap(v.Type()))
	d.members(n.key+".", func(name, key string, at place, again bool) {
		if again {
			v.SetMapIndex(reflect.ValueOf(name), reflect.Value{})
		}
		elem := reflect.New(v.Type().Elem()).Elem()
		d.value(elem, id{key: key, rule: n.key + ".*", parent: n.key}, at)
		if _, ok := d.f.places[key]; ok {
			v.SetMapIndex(reflect.ValueOf(name), elem)
		}
	})
}

// items decodes the list that comes next into the slice v.
func (d *decoder) items(v reflect.Value, n id) {
	d.token()
	list := []string{}
	for d.dec.More() {
		// The number is that in the result.
		key := n.key + "[" + strconv.Itoa(len(list)) + "]"
		at := d.cursor.seek(d.next())
		elem := reflect.New(reflect.TypeFor[string]()).Elem()
		d.value(elem, id{key: key, rule: n.key + ".*", parent: n.key}, at)
		if _, ok := d.f.places[key]; ok {
			list = append(list, elem.String())
		}
	}
	d.token()
	if n.key == keyDirectories {
		for i, dir := range list {
			list[i] = d.src.absolute(dir)
		}
	}
	v.Set(reflect.ValueOf(list))
}

// absolute expands "~"; a relative directory is relative to the project,
// whatever file names it.
func (s Sources) absolute(dir string) string {
	dir = expandHome(dir, s.home())
	if !filepath.IsAbs(dir) && s.ProjectDir != "" {
		dir = filepath.Join(s.ProjectDir, dir)
	}
	return dir
}

// scalar decodes raw into v and holds it against the tables of policy.go.
func (d *decoder) scalar(v reflect.Value, n id, at place, raw json.RawMessage) {
	if !setJSON(v, string(raw)) { // a number that is not whole, or too large
		d.report("setting-type", skill.Error, at,
			fmt.Sprintf("%s cannot be %s; it is left out", quoted(n.key), short(raw)), "write "+example(n.rule, v.Type()))
		return
	}
	if wrong := allowed(v, n, raw); wrong != "" {
		v.SetZero()
		message := fmt.Sprintf("%s is %s; %s", quoted(n.key), short(raw), d.instead(v, n, at))
		d.report("setting-value", skill.Error, at, message, wrong)
		return
	}
	text := ""
	if v.Kind() == reflect.String {
		text = v.String()
	}
	if b, violated := boundOf(n, text, d.f.Level); violated {
		v.SetZero()
		d.report("setting-level", skill.Warning, at,
			fmt.Sprintf("%s: %s counts only from %s settings: %s", quoted(n.key), short(raw), levelNames(b.levels), b.why),
			"remove it here, or set it there")
		return
	}
	d.set(n, at)
}

// close makes f what a managed file means that cannot be read (spec S-11).
func (f *File) close() {
	f.places = map[string]place{}
	f.Values = Values{}
	for key, strict := range failClosed {
		setJSON(fieldOf(reflect.ValueOf(&f.Values).Elem(), key), strict)
		f.places[key] = place{}
	}
}

func levelNames(levels []Level) string {
	texts := make([]string, len(levels))
	for i, l := range levels {
		texts[i] = string(l)
	}
	return strings.Join(texts, " or ")
}
