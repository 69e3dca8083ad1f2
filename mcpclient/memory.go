package mcpclient

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/knack-skills/knack/mcpconfig"
	"github.com/knack-skills/knack/state"
)

// A Memory keeps from one session to the next what tools a server offers, so
// that a conversation has them with its first request, while the server is still
// being started (spec X-6). It is asked by what an entry says, where it stands
// and where the server runs: a changed entry is another server. Skills are not
// kept: they appear when their server does.
//
// The zero Memory keeps nothing. A Memory is safe for concurrent use, also by
// several processes. A file that cannot be read means that nothing is known.
type Memory struct{ Dir string }

// remembered is one server in the memory.
type remembered struct {
	// Silent is a server that nobody should wait for: it took its time, and then
	// there was no answer.
	Silent bool   `json:"silent"`
	Tools  []Tool `json:"tools"` // nil when nothing is known of them
}

// The limits of a memory.
const (
	maxRemembered = 500 // servers
	// A server that fails within soon costs nobody a wait; one that was still
	// silent at the end of a session, after inVain, does.
	soon   = 200 * time.Millisecond
	inVain = 4 * time.Second
)

// file is where a server is kept. Secrets of an entry are in the name as part of
// a hash, and nowhere else.
func (m Memory) file(c mcpconfig.Server, dir string) state.File[remembered] {
	if m.Dir == "" {
		return state.File[remembered]{}
	}
	id, _ := json.Marshal([]any{c.Name, c.Path, c.Dir, c.Hash, c.Command, c.Args, c.URL, dir}) // texts
	sum := sha256.Sum256(id)
	return state.File[remembered]{Path: filepath.Join(m.Dir, hex.EncodeToString(sum[:16])+".json")}
}

// recall returns what is known about a server; ok is false for an unknown one.
func (m Memory) recall(c mcpconfig.Server, dir string) (r remembered, ok bool) {
	f := m.file(c, dir)
	if f.Path == "" {
		return r, false
	}
	r, err := f.Read()
	if err != nil {
		return remembered{}, false
	}
	for i := range r.Tools { // the file is written for people to read
		var plain bytes.Buffer
		if json.Compact(&plain, r.Tools[i].Schema) == nil {
			r.Tools[i].Schema = plain.Bytes()
		}
	}
	return r, r.Silent || r.Tools != nil
}

// remember keeps what is known about a server now.
func (m Memory) remember(c mcpconfig.Server, dir string, r remembered) error {
	f := m.file(c, dir)
	if f.Path == "" {
		return nil
	}
	return errors.Join(f.Update(func(v *remembered) error { *v = r; return nil }), m.prune())
}

// prune forgets the servers that were learned first when there are too many.
func (m Memory) prune() error {
	list, err := os.ReadDir(m.Dir)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(e fs.DirEntry) bool { return filepath.Ext(e.Name()) != ".json" })
	if len(list) <= maxRemembered {
		return nil
	}
	age := map[string]int64{}
	for _, e := range list {
		if fi, err := e.Info(); err == nil { // or it is gone
			age[e.Name()] = fi.ModTime().UnixNano()
		}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return cmp.Compare(age[a.Name()], age[b.Name()]) })
	for _, e := range list[:len(list)-maxRemembered] {
		path := filepath.Join(m.Dir, e.Name())
		lock := strings.TrimSuffix(path, ".json") + ".lock"
		if err := errors.Join(gone(os.Remove(path)), gone(os.Remove(lock))); err != nil {
			return err
		}
	}
	return nil
}

// gone takes what somebody else has removed for removed.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
