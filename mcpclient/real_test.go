package mcpclient_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/internal/lab/npm"
	"github.com/knack-skills/knack/mcpclient"
	"github.com/knack-skills/knack/mcpclient/sdk"
	"github.com/knack-skills/knack/mcpconfig"
)

// TestReal holds the client against the reference servers of the npm registry.
func TestReal(t *testing.T) {
	set := npm.Install(t, "@modelcontextprotocol/server-everything@2026.8.31", "@modelcontextprotocol/server-filesystem@2026.8.31", "@modelcontextprotocol/server-memory@2026.8.31")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "note.txt"), []byte("a note"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(name string, args ...string) mcpconfig.Server {
		return mcpconfig.Server{Name: name, Transport: mcpconfig.Stdio, Command: filepath.Join(set.Bin(), "mcp-server-"+name), Args: args,
			Env: map[string]string{"PATH": set.Bin() + string(os.PathListSeparator) + os.Getenv("PATH"), "MEMORY_FILE_PATH": filepath.Join(dir, "memory.json")}}
	}
	f := mcpclient.Start(mcpclient.Options{Dialer: sdk.Dialer{}, Dir: dir, Env: os.Environ(),
		Servers: []mcpconfig.Server{at("everything", "stdio"), at("filesystem", dir), at("memory")}})
	defer f.Close()
	if silent := f.Wait(t.Context(), patience, nil); len(silent) > 0 {
		t.Fatal("silent:", silent[0].Config.Name)
	}
	server := func(name string) *mcpclient.Server {
		s, err := f.Server(name)
		if err != nil {
			t.Fatal(err)
		}
		if state, err := s.Status(); state != mcpclient.Connected {
			t.Fatal(name, state, err)
		}
		return s
	}
	call := func(name, tool, args string) string {
		t.Helper()
		r, err := server(name).Call(t.Context(), tool, json.RawMessage(args), nil)
		if err != nil || r.IsError {
			t.Errorf("%s %s: %v %v", name, tool, r, err)
		}
		return mcpclient.Text(r.Content)
	}
	in, err := load(t, find(t, server("everything"), "everything:args-prompt"), "Berlin", "New", "York")
	if err != nil || !strings.Contains(in.Text, "Berlin, New York") {
		t.Error(in, err)
	}
	if got := call("everything", "echo", `{"message": "hi"}`); got != "Echo: hi" {
		t.Error(got)
	}
	all := server("everything").Resources()
	if len(all) == 0 || !server("everything").Lists(all[0].URI) {
		t.Fatal("no resources")
	}
	if text, err := server("everything").Read(t.Context(), all[0].URI); err != nil || text == "" {
		t.Error(text, err)
	}
	note, err := json.Marshal(map[string]string{"path": filepath.Join(dir, "note.txt")})
	if err != nil {
		t.Fatal(err)
	}
	if got := call("filesystem", "read_text_file", string(note)); got != "a note" {
		t.Error(got)
	}
	call("memory", "create_entities", `{"entities": [{"name": "Ann", "entityType": "person", "observations": ["likes tea"]}]}`)
	if got := call("memory", "search_nodes", `{"query": "tea"}`); !strings.Contains(got, "Ann") {
		t.Error(got)
	}
	if !slices.ContainsFunc(server("memory").Tools(), func(t mcpclient.Tool) bool {
		return t.Name == "read_graph" && strings.Contains(string(t.Schema), "object")
	}) {
		t.Error(server("memory").Tools())
	}
}
