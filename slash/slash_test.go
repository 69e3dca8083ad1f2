package slash_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/slash"
)

// names maps each name that exists to whether it may be stacked.
type names map[string]bool

func (n names) Command(name string) (exists, stackable bool) {
	stackable, exists = n[name]
	return exists, stackable
}

// world is the catalog of most tests: "s1" to "s8", and "commit" and "login"
// are inline skills; the others stand alone.
var world = names{
	"s1": true, "s2": true, "s3": true, "s4": true, "s5": true, "s6": true, "s7": true, "s8": true,
	"commit": true, "login": true, "部署": true, "naïve": true, "apps/web:deploy": true,
	"mcp-vector-search": true, "odd.name": true,
	"quit": false, "review": false, "github:issue": false, "inline:prompt": true,
	"usr": true,
}

func paths(p ...string) func(string) bool {
	return func(path string) bool { return slices.Contains(p, path) }
}

func TestParseCalls(t *testing.T) { // spec I-4
	for _, tt := range []struct {
		in   string
		want []slash.Call
	}{
		{"/commit", []slash.Call{{Name: "commit"}}},
		{"/commit ", []slash.Call{{Name: "commit"}}},
		{"/commit fix the parser", []slash.Call{{Name: "commit", Args: "fix the parser"}}},
		{"/commit   two  blanks  ", []slash.Call{{Name: "commit", Args: "two  blanks  "}}},
		{"/commit\ttab", []slash.Call{{Name: "commit", Args: "tab"}}},
		{"/review first line\nsecond \"quoted\" line", []slash.Call{{Name: "review", Args: "first line\nsecond \"quoted\" line"}}},
		{"/review\n\n  indented\n", []slash.Call{{Name: "review", Args: "indented\n"}}},
		{"/review\r\nx", []slash.Call{{Name: "review", Args: "x"}}},
		{"/部署　本番 環境", []slash.Call{{Name: "部署", Args: "本番 環境"}}},
		{"/naïve x", []slash.Call{{Name: "naïve", Args: "x"}}},
		{"/login page is broken, fix it", []slash.Call{{Name: "login", Args: "page is broken, fix it"}}},
		// A name that exists wins over what it looks like.
		{"/apps/web:deploy now", []slash.Call{{Name: "apps/web:deploy", Args: "now"}}},
		{"/odd.name x", []slash.Call{{Name: "odd.name", Args: "x"}}},
		{"/usr", []slash.Call{{Name: "usr"}}},
		// Arguments are data, whatever they look like.
		{"/commit \\/s2", []slash.Call{{Name: "commit", Args: "\\/s2"}}},
		{"/commit see /s2", []slash.Call{{Name: "commit", Args: "see /s2"}}},
	} {
		got := slash.Parse(tt.in, world, paths("/usr", "/tmp"))
		want := slash.Parsed{Kind: slash.Calls, Calls: tt.want, Text: tt.in}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("Parse(%q): %s", tt.in, d)
		}
	}
}

func TestParseStack(t *testing.T) { // spec I-4
	type want struct {
		names string
		args  string
	}
	for _, tt := range []struct {
		in   string
		want want
	}{
		{"/s1 /s2 do it", want{"s1 s2", "do it"}},
		{"/s1 /s2", want{"s1 s2", ""}},
		{"/s1\n/s2\ttext ", want{"s1 s2", "text "}},
		{"/s1 /s2 /s3 /s4 /s5 /s6 text", want{"s1 s2 s3 s4 s5 s6", "text"}},
		{"/s1 /s2 /s3 /s4 /s5 /s6 /s7 text", want{"s1 s2 s3 s4 s5 s6", "/s7 text"}},
		{"/s1 text /s2", want{"s1", "text /s2"}},
		{"/s1 /s1 x", want{"s1 s1", "x"}},
		// Stops at what is no inline, user-invocable skill.
		{"/s1 /review /s2 x", want{"s1", "/review /s2 x"}},
		{"/s1 /s2 /quit", want{"s1 s2", "/quit"}},
		{"/review /s1 x", want{"review", "/s1 x"}},
		{"/s1 /nobody x", want{"s1", "/nobody x"}},
		{"/s1 /var/log is full", want{"s1", "/var/log is full"}},
		{"/s1 / x", want{"s1", "/ x"}},
		{"/s1 // x", want{"s1", "// x"}},
	} {
		got := slash.Parse(tt.in, world, nil)
		if got.Kind != slash.Calls {
			t.Errorf("Parse(%q).Kind = %v, want calls", tt.in, got.Kind)
			continue
		}
		var all []string
		for _, c := range got.Calls {
			all = append(all, c.Name)
			if c.Args != tt.want.args {
				t.Errorf("Parse(%q): %s gets %q, want %q", tt.in, c.Name, c.Args, tt.want.args)
			}
		}
		if names := strings.Join(all, " "); names != tt.want.names {
			t.Errorf("Parse(%q) calls %q, want %q", tt.in, names, tt.want.names)
		}
	}
}

func TestParseMCP(t *testing.T) { // spec I-4
	for _, tt := range []struct {
		in   string
		want []slash.Call
	}{
		{"/github:issue (MCP) 12 high", []slash.Call{{Name: "github:issue", Args: "12 high", MCP: true}}},
		{"/github:issue (MCP)", []slash.Call{{Name: "github:issue", MCP: true}}},
		{"/github:issue  (MCP)\nx", []slash.Call{{Name: "github:issue", Args: "x", MCP: true}}},
		{"/github:issue 12", []slash.Call{{Name: "github:issue", Args: "12"}}},
		{"/github:issue (MCP)12", []slash.Call{{Name: "github:issue", Args: "(MCP)12"}}},
		{"/github:issue (mcp) 12", []slash.Call{{Name: "github:issue", Args: "(mcp) 12"}}},
		// No server, no mark.
		{"/commit (MCP) support", []slash.Call{{Name: "commit", Args: "(MCP) support"}}},
		{"/s1 /inline:prompt (MCP) /s2 x", []slash.Call{
			{Name: "s1", Args: "x"}, {Name: "inline:prompt", Args: "x", MCP: true}, {Name: "s2", Args: "x"}}},
		{"/s1 /github:issue (MCP) x", []slash.Call{{Name: "s1", Args: "/github:issue (MCP) x"}}},
	} {
		got := slash.Parse(tt.in, world, nil)
		if d := cmp.Diff(tt.want, got.Calls); d != "" {
			t.Errorf("Parse(%q): %s", tt.in, d)
		}
	}
}

func TestParseMessages(t *testing.T) { // spec I-4
	for _, in := range []string{
		"", " ", "hello", "hello /commit", "a\n/commit",
		" /commit", "\t/commit", "\n/commit", "　/commit", // a leading blank escapes
		"/", "//", "/ x", "/\n", "/\tcommit", "// a comment", "/* c */", "/?", "///commit",
		"/var/log", "/a/b c", "/tmp", "/tmp is full", "/README.md", "/login.tsx has a bug", "/login/index.tsx",
		"/etc/hosts what is in it", "/tmp/a.png describe", "/My\\ Files", "/commit! now", "/commit, please",
		"/~", "/..", "/.", "/$HOME", "/😀", "/a\x00b", "/a\xffb", "/\xff", "/\u200b", "/x=1", "/w.w (MCP) x",
		`\`, `\\`, `\commit`, `\\/commit`,
	} {
		got := slash.Parse(in, world, paths("/tmp"))
		if d := cmp.Diff(slash.Parsed{Text: in}, got); d != "" {
			t.Errorf("Parse(%q): %s", in, d)
		}
	}
}

func TestParseUnknown(t *testing.T) { // spec I-4
	for _, tt := range []struct{ in, name string }{
		{"/comit", "comit"},
		{"/comit fix it", "comit"},
		{"/mcp", "mcp"}, // no prefix match with mcp-vector-search
		{"/COMMIT x", "COMMIT"},
		{"/tmp", "tmp"}, // does not exist in this test
		{"/nobody:there (MCP) x", "nobody:there"},
		{"/a_b-c:9", "a_b-c:9"},
		{"/発布 x", "発布"},
		{"/e\u0301te", "e\u0301te"}, // decomposed letters are letters
		{"/हिन्दी", "हिन्दी"},
		{"/comit\n/s1", "comit"},
	} {
		got := slash.Parse(tt.in, world, paths("/etc"))
		want := slash.Parsed{Kind: slash.Unknown, Unknown: tt.name, Text: tt.in}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("Parse(%q): %s", tt.in, d)
		}
	}
}

func TestParseEscape(t *testing.T) { // spec I-4
	for _, tt := range []struct{ in, text string }{
		{`\/commit x`, `/commit x`},
		{`\/comit`, `/comit`},      // would have been an unknown skill
		{`\/var/log`, `\/var/log`}, // escapes nothing: stays
		{`\/a\/b/ what does it match`, `\/a\/b/ what does it match`},
		{`\/ x`, `\/ x`},
		{`\/tmp`, `\/tmp`},
	} {
		got := slash.Parse(tt.in, world, paths("/tmp"))
		if d := cmp.Diff(slash.Parsed{Text: tt.text}, got); d != "" {
			t.Errorf("Parse(%q): %s", tt.in, d)
		}
	}
}

// The file system is asked only when the answer matters, and only about the
// path that was typed.
func TestParseAsksSparingly(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
	}{
		{"/commit x", nil},
		{"/var/log", nil},
		{"/README.md", nil},
		{"hello", nil},
		{"/tmp x", []string{"/tmp"}},
	} {
		var asked []string
		slash.Parse(tt.in, world, func(p string) bool { asked = append(asked, p); return false })
		if !slices.Equal(asked, tt.want) {
			t.Errorf("Parse(%q) asked for %q, want %q", tt.in, asked, tt.want)
		}
	}
}

func TestKindString(t *testing.T) {
	got := []string{slash.Message.String(), slash.Calls.String(), slash.Unknown.String()}
	if want := []string{"message", "calls", "unknown"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Whatever a skill is called and whatever arguments it gets, the two come back.
func TestParseRoundTrip(t *testing.T) {
	known := func(n string) names { return names{n: false} }
	f := func(name, args string) bool {
		name = strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}, name)
		args = strings.TrimLeftFunc(args, unicode.IsSpace)
		if name == "" || strings.Contains(name, ":") {
			return true
		}
		got := slash.Parse("/"+name+" "+args, known(name), nil)
		return got.Kind == slash.Calls && cmp.Equal(got.Calls, []slash.Call{{Name: name, Args: args}})
	}
	if err := quick.Check(f, nil); err != nil {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"/commit x", "/s1 /s2 t", `\/commit`, "/github:issue (MCP) a", "/tmp", "/a/b", "/部署　x", "/", "\xff/", "/s1 /s2 /s3 /s4 /s5 /s6 /s7"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, message string) {
		got := slash.Parse(message, world, paths("/tmp"))
		if got.Text != message && (got.Kind != slash.Message || `\`+got.Text != message) {
			t.Fatalf("Text = %q", got.Text)
		}
		if (got.Kind == slash.Calls) != (len(got.Calls) > 0) || len(got.Calls) > slash.MaxStack {
			t.Fatalf("%v with %d calls", got.Kind, len(got.Calls))
		}
		if (got.Kind == slash.Unknown) != (got.Unknown != "") {
			t.Fatalf("%v with unknown name %q", got.Kind, got.Unknown)
		}
		if got.Kind != slash.Message && !strings.HasPrefix(message, "/") {
			t.Fatalf("%v without a leading slash", got.Kind)
		}
		for i, c := range got.Calls {
			exists, stackable := world.Command(c.Name)
			if !exists || (!stackable && len(got.Calls) > 1) {
				t.Fatalf("call %d: %q must not be here", i, c.Name)
			}
			if !strings.HasSuffix(message, c.Args) || c.Args != strings.TrimLeftFunc(c.Args, unicode.IsSpace) {
				t.Fatalf("arguments %q are not the trimmed end of the message", c.Args)
			}
			if c.Args != got.Calls[0].Args {
				t.Fatalf("stacked skills get different arguments: %q, %q", got.Calls[0].Args, c.Args)
			}
		}
	})
}

func ExampleParse() {
	skills := names{"simplify": true, "commit": true}
	for _, message := range []string{
		"/simplify /commit the parser only",
		"/comit",
		"/var/log is full",
	} {
		p := slash.Parse(message, skills, nil)
		fmt.Printf("%v %v %q\n", p.Kind, p.Calls, p.Unknown)
	}
	// Output:
	// calls [{simplify the parser only false} {commit the parser only false}] ""
	// unknown [] "comit"
	// message [] ""
}
