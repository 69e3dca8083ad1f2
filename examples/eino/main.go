// Command eino is an agent with a loop of its own around a chat model of eino,
// and with the skills of a directory. The model is the OpenAI component; any
// other ToolCallingChatModel does as well. Nobody is asked: what the rules leave
// open is refused, and so are skills that want a subagent.
//
//	OPENAI_API_KEY=… go run . ~/shop
//	OPENAI_BASE_URL=http://localhost:11434/v1 OPENAI_API_KEY=none MODEL=… go run . ~/shop
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

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/skilltool"
	"github.com/knack-skills/knack/slash"
)

// A chat is one conversation.
type chat struct {
	model   model.ToolCallingChatModel // with the tools
	engine  *knack.Engine
	skills  *agent.Thread
	history []*schema.Message
}

// open finds the skills of the project in dir, and gives their tools to m.
func open(ctx context.Context, dir string, m model.ToolCallingChatModel) (*chat, error) {
	engine, err := knack.New(ctx, knack.Options{Dir: dir})
	if err != nil {
		return nil, err
	}
	c := &chat{engine: engine, skills: skilltool.For(engine)}
	var tools []*schema.ToolInfo // a program's own go beside them
	for _, s := range c.skills.Specs() {
		var input jsonschema.Schema
		if err := json.Unmarshal(s.InputSchema, &input); err != nil {
			return nil, err
		}
		tools = append(tools, &schema.ToolInfo{Name: s.Name, Desc: s.Description,
			ParamsOneOf: schema.NewParamsOneOfByJSONSchema(&input)})
	}
	c.model, err = m.WithTools(tools)
	return c, err
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
			c.history = append(c.history, schema.UserMessage(text))
		}
		answer, err := c.ask(ctx)
		if err != nil {
			return "", err
		}
		for _, call := range answer.ToolCalls {
			result, _ := c.skills.Call(ctx, call.Function.Name, json.RawMessage(call.Function.Arguments))
			c.history = append(c.history, schema.ToolMessage(result, call.ID))
		}
		if len(answer.ToolCalls) == 0 {
			return answer.Content, nil
		}
	}
}

// ask sends the conversation, and reads the answer as it comes.
func (c *chat) ask(ctx context.Context) (*schema.Message, error) {
	stream, err := c.model.Stream(ctx, c.history)
	if err != nil {
		return nil, err
	}
	answer, err := schema.ConcatMessageStream(stream) // which closes it
	if err != nil {
		return nil, err
	}
	c.history = append(c.history, answer)
	return answer, nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	config := openai.ChatModelConfig{APIKey: os.Getenv("OPENAI_API_KEY"), BaseURL: os.Getenv("OPENAI_BASE_URL"),
		Model: cmp.Or(os.Getenv("MODEL"), "gpt-5.5")}
	if err := run(ctx, dir, os.Stdin, os.Stdout, config); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run talks with the person until the input ends.
func run(ctx context.Context, dir string, in io.Reader, out io.Writer, config openai.ChatModelConfig) error {
	m, err := openai.NewChatModel(ctx, &config)
	if err != nil {
		return err
	}
	c, err := open(ctx, dir, m)
	if err != nil {
		return err
	}
	defer c.engine.Close()
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
