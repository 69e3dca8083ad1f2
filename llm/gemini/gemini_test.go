package gemini_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/knack-skills/knack/internal/lab/geminiserver"
	"github.com/knack-skills/knack/internal/lab/loopback"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/gemini"
	"github.com/knack-skills/knack/llm/llmtest"
)

// server is a server with a model that is connected to it.
type server struct {
	*loopback.Server
	model *gemini.Client
}

func (s server) Model() llm.Model { return s.model }

func start(t *testing.T, replies ...llmtest.Reply) server {
	t.Helper()
	s := geminiserver.Start(t, replies...)
	return server{s, client(t, s.URL+"/v1beta")}
}

// client has connections of its own, which end with the test.
func client(t *testing.T, base string) *gemini.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c, err := gemini.New(gemini.Options{BaseURL: base, Key: geminiserver.Key, HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestContract(t *testing.T) { // spec A-2
	llmtest.Run(t, llmtest.Provider{ObjectInput: true, NoCacheCreation: true,
		Start: func(t *testing.T, replies ...llmtest.Reply) llmtest.Server { return start(t, replies...) }})
}

func TestSilence(t *testing.T) { // a server that falls silent ends the answer
	s := geminiserver.Start(t, llmtest.Reply{Parts: []llmtest.Part{{Text: "so far"}}, Fault: llmtest.Hang})
	c, err := gemini.New(gemini.Options{BaseURL: s.URL + "/v1beta", Key: geminiserver.Key, Silence: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	llmtest.Silence(t, c)
}
