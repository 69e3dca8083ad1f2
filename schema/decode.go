package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
)

// decode reads JSON into nil, bool, string, *big.Rat, []any and map[string]any.
// A key that stands twice is an error: its readers would not agree on it.
func decode(data []byte, depth int) (any, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("is empty and not JSON")
	}
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, notJSON(data, err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return read(d, "", depth)
}

func notJSON(data []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return fmt.Errorf("is not JSON: %w", err)
	}
	before := data[:min(int(max(syntax.Offset-1, 0)), len(data))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := 1 + len([]rune(string(before[bytes.LastIndexByte(before, '\n')+1:])))
	return fmt.Errorf("is not JSON: line %d, column %d: %w", line, column, err)
}

func read(d *json.Decoder, at string, depth int) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		if depth == 0 {
			return nil, &Error{"", "is nested too deeply"}
		}
		if t == '{' {
			return readObject(d, at, depth-1)
		}
		return readArray(d, at, depth-1)
	case json.Number:
		return number(t.String(), at)
	}
	return t, nil
}

func readObject(d *json.Decoder, at string, depth int) (any, error) {
	out := map[string]any{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := t.(string)
		if _, twice := out[key]; twice {
			return nil, &Error{below(at, key), "stands twice"}
		}
		if out[key], err = read(d, below(at, key), depth); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return out, err
}

func readArray(d *json.Decoder, at string, depth int) (any, error) {
	out := []any{}
	for d.More() {
		v, err := read(d, at+"/"+strconv.Itoa(len(out)), depth)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := d.Token()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return out, err
}

// maxDigits bounds numbers, because an exact 1e999999999 fills the memory.
const maxDigits = 1000

func number(s, at string) (any, error) {
	_, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	e, err := strconv.Atoi(exponent)
	if len(s) > maxDigits || exponent != "" && (err != nil || e > maxDigits || e < -maxDigits) {
		return nil, &Error{at, "is a number with too many digits"}
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil, &Error{at, "is no number that can be read"}
	}
	return r, nil
}

// kind is the type of a value as schemas name it.
func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case *big.Rat:
		if v.IsInt() {
			return "integer"
		}
	}
	return "number"
}

// canonical is the same text for equal values.
func canonical(v any) string {
	var b strings.Builder
	write(&b, v)
	return b.String()
}

func write(b *strings.Builder, v any) {
	switch v := v.(type) {
	case *big.Rat:
		b.WriteString(v.RatString())
	case []any:
		b.WriteByte('[')
		for _, x := range v {
			write(b, x)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for _, k := range keys(v) {
			b.WriteString(strconv.Quote(k))
			b.WriteByte(':')
			write(b, v[k])
			b.WriteByte(',')
		}
		b.WriteByte('}')
	case string:
		b.WriteString(strconv.Quote(v))
	case nil:
		b.WriteString("null")
	default:
		fmt.Fprint(b, v)
	}
}

// show writes a value for a message.
func show(v any) string {
	return clip(strings.NewReplacer(",]", "]", ",}", "}").Replace(canonical(v)))
}
