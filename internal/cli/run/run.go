// Package run is `knack -p` (spec K-11, A-7): one message in, one answer out.
package run

import (
	"cmp"
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
	"github.com/knack-skills/knack/internal/cli/chat"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/choose"
	"github.com/knack-skills/knack/llm/offline"
	"github.com/knack-skills/knack/slash"
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

// offline answers without a language model (spec A-2).
func (o *Options) offline(cmd *cobra.Command, e *knack.Engine, message string, model choose.Choice, out *writer) (err error) {
	if err := o.onlyOffline(cmd); err != nil {
		return err
	}
	if out.telemetry, err = chat.NewRecorder(out.collector, e.Session().ID, model); err != nil {
		return err
	}
	mcp, err := o.offlineServers(cmd.Context(), e, message, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mcp.Close()) }()
	out.start(offline.Name, []string{"Skill", "SkillSearch"}, mcp.Status())
	ask := func(message string) (outcome, error) {
		ctx, end := out.telemetry.Message(cmd.Context())
		mcp.WaitFor(ctx, message)
		a, err := o.answer(ctx, e, message, out)
		end(err)
		for _, n := range a.notices {
			out.notice(n)
		}
		return a, err
	}
	if o.streamed() {
		return o.serve(cmd.Context(), cmd.InOrStdin(), out, ask)
	}
	a, err := ask(message)
	if err != nil && errors.Is(err, context.Canceled) {
		return err
	}
	if werr := out.result(a, err); werr != nil {
		return werr
	}
	return err
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

// answer takes the message down the one road: a typed /name by the person, any
// other text by the model, which here is a search.
func (o *Options) answer(ctx context.Context, e *knack.Engine, message string, out *writer) (outcome, error) {
	p := slash.Parse(message, e, exists)
	switch p.Kind {
	case slash.Unknown:
		_, err := e.Snapshot().Resolve(p.Unknown)
		return outcome{}, &unknownError{name: p.Unknown, err: err}
	case slash.Calls:
		return typed(ctx, e, p.Calls, out)
	}
	if ids := wanted(e, o.said(message), out.notice); len(ids) > 0 {
		if a, err := meant(ctx, e, ids, message, out); err != nil || a.text != "" {
			return a, err
		}
	}
	return chosen(ctx, e, cmp.Or(p.Text, message), out)
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

func typed(ctx context.Context, e *knack.Engine, calls []slash.Call, out *writer) (outcome, error) {
	o := outcome{turns: 1}
	var results []*invoke.Result
	for _, c := range calls {
		r, err := invokeOne(ctx, e, invoke.Request{Name: c.Name, Args: c.Args, By: invoke.ByUser}, &o, out)
		if err != nil {
			return o, err
		}
		results = append(results, r)
	}
	o.text = offline.Answer("", results...)
	return o, nil
}

// meant invokes the skills that keywords stand for; no text when none could be.
func meant(ctx context.Context, e *knack.Engine, ids []string, message string, out *writer) (outcome, error) {
	o := outcome{turns: 1}
	var results []*invoke.Result
	for _, id := range ids {
		r, err := invokeOne(ctx, e, invoke.Request{Name: id, Args: message, By: invoke.ByKeyword}, &o, out)
		switch {
		case err == nil:
			results = append(results, r)
		case !passed(id, err, out.notice):
			return o, err
		}
	}
	if len(results) > 0 {
		o.text = offline.Answer("", results...)
	}
	return o, nil
}

func chosen(ctx context.Context, e *knack.Engine, message string, out *writer) (outcome, error) {
	o := outcome{turns: 1}
	hits, err := e.Search(ctx, message, 1)
	if err != nil {
		return o, err
	}
	id, ok := offline.Choose(hits)
	if !ok {
		o.text = offline.NoMatch(message)
		return o, nil
	}
	r, err := invokeOne(ctx, e, invoke.Request{Name: id, By: invoke.ByModel}, &o, out)
	if err != nil {
		return o, err
	}
	o.text = offline.Answer(message, r)
	return o, nil
}

func invokeOne(ctx context.Context, e *knack.Engine, req invoke.Request, o *outcome, out *writer) (*invoke.Result, error) {
	ctx, end := out.telemetry.Invocation(ctx, req)
	r, err := e.Invoke(ctx, req)
	end(r, err)
	if err != nil {
		if output.ExitCode(err) == output.ExitDenied {
			o.denials = append(o.denials, skillDenial(req, err))
		}
		return nil, err
	}
	o.notices = append(o.notices, r.Notices...)
	out.invoked(r, req.By, true)
	return r, nil
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
