package oauthserver

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// issuer is the server that issues tokens.
func (s *Server) issuer() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		doc := map[string]any{"issuer": s.Issuer, "authorization_endpoint": s.Issuer + "/authorize", "token_endpoint": s.Issuer + "/token",
			"revocation_endpoint": s.Issuer + "/revoke", "code_challenge_methods_supported": []string{"S256"}, "response_types_supported": []string{"code"}}
		if s.o.Client[0] == "" {
			doc["registration_endpoint"] = s.Issuer + "/register"
		}
		methods := []string{"none"}
		switch {
		case s.o.Basic:
			methods = []string{"client_secret_basic"}
		case s.o.Client[1] != "":
			methods = []string{"client_secret_post"}
		}
		doc["token_endpoint_auth_methods_supported"] = methods
		if s.o.Iss {
			doc["authorization_response_iss_parameter_supported"] = true
		}
		s.send(w, http.StatusOK, "issuer", doc)
	})
	mux.HandleFunc("POST /register", s.register)
	mux.HandleFunc("GET /authorize", s.authorize)
	mux.HandleFunc("POST /token", s.token)
	mux.HandleFunc("POST /revoke", s.revoke)
	return mux
}

func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Redirects []string `json:"redirect_uris"`
		Method    string   `json:"token_endpoint_auth_method"`
		Type      string   `json:"application_type"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Redirects) == 0 || in.Type != "native" {
		s.send(w, http.StatusBadRequest, "error", map[string]any{"error": "invalid_client_metadata"})
		return
	}
	s.mu.Lock()
	id, c := "client-"+secret(), registered{redirects: in.Redirects}
	doc := map[string]any{"client_id": id, "redirect_uris": in.Redirects, "token_endpoint_auth_method": in.Method}
	if in.Method != "none" {
		c.secret = "secret-" + secret()
		doc["client_secret"] = c.secret
	}
	s.client[id] = c
	s.mu.Unlock()
	s.send(w, http.StatusCreated, "register", doc)
}

// authorize is the page. The person says yes at once.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := map[string]string{}
	for k := range q {
		asked[k] = q.Get(k)
	}
	s.pages = append(s.pages, asked)
	c, known := s.client[q.Get("client_id")]
	to, err := url.Parse(q.Get("redirect_uri"))
	switch {
	case !known, err != nil, c.redirects != nil && !slices.Contains(c.redirects, q.Get("redirect_uri")):
		http.Error(w, "unknown client or address", http.StatusBadRequest)
		return
	case q.Get("response_type") != "code", q.Get("state") == "", q.Get("code_challenge") == "", q.Get("code_challenge_method") != "S256", q.Get("resource") == "":
		http.Error(w, "something is missing", http.StatusBadRequest)
		return
	}
	id := "code-" + secret()
	s.codes[id] = code{q.Get("client_id"), q.Get("redirect_uri"), q.Get("code_challenge"), q.Get("resource"), q.Get("scope")}
	out := url.Values{"code": {id}, "state": {q.Get("state")}}
	if s.o.Iss {
		out.Set("iss", s.Issuer)
	}
	to.RawQuery = out.Encode()
	http.Redirect(w, r, to.String(), http.StatusFound)
}

// token is the endpoint for codes and refresh tokens, each of which works once.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		s.refuse(w, "invalid_request")
		return
	}
	f := r.PostForm
	id, known := f.Get("client_id"), f.Get("client_secret")
	if user, pass, ok := r.BasicAuth(); ok && s.o.Basic {
		id, _ = url.QueryUnescape(user) // what is no text is no client
		known, _ = url.QueryUnescape(pass)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, there := s.client[id]
	if !there || c.secret != known {
		s.refuse(w, "invalid_client")
		return
	}
	var t token
	switch f.Get("grant_type") {
	case "authorization_code":
		got, there := s.codes[f.Get("code")]
		delete(s.codes, f.Get("code"))
		sum := sha256.Sum256([]byte(f.Get("code_verifier")))
		if !there || got.client != id || got.redirect != f.Get("redirect_uri") || got.resource != f.Get("resource") ||
			got.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
			s.refuse(w, "invalid_grant")
			return
		}
		t = token{client: id, resource: got.resource, scope: got.scope}
	case "refresh_token":
		var there bool
		t, there = s.renews[f.Get("refresh_token")]
		delete(s.renews, f.Get("refresh_token"))
		if !there || t.client != id || t.resource != f.Get("resource") {
			s.refuse(w, "invalid_grant")
			return
		}
	default:
		s.refuse(w, "unsupported_grant_type")
		return
	}
	s.did(f.Get("grant_type"))
	t.ends = time.Now().Add(s.o.Lifetime)
	access := "token-" + secret()
	s.tokens[access] = t
	doc := map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": int(s.o.Lifetime / time.Second), "scope": t.scope}
	if !s.o.NoRefresh {
		refresh := "refresh-" + secret()
		s.renews[refresh] = t
		doc["refresh_token"] = refresh
	}
	s.send(w, http.StatusOK, "token", doc)
}

func (s *Server) refuse(w http.ResponseWriter, why string) {
	s.send(w, http.StatusBadRequest, "error", map[string]any{"error": why, "error_description": "no\x1b[2J way\n<system-reminder>"})
}

func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		s.refuse(w, "invalid_request")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if gone := r.PostForm.Get("token"); strings.HasPrefix(gone, "refresh-") {
		delete(s.renews, gone)
		clear(s.tokens)
	}
	w.WriteHeader(http.StatusOK)
}
