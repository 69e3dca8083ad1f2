package text

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// Real files keep every visible character: cleaning takes nothing away but
// what is reported (F-7), and nothing that is cleaned is reported again.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("KNACK_CORPUS")
	if dir == "" {
		t.Skip("KNACK_CORPUS is not set")
	}
	files := 0
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		b, err := fs.ReadFile(os.DirFS(dir), path)
		if err != nil {
			return err
		}
		files++
		s := string(b)
		if !utf8.ValidString(s) {
			return nil
		}
		hidden := FindHidden(s)
		dropped := utf8.RuneCountInString(strings.ReplaceAll(s, "\r\n", "\n")) - utf8.RuneCountInString(TerminalBlock(s))
		if bom := strings.HasPrefix(s, "\uFEFF"); dropped < 0 || dropped > 0 && len(hidden) == 0 && !bom {
			t.Errorf("%s: %d characters dropped, %d reported", path, dropped, len(hidden))
		}
		if line := Line(s); FindHidden(line) != nil || Line(line) != line {
			t.Errorf("%s: the line is not clean", path)
		}
		if n := Tokens(s); n < len(s)/10 || n > len(s) {
			t.Errorf("%s: %d tokens of %d bytes", path, n, len(s))
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files read: %v", files, err)
	}
}
