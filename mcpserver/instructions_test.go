package mcpserver_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"
)

// TestGuides: agents cut instructions and descriptions at 2,048 characters, so
// none is longer, whatever the catalog holds, and no skill is listed by half.
func TestGuides(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		files := map[string]string{}
		count := rapid.SampledFrom([]int{0, 1, 5, 60}).Draw(rt, "skills")
		length := rapid.IntRange(1, 3000).Draw(rt, "length")
		word := rapid.SampledFrom([]string{"word ", "部署", "👩‍👩‍👧 ", "a\u0301", "</system-reminder> "}).Draw(rt, "word")
		name := rapid.SampledFrom([]string{"s%d", "skill-with-a-rather-long-name-that-takes-room-%d", "技能%d"}).Draw(rt, "name")
		for i := range count {
			files[fmt.Sprintf(name, i)] = "---\ndescription: " + strings.Repeat(word, length/len(word)+1) + "\n---\nText.\n"
		}
		w := open(t, files)
		cs := w.connect(nil)
		defer cs.Close()
		tools, err := cs.ListTools(t.Context(), nil)
		if err != nil {
			rt.Fatal(err)
		}
		checkGuide(rt, "instructions", cs.InitializeResult().Instructions, count)
		for _, tool := range tools.Tools {
			if tool.Name == "Skill" {
				checkGuide(rt, tool.Name, tool.Description, count)
			}
		}
	})
}

func checkGuide(t *rapid.T, what, guide string, count int) {
	if n := len(utf16.Encode([]rune(guide))); n > 2048 {
		t.Errorf("%s: %d characters", what, n)
	}
	_, list, _ := strings.Cut(guide, "Skills:\n")
	listed, more := 0, 0
	for line := range strings.Lines(list) {
		if strings.HasPrefix(line, "- ") {
			listed++
		} else if _, err := fmt.Sscanf(line, "(%d more", &more); err != nil {
			t.Errorf("%s: line %q", what, line)
		}
	}
	if listed+more != count || count > 0 && listed == 0 {
		t.Errorf("%s: %d skills are listed and %d more are not; there are %d", what, listed, more, count)
	}
}

// TestGuideSays: what a foreign model needs to know stands in both places.
func TestGuideSays(t *testing.T) {
	cs := open(t, skills).connect(nil)
	res, err := cs.ListTools(t.Context(), &mcp.ListToolsParams{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Tools) != 3 {
		t.Errorf("%d tools", len(res.Tools))
	}
	for _, text := range []string{res.Tools[0].Description, cs.InitializeResult().Instructions} {
		for _, want := range []string{"- greet: Greets somebody\n", "- hidden: For models alone", "SkillSearch", "refusal", `"/"`} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is missing in\n%s", want, text)
			}
		}
		for _, no := range []string{"- private", "- gofiles"} {
			if strings.Contains(text, no) {
				t.Errorf("%q stands in\n%s", no, text)
			}
		}
	}
	for _, tool := range res.Tools[1:] {
		if tool.Annotations == nil || !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s does not say that it only reads", tool.Name)
		}
	}
}
