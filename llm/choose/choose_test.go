package choose

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for _, p := range pairs {
			if k, v, _ := strings.Cut(p, "="); k == name {
				return v
			}
		}
		return ""
	}
}

const ollama = "OPENAI_BASE_URL=http://localhost:11434/v1"

func TestResolve(t *testing.T) { // spec K-12
	mine := map[string]string{
		"fast": "haiku", "opus": "opus[1m]", "big": "claude-opus-4-8[1m]", "Local": "openai-chat/qwen3", "a": "b", "b": "a", "none": " ",
		"sonnet": "anthropic/claude-sonnet-4-6", "test": "scripted:x.json", "self": "self",
	}
	for _, tt := range []struct{ name, env, want string }{
		{"anthropic/claude-x", "", "anthropic/claude-x"},
		{"Anthropic/claude-x", "", "anthropic/claude-x"},
		{"openai/gpt-5.5", "", "openai/gpt-5.5"},
		{"openai/gpt-5.5", ollama, "openai-chat/gpt-5.5"},
		{"openai/gpt-5.5", "OPENAI_BASE_URL=https://api.openai.com/v1", "openai/gpt-5.5"},
		{"openai-chat/meta-llama/llama-4", "", "openai-chat/meta-llama/llama-4"},
		{"gemini/gemini-3.6-flash", "", "gemini/gemini-3.6-flash"},
		{"offline", "", "offline"},
		{"scripted:./a b/[x].json", "", "scripted:./a b/[x].json"},
		{"claude-opus-4-8", "", "anthropic/claude-opus-4-8"},
		{"claude-opus-4-8[1m]", "", "anthropic/claude-opus-4-8[1m]"},
		{"claude-opus-4-8[1M]", "", "anthropic/claude-opus-4-8[1m]"},
		{"gpt-5.5", "", "openai/gpt-5.5"},
		{"o3-mini", "", "openai/o3-mini"},
		{"gpt-oss:20b", ollama, "openai-chat/gpt-oss:20b"},
		{"gemini-3.6-flash", ollama, "gemini/gemini-3.6-flash"},
		{"llama3.3", ollama, "openai-chat/llama3.3"},
		{"mistralai/x", ollama, "openai-chat/mistralai/x"},
		{"opus", "", "anthropic/claude-opus-5-5[1m]"},
		{"haiku", "", "anthropic/claude-haiku-5-5"},
		{"Haiku", "", "anthropic/claude-haiku-5-5"},
		{"haiku[1m]", "", "anthropic/claude-haiku-5-5[1m]"},
		{"sonnet", "", "anthropic/claude-sonnet-4-6"},
		{"fast", "", "anthropic/claude-haiku-5-5"},
		{"fast[1m]", "", "anthropic/claude-haiku-5-5[1m]"},
		{"big", "", "anthropic/claude-opus-4-8[1m]"},
		{"Local", "", "openai-chat/qwen3"},
		{"test", "", "an alias cannot lead to a scripted model"},
		{" haiku ", "", "anthropic/claude-haiku-5-5"},
		{"", "ANTHROPIC_API_KEY=k", "anthropic/claude-sonnet-5-5"},
		{"default", "", "offline"},
		{"inherit", "", "offline"},

		{"a", "", "leads back to itself"},
		{"self", "", "leads back to itself"},
		{"none", "", "alias in the settings is empty"},
		{"sonett", "", `did you mean "sonnet"?`},
		{"ofline", "", `did you mean "offline"?`},
		{"fsat", "", `did you mean "fast"?`},
		{"antropic/x", "", `did you mean "anthropic/x"?`},
		{"claude-opus-5-5[2m]", "", "no suffix [2m]"},
		{"mistral-large", "", "write anthropic/ID"},
		{"anthropic/", "", "the id is missing: anthropic/ID"},
		{"scripted:", "", "the file is missing"},
		{"claude opus", "", "no blanks"},
		{"gpt-5\n", "", "openai/gpt-5"},
		{"gpt\x00-5", "", "control characters"},
	} {
		c, err := Resolve(tt.name, Options{Aliases: mine, Getenv: env(tt.env)})
		got := c.String()
		if err != nil {
			if _, ok := errors.AsType[*UnknownError](err); !ok {
				t.Errorf("%q: %T", tt.name, err)
			}
			if got = err.Error(); strings.Contains(got, tt.want) {
				continue
			}
		}
		if got != tt.want {
			t.Errorf("%q with %q: %s, want %s", tt.name, tt.env, got, tt.want)
		}
	}
}

func TestScriptedFromWorkspace(t *testing.T) {
	if _, err := Resolve("scripted:x", Options{NoScripted: true}); err == nil || !strings.Contains(err.Error(), "command line") {
		t.Error(err)
	}
}

func TestDefault(t *testing.T) { // spec A-2
	const a, o, g = "ANTHROPIC_API_KEY=k", "OPENAI_API_KEY=k", "GEMINI_API_KEY=k"
	for _, tt := range []struct {
		env  []string
		want string
	}{
		{nil, "offline"},
		{[]string{"ANTHROPIC_API_KEY= "}, "offline"},
		{[]string{a, o, g}, "anthropic/claude-sonnet-5-5"},
		{[]string{o, g}, "openai/gpt-5.5"},
		{[]string{g}, "gemini/gemini-3.6-flash"},
		{[]string{a, ollama}, "anthropic/claude-sonnet-5-5"},
		{[]string{o, ollama}, ""},
		{[]string{ollama}, ""},
		{[]string{g, ollama}, "gemini/gemini-3.6-flash"},
		{[]string{o, "OPENAI_BASE_URL=https://API.openai.com/v1/"}, "openai/gpt-5.5"},
	} {
		c, err := Default(Options{Getenv: env(tt.env...)})
		switch {
		case tt.want == "" && (err == nil || !strings.Contains(err.Error(), "openai-chat/ID")):
			t.Errorf("%v: %v, %v", tt.env, c, err)
		case tt.want != "" && (err != nil || c.String() != tt.want):
			t.Errorf("%v: %v, %v", tt.env, c, err)
		}
	}
}

func TestReady(t *testing.T) {
	for _, tt := range []struct{ name, env, want string }{
		{"haiku", "", "set ANTHROPIC_API_KEY"}, {"haiku", "ANTHROPIC_API_KEY=k", ""},
		{"gpt-5.5", "", "set OPENAI_API_KEY"}, {"gemini/x", "OPENAI_API_KEY=k", "set GEMINI_API_KEY"},
		{"openai-chat/x", "", "set OPENAI_BASE_URL"}, {"openai-chat/x", ollama, ""}, {"openai-chat/x", "OPENAI_API_KEY=k", ""},
		{"offline", "", ""}, {"scripted:f", "", ""},
	} {
		o := Options{Getenv: env(tt.env)}
		c, err := Resolve(tt.name, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Ready(o); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s with %q: %v", tt.name, tt.env, err)
		}
	}
}

func TestWindow(t *testing.T) {
	for name, want := range map[string]int{
		"haiku": 200_000, "claude-new": 200_000, "haiku[1m]": 1_000_000, "gpt-5.5": 400_000, "gpt-4o-mini": 128_000, "gpt-4.1": 1_047_576,
		"o3": 200_000, "gemini-3.6-flash": 1_048_576, "offline": 200_000, "scripted:gpt-4": 200_000, "openai-chat/llama3": 200_000, "openai-chat/openai/gpt-4o": 128_000,
	} {
		c, err := Resolve(name, Options{})
		if err != nil || c.Window() != want {
			t.Errorf("%s: %d, %v", name, c.Window(), err)
		}
	}
}

// TestTables: every name of the tables means what the tables say.
func TestTables(t *testing.T) {
	for name, id := range aliases {
		if c, err := Resolve(name, Options{}); err != nil || c.String() != id || name != strings.ToLower(name) {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
	for _, d := range defaults {
		if c, err := Resolve(d.id, Options{}); err != nil || c.Provider != d.provider || !slices.Contains(remote, d.provider) {
			t.Errorf("%s: %v, %v", d.id, c, err)
		}
	}
}

// FuzzResolve: what is resolved has a full name that means the same.
func FuzzResolve(f *testing.F) {
	for _, s := range []string{"opus[1m]", "openai-chat/a/b", "scripted:x", "x[", "[1m]", "a/[1m]"} {
		f.Add(s, "")
	}
	f.Fuzz(func(t *testing.T, name, to string) {
		o := Options{Aliases: map[string]string{name: to, to: name}}
		c, err := Resolve(name, o)
		if err != nil {
			if len(err.Error()) == 0 {
				t.Error("empty error")
			}
			return
		}
		again, err := Resolve(c.String(), Options{})
		if err != nil || again != c {
			t.Errorf("%q is %+v, and its name %q %+v, %v", name, c, c, again, err)
		}
	})
}
