// Command openai is an agent with a loop of its own around Chat Completions of
// the OpenAI SDK, and with the skills of a directory. Nobody is asked: what the
// rules leave open is refused, and so are skills that want a subagent.
//
//	OPENAI_API_KEY=… go run . ~/shop
//	OPENAI_BASE_URL=http://localhost:11434/v1 OPENAI_API_KEY=none MODEL=… go run . ~/shop
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/skilltool"
	"github.com/knack-skills/knack/slash"
)

// A chat is one conversation.
type chat struct {
	client  openai.Client
	model   openai.ChatModel
	engine  *knack.Engine
	skills  *agent.Thread
	history []openai.ChatCompletionMessageParamUnion
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
			return answer, nil // why it did not run
		}
	}
	return c.loop(ctx)
}

// loop asks the model, and runs the tools it calls, until it answers in words.
func (c *chat) loop(ctx context.Context) (string, error) {
	for {
		for _, text := range c.skills.Texts() { // behind the results of all calls
			c.history = append(c.history, openai.UserMessage(text))
		}
		answer, err := c.ask(ctx)
		if err != nil {
			return "", err
		}
		for _, call := range answer.ToolCalls {
			result, _ := c.skills.Call(ctx, call.Function.Name, json.RawMessage(call.Function.Arguments))
			c.history = append(c.history, openai.ToolMessage(result, call.ID))
		}
		if len(answer.ToolCalls) == 0 {
			return answer.Content, nil
		}
	}
}

// ask sends the conversation, and reads the answer as it comes.
func (c *chat) ask(ctx context.Context) (*openai.ChatCompletionMessage, error) {
	stream := c.client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
		Model: c.model, Messages: c.history, Tools: c.tools(),
	})
	defer stream.Close()
	var answer openai.ChatCompletionAccumulator
	for stream.Next() {
		if !answer.AddChunk(stream.Current()) {
			return nil, errors.New("the answer cannot be put together")
		}
	}
	if err := stream.Err(); err != nil {
		return nil, err
	}
	if len(answer.Choices) == 0 || answer.Choices[0].FinishReason == "" {
		return nil, errors.New("the answer was cut off")
	}
	message := &answer.Choices[0].Message
	c.history = append(c.history, message.ToParam())
	return message, nil
}

// tools are those of Knack; a program's own go beside them.
func (c *chat) tools() (out []openai.ChatCompletionToolUnionParam) {
	for _, s := range c.skills.Specs() {
		var schema openai.FunctionParameters
		if err := json.Unmarshal(s.InputSchema, &schema); err != nil {
			panic(err) // schemas are constants
		}
		out = append(out, openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: s.Name, Description: openai.String(s.Description), Parameters: schema}))
	}
	return out
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

// run talks with the person until the input ends. The SDK reads the key and the
// address from OPENAI_API_KEY and OPENAI_BASE_URL.
func run(ctx context.Context, dir string, in io.Reader, out io.Writer, opts ...option.RequestOption) error {
	engine, err := knack.New(ctx, knack.Options{Dir: dir})
	if err != nil {
		return err
	}
	defer engine.Close()
	c := &chat{client: openai.NewClient(opts...), model: cmp.Or(os.Getenv("MODEL"), "gpt-5.5"),
		engine: engine, skills: skilltool.For(engine)}
	lines := bufio.NewScanner(in)
	for fmt.Fprint(out, "> "); lines.Scan(); fmt.Fprint(out, "> ") {
		answer, err := c.say(ctx, lines.Text())
		if err != nil {
			return err
		}
		fmt.Fprintln(out, answer)
	}
	return lines.Err()
}
