package frontmatter

import (
	"runtime"
	"strings"
	"testing"

	"github.com/knack-skills/knack/skill"
)

const benchBody = "\n# Release notes\n\nCollect the merged changes since the last tag.\n"

// benchFiles are headers of the usual shapes and sizes.
var benchFiles = map[string]string{
	"plain":  "---\nname: release-notes\ndescription: Collects merged changes since the last tag and drafts notes for people. Use when a version is about to be tagged, or when somebody asks what changed.\nallowed-tools: Bash(git log:*), Bash(git tag:*), Read\nargument-hint: \"[version]\"\nmodel: sonnet\nversion: 1.10\n---\n",
	"block":  "---\nname: release-notes\ndescription: |\n  Collects merged changes since the last tag\n  and drafts notes for people.\nallowed-tools: [Read, Grep, Glob]\nmetadata:\n  author: somebody\n---\n",
	"broken": "---\nname: release-notes\ndescription: Use when: a version is about to be tagged\nallowed-tools: Read\n---\n",
	"bare":   "",
}

func BenchmarkLoad(b *testing.B) {
	for _, name := range []string{"plain", "block", "broken", "bare"} {
		data := []byte(benchFiles[name] + benchBody + strings.Repeat("More text of the body.\n", 300))
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				doc, _ := Parse("SKILL.md", data)
				var s skill.Skill
				doc.Fill(&s, false)
			}
		})
	}
}

func BenchmarkEnough(b *testing.B) {
	data := []byte(benchFiles["plain"] + benchBody + strings.Repeat("More text of the body.\n", 100))
	b.ReportAllocs()
	for b.Loop() {
		if !Enough(data) {
			b.Fatal("not enough")
		}
	}
}

// TestAllocations bounds what loading a plain header may allocate, whatever
// the size of the body (F-9).
func TestAllocations(t *testing.T) {
	data := []byte(benchFiles["plain"] + benchBody + strings.Repeat("More text of the body.\n", 3000))
	n := testing.AllocsPerRun(100, func() {
		doc, problems := Parse("SKILL.md", data)
		var s skill.Skill
		if problems = append(problems, doc.Fill(&s, false)...); len(problems) > 0 || len(s.Run.AllowedTools) != 3 {
			t.Fatal(problems)
		}
	})
	if n > 6 {
		t.Errorf("%v allocations", n)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		Parse("SKILL.md", data)
	}
	runtime.ReadMemStats(&after)
	if perFile := (after.TotalAlloc - before.TotalAlloc) / 100; perFile > 4096 {
		t.Errorf("%d bytes for a file of %d", perFile, len(data))
	}
}
