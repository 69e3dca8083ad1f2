package skill

import "testing"

func TestCutHome(t *testing.T) {
	const unix, windows = "//", `/\`
	for _, tt := range []struct {
		path, separators, rest string
		ok                     bool
	}{
		{"~", unix, "", true},
		{"~/", unix, "/", true},
		{"~/a/b", unix, "/a/b", true},
		{`~\a`, unix, "", false},
		{"~", windows, "", true},
		{"~/a", windows, "/a", true},
		{`~\a/b`, windows, `\a/b`, true},
		{"~joe/a", windows, "", false},
		{"~é", windows, "", false},
		{"a/~", windows, "", false},
		{"/~/a", unix, "", false},
		{"", unix, "", false},
	} {
		if rest, ok := cutHome(tt.path, tt.separators); rest != tt.rest || ok != tt.ok {
			t.Errorf("%q with %q: %q, %v", tt.path, tt.separators, rest, ok)
		}
	}
	if rest, ok := CutHome("~/x"); rest != "/x" || !ok {
		t.Errorf("here: %q, %v", rest, ok)
	}
}
