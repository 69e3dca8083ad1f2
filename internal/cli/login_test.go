package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/knack-skills/knack/internal/lab/oauthserver"
)

// visit is the browser of the tests: it goes where it is sent.
func visit(args []string) int {
	if len(args) != 1 {
		return complain(fmt.Errorf("a browser is given one address, and not %q", args))
	}
	res, err := http.Get(args[0])
	if err != nil {
		return complain(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(os.Stdout, res.Body); err != nil {
		return complain(err)
	}
	return 0
}

// guarded is a world with a server that lets only those in who are signed in.
func guarded(t *testing.T, o oauthserver.Options, more string) (*world, *oauthserver.Server) {
	t.Helper()
	w, lab := newWorld(t), oauthserver.Start(t, o)
	w.env = append(w.env, "BROWSER=visit", "HTTP_PROXY=", "http_proxy=")
	w.file("../home/.claude.json", fmt.Sprintf(`{"mcpServers": {"guarded": {"type": "http", "url": %q%s}, "here": {"command": "knack", "args": ["mcp"]}}}`, lab.URL, more))
	return w, lab
}

// calling is a conversation that calls the tool of the server.
func (w *world) calling() output {
	w.t.Helper()
	script := w.file("../script.json", `{"steps":[`+calls(`{"name":"mcp__guarded__echo","input":{"text":"hi"}}`)+`,{"text":"end"}]}`)
	return w.run("-p", "go", "--model", "scripted:"+script, "--allowedTools", "mcp__guarded", "--output-format", "stream-json")
}

var issued = regexp.MustCompile(`(token|refresh|code|secret)-[A-Z2-7]{20,}`)

// TestLogin: nobody is signed in by surprise; who signs in is let in by later
// sessions; and what was given is nowhere to be seen.
func TestLogin(t *testing.T) {
	t.Parallel()
	w, lab := guarded(t, oauthserver.Options{Scopes: []string{"read"}, Basic: true}, "")
	var all []output
	run := func(args ...string) output {
		out := w.run(args...)
		all = append(all, out)
		return out
	}
	out := w.calling()
	if all = append(all, out); !strings.Contains(out.stdout, `"name":"guarded","status":"failed"`) || !strings.Contains(out.stdout, "MCP server guarded is not available: it asks you to sign in; run `knack mcp login guarded`") {
		t.Errorf("before: %s\n%s", out.stdout, out.stderr)
	}
	if out = run("doctor"); !strings.Contains(out.stdout, "guarded: not available: it asks you to sign in") {
		t.Errorf("doctor: %s", out.stdout)
	}
	if len(lab.Pages()) > 0 {
		t.Fatal("a browser was opened by surprise")
	}
	if out = run("mcp", "login", "guarded"); out.code != 0 || out.stdout != "signed in at guarded: "+lab.URL+"\n" || !strings.Contains(out.stderr, "a file that only you can read") {
		t.Fatalf("login: %d %s\n%s", out.code, out.stdout, out.stderr)
	}
	out = w.calling()
	if all = append(all, out); !strings.Contains(out.stdout, "echo: hi") || strings.Contains(out.stdout, "guarded is not") {
		t.Errorf("after: %s\n%s", out.stdout, out.stderr)
	}
	lab.Forget(false) // the tokens have ended
	out = w.calling()
	if all = append(all, out); !strings.Contains(out.stdout, "echo: hi") || lab.Seen("refresh_token") != 1 {
		t.Errorf("renewed %d times: %s\n%s", lab.Seen("refresh_token"), out.stdout, out.stderr)
	}
	if out = run("doctor"); !strings.Contains(out.stdout, "guarded: connected (user), and you are signed in") {
		t.Errorf("doctor: %s", out.stdout)
	}
	w.kept(all)
	if out = run("mcp", "logout", "guarded"); out.code != 0 || lab.Seen("/revoke") != 1 {
		t.Errorf("logout: %s\n%s", out.stdout, out.stderr)
	}
	if out = w.calling(); strings.Contains(out.stdout, "echo: hi") {
		t.Error("signed out, and let in")
	}
	if out = run("mcp", "logout", lab.URL); !strings.Contains(out.stdout, "you were not signed in") {
		t.Error(out)
	}
}

// kept: what was given stands in one place, for its owner alone, and was never
// shown.
func (w *world) kept(all []output) {
	w.t.Helper()
	for _, out := range all {
		if m := issued.FindString(out.stdout + out.stderr); m != "" {
			w.t.Errorf("a secret is shown: %s", m)
		}
	}
	found := 0
	err := filepath.WalkDir(w.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil || !issued.Match(data) {
			return err
		}
		found++
		info, err := d.Info()
		if err != nil {
			return err
		}
		if filepath.Base(filepath.Dir(p)) != "mcp-logins" || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			w.t.Errorf("%s holds a secret, with the rights %s", p, info.Mode())
		}
		return nil
	})
	if err != nil || found != 1 {
		w.t.Errorf("%d files hold what was given: %v", found, err)
	}
}

// TestLoginWithoutBrowser: the address is printed, and the answer of a browser
// on another machine can be pasted.
func TestLoginWithoutBrowser(t *testing.T) {
	t.Parallel()
	w, lab := guarded(t, oauthserver.Options{Iss: true}, "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := w.command(ctx, "mcp", "login", "guarded", "--no-browser")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	page := ""
	for page == "" {
		line := make([]byte, 4096)
		n, err := said.Read(line)
		if err != nil {
			t.Fatal("no address is printed")
		}
		page = regexp.MustCompile(regexp.QuoteMeta(lab.Issuer) + `/authorize\?\S+`).FindString(string(line[:n]))
	}
	elsewhere := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := elsewhere.Get(page)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if _, err := io.WriteString(in, res.Header.Get("Location")+"\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, said); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if out := w.calling(); !strings.Contains(out.stdout, "echo: hi") {
		t.Error(out)
	}
}

// TestLoginRefused: for which servers nobody signs in.
func TestLoginRefused(t *testing.T) {
	t.Parallel()
	w, lab := guarded(t, oauthserver.Options{Client: [2]string{"by-hand", "hush"}}, `, "oauth": {"clientId": "by-hand"}`)
	servers, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"plain": map[string]any{"type": "http", "url": "http://mcp.example.com/mcp"},
		"own":   map[string]any{"type": "http", "url": lab.URL, "headers": map[string]string{"Authorization": "Bearer mine"}},
		"off":   map[string]any{"type": "http", "url": lab.URL, "oauth": false},
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.file(".mcp.json", fmt.Sprintf(`{"mcpServers": {"theirs": {"type": "http", "url": %q}}}`, lab.URL))
	for _, tt := range []struct {
		name, want string
		code       int
	}{
		{"nobody", "there is no MCP server", 2},
		{"here", "a program on this machine", 2},
		{"plain", "a token could be read on the way", 1},
		{"own", "says itself who asks", 1},
		{"off", `"oauth": false`, 1},
		{"theirs", "knack mcp approve theirs", 2},
		{"guarded", "invalid_client", 1}, // its secret is missing
	} {
		out := w.run("mcp", "login", tt.name, "--trust", "--mcp-config", string(servers))
		if out.code != tt.code || !strings.Contains(out.stderr, tt.want) || strings.ContainsAny(out.stderr, "\x1b<") {
			t.Errorf("%s: %d %q", tt.name, out.code, out.stderr)
		}
	}
	w.env = append(w.env, "MCP_CLIENT_SECRET=hush")
	if out := w.run("mcp", "login", "guarded"); out.code != 0 {
		t.Error(out)
	}
	w.env = append(w.env, "BROWSER=knack-no-such-browser")
	if out := w.run("mcp", "login", "guarded", "--timeout", "100ms"); out.code != 1 || !strings.Contains(out.stderr, "no browser opens") || !strings.Contains(out.stderr, "nobody has answered within 100ms") {
		t.Error(out)
	}
}
