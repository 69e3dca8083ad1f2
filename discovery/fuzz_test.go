package discovery_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/knack-skills/knack/discovery"
)

// FuzzConfig: every text is a configuration, whatever it means.
func FuzzConfig(f *testing.F) {
	for _, s := range []string{"[core]\n\texcludesFile = ~/x\n", "[a \"b]\\\"c\"] d = \"e # f\" ; g", "[", "[\"", "=", "a\\", "[core]x=\\", "k\n=v"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		total := 0
		discovery.ParseConfig(text, func(section, key, value string) {
			if total += len(value); key == "" {
				t.Errorf("an empty key in %q", section)
			}
		})
		if total > 4*len(text)+4 { // "true" stands for no value
			t.Errorf("%d bytes of values in %d", total, len(text))
		}
	})
}

// one is a file system with a single file.
type one struct{ data []byte }

func (o one) Lstat(string) (fs.FileInfo, error) { return nil, errors.ErrUnsupported }
func (o one) Read(string) ([]byte, error)       { return o.data, nil }
func (o one) Real(p string) (string, error)     { return p, nil }

// FuzzIndex: a damaged index tracks less, and does nothing worse.
func FuzzIndex(f *testing.F) {
	entry := make([]byte, 62)
	for _, version := range []byte{2, 3, 4} {
		f.Add(append(append([]byte{'D', 'I', 'R', 'C', 0, 0, 0, version, 0, 0, 0, 1}, entry...), "\x00a/b\x00\x00\x00\x00\x00\x00\x00\x00"...))
	}
	f.Add([]byte("DIRC\x00\x00\x00\x02\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, size := range []int{20, 32} {
			if discovery.Tracks(one{data}, "", "", size) && len(data) < 12+size {
				t.Error("tracks something")
			}
		}
	})
}
