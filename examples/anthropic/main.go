// Command anthropic is an agent with a loop of its own around the Messages API
// of the Anthropic SDK, and with the skills of a directory.
//
//	ANTHROPIC_API_KEY=… go run . ~/shop
//
// This file is all that skills need. The others are what a grown program has
// besides: person.go asks before it does what a rule leaves open, own.go has a
// tool that keeps to the same rules, and subagents.go runs forked skills.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/skilltool"
	"github.com/knack-skills/knack/slash"
)

// A chat is one conversation.
type chat struct {
	client  anthropic.Client
	model   anthropic.Model
	in      *bufio.Scanner // the person
	out     io.Writer
	engine  *knack.Engine
	skills  *agent.Thread
	history []anthropic.MessageParam
}

// open finds the skills of the project in dir.
func (c *chat) open(ctx context.Context, dir string) (err error) {
	c.engine, err = knack.New(ctx, knack.Options{Dir: dir, Ask: c, Fork: c})
	if err != nil {
		return err
	}
	c.skills = skilltool.For(c.engine)
	return nil
}

// say is one turn: from a line of the person to the answer.
func (c *chat) say(ctx context.Context, line string) (string, error) {
	c.skills.Begin()
	p := slash.Parse(line, c.engine, nil)
	switch p.Kind {
	case slash.Unknown:
		return "There is no skill " + p.Unknown + ".", nil
	case slash.Message:
		c.skills.Say(p.Text)
	}
	for _, call := range p.Calls { // the person typed /name
		if answer, ended := c.skills.Typed(ctx, call.Name, call.Args); ended {
			return answer, nil // a subagent's, or why it did not run
		}
	}
	return c.loop(ctx)
}

// loop asks the model, and runs the tools it calls, until it answers in words.
func (c *chat) loop(ctx context.Context) (string, error) {
	var next []anthropic.ContentBlockParamUnion // of the next message to the model
	for {
		for _, text := range c.skills.Texts() { // behind the results of all calls
			next = append(next, anthropic.NewTextBlock(text))
		}
		answer, err := c.ask(ctx, next)
		if err != nil {
			return "", err
		}
		next = nil
		var text string
		for _, block := range answer.Content {
			switch block.Type {
			case "text":
				text += block.Text
			case "tool_use":
				result, isError := c.call(ctx, block.Name, block.Input)
				next = append(next, anthropic.NewToolResultBlock(block.ID, result, isError))
			}
		}
		if len(next) == 0 {
			return text, nil
		}
	}
}

// call runs a tool: the program's own, or one of Knack's.
func (c *chat) call(ctx context.Context, name string, input json.RawMessage) (result string, isError bool) {
	if name == readFile {
		return c.read(input)
	}
	return c.skills.Call(ctx, name, input)
}

// ask sends what there is, and reads the answer as it comes.
func (c *chat) ask(ctx context.Context, next []anthropic.ContentBlockParamUnion) (*anthropic.Message, error) {
	c.history = append(c.history, anthropic.NewUserMessage(next...))
	stream := c.client.Messages.NewStreaming(ctx, anthropic.MessageNewParams{
		Model: c.modelNow(), MaxTokens: 8000, Messages: c.history, Tools: c.tools(),
	})
	defer stream.Close()
	var answer anthropic.Message
	for stream.Next() {
		if err := answer.Accumulate(stream.Current()); err != nil {
			return nil, err
		}
	}
	if err := stream.Err(); err != nil {
		return nil, err
	}
	c.history = append(c.history, answer.ToParam())
	return &answer, nil
}

// tools are those of the program and those of Knack.
func (c *chat) tools() []anthropic.ToolUnionParam {
	out := []anthropic.ToolUnionParam{declare(readFile, "Reads a text file of the project.", readInput)}
	for _, s := range c.skills.Specs() {
		out = append(out, declare(s.Name, s.Description, string(s.InputSchema)))
	}
	return out
}

func declare(name, description, schema string) anthropic.ToolUnionParam {
	var s anthropic.ToolInputSchemaParam
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		panic(err) // schemas are constants
	}
	return anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{
		Name: name, Description: anthropic.String(description), InputSchema: s}}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := run(ctx, dir, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run talks with the person until the input ends. The SDK reads the key from
// ANTHROPIC_API_KEY.
func run(ctx context.Context, dir string, in io.Reader, out io.Writer, opts ...option.RequestOption) error {
	c := &chat{client: anthropic.NewClient(opts...), in: bufio.NewScanner(in), out: out,
		model: cmp.Or(os.Getenv("MODEL"), "claude-sonnet-5-5")}
	if err := c.open(ctx, dir); err != nil {
		return err
	}
	defer c.engine.Close()
	c.greet()
	for fmt.Fprint(out, "> "); c.in.Scan(); fmt.Fprint(out, "> ") {
		answer, err := c.say(ctx, c.in.Text())
		if err != nil {
			return err
		}
		fmt.Fprintln(out, answer)
	}
	return c.in.Err()
}
