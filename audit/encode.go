package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// MaxLine is the longest line that is written, with its newline, in bytes. What
// does not fit is shortened, with a mark; a record is never split.
const MaxLine = 64 << 10

// timeFormat is RFC 3339 in UTC with milliseconds, always of one width.
const timeFormat = "2006-01-02T15:04:05.000Z"

// A written is a record as it stands in the file.
type written struct {
	Time string `json:"time"` // in place of the one below
	record
}

type record Record

// encode returns a record as one line, at most [MaxLine] long. It gives up as
// little as it can.
func encode(r Record) ([]byte, error) {
	if len(r.Detail) > 0 && !json.Valid(r.Detail) {
		r.Detail = quote(string(r.Detail))
	}
	for _, shorten := range []func(*Record){
		func(*Record) {},
		func(r *Record) { shortStrings(r, MaxLine/2) },
		func(r *Record) { shortStrings(r, maxString) },
		onlyBegin,
	} {
		shorten(&r)
		line, err := marshal(written{r.Time.UTC().Format(timeFormat), record(r)})
		if err != nil {
			return nil, fmt.Errorf("audit record: %w", err)
		}
		// What is no UTF-8 would be damage to other readers of the file.
		if line = bytes.ToValidUTF8(line, []byte("\uFFFD")); len(line) <= MaxLine {
			return line, nil
		}
	}
	return nil, fmt.Errorf("audit record: %w", errTooLong) // not with the limits below
}

// The limits of shortened parts, in bytes. JSON may write a byte as six, so
// nine fields and a detail stay below MaxLine.
const (
	maxField  = 512
	maxString = 2 << 10
	maxBegin  = 4 << 10
)

// shortStrings shortens the long strings inside of a detail, so that what
// stands beside them (an exit status, a duration) is kept.
func shortStrings(r *Record, limit int) {
	dec := json.NewDecoder(bytes.NewReader(r.Detail))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return
	}
	if out, err := marshal(shorter(v, limit)); err == nil {
		r.Detail = out
	}
}

func shorter(v any, limit int) any {
	switch v := v.(type) {
	case string:
		return cut(v, limit)
	case []any:
		for i := range v {
			v[i] = shorter(v[i], limit)
		}
	case map[string]any:
		for k := range v {
			v[k] = shorter(v[k], limit)
		}
	}
	return v
}

// onlyBegin keeps the beginning of each field, and that of the detail as text.
func onlyBegin(r *Record) {
	for _, s := range []*string{&r.SessionID, &r.AgentID, (*string)(&r.Kind), &r.Tool, &r.Skill,
		&r.SkillHash, &r.Rule, &r.Source, &r.Outcome} {
		*s = cut(*s, maxField)
	}
	if len(r.Detail) > 0 {
		r.Detail = json.RawMessage(`{"shortened":` + string(quote(cut(string(r.Detail), maxBegin))) + "}")
	}
}

// cut shortens s to about n bytes, at a border of characters, and says how much
// is missing.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%s… [%d bytes more]", s[:n], len(s)-n)
}

// quote writes s as a JSON string.
func quote(s string) json.RawMessage {
	out, _ := marshal(s) // strings always marshal
	return bytes.TrimSpace(out)
}

// marshal writes JSON on one line, with its newline, and leaves < > & readable.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}
