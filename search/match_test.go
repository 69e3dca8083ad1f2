package search

import "testing"

// What a message shares with a skill is a reason to start it, or is not.
func TestWeak(t *testing.T) {
	ix := Build(append(catalog(t), Doc{ID: "the", Description: "Explains how we work."}, Doc{ID: "continuous", Description: "Says hello to new colleagues."}))
	for _, tt := range []struct {
		query string
		weak  bool
	}{
		{"commit", false}, // an id
		{"please commit everything that we did on the parser", false}, // one word of many, but an id
		{"translating poetry from Persian", false},
		{"githubActions", false}, // parts of a name
		{"the", false},           // a stop word, but the whole id
		{"changelog", false},     // half of the query and more
		{"changelog please", false},
		{"pivot", false},
		{"spreadshee", false}, // a beginning
		{"provide a timeline for the postmortem", false},
		{"提取表格", false},
		{"总结今天的会议和任务", false}, // two words of a text
		{"Rechnung schreiben", false},

		{"hello", true},
		{"thank you very much, great", true},
		{"who are you and what can you do", true},
		{"continue", true}, // not the beginning of "continuous"
		{"hallo, danke", true},
		{"explain quantum physics", true},     // one word of three
		{"the colour of his submarine", true}, // "colours" is one of two
		{"我喜欢吃水果和蔬菜因为它们很健康", true},
	} {
		hits := ix.Search(tt.query, 1)
		if weak := len(hits) == 0 || hits[0].Weak; weak != tt.weak {
			t.Errorf("%q: weak %v, hits %+v", tt.query, weak, hits)
		}
	}
}
