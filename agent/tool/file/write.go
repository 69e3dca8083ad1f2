package file

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/permission"
)

//go:embed write.md
var writeDoc string

// A Write creates or replaces a file.
type Write struct {
	base tool.Base
	seen *Seen
}

// NewWrite returns the tool. It replaces what is noted in seen.
func NewWrite(base tool.Base, seen *Seen) *Write { return &Write{base, seen} }

func writeInput() tool.Input {
	return tool.Input{Tool: "Write", Fields: []tool.Field{
		{Name: "file_path", Type: tool.String, Required: true, Filled: true, Doc: "the file to write, best as an absolute path"},
		{Name: "content", Type: tool.String, Required: true, Doc: "the whole text of the file"},
	}}
}

// Spec implements [agent.Tool].
func (t *Write) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: "Write", Description: writeDoc, InputSchema: writeInput().Schema()}
}

// Plan implements [agent.Tool].
func (t *Write) Plan(input json.RawMessage) (agent.Plan, error) {
	var in struct {
		Path    string `json:"file_path"`
		Content string `json:"content"`
	}
	if err := writeInput().Decode(input, &in); err != nil {
		return agent.Plan{}, err
	}
	if strings.HasSuffix(in.Path, "/") {
		return agent.Plan{}, fmt.Errorf("Write: %q names a directory: give the name of a file", in.Path)
	}
	return plan(t.base, "Write", in.Path, func(env agent.CallEnv, req permission.Request) (string, error) {
		return t.run(env, req, in.Content)
	})
}

func (t *Write) run(env agent.CallEnv, req permission.Request, content string) (string, error) {
	t.seen.write.Lock()
	defer t.seen.write.Unlock()
	if err := tool.Unmoved(req); err != nil {
		return "", err
	}
	shown, path := req.Input.Path, req.Input.RealPath
	lines := count(len(linesOf(content)), "line")
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return "", plain(filepath.Dir(path), err)
		}
		return fmt.Sprintf("Created %s (%s).", shown, lines), t.seen.store(env.Agent, path, []byte(content), 0)
	}
	old, mode, err := load(path)
	if err != nil {
		return "", err
	}
	if len(old) > 0 { // in an empty file there is nothing to lose
		if err := t.seen.known(env.Agent, path, shown, old); err != nil {
			return "", err
		}
	}
	d := parse([]byte(content))
	was := parse(old)
	d.ending(was)
	text := fmt.Sprintf("Replaced %s (%s).", shown, lines)
	if out := d.bytes(); string(out) != content {
		text += " Its line ends and byte order mark are as before."
	}
	return text, t.seen.store(env.Agent, path, d.bytes(), mode)
}
