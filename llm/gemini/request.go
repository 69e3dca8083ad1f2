package gemini

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/knack-skills/knack/llm"
)

// body is a request of generateContent.
type body struct {
	System   *content  `json:"systemInstruction,omitempty"`
	Contents []content `json:"contents"`
	Tools    []tools   `json:"tools,omitempty"`
	Config   *config   `json:"generationConfig,omitempty"`
}

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

// part is one of: text, a call, a result.
type part struct {
	Text      *string   `json:"text,omitempty"`
	Thought   bool      `json:"thought,omitempty"`
	Call      *call     `json:"functionCall,omitempty"`
	Response  *response `json:"functionResponse,omitempty"`
	Signature string    `json:"thoughtSignature,omitempty"`
}

type call struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type response struct {
	ID       string  `json:"id,omitempty"`
	Name     string  `json:"name"`
	Response outcome `json:"response"`
}

// outcome is the result of a call.
type outcome struct {
	Output *string `json:"output,omitempty"`
	Error  *string `json:"error,omitempty"`
}

type tools struct {
	Functions []function `json:"functionDeclarations"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parametersJsonSchema,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // for servers that do not know the other
}

type config struct {
	MaxOutputTokens int             `json:"maxOutputTokens,omitempty"`
	MimeType        string          `json:"responseMimeType,omitempty"`
	Schema          json.RawMessage `json:"responseJsonSchema,omitempty"`
	Thinking        *thinking       `json:"thinkingConfig,omitempty"`
}

// unsigned stands for the signature of a call that another model made, or that
// came without one; the API documents it for this.
const unsigned = "skip_thought_signature_validator"

// madeUp begins ids that this package made because the server gave none. They
// mean nothing to it.
const madeUp = "local_"

// signature is the Opaque of a block: what the server wants back, and where.
type signature struct {
	Signature string `json:"thoughtSignature"`
	On        string `json:"on"`
}

// The parts that a signature can stand on.
const (
	onCall    = "functionCall"
	onText    = "text"
	onThought = "thought"
)

func newBody(r llm.Request) *body {
	b := &body{Contents: make([]content, 0, len(r.Messages))}
	if r.System != "" {
		b.System = &content{Parts: []part{{Text: &r.System}}}
	}
	names := map[string]string{} // of the tools, by the id of the call
	for _, m := range r.Messages {
		b.append(m, names, signs(r.Model))
	}
	var declared []function
	for _, t := range r.Tools {
		declared = append(declared, function{Name: t.Name, Description: t.Description, Schema: clean(t.InputSchema)})
	}
	if declared != nil {
		b.Tools = []tools{{declared}}
	}
	c := config{MaxOutputTokens: r.MaxTokens, Thinking: thinkingFor(r.Model, r.Effort)}
	if len(r.Schema) > 0 {
		c.MimeType, c.Schema = "application/json", clean(r.Schema)
	}
	if c.MaxOutputTokens > 0 || c.Thinking != nil || c.Schema != nil {
		b.Config = &c
	}
	return b
}

// append adds a message. Messages of one role beside each other become one, so
// that all results stand right behind their calls.
func (b *body) append(m llm.Message, names map[string]string, sign bool) {
	role := "user"
	if m.Role == llm.Assistant {
		role = "model"
	}
	parts := partsOf(m, names, sign)
	if len(parts) == 0 {
		return
	}
	if n := len(b.Contents); n > 0 && b.Contents[n-1].Role == role {
		b.Contents[n-1].Parts = append(b.Contents[n-1].Parts, parts...)
		return
	}
	b.Contents = append(b.Contents, content{Role: role, Parts: parts})
}

func partsOf(m llm.Message, names map[string]string, sign bool) []part {
	parts := make([]part, 0, len(m.Content))
	next := ""      // signature of the next call
	called := false // only the first of parallel calls bears a signature
	for i := range m.Content {
		switch blk := &m.Content[i]; blk.Type {
		case llm.Text:
			if blk.Text != "" {
				parts = append(parts, part{Text: &blk.Text})
			}
		case llm.Thinking:
			parts, next = signed(parts, blk, next)
		case llm.ToolUse:
			names[blk.ToolUseID] = blk.Name
			if next == "" && sign && !called {
				next = unsigned
			}
			parts = append(parts, part{Signature: next, Call: &call{ID: sentID(blk.ToolUseID), Name: blk.Name, Args: object(blk.Input)}})
			next, called = "", true
		case llm.ToolResult:
			parts = append(parts, part{Response: resultOf(blk, names)})
		}
	}
	return parts
}

// signed puts the signature of a block where it was.
func signed(parts []part, b *llm.Block, next string) ([]part, string) {
	var s signature
	if len(b.Opaque) == 0 || json.Unmarshal(b.Opaque, &s) != nil || s.Signature == "" {
		return parts, next // of another provider
	}
	switch n := len(parts); {
	case s.On == onCall:
		return parts, s.Signature
	case s.On == onThought && b.Text != "":
		return append(parts, part{Text: &b.Text, Thought: true, Signature: s.Signature}), next
	case s.On == onText && n > 0 && parts[n-1].Text != nil && parts[n-1].Signature == "":
		parts[n-1].Signature = s.Signature
	}
	return parts, next
}

func resultOf(b *llm.Block, names map[string]string) *response {
	r := &response{ID: sentID(b.ToolUseID), Name: names[b.ToolUseID]}
	if r.Name == "" {
		r.Name = b.Name
	}
	if b.IsError {
		r.Response.Error = &b.Text
	} else {
		r.Response.Output = &b.Text
	}
	return r
}

func sentID(id string) string {
	if strings.HasPrefix(id, madeUp) {
		return ""
	}
	return id
}

// object is the input of a call, which the API takes as an object only.
func object(input json.RawMessage) json.RawMessage {
	trimmed := bytes.TrimSpace(input)
	if len(trimmed) == 0 {
		return json.RawMessage("{}")
	}
	if trimmed[0] == '{' && json.Valid(trimmed) {
		return trimmed
	}
	kept, err := json.Marshal(map[string]string{"malformed_input": string(input)})
	if err != nil { // a string always marshals
		return json.RawMessage("{}")
	}
	return kept
}

// giveWay changes the body after a server refused it with this message. It
// reports false when there is nothing that the server could take better.
func (b *body) giveWay(message string) bool {
	message = strings.ToLower(message)
	says := func(words string) bool { return strings.Contains(message, words) }
	switch {
	case (says("parametersjsonschema") || says("parameters_json_schema")) && b.plainParameters():
	case b.Config == nil:
		return false
	case says("thinking level medium") && b.Config.Thinking != nil && b.Config.Thinking.Level == "medium":
		b.Config.Thinking.Level = "high" // the first models of version 3 know two levels
	case (says("thinking") || says("include_thoughts") || says("includethoughts")) && b.Config.Thinking != nil:
		b.Config.Thinking = nil
	case (says("responsejsonschema") || says("response_json_schema") || says("response mime type") || says("json mode")) && b.Config.Schema != nil:
		b.tellSchema()
	default:
		return false
	}
	return true
}

// plainParameters says the schemas of tools in the older way.
func (b *body) plainParameters() bool {
	changed := false
	for _, t := range b.Tools {
		for i := range t.Functions {
			if f := &t.Functions[i]; f.Schema != nil {
				f.Parameters, f.Schema, changed = plain(f.Schema), nil, true
			}
		}
	}
	return changed
}

// tellSchema asks for the schema in words: models before version 3 take no
// schema of the answer beside tools.
func (b *body) tellSchema() {
	text := "Answer with JSON alone, without a code fence, that is valid under this JSON Schema:\n" + string(b.Config.Schema)
	b.Config.MimeType, b.Config.Schema = "", nil
	if n := len(b.Contents); n > 0 && b.Contents[n-1].Role == "user" {
		b.Contents[n-1].Parts = append(b.Contents[n-1].Parts, part{Text: &text})
		return
	}
	b.Contents = append(b.Contents, content{Role: "user", Parts: []part{{Text: &text}}})
}
