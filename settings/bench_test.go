package settings_test

import (
	"testing"

	"github.com/knack-skills/knack/settings"
)

func BenchmarkLoad(b *testing.B) {
	tr := newTree(b, everywhere)
	for b.Loop() {
		settings.Load(tr.src)
	}
}
