package mcpconfig_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/mcpconfig"
)

// TestOAuth: what entries of other agents say about signing in.
func TestOAuth(t *testing.T) {
	env := map[string]string{"SECRET": "hush"}
	for _, tt := range []struct {
		in, problem string
		want        mcpconfig.OAuth
	}{
		{`null`, "", mcpconfig.OAuth{}},
		{`true`, "", mcpconfig.OAuth{}},
		{`false`, "", mcpconfig.OAuth{Off: true}},
		{`{}`, "", mcpconfig.OAuth{}},
		{`{"enabled": true, "audiences": []}`, "", mcpconfig.OAuth{}},
		{`{"clientId": "a", "callbackPort": 8080}`, "", mcpconfig.OAuth{ClientID: "a", CallbackPort: 8080}},
		{`{"clientId": "${NAME:-b}", "clientSecret": "${SECRET}"}`, "", mcpconfig.OAuth{ClientID: "b", ClientSecret: "hush"}},
		{`{"scopes": "read  write"}`, "", mcpconfig.OAuth{Scopes: []string{"read", "write"}}},
		{`{"scopes": ["read", "${SECRET}"]}`, "", mcpconfig.OAuth{Scopes: []string{"read", "hush"}}},
		{`{"authServerMetadataUrl": "https://a.example/m"}`, "", mcpconfig.OAuth{Metadata: "https://a.example/m"}},
		{`{"clientSecret": "${UNSET}"}`, "not set: UNSET", mcpconfig.OAuth{}},
		{`"yes"`, `"oauth" is no object`, mcpconfig.OAuth{}},
		{`{"clientId": 5}`, `"oauth" is no object with texts`, mcpconfig.OAuth{}},
		{`{"callbackPort": "8080"}`, `"oauth" is no object with texts`, mcpconfig.OAuth{}},
		{`{"callbackPort": 70000}`, "no port", mcpconfig.OAuth{}},
		{`{"callbackPort": -1}`, "no port", mcpconfig.OAuth{}},
		{`{"scopes": 5}`, "oauth.scopes", mcpconfig.OAuth{}},
		{`{"authServerMetadataUrl": "file:///etc/passwd"}`, "authServerMetadataUrl", mcpconfig.OAuth{}},
	} {
		set := mcpconfig.Load(mcpconfig.Sources{Flags: []string{fmt.Sprintf(`{"mcpServers": {"s": {"type": "http", "url": "https://a.example", "oauth": %s}}}`, tt.in)},
			Getenv: func(k string) string { return env[k] }})
		if tt.problem != "" {
			if len(set.Servers) > 0 || len(set.Problems) != 1 || !strings.Contains(set.Problems[0].Message, tt.problem) {
				t.Errorf("%s: %v %v", tt.in, set.Servers, set.Problems)
			}
			continue
		}
		if len(set.Problems) > 0 || len(set.Servers) != 1 {
			t.Errorf("%s: %v", tt.in, set.Problems)
		} else if d := cmp.Diff(tt.want, set.Servers[0].OAuth); d != "" {
			t.Errorf("%s: %s", tt.in, d)
		}
	}
}
