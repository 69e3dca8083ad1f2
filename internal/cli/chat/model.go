package chat

import (
	"fmt"
	"strings"
	"time"

	"github.com/knack-skills/knack/internal/cli/output"
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

// silenceVariable says how long a provider may send nothing in the middle of an
// answer.
const silenceVariable = "KNACK_MODEL_SILENCE"

// silence reads it; zero means the default of package wire.
func silence(o Options) (time.Duration, error) {
	text := strings.TrimSpace(o.getenv(silenceVariable))
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil || d < 0:
		return 0, output.Usagef("%s is %q: give a time such as 90s or 10m, or 0 to wait for ever", silenceVariable, text)
	case d == 0:
		return -1, nil
	}
	return d, nil
}

func provider(o Options) (llm.Model, error) {
	silence, err := silence(o)
	if err != nil {
		return nil, err
	}
	switch o.Model.Provider {
	case choose.Scripted:
		s, err := scripted.Load(o.Model.ID)
		if err != nil {
			return nil, err
		}
		return scripted.New(s), nil
	case choose.Anthropic:
		return anthropic.New(anthropic.Options{Key: o.getenv("ANTHROPIC_API_KEY"), BaseURL: o.getenv("ANTHROPIC_BASE_URL"), Silence: silence})
	case choose.OpenAI:
		return openai.New(openai.Options{Key: o.getenv("OPENAI_API_KEY"), BaseURL: o.getenv("OPENAI_BASE_URL"), Silence: silence})
	case choose.OpenAIChat:
		return openai.New(openai.Options{Key: o.getenv("OPENAI_API_KEY"), BaseURL: o.getenv("OPENAI_BASE_URL"), API: openai.Chat, Silence: silence})
	case choose.Gemini:
		return gemini.New(gemini.Options{Key: o.getenv("GEMINI_API_KEY"), BaseURL: o.getenv("GEMINI_BASE_URL"), Silence: silence})
	}
	return nil, fmt.Errorf("model %s cannot hold a conversation", o.Model)
}
