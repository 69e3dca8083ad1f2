// Package schema reads a JSON Schema and says where a value does not fit it. It
// knows draft 2020-12 and what earlier drafts since 6 wrote differently.
//
// Schemas come from people and programs, so a schema is checked before it is
// used: what cannot be obeyed is an error that says where it stands. Nothing is
// fetched: a schema refers to itself alone. Formats are notes, as in the
// standard. $dynamicRef and $recursiveRef are refused.
//
// A Schema is immutable and safe for concurrent use.
package schema

import (
	"errors"
	"fmt"
	"strings"
)

// The limits of a schema and of a value.
const (
	MaxSize = 1 << 20 // bytes of a schema

	maxSchemaDepth = 100   // levels of nesting in a schema
	maxNodes       = 10000 // schemas in a schema
	maxValueDepth  = 1000  // levels of nesting in a value
	maxSteps       = 1 << 20
	maxMismatches  = 20
)

// A Schema is a schema that was found to be usable.
type Schema struct{ root *node }

// An Error is what is wrong with a schema.
type Error struct {
	At      string // JSON pointer; empty is the whole schema
	Message string
}

// Error says where and what.
func (e *Error) Error() string {
	if e.At == "" {
		return "the schema " + e.Message
	}
	return "at " + clip(e.At) + ": " + e.Message
}

// A Mismatch is one place where a value does not fit.
type Mismatch struct {
	At      string // JSON pointer into the value; empty is the whole value
	Message string
}

// String says where and what.
func (m Mismatch) String() string {
	if m.At == "" {
		return "the value " + m.Message
	}
	return m.At + " " + m.Message
}

// Parse reads a schema. Its error is an [*Error].
func Parse(data []byte) (*Schema, error) {
	if len(data) > MaxSize {
		return nil, &Error{"", fmt.Sprintf("has %d bytes and may have %d", len(data), MaxSize)}
	}
	raw, err := decode(data, maxSchemaDepth)
	if err != nil {
		return nil, asError(err)
	}
	c := compiler{raw: raw, words: words(), nodes: map[string]*node{}, resources: map[string]place{}, anchors: map[string]place{}}
	root, err := c.compile()
	if err != nil {
		return nil, asError(err)
	}
	return &Schema{root}, nil
}

// ErrTooMuch reports that a value cannot be checked within reason.
var ErrTooMuch = errors.New("checking the value against the schema takes too many steps")

// Check says where value does not fit; nothing says that it does. Value is
// JSON; what is not, or names a key twice, is a mismatch. At most 20 are
// reported. The error is [ErrTooMuch].
func (s *Schema) Check(value []byte) ([]Mismatch, error) {
	v, err := decode(value, maxValueDepth)
	if err != nil {
		var e *Error
		if errors.As(err, &e) {
			return []Mismatch{{e.At, e.Message}}, nil
		}
		return []Mismatch{{"", err.Error()}}, nil
	}
	run := visit{left: new(maxSteps)}
	s.root.eval(&run, v, "", nil)
	if *run.left <= 0 {
		return nil, ErrTooMuch
	}
	return run.found, nil
}

func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{"", err.Error()}
}

// clip keeps what strangers wrote from filling a message.
func clip(s string) string {
	const most = 120
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// below is the pointer of a member.
func below(at, name string) string {
	return at + "/" + strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
