package lint

import (
	"testing"
	"testing/quick"
)

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"commit", "commit", 0}, {"commit", "comit", 1},
		{"commit", "commits", 1}, {"commit", "cummit", 1}, {"commit", "ocmmit", 1}, {"abc", "cba", 2},
		{"kitten", "sitting", 3}, {"部署", "部", 1},
	} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestDistanceIsSymmetric(t *testing.T) {
	f := func(a, b string) bool {
		d := distance(a, b)
		return d == distance(b, a) && d <= max(len([]rune(a)), len([]rune(b))) && (d == 0) == (string([]rune(a)) == string([]rune(b)))
	}
	if err := quick.Check(f, nil); err != nil {
		t.Error(err)
	}
}

func TestSkeleton(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"commit", "соmmit", true}, {"deploy", "dep1oy", true}, {"a_b", "a-b", true}, {"Loop", "l00p", true},
		{"commit", "comit", false}, {"a", "b", false},
	} {
		if got := skeleton(tt.a) == skeleton(tt.b); got != tt.same {
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
