package workspace

import "testing"

func TestExpandHome(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	t.Setenv("USERPROFILE", "/home/u")
	for in, want := range map[string]string{"~": "/home/u", "~/x": "/home/u/x", "~other/x": "~other/x", "a/~": "a/~", "": ""} {
		if got := ExpandHome(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
