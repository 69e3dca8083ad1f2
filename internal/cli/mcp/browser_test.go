package mcp

import (
	"slices"
	"testing"
)

// TestBrowser: which program is given the address of a page, as one argument.
func TestBrowser(t *testing.T) {
	const page = "https://a.example/?a=b&c=$(d)"
	for _, tt := range []struct {
		variable, system string
		want             []string
	}{
		{"", "linux", []string{"xdg-open", page}},
		{"", "darwin", []string{"open", page}},
		{"", "windows", []string{"rundll32", "url.dll,FileProtocolHandler", page}},
		{"firefox", "linux", []string{"firefox", page}},
		{"firefox --new-window:lynx", "freebsd", []string{"firefox", "--new-window", page}},
		{"open -a Safari --url=%s", "darwin", []string{"open", "-a", "Safari", "--url=" + page}},
		{`C:\Program Files\b.exe`, "windows", []string{`C:\Program Files\b.exe`, page}},
		{" ", "linux", []string{"xdg-open", page}},
	} {
		getenv := func(string) string { return tt.variable }
		if got := browser(getenv, tt.system, page); !slices.Equal(got, tt.want) {
			t.Errorf("%q on %s: %q", tt.variable, tt.system, got)
		}
	}
}
