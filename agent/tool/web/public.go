package web

import (
	"fmt"
	"net/netip"
	"strings"
)

// reserved are the networks that netip has no word for and that no public page
// is in.
var reserved = []string{
	"0.0.0.0/8",
	"100.64.0.0/10", // shared by providers
	"192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"64:ff9b:1::/48", "100::/64", "2001:db8::/32", "fec0::/10",
	"2001::/23", // tunnels
}

// The networks whose addresses hold an IPv4 address that a gateway takes out.
const (
	nat64  = "64:ff9b::/96"
	sixTo4 = "2002::/16"
)

func within(a netip.Addr, network string) bool { return netip.MustParsePrefix(network).Contains(a) }

// public reports an error unless an address with a port belongs to the public
// network.
func public(address string) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%q is no address", address)
	}
	return publicAddr(ap.Addr())
}

func publicAddr(a netip.Addr) error {
	plain := a.WithZone("").Unmap()
	bad := !plain.IsGlobalUnicast() || plain.IsPrivate()
	for _, network := range reserved {
		bad = bad || within(plain, network)
	}
	if inner, ok := embedded(plain); ok && !bad {
		bad = publicAddr(inner) != nil
	}
	if bad {
		return fmt.Errorf("%s is an address of this machine or of a private network, and those are not fetched", a)
	}
	return nil
}

// embedded is the IPv4 address that a gateway takes out of an IPv6 one.
func embedded(a netip.Addr) (netip.Addr, bool) {
	if !a.Is6() {
		return a, false
	}
	b := a.As16()
	switch {
	case within(a, nat64):
		return netip.AddrFrom4([4]byte(b[12:])), true
	case within(a, sixTo4):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return a, false
}

// publicName refuses hosts that are private by what they are called.
func publicName(host string) error {
	if a, err := netip.ParseAddr(host); err == nil {
		return publicAddr(a)
	}
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	for _, end := range []string{"localhost", "local", "internal", "home.arpa"} {
		if name == end || strings.HasSuffix(name, "."+end) {
			return fmt.Errorf("%s is this machine or in a private network, and those are not fetched", host)
		}
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	if strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") { // 127.1, 0x7f000001
		return fmt.Errorf("%s is an unusual way to write an address: write it as four numbers", host)
	}
	return nil
}
