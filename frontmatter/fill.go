package frontmatter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// filler is one run of [Document.Fill].
type filler struct {
	d        *Document
	s        *skill.Skill
	legacy   bool
	seen     uint64 // a bit for each field of the table that was filled
	problems []skill.Problem

	// restricts: every list of rules limits something, also the ones that grant
	// in a skill.
	restricts bool
	// consequence of a lost field; empty is that for a skill.
	consequence string
}

// Fill copies the fields of d into s (Summary except ID, Trigger, Run, and
// Content except Body and Bytes) and reports what is wrong with them. A bad
// field costs that field, not the skill. legacy ignores name and paths (spec
// C-4). Content.Extra receives the unknown keys and the known ones that have no
// place of their own, such as license. Nothing in s shares memory with the
// data given to Parse.
func (d *Document) Fill(s *skill.Skill, legacy bool) []skill.Problem {
	f := filler{d: d, s: s, legacy: legacy}
	s.Content.Positional = legacy
	for i := range d.entries {
		f.entry(&d.entries[i], d.entries[:i])
	}
	if s.Trigger.HiddenFromUser && s.Trigger.HiddenFromModel {
		i := slices.IndexFunc(d.entries, func(e entry) bool { return lookup(e.key) == lookup("user-invocable") })
		f.report(skill.Warning, "unreachable", &d.entries[i], "nobody can start this skill: it is hidden from people and from the model",
			"remove user-invocable: false or disable-model-invocation: true")
	}
	if s.Description == "" && d.Refused == "" {
		f.fallback()
	}
	f.hidden()
	return folded(f.problems)
}

func (f *filler) entry(e *entry, before []entry) {
	at := index(e.key)
	if at < 0 {
		f.s.Content.Extra = append(f.s.Content.Extra, e.field(false))
		if name := suggest(e.key); name != "" {
			f.report(skill.Info, "did-you-mean", e, "`"+e.key+"` is not a field; did you mean `"+name+"`?", "write "+name)
		}
		return
	}
	known := &table[at]
	if f.seen&(1<<at) != 0 {
		for i := len(before) - 1; i >= 0; i-- {
			if index(before[i].key) == at {
				f.problems = append(f.problems, duplicateKey(f.d.Path, e.key, e.line, 1, before[i].line))
				break
			}
		}
	}
	f.seen |= 1 << at
	switch {
	case e.unread, e.refused && known.security:
		f.lose(e)
	case e.refused:
	case f.legacy && (known.name == "name" || known.name == "paths"):
		f.report(skill.Info, "ignored-field", e, "`"+e.key+"` has no effect in a command file", "make it a skill: NAME/SKILL.md")
	case known.set != nil:
		known.set(f, e)
	case e.val.kind != null:
		f.s.Content.Extra = append(f.s.Content.Extra, e.field(false))
	}
}

// why is the reason for which e cannot be read, if nobody else tells it.
func (f *filler) why(e *entry) string {
	switch {
	case e.refused:
		return " (YAML aliases are refused)"
	case !e.lost || f.d.fault == "":
		return ""
	}
	return " (YAML: " + f.d.fault + ")"
}

// report adds a finding at the value of e, or about the whole file.
func (f *filler) report(sev skill.Severity, code string, e *entry, message, fix string) {
	p := skill.Problem{Code: code, Severity: sev, Message: message, Path: f.d.Path, Fix: fix}
	if e != nil {
		p.Line, p.Column = int(e.val.line), int(e.val.col)
		if p.Line == 0 {
			p.Line, p.Column = e.line, 1
		}
	}
	f.problems = append(f.problems, p)
}

// bad reports a value that is not used.
func (f *filler) bad(e *entry, takes, instead string) {
	f.report(skill.Warning, "bad-value", e, "`"+e.key+"` takes "+takes+f.why(e)+"; "+instead, "write "+takes+", or remove the key")
}

// lose is the third step of spec F-3: what the author meant to restrict is not
// known, so the model may not start the skill.
func (f *filler) lose(e *entry) {
	f.s.Trigger.HiddenFromModel = true
	so := f.consequence
	if so == "" {
		so = "so the model may not start this skill"
	}
	f.report(skill.Error, "security-field-lost", e,
		"`"+e.key+"` cannot be read"+f.why(e)+", "+so, "correct `"+e.key+"`")
}

// text reads a text field (spec F-4).
func (f *filler) text(e *entry) string {
	s, changed := e.plainText()
	if changed && (e.val.kind == null || e.val.kind == scalar) {
		f.report(skill.Warning, "text-shortened", e,
			"YAML would cut the text of `"+e.key+"` at its `#`, `!` or `&`; the whole line was taken", "put the text in double quotes")
	} else if changed && bracketsAreOdd(e.key) {
		f.report(skill.Warning, "text-shortened", e,
			"`"+e.key+"` is text, but YAML reads it as a list or a map; the source was taken", "put the text in double quotes")
	}
	return s
}

// bracketsAreOdd reports whether a list is unusual in a text field: hints are
// often in brackets.
func bracketsAreOdd(key string) bool {
	return !strings.HasPrefix(key, "argument")
}

func (f *filler) name(e *entry)        { f.s.Name = f.text(e) }
func (f *filler) description(e *entry) { f.s.Description = f.text(e) }
func (f *filler) whenToUse(e *entry)   { f.s.WhenToUse = f.text(e) }
func (f *filler) argumentHint(e *entry) {
	f.s.ArgumentHint = f.text(e)
	f.s.Content.Positional = f.s.Content.Positional || f.s.ArgumentHint != ""
}

// word reads one scalar; anything else is reported.
func (f *filler) word(e *entry, takes string) string {
	switch e.val.kind {
	case null:
		return ""
	case scalar:
		if e.lost {
			return lostText(e.raw)
		}
		return strings.TrimSpace(e.val.text)
	}
	f.bad(e, takes, "this value is ignored")
	return ""
}

func (f *filler) version(e *entry) { f.s.Version = f.word(e, "a version") }

func (f *filler) model(e *entry) {
	f.s.Run.Model = ""
	if m := f.word(e, "a model"); !strings.EqualFold(m, "inherit") {
		f.s.Run.Model = m
	}
}

func (f *filler) agent(e *entry) { f.s.Run.Agent = f.word(e, "the name of an agent type") }

func (f *filler) effort(e *entry) {
	const takes = "low, medium, high, xhigh, max or a number of thinking tokens"
	f.s.Run.Effort = ""
	switch w := strings.ToLower(f.word(e, takes)); w {
	case "":
	case "low", "medium", "high", "xhigh", "max":
		f.s.Run.Effort = w
	case "quick":
		f.s.Run.Effort = "low"
	case "standard":
		f.s.Run.Effort = "medium"
	default:
		n, err := strconv.Atoi(w)
		if err != nil || n <= 0 {
			f.bad(e, takes, "the effort of the session is used")
			return
		}
		f.s.Run.Effort = strconv.Itoa(n)
	}
}

func (f *filler) context(e *entry) {
	f.s.Run.Mode = skill.Inline
	switch f.word(e, "inline or fork") {
	case "", "inline":
		f.s.Run.Mode = ""
	case "fork":
		f.s.Run.Mode = skill.Fork
	default:
		f.s.Run.Mode = ""
		if e.lost {
			f.lose(e)
			return
		}
		f.bad(e, "inline or fork", "the skill runs inline")
	}
}

func (f *filler) shell(e *entry) {
	f.s.Run.Shell = ""
	switch w := f.word(e, "bash or powershell"); w {
	case "", "bash":
	case "powershell":
		f.s.Run.Shell = w
	default:
		f.bad(e, "bash or powershell", "bash is used")
	}
}

// boolean reads a declared boolean; safe stands in for what is none (spec F-5).
func (f *filler) boolean(e *entry, absent, safe bool) bool {
	if e.val.kind == null {
		return absent
	}
	w := e.val.text
	if e.lost {
		w = lostText(e.raw)
	}
	if e.val.kind == scalar {
		switch strings.ToLower(strings.TrimSpace(w)) {
		case "true", "yes", "on", "1":
			return true
		case "false", "no", "off", "0":
			return false
		case "":
			return absent
		}
	}
	f.bad(e, "true or false", fmt.Sprintf("%t is used, to be safe", safe))
	return safe
}

func (f *filler) background(e *entry)    { f.s.Run.Background = f.boolean(e, false, false) }
func (f *filler) userInvocable(e *entry) { f.s.Trigger.HiddenFromUser = !f.boolean(e, true, true) }
func (f *filler) disableModelInvocation(e *entry) {
	// Never undo what a lost field has decided.
	f.s.Trigger.HiddenFromModel = f.boolean(e, false, true) || f.s.Trigger.HiddenFromModel
}

// hooks registers nothing that it cannot read, and drops only that (spec H-9).
func (f *filler) hooks(e *entry) {
	f.s.Run.Hooks = nil
	switch {
	case e.val.kind == null:
		return
	case e.lost || e.val.kind != mapping:
		f.lose(e)
		return
	}
	config, faults := hook.Decode(e.val.tree())
	if f.consequence == "" { // a skill, not an agent, which has hooks from its start
		kept, held := hook.ForSkill(config)
		config, faults = kept, append(faults, held...)
	}
	f.s.Run.Hooks = config
	for _, fault := range faults {
		sev := skill.Warning
		if fault.Lint {
			sev = skill.Info
		}
		line, col := e.val.locate(fault.Path)
		f.problems = append(f.problems, skill.Problem{Code: fault.Code, Severity: sev, Path: f.d.Path,
			Line: line, Column: col, Message: fault.Message, Fix: fault.Fix})
	}
}

func (f *filler) metadata(e *entry) {
	switch {
	case e.val.kind == mapping:
		f.s.Content.Extra = append(f.s.Content.Extra, e.field(false))
	case e.val.kind != null && !e.lost:
		f.bad(e, "a map", "it is dropped")
	}
}

// fallback takes the description from the body (spec chapter 1, description).
func (f *filler) fallback() {
	p := firstParagraph(f.d.Body)
	s := p.text
	if s == "" {
		s = p.heading
	}
	if len(s) > maxFallback {
		s = text.Cut(s, maxFallback)
	}
	f.s.Description = strings.Clone(strings.ToValidUTF8(s, "\uFFFD"))
	f.s.DescriptionFallback = f.s.Description != ""
}

// hidden reports characters in the metadata that a reader does not see (spec
// F-7), once, where the first one is.
func (f *filler) hidden() {
	if f.d.ascii {
		return
	}
	for i := range f.d.entries {
		e := &f.d.entries[i]
		if h := hiddenIn(e); h.n > 0 {
			message := fmt.Sprintf("`%s` holds %d invisible or control characters, the first is U+%04X (%s)", e.key, h.n, h.first.Rune, h.first.Kind)
			if h.tags != "" {
				message += fmt.Sprintf("; as letters they read %q", h.tags)
			}
			f.report(skill.Warning, "hidden-characters", e, message, "remove them")
		}
	}
}

type hiddenChars struct {
	n     int
	first text.Hidden
	tags  string // what the first tag characters spell; models read them
}

// hiddenIn looks at the source, and at what escapes in it decode to.
func hiddenIn(e *entry) hiddenChars {
	var all hiddenChars
	look := func(s string) {
		if isPrintable(s) {
			return
		}
		for _, h := range text.FindHidden(s) {
			if h.Rune == '\n' || h.Rune == '\t' || h.Rune == '\r' {
				continue
			}
			if all.n++; all.n == 1 {
				all.first = h
			}
			if 0xE0020 <= h.Rune && h.Rune < 0xE007F && len(all.tags) < 80 {
				all.tags += string(h.Rune - 0xE0000)
			}
		}
	}
	look(e.key)
	look(e.raw)
	if all.n == 0 && e.val.style == quoted {
		look(e.val.text)
	}
	return all
}

// isPrintable reports whether s is ASCII without controls, so that there is
// nothing to look for.
func isPrintable(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}
