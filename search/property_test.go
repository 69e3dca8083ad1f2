package search

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawDocs makes documents of few words, so that queries meet many of them.
func drawDocs(t *rapid.T) []Doc {
	word := rapid.SampledFrom([]string{"commit", "commits", "pdf", "table", "pdfTools", "the", "表格", "提取", "レビュー", "für", "café", "C3", "-", "\n", "\u202E", "👩‍💻"})
	prose := rapid.Map(rapid.SliceOfN(word, 0, 12), func(w []string) string { return strings.Join(w, " ") })
	docs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Doc {
		return Doc{Name: prose.Draw(t, "name"), Description: prose.Draw(t, "description"), WhenToUse: prose.Draw(t, "when"), Headings: prose.Draw(t, "headings")}
	}), 1, 30).Draw(t, "docs")
	for i := range docs {
		docs[i].ID = "id-" + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
	}
	return docs
}

func drawQuery(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"commit", "committing", "pdf", "tools", "tab", "表格", "レビ", "cafe", "fur", "the", "none", "id-a"}), 0, 5).Draw(t, "query"), " ")
}

// ids drops what depends on positions.
func ids(hits []Hit) (out []string) {
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

// Fewer hits are the first of more hits, best first, each once (K-5).
func TestLimitIsAPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ix, query := Build(drawDocs(t)), drawQuery(t)
		all := ix.Search(query, 1000)
		limit := rapid.IntRange(1, 20).Draw(t, "limit")
		if got := ix.Search(query, limit); !slices.Equal(got, all[:min(limit, len(all))]) {
			t.Fatalf("%d hits %v, all %v", limit, ids(got), ids(all))
		}
		seen := map[string]bool{}
		for i, h := range all {
			if seen[h.ID] || i > 0 && (h.Score > all[i-1].Score || h.Score == all[i-1].Score && h.ID < all[i-1].ID) {
				t.Fatalf("hit %d is out of order: %+v", i, all)
			}
			seen[h.ID] = true
		}
	})
}

// The order in which skills were found on disk does not matter.
func TestOrderOfDocsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs, query := drawDocs(t), drawQuery(t)
		other := rapid.Permutation(docs).Draw(t, "other")
		a, b := Build(docs).Search(query, 50), Build(other).Search(query, 50)
		if !slices.Equal(ids(a), ids(b)) {
			t.Fatalf("%q finds %v, in another order %v", query, ids(a), ids(b))
		}
	})
}

// An index keeps what it was built from, whatever happens to the slice.
func TestIndexDoesNotChange(t *testing.T) {
	docs := []Doc{{ID: "a", Description: "Reads tables."}}
	ix := Build(docs)
	docs[0] = Doc{ID: "b", Description: "Other."}
	if hits := ix.Search("tables", 0); len(hits) != 1 || hits[0].ID != "a" || hits[0].Snippet != "Reads tables." {
		t.Errorf("hits %+v", hits)
	}
}

// What a skill says in its id counts more than what it says in passing, and a
// rare word more than a common one (BM25F).
func TestWhatCountsMore(t *testing.T) {
	filler := " Further words that have nothing to do with the matter at hand."
	tests := []struct {
		name          string
		better, worse Doc
		query         string
	}{
		{"id over description", Doc{ID: "pdf-reader", Description: filler}, Doc{ID: "other", Description: "pdf" + filler}, "pdf"},
		{"name over description", Doc{ID: "x", Name: "PDF reader", Description: filler}, Doc{ID: "other", Description: "pdf" + filler}, "pdf"},
		{"description over headings", Doc{ID: "x", Description: "pdf" + filler}, Doc{ID: "a", Description: filler, Headings: "pdf" + filler}, "pdf"},
		{"both words over one twice", Doc{ID: "x", Description: "pdf table" + filler}, Doc{ID: "a", Description: "pdf pdf" + filler}, "pdf table"},
		{"short over long", Doc{ID: "x", Description: "pdf"}, Doc{ID: "a", Description: "pdf" + strings.Repeat(filler, 5)}, "pdf"},
		{"joined words are an id", Doc{ID: "pdf-tools", Description: filler}, Doc{ID: "pdf-a", Description: "tools" + filler}, "pdftools"},
		{"the id itself over its extension", Doc{ID: "pdf", Description: filler}, Doc{ID: "pdf-pdf", Description: "pdf pdf"}, "/PDF"},
	}
	for _, tt := range tests {
		hits := Build([]Doc{tt.worse, tt.better, {ID: "unrelated", Description: filler}, {ID: "more", Description: filler}}).Search(tt.query, 0)
		if len(hits) == 0 || hits[0].ID != tt.better.ID {
			t.Errorf("%s: %+v", tt.name, hits)
		}
	}
}

// An index that was updated is the one that would be built anew, whatever was
// added, changed, moved and removed, as often as one likes.
func TestUpdateIsBuild(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := drawDocs(t)
		ix := Build(docs)
		for range rapid.IntRange(1, 3).Draw(t, "updates") {
			next := rapid.Permutation(docs).Draw(t, "order")
			next = next[:rapid.IntRange(0, len(next)).Draw(t, "kept")]
			for i := range next {
				if rapid.IntRange(0, 3).Draw(t, "edit") == 0 {
					next[i].Description = drawQuery(t)
				}
			}
			docs = append(next, Doc{ID: drawQuery(t), Headings: drawQuery(t)})
			before := *ix
			updated := ix.Update(docs)
			if want := Build(docs); !reflect.DeepEqual(updated, want) {
				t.Fatalf("updated\n%+v\nbuilt\n%+v", updated, want)
			}
			if !reflect.DeepEqual(*ix, before) {
				t.Fatal("the earlier index changed")
			}
			ix = updated
		}
	})
}
