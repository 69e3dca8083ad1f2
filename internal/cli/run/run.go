// Package run is `knack -p` (spec K-11, A-7): one message in, one answer out.
package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/choose"
	"github.com/knack-skills/knack/llm/offline"
)

// Run answers the prompt.
func (o *Options) Run(cmd *cobra.Command) (err error) {
	if o.Bare && len(o.Flags.PluginDirs) > 0 {
		return output.Usagef("--bare and --plugin-dir exclude each other: a bare run has no plugins")
	}
	if o.Flags.JSON && !cmd.Flags().Changed("output-format") {
		o.Format = "json"
	}
	if cmd.Flags().Changed("json-schema") {
		if o.shape, err = readShape(o.Schema); err != nil {
			return err
		}
	}
	message, err := o.input(cmd.InOrStdin())
	if err != nil {
		return err
	}
	o.person = o.newPerson(cmd)
	defer func() { err = errors.Join(err, o.person.Close()) }()
	e, err := o.open(cmd, func(ko *knack.Options) { ko.Fork = offline.Forker{} })
	if err != nil {
		return err
	}
	model, names, err := o.model(e)
	if err != nil {
		return err
	}
	out := newWriter(o.Format, cmd.OutOrStdout(), cmd.ErrOrStderr(), e)
	out.flags = o.Flags
	var end func()
	out.collector, end = o.export(e.Getenv, cmd.ErrOrStderr())
	defer end()
	if model.Provider != choose.Offline {
		return o.converse(cmd, e, message, model, names, out)
	}
	return o.offline(cmd, e, message, model, out)
}

// input is the one message of a run; empty when messages come line by line.
func (o *Options) input(stdin io.Reader) (string, error) {
	if !slices.Contains([]string{"text", "json", "stream-json"}, o.Format) {
		return "", output.Usagef("--output-format: %q is none of text, json, stream-json", o.Format)
	}
	if !slices.Contains([]string{"text", "stream-json"}, o.InputFormat) {
		return "", output.Usagef("--input-format: %q is none of text, stream-json", o.InputFormat)
	}
	if o.streamed() {
		if o.Format != "stream-json" {
			return "", output.Usagef("--input-format stream-json needs --output-format stream-json: each message has a result of its own")
		}
		return "", nil
	}
	message, err := joinStdin(o.Prompt, stdin)
	if err == nil && blank(message) {
		err = output.Usagef("-p: the prompt is empty; say what to do, for example `knack -p \"/simplify src\"`")
	}
	return message, err
}

func (o *Options) streamed() bool { return o.InputFormat == "stream-json" }

// open loads the workspace as the flags of the run say.
func (o *Options) open(cmd *cobra.Command, with func(*knack.Options)) (*knack.Engine, error) {
	o.Flags.Meet = func(ctx context.Context, e *knack.Engine) (bool, error) { return o.person.meet(ctx, o, e) }
	e, err := o.Flags.Open(cmd, with, func(ko *knack.Options) { ko.Bare, ko.Ask = o.Bare, o.person.asker() })
	if err == nil {
		o.person.settle(o, e)
	}
	return e, err
}

// joinStdin appends what was piped in to the prompt. A terminal is not read.
func joinStdin(prompt string, in io.Reader) (string, error) {
	f, ok := in.(*os.File)
	if !ok {
		return prompt, nil
	}
	fi, err := f.Stat()
	if err != nil || fi.Mode()&os.ModeCharDevice != 0 {
		return prompt, nil
	}
	data, err := io.ReadAll(io.LimitReader(f, maxStdin+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("reading standard input: %w", err)
	case len(data) > maxStdin:
		return "", fmt.Errorf("standard input is over %d MiB; put it into a file and name the file in the prompt", maxStdin>>20)
	case len(data) == 0:
		return prompt, nil
	case blank(prompt):
		return string(data), nil // a slash counts only at the start of the message
	}
	return strings.TrimRight(prompt, "\n") + "\n\n" + string(data), nil
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

const maxStdin = 4 << 20 // bytes

// An outcome is what one message led to.
type outcome struct {
	text    string
	turns   int
	usage   llm.Usage
	denials []denial
	notices []string
	spoken  bool // the text was already written as a message
	// structured is the JSON of the text, checked; nil without --json-schema.
	structured json.RawMessage
}

type denial struct {
	Tool   string          `json:"tool_name"`
	Input  json.RawMessage `json:"tool_input"`
	Reason string          `json:"reason"`
}

// An unknownError keeps the near names of the error below it.
type unknownError struct {
	name string
	err  error
}

// Error names the unknown skill (spec I-4) and up to three near names.
func (e *unknownError) Error() string {
	s := "Unknown skill: " + e.name
	var missing *catalog.NotFoundError
	if errors.As(e.err, &missing) && len(missing.Near) > 0 {
		s += ". Near names: " + strings.Join(missing.Near, ", ")
	}
	return s
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func skillDenial(req invoke.Request, err error) denial {
	input, _ := json.Marshal(struct {
		Skill string `json:"skill"`
		Args  string `json:"args"`
	}{req.Name, req.Args}) // strings always marshal
	return denial{Tool: "Skill", Reason: err.Error(), Input: input}
}
