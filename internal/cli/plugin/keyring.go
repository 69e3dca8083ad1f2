package plugin

import (
	ring "github.com/zalando/go-keyring"

	"github.com/knack-skills/knack/plugin"
)

// system is the keyring of the operating system. Nothing is connected before the
// first use; where there is none, every call is an error.
type system struct{}

// Get returns a secret.
func (system) Get(service, name string) (string, error) { return ring.Get(service, name) }

// Set keeps a secret.
func (system) Set(service, name, secret string) error { return ring.Set(service, name, secret) }

// Delete removes a secret.
func (system) Delete(service, name string) error { return ring.Delete(service, name) }

func keyring() plugin.Keyring { return system{} }
