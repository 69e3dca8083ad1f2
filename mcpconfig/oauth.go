package mcpconfig

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
)

// OAuth is what an entry says about signing in at a server behind HTTP. The zero
// value leaves everything to the server.
type OAuth struct {
	Off          bool     // "oauth": false
	ClientID     string   // of a client that was registered by hand, or the address of its metadata
	ClientSecret string   // empty for a public client
	CallbackPort int      // of the redirect address; zero means any
	Scopes       []string // what is asked for, whatever the server proposes
	Metadata     string   // where the authorization server describes itself
}

type writtenOAuth struct {
	ClientID     string          `json:"clientId"`
	ClientSecret string          `json:"clientSecret"`
	CallbackPort int             `json:"callbackPort"`
	Scopes       json.RawMessage `json:"scopes"`
	Metadata     string          `json:"authServerMetadataUrl"`
}

// readOAuth reads the key oauth: an object, as several agents have it, or false.
// Keys of other programs are left alone.
func readOAuth(raw json.RawMessage, x *expander) (out OAuth, why string) {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", "true":
		return out, ""
	case "false":
		return OAuth{Off: true}, ""
	}
	var w writtenOAuth
	if err := json.Unmarshal(raw, &w); err != nil {
		return out, `"oauth" is no object with texts, and a number as callbackPort`
	}
	if w.CallbackPort < 0 || w.CallbackPort > 65535 {
		return out, "oauth.callbackPort is no port"
	}
	var line string
	switch err := json.Unmarshal(w.Scopes, &line); {
	case len(w.Scopes) == 0:
	case err == nil:
		out.Scopes = strings.Fields(line)
	case json.Unmarshal(w.Scopes, &out.Scopes) != nil:
		return out, "oauth.scopes is neither a text nor a list of texts"
	}
	out.ClientID, out.ClientSecret, out.CallbackPort = x.text(w.ClientID), x.text(w.ClientSecret), w.CallbackPort
	for i, s := range out.Scopes {
		out.Scopes[i] = x.text(s)
	}
	if out.Metadata = x.text(w.Metadata); out.Metadata != "" && len(x.unset) == 0 {
		if u, err := url.Parse(out.Metadata); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return out, "oauth.authServerMetadataUrl is no address that begins with https://"
		}
	}
	return out, ""
}
