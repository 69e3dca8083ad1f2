package openai_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/knack-skills/knack/internal/lab/loopback"
	"github.com/knack-skills/knack/internal/lab/openaiserver"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/llmtest"
	"github.com/knack-skills/knack/llm/openai"
)

// server is a server with a model that is connected to it.
type server struct {
	*loopback.Server
	model *openai.Client
}

func (s server) Model() llm.Model { return s.model }

func start(t *testing.T, api openai.API, replies ...llmtest.Reply) server {
	t.Helper()
	s := openaiserver.Start(t, replies...)
	return server{s, client(t, s.URL+"/v1", api)}
}

// client has connections of its own, which end with the test.
func client(t *testing.T, base string, api openai.API) *openai.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c, err := openai.New(openai.Options{BaseURL: base, Key: openaiserver.Key, API: api, HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestContract(t *testing.T) { // spec A-2
	t.Run("Responses", func(t *testing.T) {
		llmtest.Run(t, llmtest.Provider{Start: func(t *testing.T, replies ...llmtest.Reply) llmtest.Server {
			return start(t, openai.Responses, replies...)
		}})
	})
	t.Run("Chat", func(t *testing.T) {
		llmtest.Run(t, llmtest.Provider{NoThinking: true, Start: func(t *testing.T, replies ...llmtest.Reply) llmtest.Server {
			return start(t, openai.Auto, replies...)
		}})
	})
}

func TestSilence(t *testing.T) { // a server that falls silent ends the answer
	for _, api := range []openai.API{openai.Responses, openai.Chat} {
		s := openaiserver.Start(t, llmtest.Reply{Parts: []llmtest.Part{{Text: "so far"}}, Fault: llmtest.Hang})
		c, err := openai.New(openai.Options{BaseURL: s.URL + "/v1", Key: openaiserver.Key, API: api, Silence: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		llmtest.Silence(t, c)
	}
}
