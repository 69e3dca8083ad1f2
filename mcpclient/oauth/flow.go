package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/knack-skills/knack/mcpconfig"
)

// signIn lets the person say yes, and returns what they are given. old is what
// they had.
func (c *Client) signIn(ctx context.Context, s mcpconfig.Server, ch challenged, old Grant) (Grant, error) {
	w, err := c.web(ctx, s.URL)
	if err != nil {
		return Grant{}, err
	}
	r, err := c.discover(ctx, s, ch, w)
	if err != nil {
		return Grant{}, err
	}
	l, err := listen(ctx, s.OAuth.CallbackPort)
	if err != nil {
		return Grant{}, err
	}
	defer l.close()
	g, err := c.introduce(ctx, s, r, l.redirect, w)
	if err != nil {
		return Grant{}, err
	}
	g.Resource, g.Issuer, g.TokenURL, g.RevokeURL = r.resource, r.meta.Issuer, r.meta.TokenEndpoint, r.meta.RevocationEndpoint
	g.Scopes = scopes(s, r, ch, old)
	verifier := newSecret()
	l.state, l.issuer, l.named = newSecret(), r.meta.Issuer, r.meta.AuthorizationResponseIssParameterSupported
	code, err := l.answer(ctx, c.o.Person, page(r.meta.AuthorizationEndpoint, g, l, verifier))
	if err != nil {
		return Grant{}, err
	}
	t, err := w.ask(ctx, g.TokenURL, g, url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {l.redirect},
		"code_verifier": {verifier}, "resource": {g.Resource}})
	if err != nil {
		return Grant{}, err
	}
	return took(g, t)
}

// scopes is what is asked for: what the entry says, or else what the server
// demands, or else all that it has; with what the person had and requests lacked.
func scopes(s mcpconfig.Server, r realm, ch challenged, old Grant) []string {
	out := ch.scopes
	switch {
	case len(s.OAuth.Scopes) > 0:
		out = union(tokens(s.OAuth.Scopes), nil)
	case len(out) == 0:
		out = r.scopes
	}
	if len(out) > 0 && slices.Contains(r.meta.ScopesSupported, "offline_access") {
		out = union(out, []string{"offline_access"}) // with it the issuer gives a refresh token
	}
	if old.Issuer == r.meta.Issuer {
		out = union(old.Scopes, out)
	}
	out = union(out, tokens(old.Wanted))
	return out[:min(len(out), maxScopes)]
}

// page is where the person says yes.
func page(endpoint string, g Grant, l *listener, verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	q := url.Values{"response_type": {"code"}, "client_id": {g.ClientID}, "redirect_uri": {l.redirect}, "state": {l.state},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}, "resource": {g.Resource}}
	if len(g.Scopes) > 0 {
		q.Set("scope", strings.Join(g.Scopes, " "))
	}
	if strings.Contains(endpoint, "?") {
		return endpoint + "&" + q.Encode()
	}
	return endpoint + "?" + q.Encode()
}

// introduce finds out as whom this program asks: as the one that the entry names,
// by a document that the issuer reads, or by a registration.
func (c *Client) introduce(ctx context.Context, s mcpconfig.Server, r realm, redirect string, w web) (Grant, error) {
	switch {
	case s.OAuth.ClientID != "":
		g := Grant{ClientID: s.OAuth.ClientID, ClientSecret: s.OAuth.ClientSecret, Method: Public}
		if g.ClientSecret != "" {
			g.Method = method(r.meta.TokenEndpointAuthMethodsSupported)
		}
		return g, nil
	case c.o.Metadata != "" && r.meta.ClientIDMetadataDocumentSupported:
		return Grant{ClientID: c.o.Metadata, Method: Public}, nil
	case r.meta.RegistrationEndpoint != "":
		return c.register(ctx, r, redirect, w)
	}
	return Grant{}, errors.New(`the issuer of tokens does not register programs by itself: get a client id from its operator, and write it into the entry, as in "oauth": {"clientId": "…"}`)
}

// method is how a program with a secret proves who it is.
func method(supported []string) Method {
	if slices.Contains(supported, string(Post)) && !slices.Contains(supported, string(Basic)) {
		return Post
	}
	return Basic // what RFC 8414 says of an issuer that says nothing
}

func (c *Client) register(ctx context.Context, r realm, redirect string, w web) (Grant, error) {
	ask := Public
	if all := r.meta.TokenEndpointAuthMethodsSupported; len(all) > 0 && !slices.Contains(all, string(Public)) {
		ask = method(all)
	}
	res, err := oauthex.RegisterClient(ctx, r.meta.RegistrationEndpoint, &oauthex.ClientRegistrationMetadata{
		ClientName: c.o.Name, RedirectURIs: []string{redirect}, ApplicationType: "native", TokenEndpointAuthMethod: string(ask),
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
	}, w.client)
	if err != nil {
		return Grant{}, fmt.Errorf("this program is not registered: %s", shownText(err.Error()))
	}
	g := Grant{ClientID: res.ClientID, ClientSecret: res.ClientSecret, Method: Method(res.TokenEndpointAuthMethod)}
	switch {
	case g.Method == "" && g.ClientSecret == "":
		g.Method = Public
	case g.Method == "" && ask == Public:
		g.Method = method(r.meta.TokenEndpointAuthMethodsSupported)
	case g.Method == "":
		g.Method = ask
	}
	if g.Method != Public && g.Method != Basic && g.Method != Post {
		return Grant{}, fmt.Errorf("the issuer wants this program to prove who it is in a way that it does not have, %s", shownText(string(g.Method)))
	}
	return g, nil
}
