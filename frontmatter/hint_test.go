package frontmatter

import "testing"

// TestBadValueFix: a value that is not taken comes with what to write (spec F-3).
func TestBadValueFix(t *testing.T) {
	for _, yaml := range []string{"context: both", "shell: zsh", "disable-model-invocation: maybe", "effort: huge", "metadata: text", "paths: {a: b}"} {
		_, _, problems := load(header(yaml + "\n"))
		if len(problems) != 1 || problems[0].Code != "bad-value" || problems[0].Fix == "" {
			t.Errorf("%s: %+v", yaml, problems)
		}
	}
}
