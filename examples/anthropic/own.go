package main

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/knack-skills/knack/llm/choose"
	"github.com/knack-skills/knack/permission"
)

// readFile is a tool of the program. It has the name under which rules and
// skills speak of reading.
const (
	readFile  = "Read"
	readInput = `{"type": "object", "properties": {"file_path": {"type": "string"}}, "required": ["file_path"]}`
)

// read keeps to the rules of the person and to what the turn's skills grant and
// refuse.
func (c *chat) read(input json.RawMessage) (result string, isError bool) {
	var in struct {
		Path string `json:"file_path"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return err.Error(), true
	}
	request := c.engine.PermissionRequest(readFile)
	request.Input.Path = in.Path
	if d := c.skills.Rules().Decide(request); d.Verdict != permission.Allow {
		return "Not allowed: " + d.Reason, true
	}
	if !filepath.IsAbs(in.Path) {
		in.Path = filepath.Join(c.engine.Dir(), in.Path)
	}
	text, err := os.ReadFile(in.Path)
	if err != nil {
		return err.Error(), true
	}
	return string(text), false
}

// modelNow is the model of this turn. A skill may name another one, as people do:
// by an alias, or with the provider in front.
func (c *chat) modelNow() anthropic.Model {
	named := choose.Options{Aliases: c.engine.Settings().ModelAliases, Getenv: os.Getenv, NoScripted: true}
	m, err := choose.Resolve(c.skills.Override.Model, named)
	if c.skills.Override.Model == "" || err != nil || m.Provider != choose.Anthropic {
		return c.model // another provider's model is not within reach here
	}
	return m.ID
}
