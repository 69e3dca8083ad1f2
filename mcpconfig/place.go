package mcpconfig

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// A place is a position in a file, both from 1, the column in characters; zero
// when unknown.
type place struct{ line, column int }

// locate returns where the key at the end of path stands in data.
func locate(data []byte, path ...string) place {
	at, dec := 0, json.NewDecoder(bytes.NewReader(data))
	for i, key := range path {
		if t, err := dec.Token(); err != nil || t != json.Delim('{') {
			break
		}
		start, ok := seek(dec, data, key)
		if !ok {
			break
		}
		if at = start; i == len(path)-1 {
			return position(data, at)
		}
	}
	return position(data, at)
}

// seek reads an object up to the value of key, and returns where the key begins.
// Of equal keys it finds the first.
func seek(dec *json.Decoder, data []byte, key string) (start int, ok bool) {
	for dec.More() {
		from := int(dec.InputOffset())
		t, err := dec.Token()
		if err != nil {
			return 0, false
		}
		if t == key {
			return from + max(0, bytes.IndexByte(data[from:], '"')), true
		}
		var skip json.RawMessage
		if dec.Decode(&skip) != nil {
			return 0, false
		}
	}
	return 0, false
}

func position(data []byte, offset int) place {
	head := data[:max(0, min(offset, len(data)))]
	line := bytes.Count(head, []byte("\n")) + 1
	return place{line, utf8.RuneCount(head[bytes.LastIndexByte(head, '\n')+1:]) + 1}
}
