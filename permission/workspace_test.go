package permission

import "testing"

// TestMoreDirs: what belongs to the workspace is read without a question, and
// written by a rule alone; links count by where they lead (spec A-7, S-8).
func TestMoreDirs(t *testing.T) {
	leads := map[string]string{"/w/p/to-more": "/more/x", "/w/p/out": "/etc/x", "/more/out": "/etc/x", "/more/back": "/w/p/x", "/link/x": "/more/x"}
	for _, tt := range []struct {
		tool, path string
		want       Verdict
	}{
		{"Read", "/more/x", Allow},
		{"Read", "/more", Allow},
		{"Glob", "/more", Allow},
		{"Grep", "/more/deep/er", Allow},
		{"Read", "/link/x", Allow}, // the link itself is among the directories
		{"Read", "to-more", Allow},
		{"Read", "/more/back", Allow},
		{"Read", "x", Allow},
		{"Read", "out", Ask},
		{"Read", "/more/out", Ask},
		{"Read", "/more/../etc/x", Ask},
		{"Read", "/more2/x", Ask},
		{"Read", "/", Ask},
		{"Read", "/more/secret", Deny},
		{"Write", "/more/x", Ask},
		{"Edit", "/more/x", Ask},
	} {
		req := Request{Tool: tt.tool, Input: Input{Path: tt.path}, WorkDir: "/w/p", Home: "/home/u", MoreDirs: []string{"", "/more", "/link"},
			Links: func(path string) string {
				if target, ok := leads[path]; ok {
					return target
				}
				return path
			}}
		if d := rules(t, "deny Read(//more/secret)").Decide(req); d.Verdict != tt.want {
			t.Errorf("%s %s: %s (%s)", tt.tool, tt.path, d.Verdict, d.Reason)
		}
	}
}
