package frontmatter

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/knack-skills/knack/skill"
)

// filled repeats f(0), f(1), ... up to the largest frontmatter that is read.
func filled(f func(i int) string) string {
	var b strings.Builder
	for i := 0; ; i++ {
		s := f(i)
		if b.Len()+len(s) > MaxFrontmatter-100 {
			return b.String()
		}
		b.WriteString(s)
	}
}

// numbered is filled for a text with one number in it.
func numbered(format string) string {
	return filled(func(i int) string { return fmt.Sprintf(format, i) })
}

func repeated(s string) string { return filled(func(int) string { return s }) }

// hostile are headers as large as they may be, made to be slow or loud.
var hostile = map[string]string{
	"keys":                numbered("k%x:\n"),
	"keys that are ints":  numbered("%x:\n"),
	"keys, then a fault":  numbered("k%x:\n") + "a: b: c\n",
	"bad keys":            numbered("k%x: @\n"),
	"colons":              numbered("k%x: a: b\n"),
	"one key":             repeated("a:\n"),
	"one known key":       repeated("name: x\n"),
	"one bad key":         repeated("name: x: y\n"),
	"three spellings":     repeated("when_to_use: a\nwhenToUse: b\nwhen-to-use: c\n"),
	"near keys":           filled(func(i int) string { return fmt.Sprintf("nam%c%c: a\n", 'a'+i%26, 'a'+i/26%26) }),
	"brackets":            "a: " + repeated("["),
	"braces":              "a: " + repeated("{a: "),
	"a long list":         "a: [" + repeated("x, ") + "]\n",
	"a list of lines":     "x:\n" + repeated("- a\n"),
	"a list of maps":      "x:\n" + repeated("- a: b\n"),
	"a wide map":          "metadata: {" + numbered("k%x: a,") + "}\n",
	"aliases":             "a: &a b\n" + numbered("k%x: *a\n"),
	"a list of aliases":   "a: &a [" + strings.Repeat("l,", 5000) + "]\nb: [" + strings.Repeat("*a,", 5000) + "]\n",
	"unknown aliases":     numbered("k%x: *a\n"),
	"anchors":             numbered("k%x: &a b\n"),
	"tags":                numbered("k%x: !a b\n"),
	"tabs":                "a:\n" + repeated("\tb: c\n"),
	"CR":                  "a: b: c" + repeated("\r"),
	"dashes":              repeated("- "),
	"surrogates":          numbered("k%x: \"\\ud83d\"\n"),
	"line separators":     numbered("k%x: \u2028\n"),
	"tag letters":         "description: " + repeated("\U000E0049") + "\n",
	"bidi":                numbered("k%x: \u202e\n"),
	"conflicts":           numbered("<<<<<<< a\nk%x: a\n"),
	"prose":               repeated("Use it when: x\n"),
	"open patterns":       "paths: " + repeated("{a,"),
	"braces of patterns":  "paths: " + repeated("a{,b},"),
	"lists of patterns":   "paths:\n" + repeated("- {a,b}{c,d}{e,f}{g,h}{i,j}\n"),
	"parentheses":         "allowed-tools: " + repeated("("),
	"open rules":          "allowed-tools:\n" + repeated("- (\n"),
	"useless rules":       "allowed-tools: " + repeated("Bash(a:b:*) "),
	"arguments":           "arguments: " + numbered("k%x "),
	"unknown events":      "hooks:\n" + numbered("  e%x: x\n"),
	"unknown hook fields": "hooks: {Stop: [{" + numbered("k%x: a,") + "}]}\n",
}

// TestHostileHeaders bounds the work that a header can cause: what it makes
// the reader allocate, what it gives the YAML library to read, and how much it
// makes people read (F-3, F-4).
func TestHostileHeaders(t *testing.T) {
	for name, yaml := range hostile {
		t.Run(name, func(t *testing.T) {
			data := []byte(header(yaml + "\n"))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			doc, problems := Parse("SKILL.md", data)
			var s skill.Skill
			problems = append(problems, doc.Fill(&s, false)...)
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 32<<20 {
				t.Errorf("%d bytes allocated", n)
			}
			if len(problems) > 3*maxRepeats {
				t.Errorf("%d problems", len(problems))
			}
			if doc.Body != "Body text.\n" {
				t.Errorf("body %.40q", doc.Body)
			}
		})
	}
}

// TestAfford ends the use of the YAML library, by texts and by their parts.
func TestAfford(t *testing.T) {
	var r reader
	for i := range maxStrict {
		if !r.afford("a: b") {
			t.Fatalf("refused after %d texts", i)
		}
	}
	if r.afford("a: b") {
		t.Error("too many texts")
	}
	for _, part := range []string{"a,", "[", "{", "a:", "\n", "\r", "- ", "? "} {
		r = reader{}
		if !r.afford(strings.Repeat(part, maxNodes)) || r.afford(part) {
			t.Errorf("%q: counted %d", part, r.nodes)
		}
	}
}

// TestTooManyParts says so, and keeps what restricts the skill.
func TestTooManyParts(t *testing.T) {
	for _, yaml := range []string{
		"a: [" + strings.Repeat("x,", maxNodes+1) + "]\n",
		"a:\n" + strings.Repeat("- x\n", maxNodes+1),
		"a: {" + numbered("k%x: a,") + "}\n",
		numbered("k%x:\n"),
	} {
		yaml = "disable-model-invocation: true\nallowed-tools: Read\n" + yaml[:min(len(yaml), MaxFrontmatter-200)] + "\n"
		_, s, problems := load(header(yaml))
		if codes(problems) != "yaml-recovered" || !strings.Contains(problems[0].Message, "too many parts") {
			t.Errorf("%.60q: %v", yaml, problems)
		}
		if !s.Trigger.HiddenFromModel || len(s.Run.AllowedTools) != 1 {
			t.Errorf("%.60q: %+v", yaml, s)
		}
	}
}

// TestAliasesOfManyParts: an alias is refused also where the YAML library does
// not get to see it (F-4), and a star that is no alias stays text.
func TestAliasesOfManyParts(t *testing.T) {
	many := strings.Repeat("*x,", maxNodes/2)
	anchor := "k: &x [" + strings.Repeat("a,", maxNodes/2) + "]\n"
	for _, tt := range []struct {
		yaml, codes string
		hidden      bool
	}{
		{anchor + "allowed-tools: [" + many + "]\n", "yaml-recovered security-field-lost", true},
		{anchor + "disallowed-tools:\n" + strings.Repeat("- *x\n", maxNodes/2), "yaml-recovered security-field-lost", true},
		{anchor + "k2: [" + many + "]\npaths: *x\n", "yaml-alias yaml-recovered security-field-lost", true},
		{anchor + "model: [" + many + "]\n", "yaml-alias yaml-recovered", false},
		{anchor + "metadata: {" + numbered("k%x: a,")[:maxNodes*4] + " z: *x}\n", "yaml-alias yaml-recovered", false},
		{anchor + "paths: [" + strings.Repeat("*.y,", maxNodes/2) + "]\n", "yaml-recovered too-many-patterns", false},
		{anchor + "allowed-tools: [Read, " + strings.Repeat("Bash(x *x),", maxNodes/2) + "]\n", "yaml-recovered", false},
		{"k: " + repeated("&")[:MaxFrontmatter/2] + "\nz: [" + strings.Repeat("*a,", maxNodes) + "]\n", "yaml-recovered", false},
	} {
		_, s, problems := load(header(tt.yaml))
		if got := codes(problems); got != tt.codes || s.Trigger.HiddenFromModel != tt.hidden {
			t.Errorf("%.60q ... %.60q: %s, hidden %v, want %s, %v", tt.yaml, tt.yaml[len(anchor):], got, s.Trigger.HiddenFromModel, tt.codes, tt.hidden)
		}
	}
}

// TestFolded keeps the first problems of a kind, and counts the others.
func TestFolded(t *testing.T) {
	_, _, problems := load(header(repeated("nam: x\n") + "alowed-tools: Read\n"))
	duplicates := 0
	for _, p := range problems {
		if p.Code == "duplicate-key" {
			duplicates++
		}
	}
	if duplicates > maxRepeats || !hasCode(problems, "did-you-mean") {
		t.Errorf("%d duplicates, %v", duplicates, problems)
	}
	many := strings.Repeat("name: x\n", 3*maxRepeats)
	_, _, problems = load(header(many))
	if len(problems) != maxRepeats || !strings.HasSuffix(problems[maxRepeats-1].Message, "(and 19 more of this kind)") {
		t.Errorf("%d problems, %v", len(problems), problems)
	}
}
