package permission

import (
	"errors"
	"fmt"
	"strings"
)

// ParseRule reads one rule. The error says what is wrong and how to write it.
// White space around the rule and around its specifier is dropped; a
// parenthesis inside quotes or after a backslash is text.
func ParseRule(text string) (Rule, error) {
	s := strings.TrimSpace(text)
	if s == "" {
		return Rule{}, errors.New("empty rule: write Tool or Tool(specifier), such as Bash(git log:*)")
	}
	if i := strings.IndexFunc(s, isControl); i >= 0 {
		return Rule{}, fmt.Errorf("rule %q holds a control character: a rule is one line of text", s)
	}
	tool, rest, has := strings.Cut(s, "(")
	tool = strings.TrimSpace(tool)
	if err := checkTool(s, tool); err != nil {
		return Rule{}, err
	}
	r := Rule{Text: s, Tool: tool}
	if !has {
		return r, nil
	}
	end := closing(rest)
	switch {
	case end < 0:
		return Rule{}, fmt.Errorf("rule %q has no closing parenthesis: write %s)", s, s)
	case end != len(rest)-1:
		return Rule{}, fmt.Errorf("rule %q goes on after its closing parenthesis with %q: write each rule on its own", s, strings.TrimSpace(rest[end+1:]))
	}
	r.Specifier = strings.TrimSpace(rest[:end])
	r.HasSpec = true
	if r.Specifier == "" {
		return Rule{}, fmt.Errorf("rule %q has nothing between its parentheses: write %s for all of it", s, tool)
	}
	return r, nil
}

func checkTool(rule, tool string) error {
	if tool == "" {
		return fmt.Errorf("rule %q names no tool: write Tool(specifier), such as Bash(git log:*)", rule)
	}
	for _, c := range tool {
		switch {
		case c == ')':
			return fmt.Errorf("rule %q closes a parenthesis that it never opened", rule)
		case c == '"' || c == '\'' || c == '`':
			return fmt.Errorf("rule %q has a quote in the name of its tool: leave the quotes out", rule)
		case c == ' ' || c == ',' || c == '\t':
			return fmt.Errorf("rule %q has %q in the name of its tool: write each rule on its own", rule, string(c))
		}
	}
	return nil
}

// closing finds the parenthesis that ends a specifier. An apostrophe that
// opens no quote ("it's") must not hide it, so text whose quotes do not pair is
// read again without them.
func closing(s string) int {
	if i, ok := closingQuoted(s, true); ok {
		return i
	}
	i, _ := closingQuoted(s, false)
	return i
}

func closingQuoted(s string, quotes bool) (int, bool) {
	depth, quote := 1, byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && quote != '\'' && i+1 < len(s)-1:
			i++ // not before the last character, which ends the rule
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case quotes && (c == '"' || c == '\''):
			quote = c
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i, true
			}
		}
	}
	return -1, false
}

// isControl reports characters that have no business in a rule or, but for
// tab and newline, in a command: they hide text from the person who approves.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
