package agent

import "github.com/knack-skills/knack/llm"

// lost is the result of a call whose own was never written down.
const lost = "Interrupted: what came of this call is not known. Look before you repeat it."

// mend returns a history in which every tool call has its result right behind
// it, and no result stands without its call. A process that was killed, or a
// damaged transcript, leaves such gaps, and providers refuse them.
func mend(history []llm.Message) []llm.Message {
	var out []llm.Message
	var open []llm.Block // calls of the last answer that have no result yet
	for _, m := range history {
		if m.Role == llm.Assistant {
			out, open = settle(out, open), nil
			for _, b := range m.Content {
				if b.Type == llm.ToolUse {
					open = append(open, b)
				}
			}
			out = append(out, m)
			continue
		}
		kept := llm.Message{Role: m.Role}
		for _, b := range m.Content {
			if b.Type == llm.ToolResult {
				var known bool
				if open, known = without(open, b.ToolUseID); !known {
					continue
				}
			}
			kept.Content = append(kept.Content, b)
		}
		if len(open) > 0 {
			// Results come in one message, the first after the calls.
			kept.Content = append(interrupted(open), kept.Content...)
			open = nil
		}
		if len(kept.Content) > 0 {
			out = append(out, kept)
		}
	}
	return settle(out, open)
}

func settle(out []llm.Message, open []llm.Block) []llm.Message {
	if len(open) == 0 {
		return out
	}
	return append(out, llm.Message{Role: llm.User, Content: interrupted(open)})
}

func interrupted(calls []llm.Block) (out []llm.Block) {
	for _, c := range calls {
		out = append(out, llm.Block{Type: llm.ToolResult, ToolUseID: c.ToolUseID, Name: c.Name, Text: lost, IsError: true})
	}
	return out
}

func without(calls []llm.Block, id string) (rest []llm.Block, found bool) {
	for _, c := range calls {
		if !found && c.ToolUseID == id {
			found = true
			continue
		}
		rest = append(rest, c)
	}
	return rest, found
}
