package oauth_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/mcpclient/oauth"
)

// A drawer is a keyring in memory.
type drawer struct {
	mu     sync.Mutex
	locked bool
	max    int // bytes of a secret; zero means any
	holds  map[string]string
}

var errLocked = errors.New("locked")

func (d *drawer) Get(service, name string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, ok := d.holds[service+"\n"+name]
	if d.locked || !ok {
		return "", errLocked
	}
	return s, nil
}

func (d *drawer) Set(service, name, secret string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.locked || d.max > 0 && len(secret) > d.max {
		return errLocked
	}
	d.holds[service+"\n"+name] = secret
	return nil
}

func (d *drawer) Delete(service, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.locked {
		return errLocked
	}
	delete(d.holds, service+"\n"+name)
	return nil
}

const key = "https://mcp.example.com/mcp"

func put(f oauth.Files, g oauth.Grant) error {
	return f.Change(key, func(oauth.Grant) (oauth.Grant, error) { return g, nil })
}

// TestFiles: the keyring holds what it takes, a file the rest, and nothing is in
// two places.
func TestFiles(t *testing.T) {
	d := &drawer{holds: map[string]string{}, max: 500}
	f := oauth.Files{Dir: filepath.Join(t.TempDir(), "logins"), Keyring: d}
	if g, err := f.Load(key); err != nil || g.Access != "" {
		t.Fatal(g, err)
	}
	small := oauth.Grant{Access: "access-1", Refresh: "refresh-1", Expires: time.Unix(2e9, 0).UTC(), Scopes: []string{"a"}, Method: oauth.Basic}
	large := oauth.Grant{Access: "access-2" + strings.Repeat("x", 1000)}
	for _, tt := range []struct {
		g      oauth.Grant
		locked bool
		want   error
	}{{small, false, nil}, {large, false, oauth.ErrInFile}, {small, false, nil}, {small, true, oauth.ErrInFile}, {small, false, nil}} {
		d.locked = tt.locked
		if err := put(f, tt.g); !errors.Is(err, tt.want) {
			t.Fatal(err)
		}
		d.locked = false
		got, err := f.Load(key)
		if err != nil || cmp.Diff(tt.g, got) != "" {
			t.Error(err, cmp.Diff(tt.g, got))
		}
		text := inDir(t, f.Dir)
		inRing := len(d.holds) == 1
		if inFile := strings.Contains(text, "access-"); inFile != (tt.want != nil) || inRing == inFile && !tt.locked {
			t.Errorf("in the file: %v, in the keyring: %v", inFile, inRing)
		}
		if other, err := f.Load(key + "/other"); err != nil || other.Access != "" {
			t.Error(other, err)
		}
	}
	d.locked = true
	if _, err := f.Load(key); !errors.Is(err, errLocked) {
		t.Error(err)
	}
	if _, err := (oauth.Files{Dir: f.Dir}).Load(key); err == nil {
		t.Error("a keyring that is off has what it holds")
	}
	d.locked = false
	if err := put(f, oauth.Grant{}); err != nil || len(d.holds) > 0 || strings.Contains(inDir(t, f.Dir), "example") {
		t.Error("it is not forgotten", err, d.holds)
	}
	if err := put(oauth.Files{}, small); err == nil {
		t.Error("nowhere is a place")
	}
}

// inDir returns what all files hold, and demands that they are their owner's.
func inDir(t *testing.T, dir string) string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, e := range all {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the rights %s", e.Name(), info.Mode())
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		text += string(data)
	}
	return text
}

// TestDamaged: a file that is damaged is no reason to show a secret, or to stay
// outside for ever.
func TestDamaged(t *testing.T) {
	d := &drawer{holds: map[string]string{}}
	f := oauth.Files{Dir: t.TempDir(), Keyring: d}
	if err := put(f, oauth.Grant{Access: "hush"}); err != nil {
		t.Fatal(err)
	}
	for k := range d.holds {
		d.holds[k] = `{"access": "hush`
	}
	if _, err := f.Load(key); err == nil || strings.Contains(err.Error(), "hush") {
		t.Error(err)
	}
	if err := put(f, oauth.Grant{Access: "new"}); err != nil {
		t.Fatal(err)
	}
	if g, err := f.Load(key); err != nil || g.Access != "new" {
		t.Error(g, err)
	}
}

// TestKey: which addresses a token may be sent to, and which are one server.
func TestKey(t *testing.T) {
	for _, tt := range []struct {
		in, want string
	}{
		{"https://Example.com/mcp", "https://example.com/mcp"},
		{"https://example.com:443/mcp#a", "https://example.com/mcp"},
		{"https://example.com:8443/Mcp?a=b", "https://example.com:8443/Mcp?a=b"},
		{"http://127.0.0.1:80/", "http://127.0.0.1/"},
		{"http://localhost:3000/mcp", "http://localhost:3000/mcp"},
		{"http://[::1]:3000/mcp", "http://[::1]:3000/mcp"},
		{"http://example.com/mcp", ""},
		{"http://localhost.example.com/mcp", ""},
		{"http://127.0.0.1.example.com/mcp", ""},
		{"https://me:secret@example.com/mcp", ""},
		{"ftp://example.com/", ""},
		{"https:///mcp", ""},
		{"", ""},
	} {
		got, ok := oauth.Key(tt.in)
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("%q: %q %v", tt.in, got, ok)
		}
	}
}
