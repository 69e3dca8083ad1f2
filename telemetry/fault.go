package telemetry

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/prompt"
)

// unknownSkill is the error of a name that no skill has.
const unknownSkill = "unknown_skill"

// errorType is the conventions' error.type: a word of low cardinality.
func errorType(err error) string {
	var (
		api     *llm.APIError
		missing *catalog.NotFoundError
		several *catalog.AmbiguousError
		refused *invoke.RefusedError
		denied  *prompt.DeniedError
		command *prompt.CommandError
		blocked *agent.BlockedError
	)
	switch {
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.As(err, &missing), errors.As(err, &several):
		return unknownSkill
	case errors.As(err, &refused), errors.As(err, &denied), errors.As(err, &blocked):
		return "denied"
	case errors.As(err, &command):
		return "command_failed"
	case errors.Is(err, llm.ErrCut):
		return "cut_off"
	case errors.Is(err, agent.ErrTurnLimit):
		return "turn_limit"
	case errors.As(err, &api) && api.Type != "":
		return api.Type
	case errors.As(err, &api):
		return strconv.Itoa(api.Status)
	}
	return "_OTHER"
}

// maxMessage is how much of an error a span holds, in bytes.
const maxMessage = 200

// brief is the first line of an error: what follows may be the output of a
// command.
func brief(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return strings.ToValidUTF8(s[:min(len(s), maxMessage)], "")
}
