package mcpserver_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/knack-skills/knack/internal/lab/foreign"
	"github.com/knack-skills/knack/internal/lab/npm"
	"github.com/knack-skills/knack/mcpserver"
)

var update = flag.Bool("update", false, "rewrite docs/conformance.md")

// TestMain makes this binary the client that the suite runs, when the suite says
// what for.
func TestMain(m *testing.M) {
	if os.Getenv(foreign.ScenarioVariable) == "" {
		os.Exit(m.Run())
	}
	if err := foreign.Client(context.Background(), os.Args, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestConformance holds docs/conformance.md against the suite.
func TestConformance(t *testing.T) {
	set := npm.Install(t, foreign.Suite)
	// What the suite asks for and a skill can be.
	files := map[string]string{
		".claude/commands/test_simple_prompt.md":         "---\ndescription: Simple\n---\nThis is a simple prompt for testing.\n",
		".claude/commands/test_prompt_with_arguments.md": "---\ndescription: With arguments\narguments: [arg1, arg2]\n---\nPrompt with arguments: arg1='$arg1', arg2='$arg2'\n",
	}
	own, demo := open(t, files), open(t, files)
	demonstrate(demo.server.Library())
	plain, full := own.suite(set), demo.suite(set)
	if len(plain) < 30 || len(full) != len(plain) {
		t.Fatalf("%d and %d scenarios ran", len(plain), len(full))
	}
	for _, s := range plain {
		if why, expected := foreign.NotOffered[s.Name]; expected != (s.Failed > 0) {
			t.Errorf("%s: %d checks fail; expected are failures: %v %s", s.Name, s.Failed, expected, why)
		}
	}
	for _, s := range full {
		if s.Failed > 0 {
			t.Errorf("%s fails with the demonstration's features", s.Name)
		}
	}
	client := clientSuite(t, set)
	for _, s := range client {
		if why := foreign.NotSpoken(s.Name); (why != "") != (s.Failed > 0) {
			t.Errorf("%s: %d checks fail; expected are failures: %q", s.Name, s.Failed, why)
		}
	}
	const doc = "../docs/conformance.md"
	got := foreign.Report(plain, full, client)
	if *update && !t.Failed() {
		if err := os.WriteFile(doc, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(doc); err != nil || string(want) != got {
		t.Errorf("docs/conformance.md is not what the suite says now (%v); run this test with -update:\n%s", err, got)
	}
}

// suite runs all scenarios of the suite.
func (w *world) suite(set npm.Set) []foreign.Scenario {
	w.t.Helper()
	url, stop := w.web(mcpserver.HTTPOptions{})
	dir := w.t.TempDir()
	ctx, cancel := context.WithTimeout(w.t.Context(), 4*time.Minute)
	defer cancel()
	cmd := set.Command(ctx, dir, nil, "conformance", "server", "--url", url, "--suite", "all", "-o", dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // it fails if any scenario does
	if err := stop(); err != nil {
		w.t.Error(err)
	}
	all := foreign.Scenarios(out.String())
	if len(all) == 0 {
		w.t.Errorf("the suite says\n%s", out.String())
	}
	return all
}

// clientSuite runs all scenarios for clients, with this binary as the client. A
// scenario measures how long a client waits, and all run at once: one that should
// pass and does not is run again, alone.
func clientSuite(t *testing.T, set npm.Set) []foreign.Scenario {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run := func(args ...string) string {
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
		defer cancel()
		args = append([]string{"client", "--command", self, "--timeout", "120000", "-o", dir}, args...)
		out, _ := set.Command(ctx, dir, nil, "conformance", args...).CombinedOutput() // it fails if any scenario does
		return string(out)
	}
	out := run("--suite", "all")
	all := foreign.Scenarios(out)
	if len(all) < 20 {
		t.Fatalf("%d scenarios for clients ran:\n%s", len(all), out)
	}
	for i, s := range all {
		for range 3 {
			if all[i].Failed == 0 || foreign.NotSpoken(s.Name) != "" {
				break
			}
			out := run("--scenario", s.Name)
			again, ok := foreign.Alone(s.Name, out)
			if !ok {
				t.Fatalf("%s:\n%s", s.Name, out)
			}
			if all[i] = again; again.Failed > 0 {
				t.Logf("%s:\n%s", s.Name, out)
			}
		}
	}
	return all
}

// watched is the resource of the demonstration that is subscribed to.
const watched = "test://watched-resource"

// demonstrate adds what the suite's demonstration server has.
func demonstrate(s *mcp.Server) {
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			const stands = "skill://test_simple_prompt/SKILL.md"
			switch p := req.GetParams().(type) {
			case *mcp.SubscribeParams:
				p.URI = strings.Replace(p.URI, watched, stands, 1)
			case *mcp.UnsubscribeParams:
				p.URI = strings.Replace(p.URI, watched, stands, 1)
			}
			return next(ctx, method, req)
		}
	})
	text := &mcp.TextContent{Text: "This is a simple text response for testing."}
	image := &mcp.ImageContent{Data: []byte("\x89PNG\r\n\x1a\n"), MIMEType: "image/png"}
	resource := &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "test://embedded-resource", MIMEType: "text/plain", Text: "This is an embedded resource content."}}
	for name, content := range map[string][]mcp.Content{
		"test_simple_text":            {text},
		"test_image_content":          {image},
		"test_audio_content":          {&mcp.AudioContent{Data: []byte("RIFF"), MIMEType: "audio/wav"}},
		"test_embedded_resource":      {resource},
		"test_multiple_content_types": {text, image, resource},
	} {
		demoTool(s, name, func(context.Context, *mcp.CallToolRequest) ([]mcp.Content, error) { return content, nil })
	}
	demoTool(s, "test_error_handling", func(context.Context, *mcp.CallToolRequest) ([]mcp.Content, error) {
		return nil, errors.New("this tool intentionally returns an error for testing")
	})
	demoTool(s, "test_tool_with_logging", func(ctx context.Context, r *mcp.CallToolRequest) ([]mcp.Content, error) {
		for _, line := range []string{"started", "processing", "completed"} {
			//lint:ignore SA1019 the suite tests what the protocol is about to drop
			if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: line}); err != nil {
				return nil, err
			}
		}
		return []mcp.Content{text}, nil
	})
	demoTool(s, "test_tool_with_progress", func(ctx context.Context, r *mcp.CallToolRequest) ([]mcp.Content, error) {
		for _, done := range []float64{0, 50, 100} {
			if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: done, Total: 100}); err != nil {
				return nil, err
			}
		}
		return []mcp.Content{text}, nil
	})
	demoTool(s, "test_sampling", func(ctx context.Context, r *mcp.CallToolRequest) ([]mcp.Content, error) {
		//lint:ignore SA1019 the suite tests what the protocol is about to drop
		ask := &mcp.CreateMessageParams{MaxTokens: 100, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "Test prompt"}}}}
		//lint:ignore SA1019 see above
		res, err := r.Session.CreateMessage(ctx, ask)
		if err != nil {
			return nil, err
		}
		return []mcp.Content{res.Content}, nil
	})
	for name, properties := range elicited {
		demoTool(s, name, func(ctx context.Context, r *mcp.CallToolRequest) ([]mcp.Content, error) {
			res, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Please say", RequestedSchema: object{"type": "object", "properties": properties, "required": []string{}}})
			if err != nil {
				return nil, err
			}
			return []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf("User response: %s %v", res.Action, res.Content)}}, nil
		})
	}
	s.AddTool(&mcp.Tool{Name: "json_schema_2020_12_tool", Description: "Tool with JSON Schema 2020-12 features", InputSchema: object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "additionalProperties": false,
		"$defs":      object{"address": object{"type": "object", "properties": object{"street": object{"type": "string"}, "city": object{"type": "string"}}}},
		"properties": object{"name": object{"type": "string"}, "address": object{"$ref": "#/$defs/address"}},
	}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{}, nil
	})
	demoTexts(s, image, resource)
}

func demoTool(s *mcp.Server, name string, f func(context.Context, *mcp.CallToolRequest) ([]mcp.Content, error)) {
	s.AddTool(&mcp.Tool{Name: name, Description: "A tool of the demonstration", InputSchema: object{"type": "object"}},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			content, err := f(ctx, r)
			if err != nil {
				return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}, nil
			}
			return &mcp.CallToolResult{Content: content}, nil
		})
}

// elicited is what the tools ask the person for.
var elicited = map[string]object{
	"test_elicitation": {"response": object{"type": "string", "description": "User's response"}},
	"test_elicitation_sep1034_defaults": {
		"name":     object{"type": "string", "default": "John Doe"},
		"age":      object{"type": "integer", "default": 30},
		"score":    object{"type": "number", "default": 95.5},
		"status":   object{"type": "string", "enum": []string{"active", "inactive", "pending"}, "default": "active"},
		"verified": object{"type": "boolean", "default": true},
	},
	"test_elicitation_sep1330_enums": {
		"untitledSingle": object{"type": "string", "enum": []string{"option1", "option2", "option3"}},
		"titledSingle":   object{"type": "string", "oneOf": titled},
		"legacyEnum":     object{"type": "string", "enum": []string{"opt1", "opt2", "opt3"}, "enumNames": []string{"Option One", "Option Two", "Option Three"}},
		"untitledMulti":  object{"type": "array", "items": object{"type": "string", "enum": []string{"option1", "option2", "option3"}}},
		"titledMulti":    object{"type": "array", "items": object{"anyOf": titled}},
	},
}

var titled = []object{{"const": "value1", "title": "First Option"}, {"const": "value2", "title": "Second Option"}, {"const": "value3", "title": "Third Option"}}

// demoTexts adds the resources and prompts.
func demoTexts(s *mcp.Server, image, resource mcp.Content) {
	read := func(c mcp.ResourceContents) mcp.ResourceHandler {
		return func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			c := c
			c.URI = r.Params.URI
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&c}}, nil
		}
	}
	s.AddResource(&mcp.Resource{URI: "test://static-text", Name: "text"}, read(mcp.ResourceContents{MIMEType: "text/plain", Text: "This is the content of the static text resource."}))
	s.AddResource(&mcp.Resource{URI: "test://static-binary", Name: "binary"}, read(mcp.ResourceContents{MIMEType: "image/png", Blob: []byte("\x89PNG")}))
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template"},
		func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: "application/json",
				Text: `{"id":"123","templateTest":true,"data":"Data for ID: 123"}`}}}, nil
		})
	for name, content := range map[string]mcp.Content{"test_prompt_with_image": image, "test_prompt_with_embedded_resource": resource} {
		s.AddPrompt(&mcp.Prompt{Name: name, Description: "A prompt of the demonstration", Arguments: []*mcp.PromptArgument{{Name: "resourceUri"}}},
			func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				wanted := content
				if e, ok := content.(*mcp.EmbeddedResource); ok && r.Params.Arguments["resourceUri"] != "" {
					c := *e.Resource
					c.URI = r.Params.Arguments["resourceUri"]
					wanted = &mcp.EmbeddedResource{Resource: &c}
				}
				return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: wanted}}}, nil
			})
	}
}
