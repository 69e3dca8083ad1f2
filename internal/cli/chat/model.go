package chat

import (
	"fmt"

	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/anthropic"
	"github.com/knack-skills/knack/llm/choose"
	"github.com/knack-skills/knack/llm/gemini"
	"github.com/knack-skills/knack/llm/openai"
	"github.com/knack-skills/knack/llm/scripted"
)

// connect makes the model of a session. Recording stands outside of retrying,
// so that one file is one request (spec K-12).
func connect(o Options) (llm.Model, error) {
	if err := o.Model.Ready(o.Aliases); err != nil {
		return nil, err
	}
	m, err := provider(o)
	if err != nil {
		return nil, err
	}
	if o.Model.Provider != choose.Scripted {
		m = llm.Retry(m, llm.RetryPolicy{})
	}
	if o.RecordDir != "" {
		m = llm.Record(m, o.RecordDir)
	}
	return m, nil
}

func provider(o Options) (llm.Model, error) {
	switch o.Model.Provider {
	case choose.Scripted:
		s, err := scripted.Load(o.Model.ID)
		if err != nil {
			return nil, err
		}
		return scripted.New(s), nil
	case choose.Anthropic:
		return anthropic.New(anthropic.Options{Key: o.getenv("ANTHROPIC_API_KEY"), BaseURL: o.getenv("ANTHROPIC_BASE_URL")})
	case choose.OpenAI:
		return openai.New(openai.Options{Key: o.getenv("OPENAI_API_KEY"), BaseURL: o.getenv("OPENAI_BASE_URL")})
	case choose.OpenAIChat:
		return openai.New(openai.Options{Key: o.getenv("OPENAI_API_KEY"), BaseURL: o.getenv("OPENAI_BASE_URL"), API: openai.Chat})
	case choose.Gemini:
		return gemini.New(gemini.Options{Key: o.getenv("GEMINI_API_KEY"), BaseURL: o.getenv("GEMINI_BASE_URL")})
	}
	return nil, fmt.Errorf("model %s cannot hold a conversation", o.Model)
}
