// Package plugin keeps the plugins that a person has installed (spec ):
// a cache of versions and the record of which one counts, the marketplaces that
// are known, what policy allows (spec S-11), which plugins are on, and the values
// that they were given. Getting files from elsewhere is package fetch below it.
//
// Installing never runs anything. Everything lies in the state directory, and
// several processes may change it at once.
package plugin

import (
	"fmt"
	"strings"

	source "github.com/knack-skills/knack/source/plugin"
)

// Direct is the place in the cache of plugins that come from no marketplace.
const Direct = "_direct"

// ID names an installed plugin: name@marketplace, or the name alone for one that
// comes from no marketplace.
func ID(name, market string) string {
	if market == "" {
		return name
	}
	return name + "@" + market
}

// ParseID splits an id.
func ParseID(id string) (name, market string, err error) {
	name, market, has := strings.Cut(id, "@")
	if !source.PlainName(name) || has && !source.PlainName(market) {
		return "", "", fmt.Errorf("%q is no plugin: write NAME or NAME@MARKETPLACE", id)
	}
	return name, market, nil
}

// A Scope says whose settings switch a plugin on.
type Scope string

// The scopes.
const (
	User    Scope = "user"
	Project Scope = "project" // shared with everybody who has the repository
	Local   Scope = "local"   // this repository, for this person
)

// Scopes lists them, the default first.
func Scopes() []Scope { return []Scope{User, Project, Local} }
