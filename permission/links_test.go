package permission

import "testing"

// TestLinksOfNamedFiles: an allow needs a link and its target, a deny either, in file tools
// and in the files that a shell line names (spec S-7, S-8).
func TestLinksOfNamedFiles(t *testing.T) {
	leads := map[string]string{"/w/p/link": "/w/p/secret", "/w/p/in/out": "/outside", "/w/p/hooks": "/w/p/.git/hooks", "/w/p/all": "/"}
	rs := rules(t, "deny Read(secret)", "allow Edit(in/**)", "allow Bash(rm:*)", "allow Bash(touch:*)", "allow Bash(make:*)")
	for _, tt := range []struct {
		tool, input    string
		linked, unseen Verdict // with Links and without
	}{
		{"Read", "link", Deny, Allow},
		{"Read", "secret", Deny, Deny},
		{"Edit", "link", Deny, Ask},
		{"Edit", "in/file", Allow, Allow},
		{"Edit", "in/out", Ask, Allow},
		{"Bash", "cat link", Deny, Allow},
		{"Bash", "cat <link", Deny, Allow},
		{"Bash", "bash -c 'cat link'", Deny, Ask},
		{"Bash", "make >in/out", Ask, Allow},
		{"Bash", "make >in/file", Allow, Allow},
		{"Bash", "cd in && make >out", Ask, Ask},
		{"Bash", "touch hooks", Ask, Allow},
		{"Bash", "rm -r all", Ask, Allow},
	} {
		req := Request{Tool: tt.tool, Input: Input{Path: tt.input}, WorkDir: "/w/p", Home: "/home/u"}
		if tt.tool == "Bash" {
			req.Input = Input{Command: tt.input}
		}
		if d := rs.Decide(req); d.Verdict != tt.unseen {
			t.Errorf("%s %q without links: %s (%s)", tt.tool, tt.input, d.Verdict, d.Reason)
		}
		req.Links = func(path string) string {
			if target, ok := leads[path]; ok {
				return target
			}
			return path
		}
		if d := rs.Decide(req); d.Verdict != tt.linked {
			t.Errorf("%s %q: %s (%s)", tt.tool, tt.input, d.Verdict, d.Reason)
		}
	}
	// What the caller found out itself goes before what Links says.
	req := Request{Tool: "Read", Input: Input{Path: "x", RealPath: "/w/p/secret"}, WorkDir: "/w/p", Links: func(p string) string { return p }}
	if d := rs.Decide(req); d.Verdict != Deny {
		t.Errorf("RealPath: %s (%s)", d.Verdict, d.Reason)
	}
}

// TestFilesInOptions: a file that a reading command is given by a long option is
// read as much as an operand is (spec S-8).
func TestFilesInOptions(t *testing.T) {
	rs := rules(t, "deny Read(secret)", "deny Read(//etc/**)")
	for line, want := range map[string]Verdict{
		"grep --file=secret x": Deny, "grep -f secret x": Deny, "sort --files0-from=secret": Deny, "diff --to-file=/etc/passwd x": Deny,
		"wc --files0-from='secret'": Deny, "grep --include=secrets x": Allow, "sort --key=2 x": Allow, "ls --sort=size": Allow,
	} {
		if d := rs.Decide(bashRequest(line)); d.Verdict != want {
			t.Errorf("%q: %s (%s)", line, d.Verdict, d.Reason)
		}
	}
}
