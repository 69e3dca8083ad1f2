package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/skill"
)

// syntaxProblem says why data (without a byte order mark) is not a JSON object,
// where, and what to do; bad is false when it is one. Nothing is repaired:
// other programs read the same file.
func syntaxProblem(data []byte) (p skill.Problem, bad bool) {
	at, message, fix := diagnose(data)
	if message == "" {
		return p, false
	}
	c := cursor{data: data}
	pos := c.seek(at)
	return skill.Problem{
		Code: "settings-syntax", Severity: skill.Error, Line: pos.line, Column: pos.column,
		Message: message, Fix: fix,
	}, true
}

// diagnose returns the offset, message and fix of the first error in data;
// message is empty when there is none.
func diagnose(data []byte) (at int, message, fix string) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return 0, "this is UTF-16, not UTF-8", "save the file as UTF-8"
	}
	if i := invalidUTF8(data); i >= 0 {
		return i, "there is a byte that is not UTF-8", "save the file as UTF-8"
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return 0, "the file is empty", "write {} or remove the file"
	}
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	if err == nil {
		if raw[0] == '{' {
			return 0, "", ""
		}
		return bytes.IndexByte(data, raw[0]), "settings are an object, this is " + kindOf(raw[0]), `write {"name": value, …}`
	}
	se, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return 0, "this is not JSON: " + err.Error(), "write a JSON object"
	}
	at = int(se.Offset) - 1 // the offset counts the bytes read, with the wrong one
	if strings.HasPrefix(se.Error(), "unexpected end") {
		at = len(data)
	}
	at = max(0, min(at, len(data)))
	return explain(data, at, se.Error())
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// A mistake is something people write that JSON does not know, by how it begins
// at the place of the error.
type mistake struct{ begins, message, fix string }

var mistakes = []mistake{
	{"//", "JSON has no comments", "remove the comment"},
	{"/*", "JSON has no comments", "remove the comment"},
	{"#", "JSON has no comments", "remove the comment"},
	{"'", "text stands in single quotes", `use double quotes: "text"`},
	{"`", "text stands in backquotes", `use double quotes: "text"`},
	{"“", "text stands in typographic quotes", `use straight double quotes: "text"`},
	{"”", "text stands in typographic quotes", `use straight double quotes: "text"`},
	{"„", "text stands in typographic quotes", `use straight double quotes: "text"`},
	{"<<<<<<<", "there is a merge conflict", "resolve the conflict and remove its markers"},
	{"=======", "there is a merge conflict", "resolve the conflict and remove its markers"},
	{">>>>>>>", "there is a merge conflict", "resolve the conflict and remove its markers"},
	{"True", "JSON spells it true", "write true in small letters"},
	{"False", "JSON spells it false", "write false in small letters"},
	{"None", "JSON spells it null", "write null"},
	{"undefined", "JSON has no undefined", "write null, or remove the key"},
	{"NaN", "JSON has no NaN", "write a number"},
	{"=", "an equals sign stands where a colon belongs", `write "name": value`},
	{";", "a semicolon stands where a comma belongs", "write a comma, or nothing after the last value"},
}

// explain says what is wrong at offset at, in words of the person who wrote it.
// raw is what the JSON reader says.
func explain(data []byte, at int, raw string) (where int, message, fix string) {
	if at == len(data) {
		return at, "the file ends too early", `a closing "}", "]" or quote is missing`
	}
	rest := data[at:]
	inString := strings.Contains(raw, "in string")
	for _, m := range mistakes {
		if !inString && bytes.HasPrefix(rest, []byte(m.begins)) {
			return at, m.message, m.fix
		}
	}
	before := bytes.TrimRight(data[:at], " \t\r\n")
	afterComma := bytes.HasSuffix(before, []byte(","))
	switch c := rest[0]; {
	case (c == '}' || c == ']') && afterComma:
		return len(before) - 1, fmt.Sprintf("there is a comma before %q", string(c)), "remove the comma"
	case c == ',' && afterComma:
		return at, "there are two commas in a row", "remove one"
	case c == '\n' && inString, c == '\r' && inString:
		return at, "a text goes over the end of the line", `close it with a quote, or write \n for a line end`
	case strings.Contains(raw, "in string escape code"):
		return at, fmt.Sprintf(`"\%s" means nothing in a JSON text`, firstRune(rest)), `write "\\" for a backslash`
	case inString:
		return at, "a control character stands in a text", `write it as \t, \n or \u00XX`
	case strings.Contains(raw, "after object key:value pair"), strings.Contains(raw, "after array element"):
		return at, fmt.Sprintf("a comma is missing before %q", firstRune(rest)), "write a comma between two values"
	case strings.Contains(raw, "after object key"):
		return at, "a colon is missing after the name", `write "name": value`
	case strings.Contains(raw, "after top-level value"):
		return at, "there is more after the end of the object", "remove what stands behind the last }"
	case strings.Contains(raw, "beginning of object key"):
		return at, "a name without quotes", `write names in double quotes: "name": value`
	}
	return at, "this is not JSON: " + raw, "write a value: a text in double quotes, a number, true, false, null, [ ] or { }"
}

func firstRune(b []byte) string {
	_, n := utf8.DecodeRune(b)
	return string(b[:n])
}

// kindOf names what begins with the byte c.
func kindOf(c byte) string {
	switch c {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "a number"
}

// A cursor turns ascending offsets into places. It goes over the data once.
type cursor struct {
	data   []byte
	offset int
	line   int // lines before
	column int // characters before on the line
}

// seek returns the place of offset, which is not before that of the last call.
func (c *cursor) seek(offset int) place {
	step := c.data[c.offset:offset]
	if i := bytes.LastIndexByte(step, '\n'); i >= 0 {
		c.line += bytes.Count(step, []byte("\n"))
		c.column = 0
		step = step[i+1:]
	}
	c.column += utf8.RuneCount(step)
	c.offset = offset
	return place{line: c.line + 1, column: c.column + 1}
}
