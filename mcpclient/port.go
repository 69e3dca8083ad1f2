package mcpclient

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/knack-skills/knack/source/mcp"
)

// A Dialer speaks the protocol. Package sdk implements it.
type Dialer interface {
	// Dial connects and greets. The error is what the peer or the transport
	// says. After Dial has failed it does not use the stream any more.
	Dial(ctx context.Context, e Endpoint) (*Connection, error)
}

// An Endpoint is where a server is, and whom to tell.
type Endpoint struct {
	Stream io.ReadWriteCloser // of a process: one JSON message a line
	URL    string             // of a server behind HTTP; Stream is nil then
	SSE    bool               // the old transport of two channels
	Client *http.Client
	// Legacy greets as older versions of the protocol do, for servers that a
	// newer greeting confuses.
	Legacy bool
	// Changed is told that some list of the server has changed. It returns at once.
	Changed func()
}

// A Connection is a server that has answered. The parts that it does not have
// are nil. They are safe for concurrent use.
type Connection struct {
	Session   Session
	Name      string // as the server calls itself
	Version   string
	Prompts   Prompts
	Tools     Tools
	Resources Resources
	Skills    Skills
}

// A Session ends.
type Session interface {
	// Done is closed when the connection is lost or closed.
	Done() <-chan struct{}
	Close() error
}

// Prompts are those of one server.
type Prompts interface {
	ListPrompts(ctx context.Context) ([]mcp.Prompt, error)
	GetPrompt(ctx context.Context, name string, args map[string]string) ([]Content, error)
}

// Tools are those of one server.
type Tools interface {
	ListTools(ctx context.Context) ([]Tool, error)
	// CallTool passes args, an object, on. progress may be called until it returns.
	CallTool(ctx context.Context, name string, args json.RawMessage, progress func(string)) (Result, error)
}

// Resources are those of one server.
type Resources interface {
	ListResources(ctx context.Context) ([]Resource, error)
	ReadResource(ctx context.Context, uri string) ([]Content, error)
}

// Skills are those of the Skills extension.
type Skills interface {
	ListSkills(ctx context.Context) ([]mcp.Offer, error)
	GetSkill(ctx context.Context, uri string) (mcp.Offer, error)
}

// A Tool is one that a server offers, as the server describes it.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // of its input
}

// A Resource is a text or file that a server offers.
type Resource struct {
	URI, Name, Description, MIME string
}

// A Content is one piece of what a server answers with.
type Content struct {
	Role string // of prompts: user or assistant
	Kind string // text, resource, link, or what else it is
	Text string // of text, and of resources that are text
	Data []byte // of resources that are not
	URI  string // of resources and links
	MIME string
}

// A Result is what a tool answers.
type Result struct {
	Content    []Content
	Structured json.RawMessage // nil without
	IsError    bool
}

// MaxItems is how many items of one list are taken from a server.
const MaxItems = 10_000
