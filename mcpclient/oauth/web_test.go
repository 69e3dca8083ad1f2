package oauth

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// TestOnlyPublic: a server of the internet has no say about what is asked in the
// person's own network.
func TestOnlyPublic(t *testing.T) {
	for at, want := range map[string]bool{
		"8.8.8.8:443": true, "[2606:4700::1111]:443": true,
		"10.0.0.1:443": false, "172.16.0.1:80": false, "192.168.1.1:80": false, "169.254.169.254:80": false, "127.0.0.1:80": false,
		"100.64.0.1:443": false, "0.0.0.0:80": false, "[::1]:80": false, "[fd00::1]:80": false, "[fe80::1]:80": false, "[::ffff:10.0.0.1]:80": false,
		"nonsense": false,
	} {
		if err := onlyPublic("tcp", at, nil); (err == nil) != want {
			t.Errorf("%s: %v", at, err)
		}
	}
	if public(t.Context(), "127.0.0.1") || public(t.Context(), "10.1.2.3") || !public(t.Context(), "8.8.8.8") {
		t.Error("which servers are on the internet")
	}
}

// TestDescribes: which descriptions are of a server.
func TestDescribes(t *testing.T) {
	for _, tt := range []struct {
		resource, server string
		want             bool
	}{
		{"https://a.example/mcp", "https://a.example/mcp", true},
		{"https://a.example", "https://a.example/mcp", true},
		{"https://a.example/", "https://a.example/mcp", true},
		{"https://A.example/mcp/", "https://a.example/mcp", true},
		{"https://a.example/mcp", "https://a.example/mcp2", false},
		{"https://a.example/mcp/x", "https://a.example/mcp", false},
		{"https://b.example/mcp", "https://a.example/mcp", false},
		{"https://a.example:8443/mcp", "https://a.example/mcp", false},
		{"http://a.example/mcp", "https://a.example/mcp", false},
		{"https://a.example/mcp#x", "https://a.example/mcp", false},
		{"https://me@a.example/mcp", "https://a.example/mcp", false},
		{"https://a.example/mcp?tenant=1", "https://a.example/mcp", false},
		{"", "https://a.example/mcp", false},
	} {
		u, err := url.Parse(tt.server)
		if err != nil {
			t.Fatal(err)
		}
		if got := describes(tt.resource, u); got != tt.want {
			t.Errorf("%s of %s: %v", tt.resource, tt.server, got)
		}
	}
}

// TestChallenge: what is read of the headers of a refusal.
func TestChallenge(t *testing.T) {
	for _, tt := range []struct {
		headers       []string
		place, scopes string
	}{
		{nil, "", ""},
		{[]string{"Bearer"}, "", ""},
		{[]string{`Basic realm="x", Bearer resource_metadata="https://a.example/m", scope="a b"`}, "https://a.example/m", "a b"},
		{[]string{`Bearer scope="a \"b\" c"`}, "", "a c"}, // a quote stands in no scope
		{[]string{`"`, `Bearer scope=`, "\x00", `Bearer scope="b"`}, "", "b"},
		{[]string{`Bearer ` + strings.Repeat(",", maxChallenge), `Bearer scope="c"`}, "", "c"},
		{[]string{`Bearer scope="` + strings.Repeat("s ", maxScopes+5) + `"`}, "", strings.TrimSpace(strings.Repeat("s ", maxScopes))},
	} {
		got := challenge(tt.headers)
		if got.metadata != tt.place || strings.Join(got.scopes, " ") != tt.scopes {
			t.Errorf("%.80q: %.80q %.80q", tt.headers, got.metadata, got.scopes)
		}
	}
}

func FuzzChallenge(f *testing.F) {
	f.Add(`Bearer resource_metadata="https://a.example/m", scope="a b", error="insufficient_scope"`)
	f.Add(`Basic realm="x", Bearer`)
	f.Add("Bearer a=b, =,\x00\"")
	f.Fuzz(func(t *testing.T, header string) {
		for _, s := range challenge([]string{header}).scopes {
			if strings.ContainsAny(s, " \"\\\x00\n\x1b") || s == "" {
				t.Errorf("%q is no scope", s)
			}
		}
	})
}

// TestLoopback: which hosts are this machine.
func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{"localhost": true, "LOCALHOST": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, "::ffff:127.0.0.1": true,
		"localhost.": false, "127.1": false, "0.0.0.0": false, "example.com": false, "": false} {
		if got := loopback(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
	if inside(netip.MustParseAddr("1.1.1.1")) {
		t.Error("1.1.1.1 is nobody's own")
	}
}
