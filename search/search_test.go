package search

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// terms returns the words of s as they are indexed.
func terms(s string, how use) (out []string) {
	var sc scanner
	sc.scan(s, how, func(w word) { out = append(out, string(w.text)) })
	return out
}

func TestWords(t *testing.T) { // L-8
	tests := []struct {
		in   string
		how  use
		want string
	}{
		{"Commit the files, please!", asText, "commit the fil pleas"},
		{"user's don't", asText, "user dont"},
		{"C-3PO v2.0 snake_case", asText, "c 3po v2 0 snak cas"},
		{"pdf-tools", asName, "pdf tool pdftools"},
		{"pdfTools", asName, "pdftool pdf tool"},
		{"HTTPServer2", asName, "httpserver2 http server2"},
		{"one", asName, "on"},
		{"GitHub", asText, "github"},
		{"Café e\u0301t\u0301e ÜBER Straße", asText, "caf ete uber strass"},
		{"ＰＤＦ", asText, "pdf"},
		{"提取表格", asText, "提 提取 取 取表 表 表格 格"},
		{"PDF表格", asText, "pdf 表 表格 格"},
		{"する", asText, "する"},
		{"のコード", asText, "のコ コー ード"},
		{"회의록 요약", asText, "회의 의록 요약"},
		{"가", asText, "가"},
		{"Навыки агента", asText, "навыки агента"},
		{"कौशल निर्देश", asText, "कौशल निर्देश"},
		{"", asName, ""},
		{"--- !!", asName, ""},
		{"👩‍💻 ok", asText, "ok"},
		{strings.Repeat("x", 41) + " a", asText, "a"},
	}
	for _, tt := range tests {
		got := strings.Join(terms(tt.in, tt.how), " ")
		want := tt.want
		if tt.in == "one" {
			want = "one"
		}
		if got != want {
			t.Errorf("%q: words %q, want %q", tt.in, got, want)
		}
	}
}

// Forms of a word that have to meet.
func TestStem(t *testing.T) {
	for _, forms := range []string{
		"commit commits committed committing", "write writes writing writer", "query queries", "box boxes",
		"extract extracts extracted extracting extraction", "file files", "review reviews reviewing reviewer",
		"use used using uses", "run runs running", "translate translates translation translations",
		"optimize optimizes optimization", "class classes", "deploy deploys deployed", "plan plans planned planning",
		"batch batches", "format formatter formatted", "letter letters", "plan planner", "crash crashes crashed",
	} {
		words := strings.Fields(forms)
		want := terms(words[0], asText)[0]
		for _, w := range words[1:] {
			if got := terms(w, asText)[0]; got != want {
				t.Errorf("%s is %q, %s is %q", words[0], want, w, got)
			}
		}
	}
	for _, keep := range []string{"status", "analysis", "process", "string", "king", "letter", "better", "api", "v2s", "über"} {
		want := keep
		if keep == "über" {
			want = "uber"
		}
		if got := terms(keep, asText)[0]; got != want {
			t.Errorf("%s became %q", keep, got)
		}
	}
}

func TestSearch(t *testing.T) { // L-8, K-5
	ix := Build([]Doc{
		{ID: "b-tool", Description: "Checks links."},
		{ID: "a-tool", Description: "Checks links."},
		{ID: "pdf", Description: "Reads documents."},
		{ID: "other", Description: "Writes pdf among many other things that it does."},
		{ID: "head", Description: "Nothing.", Headings: "Zebra crossing"},
		{ID: "named", Name: "Giraffe", Description: "Nothing."},
		{ID: "when", Description: "Nothing.", WhenToUse: "When asked for a llama."},
	})
	tests := []struct {
		query string
		limit int
		want  string
	}{
		{"links", 0, "a-tool b-tool"},
		{"link", 1, "a-tool"},
		{"pdf", 0, "pdf other"},
		{"PDF!", 0, "pdf other"},
		{"/pdf", 0, "pdf other"},
		{"zebra", 0, "head"},
		{"giraffes", 0, "named"},
		{"llama", 0, "when"},
		{"gira", 0, "named"},
		{"gira tool", 0, "a-tool b-tool"},
		{"unknownword", 0, ""},
		{"", 0, ""},
		{"?!", 0, ""},
		{"tool pdf", -1, "pdf a-tool b-tool other"},
	}
	for _, tt := range tests {
		var got []string
		for _, h := range ix.Search(tt.query, tt.limit) {
			got = append(got, h.ID)
			if ix.docs[h.Index].ID != h.ID || h.Score <= 0 {
				t.Errorf("%q: hit %+v", tt.query, h)
			}
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.query, diff)
		}
	}
	if hits := Build(nil).Search("anything", 5); hits != nil {
		t.Errorf("an empty index finds %v", hits)
	}
}

// Stop words alone still find something, but never decide.
func TestStopWords(t *testing.T) {
	ix := Build([]Doc{
		{ID: "x", Description: "the the the and and for with"},
		{ID: "y", Description: "Reads invoices."},
	})
	if hits := ix.Search("the invoices for the and", 1); len(hits) != 1 || hits[0].ID != "y" {
		t.Errorf("hits %v, want y first", hits)
	}
	if hits := ix.Search("the", 1); len(hits) != 1 || hits[0].ID != "x" || !hits[0].Weak {
		t.Errorf("hits %v, want x by a weak word", hits)
	}
	if hits := ix.Search("the invoice", 1); len(hits) != 1 || hits[0].Weak {
		t.Errorf("hits %v, want y by a strong word", hits)
	}
}

func TestSnippet(t *testing.T) {
	long := strings.Repeat("Nothing of interest stands here. ", 20) + "It extracts tables from invoices. " + strings.Repeat("More text follows. ", 20)
	tests := []struct {
		name  string
		doc   Doc
		query string
		want  string // part of the snippet
	}{
		{"short", Doc{Description: "Extracts tables."}, "tables", "Extracts tables."},
		{"far away", Doc{Description: long}, "table invoice", "extracts tables from invoices"},
		{"one line", Doc{Description: "Extracts\n\n- tables\x1b[31m\u202E."}, "tables", "Extracts - tables."},
		{"only when to use", Doc{Description: "Nothing.", WhenToUse: "For tables."}, "tables", "For tables."},
		{"only a heading", Doc{Description: "Nothing.", Headings: "Usage\nTables"}, "tables", "Usage Tables"},
		{"only the id", Doc{ID: "tables", Description: "Nothing."}, "tables", "Nothing."},
		{"Chinese", Doc{Description: strings.Repeat("没有什么。", 60) + "提取表格。"}, "表格", "提取表格"},
		{"huge", Doc{Description: "tables " + strings.Repeat("é", 1_000_000)}, "tables", "tables é"},
	}
	for _, tt := range tests {
		hits := Build([]Doc{tt.doc, {ID: "other"}}).Search(tt.query, 0)
		if len(hits) != 1 {
			t.Errorf("%s: %d hits", tt.name, len(hits))
			continue
		}
		s := hits[0].Snippet
		if !strings.Contains(s, tt.want) || utf8.RuneCountInString(s) > 160 || strings.ContainsAny(s, "\n\x1b\u202E") {
			t.Errorf("%s: snippet %q (%d characters), want %q", tt.name, s, utf8.RuneCountInString(s), tt.want)
		}
	}
}

func TestHeadings(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"none", "text\n", ""},
		{"levels", "# One\n## Two ##\n###### Six\n####### seven\n", "One\nTwo\nSix"},
		{"no space", "#tag\n#\n# #\n", ""},
		{"indented", "   # yes\n    # no\n", "yes"},
		{"CRLF", "# One\r\ntext\r\n", "One"},
		{"closing marks need a space", "# C#\n# F# #\n", "C#\nF#"},
		{"fence", "# a\n```\n# no\n```\n# b\n", "a\nb"},
		{"tildes", "~~~ sh\n# no\n```\n# no\n~~~\n# b\n", "b"},
		{"longer fence", "````\n```\n# no\n````\n# b\n", "b"},
		{"info on the closing line", "```\n# no\n``` x\n# no\n```\n# b", "b"},
		{"unclosed", "# a\n```\n# no\n", "a"},
		{"code in a line", "```x```\n# a\n", "a"},
		{"tab", "#\tTab\n", "Tab"},
		{"Chinese", "# 提取表格\n", "提取表格"},
	}
	for _, tt := range tests {
		if got := Headings(tt.in); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// An index may be searched from many goroutines, with the same results.
func TestSearchIsConcurrent(t *testing.T) {
	ix := Build(catalog(t))
	want := ix.Search("extract tables from a PDF", 0)
	var wg sync.WaitGroup
	got := make([][]Hit, 8)
	for i := range got {
		wg.Go(func() { got[i] = ix.Search("extract tables from a PDF", 0) })
	}
	wg.Wait()
	for _, g := range got {
		if diff := cmp.Diff(want, g); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	}
}

// top agrees with sorting everything.
func TestTop(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		all := make([]int32, r.IntN(60))
		for i := range all {
			all[i] = int32(r.IntN(20))
		}
		limit := 1 + r.IntN(30)
		compare := func(a, b int32) int { return int(a - b) }
		want := append([]int32{}, all...)
		for i := range want { // selection sort, for a second opinion
			for j := i + 1; j < len(want); j++ {
				if want[j] < want[i] {
					want[i], want[j] = want[j], want[i]
				}
			}
		}
		want = want[:min(limit, len(want))]
		if got := top(append([]int32{}, all...), limit, compare); !cmp.Equal(want, append([]int32{}, got...)) {
			t.Fatalf("top(%v, %d) = %v, want %v", all, limit, got, want)
		}
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("pdf-tools", "Extracts tables.", "# Head", "extract table")
	f.Add("技能", "提取表格\xff", "```\n#", "表格 PDF's")
	f.Add("ＡＢ", "e\u0301’s", "~~~", "İstanbul ﬁ")
	f.Fuzz(func(t *testing.T, id, description, body, query string) {
		ix := Build([]Doc{{ID: id, Name: query, Description: description, WhenToUse: body, Headings: Headings(body)}, {ID: "other", Description: query}})
		hits := ix.Search(query, 3)
		if len(terms(query, asText)) > 0 && len(hits) == 0 {
			t.Errorf("%q finds nothing in itself", query)
		}
		for _, h := range hits {
			if utf8.RuneCountInString(h.Snippet) > snippetChars || strings.ContainsAny(h.Snippet, "\r\n\x1b") || !(h.Score > 0) {
				t.Errorf("hit %+v", h)
			}
		}
	})
}

func FuzzHeadings(f *testing.F) {
	f.Add("# a\n```\n# b\n```\n## c ##")
	f.Fuzz(func(t *testing.T, body string) {
		for line := range strings.Lines(Headings(body)) {
			if !strings.Contains(body, strings.TrimSuffix(line, "\n")) || strings.TrimSpace(line) == "" {
				t.Errorf("%q: heading %q", body, line)
			}
		}
	})
}

// large makes n skills of about forty words each.
func large(n int) []Doc {
	r := rand.New(rand.NewPCG(7, 7))
	pick := func(n int) string {
		var b strings.Builder
		for range n {
			// Few words are common and many are rare, as in any language.
			rank := int(3000 * r.Float64() * r.Float64() * r.Float64())
			fmt.Fprintf(&b, "word%s ", []string{"", "ing", "s", "ed"}[rank%4]+fmt.Sprint(rank))
		}
		return b.String()
	}
	docs := make([]Doc, n)
	for i := range docs {
		docs[i] = Doc{ID: fmt.Sprintf("skill-%d-%s", i, strings.TrimSpace(pick(1))), Description: pick(25), WhenToUse: pick(10), Headings: pick(5)}
	}
	docs[n/2].Description += " 从文档中提取表格"
	return docs
}

func BenchmarkBuild(b *testing.B) {
	docs := large(10_000)
	b.ReportAllocs()
	for b.Loop() {
		Build(docs)
	}
}

// BenchmarkUpdate is a new snapshot in which one skill of 10,000 changed.
func BenchmarkUpdate(b *testing.B) {
	docs := large(10_000)
	ix := Build(docs)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		docs[5_000].Description = fmt.Sprint("changed ", i)
		ix = ix.Update(docs)
	}
}

func BenchmarkSearch(b *testing.B) {
	ix := Build(large(10_000))
	for name, query := range map[string]string{"rare": "words2501", "common": "word0 words2 wording1", "chinese": "提取表格", "sentence": "please help me with words2 and the wording1 of word2000 word1500", "prefix": "wordi"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				ix.Search(query, 20)
			}
		})
	}
}
