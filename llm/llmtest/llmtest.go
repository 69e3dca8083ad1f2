// Package llmtest is the contract that every provider of package llm keeps. A
// provider's test says how to start a loopback server that speaks its wire
// protocol, and runs the suite:
//
//	func TestContract(t *testing.T) {
//		llmtest.Run(t, llmtest.Provider{Start: start})
//	}
package llmtest

import (
	"testing"
	"time"

	"github.com/knack-skills/knack/llm"
)

// A Provider is a model under test, and what its protocol cannot say.
type Provider struct {
	// Start starts a server on the loopback interface that answers the requests
	// it gets with replies, in order, and returns it with a model connected to
	// it. Further requests are errors of the test. The model must not retry by
	// itself. Start stops the server in a cleanup of t, after its last request
	// has ended.
	Start func(t *testing.T, replies ...Reply) Server
	// ObjectInput says that tool input travels as a JSON value, which cannot be
	// malformed.
	ObjectInput bool
	// NoThinking says that reasoning does not travel.
	NoThinking bool
	// NoCacheCreation says that the usage does not count tokens written to the
	// cache.
	NoCacheCreation bool
}

// A Server is a running server of a provider's protocol.
type Server interface {
	// Model is connected to the server.
	Model() llm.Model
	// Seen returns the requests so far, read back from the wire.
	Seen() []Seen
}

// Seen is a request as the server understood it.
type Seen struct {
	Model  string
	System string
	Tools  []llm.ToolSpec
	// Blocks are those of all messages, in order, without their messages, since
	// providers divide them differently. A server whose protocol has no ids
	// leaves them empty; they are not compared then. Neither are IsError and
	// Opaque.
	Blocks []llm.Block
	Body   []byte // as it came
}

// A Reply is one answer of the server.
type Reply struct {
	// Status, when not 0 or 200, makes the reply an error with this status and
	// the type and message below, in the protocol's own form.
	Status     int
	Type       string
	Message    string
	RetryAfter time.Duration // as a Retry-After header, in whole seconds; zero sends none

	Parts []Part
	Stop  llm.StopReason // of the end; empty is EndTurn
	Usage llm.Usage
	Fault Fault
}

// A Part is one of: text, thinking, a tool call. The server sends each text in
// several pieces where it is long enough, and the input of calls too.
type Part struct {
	Text      string
	Thinking  string
	Signature string // of Thinking, what the provider wants back
	Call      *llm.ToolCall
}

// A Fault is something that goes wrong with a reply of status 200.
type Fault int

// The faults. A part is whole when all its pieces and its end were sent.
const (
	None       Fault = iota
	Drop             // the connection closes before any byte of the response
	CutEarly         // the response ends properly after its headers, without an event
	CutInside        // the response ends properly inside the last part, before that is whole
	CutLate          // the response ends properly after the last part, without the protocol's end
	Reset            // as CutInside, and the connection breaks instead of ending properly
	Malformed        // after the last part comes an event that is not JSON; then the proper end
	ErrorEvent       // after the last part comes an error event, with Type and Message
	Slow             // every byte is a packet of its own
	Hang             // after the last part nothing comes until the client leaves
)

// Run runs the contract.
func Run(t *testing.T, p Provider) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Provider)
	}{
		{"Text", testText},
		{"Empty", testEmpty},
		{"Calls", testCalls},
		{"CallInput", testCallInput},
		{"StopReasons", testStops},
		{"Usage", testUsage},
		{"LongPieces", testLong},
		{"SlowPieces", testSlow},
		{"Thinking", testThinking},
		{"ErrorStatus", testStatus},
		{"ErrorEvent", testErrorEvent},
		{"Cut", testCut},
		{"Malformed", testMalformed},
		{"Dropped", testDrop},
		{"Cancel", testCancel},
		{"CancelBefore", testCancelBefore},
		{"Break", testBreak},
		{"Request", testRequest},
		{"Schema", testSchema},
		{"Unchanged", testUnchanged},
		{"Concurrent", testConcurrent},
		{"Retry", testRetry},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, p) })
	}
}

// Request is a small request, for tests that are not about requests.
func Request() llm.Request {
	return llm.Request{
		AgentID:  "main",
		Model:    "model-1",
		System:   "Be brief.",
		Messages: []llm.Message{{Role: llm.User, Content: []llm.Block{{Type: llm.Text, Text: "hello"}}}},
		Tools: []llm.ToolSpec{{Name: "Look", Description: "Looks at a file.",
			InputSchema: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)}},
	}
}

// text and call make parts.
func text(s string) Part { return Part{Text: s} }

func call(id, name, input string) Part {
	return Part{Call: &llm.ToolCall{ID: id, Name: name, Input: []byte(input)}}
}
