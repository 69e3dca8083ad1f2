package lint

import (
	"testing"

	"github.com/knack-skills/knack/text"
)

func TestSkeleton(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"commit", "соmmit", true}, {"deploy", "dep1oy", true}, {"a_b", "a-b", true}, {"Loop", "l00p", true},
		{"commit", "comit", false}, {"a", "b", false},
	} {
		if got := text.Skeleton(tt.a) == text.Skeleton(tt.b); got != tt.same {
			t.Errorf("%q and %q alike: %v", tt.a, tt.b, got)
		}
	}
}

func TestCanonical(t *testing.T) {
	for _, key := range []string{"when_to_use", "when-to-use", "whenToUse", "When_To_Use"} {
		if got := canonical(key); got != "when-to-use" {
			t.Errorf("canonical(%q) = %q", key, got)
		}
	}
}

func TestProse(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"a `b` c", "a     c"},
		{"a ``b`c`` d", "a         d"},
		{"a `b c", "a `b c"},
		{"`` a `b`", "`` a    "},
		{"`文` x", "    x"},
		{"x <!-- y --> z", "x            z"},
		{"x <!-- y\nz\n--> w", "x       \n \n    w"},
		{"````\n```\n[a]\n````\nb", "\n\n\n\nb"},
		{"~~~ x\n```\n~~~\nb", "\n\n\nb"},
		{"> ```\n> x\n> ```\n> y", "\n\n\n> y"},
		{"``` a`b\nc", "``` a`b\nc"},
	} {
		got := ""
		for i, line := range prose(tt.in) {
			if i > 0 {
				got += "\n"
			}
			got += line
		}
		if got != tt.want {
			t.Errorf("prose(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
