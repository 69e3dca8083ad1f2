// Package keyring gives plugins the keyring of the operating system (spec X-2).
package keyring

import (
	ring "github.com/zalando/go-keyring"

	"github.com/knack-skills/knack/plugin"
)

// System returns the keyring of the operating system; nil, which is none, when
// KNACK_KEYRING is off. Nothing is connected before the first use; where there is
// no keyring, every call is an error.
func System(getenv func(string) string) plugin.Keyring {
	if getenv("KNACK_KEYRING") == "off" {
		return nil
	}
	return system{}
}

type system struct{}

// Get returns a secret.
func (system) Get(service, name string) (string, error) { return ring.Get(service, name) }

// Set keeps a secret.
func (system) Set(service, name, secret string) error { return ring.Set(service, name, secret) }

// Delete removes a secret.
func (system) Delete(service, name string) error { return ring.Delete(service, name) }
