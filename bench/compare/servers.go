package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// entry is one MCP server of a configuration.
type entry struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
	URL     string   `json:"url,omitempty"`
}

// conversations are two that differ in the MCP servers around them: none, and n,
// of which every second is dead in one of three ways. A script plays the model,
// so that a turn costs nothing; what is timed is the start and the end. The round
// that warms up is the one in which servers are met for the first time.
func conversations(tmp, knack string, n int) ([]*contender, error) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		return nil, fmt.Errorf("a server that stays silent: %w", err)
	}
	small := filepath.Join(tmp, "small")
	if err := os.MkdirAll(filepath.Join(small, ".git"), 0o700); err != nil {
		return nil, err
	}
	servers := map[string]entry{}
	for i := range n {
		kind, e := "live", entry{Command: knack, Args: []string{"mcp", "-C", small}}
		if i%2 == 1 {
			switch i / 2 % 3 {
			case 0:
				kind, e = "missing", entry{Command: filepath.Join(tmp, "no-such-program")}
			case 1:
				kind, e = "silent", entry{Command: sleep, Args: []string{"1000"}}
			default:
				kind, e = "refused", entry{Type: "http", URL: fmt.Sprintf("http://127.0.0.1:%d/mcp", 1+i)}
			}
		}
		servers[fmt.Sprintf("%s-%d", kind, i)] = e
	}
	config, script := filepath.Join(tmp, "servers.json"), filepath.Join(tmp, "script.json")
	text, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(config, text, 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(script, []byte(`{"steps":[{"text":"done"}]}`), 0o600); err != nil {
		return nil, err
	}
	turn := []string{knack, "-C", small, "-p", "go", "--model", "scripted:" + script}
	return []*contender{
		{name: "knack -p, no MCP server", args: turn},
		{name: fmt.Sprintf("knack -p, %d MCP servers, half of them dead", n), args: append(turn[:len(turn):len(turn)], "--mcp-config", config)},
	}, nil
}
