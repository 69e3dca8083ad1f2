package search

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// Every skill of a real collection is found by its own id (L-8: every skill
// stays reachable), and by a heading of its body.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("KNACK_CORPUS")
	if dir == "" {
		t.Skip("KNACK_CORPUS is not set")
	}
	var docs []Doc
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != "SKILL.md" {
			return err
		}
		b, err := fs.ReadFile(os.DirFS(dir), p)
		if err != nil {
			return err
		}
		_, description, _ := strings.Cut(string(b), "description:")
		description, _, _ = strings.Cut(description, "\n")
		docs = append(docs, Doc{ID: path.Base(path.Dir(p)), Description: description, Headings: Headings(string(b))})
		return nil
	})
	if err != nil || len(docs) == 0 {
		t.Fatalf("%d skills read: %v", len(docs), err)
	}
	ix := Build(docs)
	for i, d := range docs {
		if len(terms(d.ID, asText)) == 0 {
			continue
		}
		hits := ix.Search(d.ID, 1)
		if len(hits) == 0 || !strings.EqualFold(hits[0].ID, d.ID) {
			t.Errorf("%q finds %v", d.ID, hits)
		}
		first, _, _ := strings.Cut(d.Headings, "\n")
		if len(terms(first, asText)) > 0 && len(ix.Search(first, 1)) == 0 {
			t.Errorf("%s: nothing has its heading %q", docs[i].ID, first)
		}
	}
	t.Logf("%d skills, %d words", len(docs), len(ix.terms))
}
