package main

import (
	"context"
	"io"
	"testing"

	"github.com/cloudwego/eino-ext/components/model/openai"

	"github.com/knack-skills/knack/internal/lab/embedding"
	"github.com/knack-skills/knack/internal/lab/openaiserver"
	"github.com/knack-skills/knack/llm/llmtest"
)

func TestContract(t *testing.T) { // spec A-10
	embedding.Contract(t, embedding.Example{Start: func(t *testing.T, replies ...llmtest.Reply) (embedding.Program, embedding.Server) {
		s := openaiserver.Start(t, replies...)
		return func(ctx context.Context, dir string, in io.Reader, out io.Writer) error {
			return run(ctx, dir, in, out, openai.ChatModelConfig{BaseURL: s.URL + "/v1", APIKey: openaiserver.Key, Model: "model-1"})
		}, s
	}})
}
