package frontmatter

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// parseSeeds are whole files, most of them odd in one way.
var parseSeeds = []string{
	"", "---", "---\n---\n", bom, "\xff\xfe-\x00", "---\nname: \x00\n---\n",
	"---\nname: a\ndescription: d\n---\nBody\n",
	"---\r\nname: a\r\ndescription: d\r\n---\r\nBody\r\n", "---\rname: a\r---\rBody\r",
	"---\ndescription: Use when: x\nallowed-tools: - Read\n- Grep\n---\nBody\n",
	"---\ndescription: \"never closed\nlicense: MIT\n---\n", "---\na: &x 1\nb: *x\nc: *)\n---\n",
	"---\nmetadata:\n\tauthor: a\n---\n", "---\nname: a\n<<<<<<< HEAD\nversion: 1\n=======\nversion: 2\n>>>>>>> b\n---\n",
	"---\npaths: src/*.{ts,tsx}, {a,{b,c}}/**\nallowed-tools: [Bash(a, b), Read]\narguments: [a, {name: b}]\n---\n",
	"---\nhooks:\n  PreToolUse:\n    - matcher: Bash(x *)\n      command: echo\n  Nope: 1\n---\n",
	"---\nname: a\n---# Title\n\nText\n", "---\nname: a\n  ---\nText\n", "# T\n\nText\nmore\n\nend", "name: a\ndescription: d\n---\nText\n\nText\n\n",
	"\n\n---\nname: a\n---\nText\n\nMore\n", "```markdown\n---\nname: a\n---\n```\n", "<!-- c\n-->\n\nText\n\n", "Title\n===\n\nText\n\n",
	"../x/SKILL.md", "---\ndescription: |\n  a\n  b\n---\n", "---\nmetadata: {\"a\":{\"b\":\"\\ud83d\\ude80\"}}\n---\n", "---\nname: caf\xe9\n---\n\xff",
	"---\n\"description\": x\nname: \"a\ndescription: b\"\n---\nText\n\n", "---\ndescription: a\u2028b\n---\n", "---\n{name: a, description: b}\n---\n",
	"---\n? a\n: b\n---\n", "---\nname:foo\ndescription: bar\n---\n", "---\nstray\nname: @x\n---\n",
}

// FuzzParse checks the properties of checkParse on any input.
func FuzzParse(f *testing.F) {
	for _, src := range parseSeeds {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 8192 {
			return
		}
		checkParse(t, data)
		// Heads of every length, since small files have many of them.
		doc, problems := Parse("SKILL.md", data)
		if doc.Refused == "" && !hasCode(problems, "invalid-utf8") {
			lengths := make([]int, 300)
			for n := range lengths {
				lengths[n] = n
			}
			checkHeads(t, data, lengths...)
		}
	})
}

// FuzzFix checks the properties of checkFix on any input.
func FuzzFix(f *testing.F) {
	for _, src := range parseSeeds {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 4096 {
			checkFix(t, data)
		}
	})
}

// TestParseProperty draws files from the pieces that go wrong.
func TestParseProperty(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"---\n", "---", "\n", "\n", "\r\n", "\r", "name: a\n", "description: ", "allowed-tools: ", "paths: ", "hooks:\n  Stop:\n", "arguments: ", "context: ",
		"Use when: x\n", "[a] [b]\n", "\"x", "'", "|\n", ">-\n", "  - x\n", "- y\n", "  k: v\n", "\tk: v\n", "#", " # c\n", "*x", "&x ", "!t ", "{a,b}", "(", ")", ", ",
		"# Title\n", "text\n", "```\n", "<!-- ", "-->", "===\n", "é", "\u202e", "<<<<<<< a\n", "=======\n", ">>>>>>> b\n", "disable-model-invocation: maybe\n", "user-invocable: false\n",
	})
	rapid.Check(t, func(rt *rapid.T) {
		open := rapid.SampledFrom([]string{"---\n", "---\r\n", bom + "---\n", ""}).Draw(rt, "open")
		data := []byte(open + strings.Join(rapid.SliceOfN(piece, 0, 20).Draw(rt, "pieces"), ""))
		checkParse(rt, data)
		checkFix(rt, data)
	})
}
