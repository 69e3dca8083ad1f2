package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/wire"
)

// maxMarks is how many cache marks the API takes in one request.
const maxMarks = 4

// wideSuffix on a model's id asks for the window of a million tokens.
const wideSuffix = "[1m]"

// The wire types of all but the messages.
type (
	request struct {
		Model     string    `json:"model"`
		MaxTokens int       `json:"max_tokens"`
		Stream    bool      `json:"stream"`
		Thinking  *thinking `json:"thinking,omitempty"`
		Output    *output   `json:"output_config,omitempty"`
		Tools     []tool    `json:"tools,omitempty"`
		System    []system  `json:"system,omitempty"`
	}
	thinking struct {
		Type         string `json:"type"`
		BudgetTokens int    `json:"budget_tokens,omitempty"`
		Display      string `json:"display,omitempty"`
	}
	output struct {
		Effort string  `json:"effort,omitempty"`
		Format *format `json:"format,omitempty"`
	}
	format struct {
		Type   string `json:"type"`
		Schema any    `json:"schema"`
	}
	tool struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		InputSchema json.RawMessage `json:"input_schema"`
		Cache       *mark           `json:"cache_control,omitempty"`
	}
	system struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		Cache *mark  `json:"cache_control,omitempty"`
	}
	mark struct {
		Type string `json:"type"`
	}
)

// encode returns the body of a request and the beta features that it needs.
func encode(r llm.Request) (body []byte, beta string, err error) {
	model, wide := strings.CutSuffix(r.Model, wideSuffix)
	if wide {
		beta = string(sdk.AnthropicBetaContext1m2025_08_07)
	}
	w := request{Model: model, MaxTokens: r.MaxTokens, Stream: true}
	free := maxMarks
	for _, t := range r.Tools {
		w.Tools = append(w.Tools, tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema})
	}
	if n := len(w.Tools); n > 0 {
		w.Tools[n-1].Cache = ephemeral()
		free--
	}
	if strings.TrimSpace(r.System) != "" {
		w.System = []system{{Type: "text", Text: r.System, Cache: ephemeral()}}
		free--
	}
	ms := messages(r.Messages, r.CacheAt, free)
	think(&w, r.Effort, ms)
	if r.Schema != nil {
		s, err := schema(r.Schema)
		if err != nil {
			return nil, "", err
		}
		if w.Output == nil {
			w.Output = &output{}
		}
		w.Output.Format = &format{Type: "json_schema", Schema: s}
	}
	head, err := wire.Encode(&w)
	if err != nil {
		return nil, "", fmt.Errorf("request to the Anthropic API: %w", err)
	}
	return appendMessages(bytes.TrimSuffix(head, []byte("}")), ms), beta, nil
}

func ephemeral() *mark { return &mark{Type: "ephemeral"} }
