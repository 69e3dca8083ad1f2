package lint

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/skill"
)

// Limits of the portable standard, in characters (spec F-8).
const (
	portableMaxName          = 64
	portableMaxDescription   = 1024
	portableMaxCompatibility = 500
)

// portableFieldNames are the only fields the portable standard knows.
var portableFieldNames = []string{"name", "description", "license", "compatibility", "metadata", "allowed-tools"}

// portable makes a problem of the agentskills profile. They are all errors,
// because the portable standard rejects the file.
func (f *file) portable(code, key, fix, format string, args ...any) skill.Problem {
	line, column := f.field(key)
	return skill.Problem{
		Code: code, Severity: skill.Error, Path: f.Origin.Path, Line: line, Column: column,
		Message: fmt.Sprintf(format, args...), Fix: fix,
	}
}

// written returns a frontmatter entry as the author wrote it. Only the exact
// key counts: the portable standard knows no other spelling.
func (f *file) written(key string) (string, bool) {
	fields := f.doc.Fields()
	for i := len(fields) - 1; i >= 0; i-- {
		if fields[i].Key == key {
			return unquote(strings.TrimSpace(fields[i].Value)), true
		}
	}
	return "", false
}

// unquote drops the quotation marks around a value, if it has any.
func unquote(s string) string {
	if n := len(s); n >= 2 && s[0] == s[n-1] && (s[0] == '"' || s[0] == '\'') {
		return s[1 : n-1]
	}
	return s
}

// portableName checks the name: 1 to 64 of a-z, 0-9 and "-", no hyphen at
// either end or beside another, equal to the directory.
func portableName(f *file, _ Options) []skill.Problem {
	name, ok := f.written("name")
	if !ok || name == "" {
		return []skill.Problem{f.portable("portable-name-missing", "name",
			"add name: with the name of the directory", "the portable standard requires a name")}
	}
	var found []skill.Problem
	if n := utf8.RuneCountInString(name); n > portableMaxName {
		found = append(found, f.portable("portable-name-too-long", "name", "shorten the name and its directory",
			"the name has %d characters, the portable standard allows %d", n, portableMaxName))
	}
	if bad := strings.IndexFunc(name, func(r rune) bool {
		return r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}); bad >= 0 {
		r, _ := utf8.DecodeRuneInString(name[bad:])
		found = append(found, f.portable("portable-name-characters", "name", "use a-z, 0-9 and -",
			"the name holds %q, the portable standard allows a-z, 0-9 and -", r))
	}
	if strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-") || strings.Contains(name, "--") {
		found = append(found, f.portable("portable-name-hyphens", "name", "use single hyphens between words",
			"the name starts or ends with a hyphen, or holds two in a row"))
	}
	if dir := f.directory(); dir != "" && dir != name {
		found = append(found, f.portable("portable-name-directory", "name", "rename the directory or the skill",
			"the name is %q, the directory %q; the portable standard wants them equal", name, dir))
	}
	return found
}

// directory returns the name of the skill's directory, or "".
func (f *file) directory() string {
	if f.Origin.Dir == "" {
		return ""
	}
	return filepath.Base(f.Origin.Dir)
}

// portableDescription checks the description: 1 to 1024 characters.
func portableDescription(f *file, _ Options) []skill.Problem {
	if f.Description == "" || f.DescriptionFallback {
		return []skill.Problem{f.portable("portable-description-missing", "description",
			"add description: with what the skill does and when to use it", "the portable standard requires a description")}
	}
	if n := utf8.RuneCountInString(f.Description); n > portableMaxDescription {
		return []skill.Problem{f.portable("portable-description-too-long", "description", "shorten the description",
			"the description has %d characters, the portable standard allows %d", n, portableMaxDescription)}
	}
	return nil
}

// portableCompatibility checks compatibility: up to 500 characters.
func portableCompatibility(f *file, _ Options) []skill.Problem {
	value, _ := f.written("compatibility")
	if n := utf8.RuneCountInString(value); n > portableMaxCompatibility {
		return []skill.Problem{f.portable("portable-compatibility-too-long", "compatibility", "shorten it, or say it in the body",
			"compatibility has %d characters, the portable standard allows %d", n, portableMaxCompatibility)}
	}
	return nil
}

// portableFields reports each field that the portable standard does not know.
func portableFields(f *file, _ Options) []skill.Problem {
	var found []skill.Problem
	for _, field := range f.doc.Fields() {
		if slices.Contains(portableFieldNames, field.Key) {
			continue
		}
		p := f.portable("portable-unknown-field", canonical(field.Key),
			"remove it, or keep it under metadata", "the portable standard does not know the field %q", field.Key)
		p.Column = min(p.Line, 1)
		found = append(found, p)
	}
	return found
}

// portableMetadata checks that metadata maps text to text. Numbers and
// booleans pass: readers of the standard take every scalar as text.
func portableMetadata(f *file, _ Options) []skill.Problem {
	span, ok := f.keys["metadata"]
	if !ok {
		return nil
	}
	rows := f.lines[span.line-1 : min(span.end-1, len(f.lines))]
	_, first, _ := strings.Cut(rows[0], ":")
	switch first = strings.TrimSpace(cutComment(first)); {
	case strings.HasPrefix(first, "{"):
		if strings.ContainsAny(unquoted(first[1:]), "{[") {
			return []skill.Problem{f.notText("a value is a list or a map", span.line)}
		}
		return nil
	case first != "" && !strings.EqualFold(first, "null") && first != "~":
		return []skill.Problem{f.notText("it is no map", span.line)}
	}
	return f.blockMetadata(rows, span.line)
}

// blockMetadata checks the rows of a block map, of which rows[0] is the key.
func (f *file) blockMetadata(rows []string, line int) []skill.Problem {
	indent, scalar := -1, false
	for i, row := range rows[1:] {
		content := strings.TrimSpace(cutComment(row))
		if content == "" {
			continue
		}
		at, depth := line+i+1, len(row)-len(strings.TrimLeft(row, " \t"))
		if indent < 0 {
			indent = depth
		}
		if depth > indent {
			if scalar {
				continue // more lines of a text
			}
			return []skill.Problem{f.notText("a value is a list or a map", at)}
		}
		_, value, ok := strings.Cut(content, ":")
		if !ok || strings.HasPrefix(content, "- ") {
			return []skill.Problem{f.notText("it is no map", at)}
		}
		value = strings.TrimSpace(value)
		if strings.HasPrefix(value, "[") || strings.HasPrefix(value, "{") {
			return []skill.Problem{f.notText("a value is a list or a map", at)}
		}
		scalar = value != ""
	}
	return nil
}

func (f *file) notText(why string, line int) skill.Problem {
	p := f.portable("portable-metadata", "metadata", "write key: text, one a line",
		"metadata must map text to text: %s", why)
	if line != p.Line {
		row := f.lines[line-1]
		p.Line, p.Column = line, 1+len(row)-len(strings.TrimLeft(row, " \t"))
	}
	return p
}

// cutComment drops a YAML comment from a line without regard to quotes, which
// is enough to tell an empty value from one that has begun.
func cutComment(s string) string {
	if strings.HasPrefix(strings.TrimSpace(s), "#") {
		return ""
	}
	before, _, _ := strings.Cut(s, " #")
	return before
}

// unquoted drops what stands in quotation marks.
func unquoted(s string) string {
	var b strings.Builder
	var quote rune
	for _, r := range s {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
