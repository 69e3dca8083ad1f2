package lint_test

import (
	"strings"
	"testing"

	"github.com/knack-skills/knack/lint"
)

func TestPortable(t *testing.T) { // spec F-8
	const head = "---\nname: demo\ndescription: Notes.\n"
	named := func(name string) string { return "---\nname: " + name + "\ndescription: Notes.\n---\n" }
	run(t, lint.Options{Profile: lint.AgentSkills}, []row{
		{"fine", head + "license: MIT\ncompatibility: any\nallowed-tools: Read\nmetadata:\n  author: me\n---\n$1 [a](x.md)", ""},
		{"nothing", "Body.", "portable-description-missing@0:0 portable-name-missing@0:0"},
		{"no name", "---\ndescription: Notes.\n---\n", "portable-name-missing@0:0"},
		{"empty name", "---\nname:\ndescription: Notes.\n---\n", "portable-name-missing@2:1"},
		{"no description", "---\nname: demo\n---\nBody.", "portable-description-missing@0:0"},
		{"upper case", named("Demo"), "portable-name-characters@2:7 portable-name-directory@2:7"},
		{"underscore", named("de_mo"), "portable-name-characters@2:7 portable-name-directory@2:7"},
		{"letters of other scripts", named("démo"), "portable-name-characters@2:7 portable-name-directory@2:7"},
		{"leading hyphen", named("\"-demo\""), "portable-name-directory@2:7 portable-name-hyphens@2:7"},
		{"trailing hyphen", named("demo-"), "portable-name-directory@2:7 portable-name-hyphens@2:7"},
		{"double hyphen", named("de--mo"), "portable-name-directory@2:7 portable-name-hyphens@2:7"},
		{"too long", named(strings.Repeat("a", 65)), "portable-name-directory@2:7 portable-name-too-long@2:7"},
		{"long enough", named(strings.Repeat("a", 64)), "portable-name-directory@2:7"},
		{"1024", "---\nname: demo\ndescription: " + strings.Repeat("説", 1024) + "\n---\n", ""},
		{"1025", "---\nname: demo\ndescription: " + strings.Repeat("説", 1025) + "\n---\n", "portable-description-too-long@3:14"},
		{"500", head + "compatibility: " + strings.Repeat("x", 500) + "\n---\n", ""},
		{"501", head + "compatibility: " + strings.Repeat("x", 501) + "\n---\n", "portable-compatibility-too-long@4:16"},
		{"unknown fields", head + "model: opus\nwhen_to_use: often\n---\n", "portable-unknown-field@4:1 portable-unknown-field@5:1"},
		{"other spelling", head + "allowed_tools: Read\n---\n", "portable-unknown-field@4:1"},
	})
}

func TestPortableMetadata(t *testing.T) { // spec F-8
	const head = "---\nname: demo\ndescription: Notes.\n"
	run(t, lint.Options{Profile: lint.AgentSkills}, []row{
		{"scalars", head + "metadata:\n  version: 1.0\n  old: true\n  at: \"12:30\"\n---\n", ""},
		{"block scalar", head + "metadata:\n  a: |\n    - x\n  b: y\n---\n", ""},
		{"continued text", head + "metadata:\n  a: one\n    two\n---\n", ""},
		{"comments", head + "metadata: # about\n  # who\n  a: b # c\n---\n", ""},
		{"flow", head + "metadata: {a: b, c: \"[d]\"}\n---\n", ""},
		{"empty", head + "metadata:\n---\n", ""},
		{"null", head + "metadata: null\n---\n", ""},
		{"text", head + "metadata: me\n---\n", "portable-metadata@4:11"},
		{"list", head + "metadata:\n  - a: b\n---\n", "portable-metadata@5:3"},
		{"nested map", head + "metadata:\n  a:\n    b: c\n---\n", "portable-metadata@6:5"},
		{"nested list", head + "metadata:\n  x: y\n  a:\n    - b\n---\n", "portable-metadata@7:5"},
		{"flow list", head + "metadata:\n  a: [b]\n---\n", "portable-metadata@5:3"},
		{"flow in flow", head + "metadata: {a: [b]}\n---\n", "portable-metadata@4:11"},
	})
}
