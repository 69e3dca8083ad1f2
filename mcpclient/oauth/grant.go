package oauth

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/knack-skills/knack/state"
)

// A Grant is what a person was given for one server, with all that it takes to
// renew it. It is a secret as a whole.
type Grant struct {
	Access       string    `json:"access,omitempty"`
	Refresh      string    `json:"refresh,omitempty"`
	Expires      time.Time `json:"expires,omitzero"` // zero means that nobody knows
	Scopes       []string  `json:"scopes,omitempty"`
	Wanted       []string  `json:"wanted,omitempty"` // scopes that requests lacked
	Resource     string    `json:"resource,omitempty"`
	Issuer       string    `json:"issuer,omitempty"`
	TokenURL     string    `json:"tokenUrl,omitempty"`
	RevokeURL    string    `json:"revokeUrl,omitempty"`
	ClientID     string    `json:"clientId,omitempty"`
	ClientSecret string    `json:"clientSecret,omitempty"`
	Method       Method    `json:"method,omitempty"`
}

// A Method is how this program proves to an issuer who it is.
type Method string

// The methods.
const (
	Public Method = "none" // it has no secret
	Basic  Method = "client_secret_basic"
	Post   Method = "client_secret_post"
)

// A Store keeps grants, by the key of a server. It is safe for concurrent use by
// several processes.
type Store interface {
	// Load returns the zero Grant when there is none.
	Load(key string) (Grant, error)
	// Change replaces a grant while every other Change of it waits; the zero Grant
	// removes it. A change that returns an error leaves everything as it is.
	Change(key string, change func(Grant) (Grant, error)) error
}

// Key is the name of a server in a store: its address, without what means
// nothing. ok is false when no token may be sent there: over http:// to another
// machine, or when the address itself says who asks.
func Key(address string) (key string, ok bool) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || !secure(u) {
		return "", false
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if p := u.Port(); p == "443" && u.Scheme == "https" || p == "80" && u.Scheme == "http" {
		u.Host = strings.TrimSuffix(u.Host, ":"+p)
	}
	u.Fragment, u.RawFragment = "", ""
	return u.String(), true
}

// secure reports whether what is sent to an address can be read there alone.
func secure(u *url.URL) bool {
	return u.Scheme == "https" && u.Host != "" || u.Scheme == "http" && loopback(u.Hostname())
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// A Keyring keeps secrets of the person, as the operating system does.
type Keyring interface {
	Get(service, name string) (string, error)
	Set(service, name, secret string) error
	Delete(service, name string) error
}

// service is under which grants stand in the keyring.
const service = "knack mcp"

// Files keeps grants in the keyring and, where there is none that takes them, in
// files that only their owner can read. It implements [Store] and is a value.
type Files struct {
	Dir     string  // one file for each server
	Keyring Keyring // nil means that there is none
}

// A kept is the file of one server.
type kept struct {
	Server  string `json:"server,omitempty"`
	Keyring bool   `json:"keyring,omitempty"`
	Grant   *Grant `json:"grant,omitempty"` // when it is not in the keyring
}

// ErrInFile reports that a grant was kept in a file, because there is no keyring.
var ErrInFile = errors.New("there is no keyring that answers, so the token stands in a file that only you can read")

func (f Files) file(key string) state.File[kept] {
	if f.Dir == "" {
		return state.File[kept]{}
	}
	sum := sha256.Sum256([]byte(key))
	return state.File[kept]{Path: filepath.Join(f.Dir, hex.EncodeToString(sum[:12])+".json")}
}

// Load implements [Store].
func (f Files) Load(key string) (Grant, error) {
	if f.Dir == "" {
		return Grant{}, nil
	}
	k, err := f.file(key).Read()
	if err != nil {
		return Grant{}, err
	}
	return f.reveal(key, k)
}

// Change implements [Store].
func (f Files) Change(key string, change func(Grant) (Grant, error)) error {
	inFile := false
	err := f.file(key).Update(func(k *kept) error {
		old, err := f.reveal(key, *k)
		if err != nil {
			old = Grant{} // it is lost: what comes now takes its place
		}
		g, err := change(old)
		if err != nil {
			return err
		}
		if empty(g) {
			if k.Keyring && f.Keyring != nil {
				if err := f.Keyring.Delete(service, key); err != nil && !empty(old) {
					return fmt.Errorf("the keyring does not forget it: %w", err)
				}
			}
			*k = kept{}
			return nil
		}
		was := k.Keyring
		*k, err = f.hide(key, g)
		inFile = k.Grant != nil
		if was && inFile && f.Keyring != nil {
			_ = f.Keyring.Delete(service, key) // an old token is of no use to anybody
		}
		return err
	})
	if err == nil && inFile {
		return ErrInFile
	}
	return err
}

func (f Files) hide(key string, g Grant) (kept, error) {
	text, err := json.Marshal(g)
	if err != nil {
		return kept{}, err
	}
	if f.Keyring != nil && f.Keyring.Set(service, key, string(text)) == nil {
		return kept{Server: key, Keyring: true}, nil
	}
	return kept{Server: key, Grant: &g}, nil
}

func (f Files) reveal(key string, k kept) (g Grant, err error) {
	switch {
	case k.Server != key: // none, or one of another server
		return Grant{}, nil
	case k.Grant != nil:
		return *k.Grant, nil
	case !k.Keyring:
		return Grant{}, nil
	case f.Keyring == nil:
		return Grant{}, errors.New("it stands in the keyring, and there is none (KNACK_KEYRING)")
	}
	text, err := f.Keyring.Get(service, key)
	if err != nil {
		return Grant{}, fmt.Errorf("the keyring: %w", err)
	}
	if err := json.Unmarshal([]byte(text), &g); err != nil {
		return Grant{}, errors.New("what the keyring holds is damaged") // never the text itself
	}
	return g, nil
}

func empty(g Grant) bool { return g.Access == "" && g.Refresh == "" && len(g.Wanted) == 0 }
