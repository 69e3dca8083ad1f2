package frontmatter

import (
	"strings"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/skill"
)

// Values reads the fields of a file that is no skill, such as an agent
// definition, one by one and by the rules that hold for skills (spec F-3 to
// F-5). A key is named in kebab case and found in snake and camel case too.
// Values collects what is wrong; it belongs to one goroutine.
type Values struct {
	f    filler
	s    skill.Skill
	read map[string]*entry // nil entries: looked for and not there
	lost []string
}

// Values returns a reader of the fields of d. consequence ends the sentence
// about a field that limits something and cannot be read, such as "so the
// agent cannot be used".
func (d *Document) Values(consequence string) *Values {
	v := &Values{read: map[string]*entry{}}
	v.f = filler{d: d, s: &v.s, restricts: true, consequence: consequence}
	return v
}

// find returns the last entry of a key that is not null, or nil.
func (v *Values) find(key string) *entry {
	if e, ok := v.read[key]; ok {
		return e
	}
	var found *entry
	for i := range v.f.d.entries {
		e := &v.f.d.entries[i]
		if !spells(e.key, key) {
			continue
		}
		if found != nil {
			v.f.problems = append(v.f.problems, duplicateKey(v.f.d.Path, e.key, e.line, 1, found.line))
		}
		found = e
	}
	if found != nil && found.val.kind == null && !found.lost && !found.unread && !found.refused {
		found = nil
	}
	v.read[key] = found
	return found
}

// spells reports whether written is a way to write the kebab-case key.
func spells(written, key string) bool {
	return written == key || written == strings.ReplaceAll(key, "-", "_") || written == camel(key)
}

// usable is find for fields that do not limit anything.
func (v *Values) usable(key string) *entry {
	if e := v.find(key); e != nil && !e.refused && !e.unread {
		return e
	}
	return nil
}

// Has reports whether the key is there and not null.
func (v *Values) Has(key string) bool { return v.find(key) != nil }

// Text returns a text field as its author wrote it (spec F-4).
func (v *Values) Text(key string) string {
	if e := v.usable(key); e != nil {
		return v.f.text(e)
	}
	return ""
}

// Word returns one scalar; takes says what belongs there.
func (v *Values) Word(key, takes string) string {
	if e := v.usable(key); e != nil {
		return v.f.word(e, takes)
	}
	return ""
}

// Bool returns a boolean; safe stands in for a value that is none (spec F-5).
func (v *Values) Bool(key string, absent, safe bool) bool {
	if e := v.usable(key); e != nil {
		return v.f.boolean(e, absent, safe)
	}
	return absent
}

// Model returns the field model; inherit is the same as none.
func (v *Values) Model() string {
	if e := v.usable("model"); e != nil {
		v.f.model(e)
	}
	return v.s.Run.Model
}

// Effort returns the field effort in its normal spelling.
func (v *Values) Effort() string {
	if e := v.usable("effort"); e != nil {
		v.f.effort(e)
	}
	return v.s.Run.Effort
}

// Names returns a list of names.
func (v *Values) Names(key string) []string {
	e := v.usable(key)
	if e == nil {
		return nil
	}
	got := itemsOf(e)
	if got.lost {
		v.f.bad(e, "a list of names", "this value is ignored")
		return nil
	}
	return names(&got)
}

// Rules returns a list that limits what may be done: names of tools and
// permission rules. set is true for an empty list too, which is not the same as
// none. A list that cannot be read is lost.
func (v *Values) Rules(key string) (rules []string, set bool) {
	e := v.find(key)
	if e == nil {
		return nil, false
	}
	v.limiting(key, e, func() { rules = v.f.rules(e) })
	return rules, true
}

// Hooks returns the field hooks (spec H-1).
func (v *Values) Hooks() hook.Config {
	e := v.find("hooks")
	if e == nil {
		return nil
	}
	v.limiting("hooks", e, func() { v.f.hooks(e) })
	return v.s.Run.Hooks
}

// limiting reads a field that limits something, and notes when it is lost.
func (v *Values) limiting(key string, e *entry, read func()) {
	v.s.Trigger.HiddenFromModel = false
	if e.unread || e.refused {
		v.f.lose(e)
	} else {
		read()
	}
	if v.s.Trigger.HiddenFromModel {
		v.lost = append(v.lost, key)
	}
}

// Lost returns the fields that limit something and could not be read.
func (v *Values) Lost() []string { return v.lost }

// Report adds a problem at the value of key, or about the whole file when the
// key is not there.
func (v *Values) Report(sev skill.Severity, code, key, message, fix string) {
	v.f.report(sev, code, v.find(key), message, fix)
}

// Suggest reports keys that are near to a known one, or that confusions, from
// the key in kebab case to the field that its author means, knows (spec F-6).
func (v *Values) Suggest(known []string, confusions map[string]string) {
	for i := range v.f.d.entries {
		e := &v.f.d.entries[i]
		if name := meant(e.key, known, confusions); name != "" {
			v.f.report(skill.Info, "did-you-mean", e, "`"+e.key+"` is not a field; did you mean `"+name+"`?", "write "+name)
		}
	}
}

func meant(written string, known []string, confusions map[string]string) string {
	if len(written) < 3 || len(written) > 40 {
		return ""
	}
	for _, key := range known {
		if spells(written, key) {
			return ""
		}
	}
	for other, key := range confusions {
		if spells(written, other) {
			return camel(key)
		}
	}
	letters := lettersOf(written)
	for _, key := range known {
		if oneEdit(letters, lettersOf(key)) {
			return camel(key)
		}
	}
	return ""
}

// lettersOf is a key without what differs between kebab, snake and camel case.
func lettersOf(key string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(key))
}

// Problems returns what is wrong with the fields that were read, and characters
// in any of them that a reader does not see (spec F-7).
func (v *Values) Problems() []skill.Problem {
	v.f.hidden()
	return folded(v.f.problems)
}
