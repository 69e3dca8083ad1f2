package text

import (
	"strings"
	"testing"
)

var (
	asciiProse = strings.Repeat("Review a pull request for correctness, security and style. Use when asked. ", 200)
	cjkProse   = strings.Repeat("从文档中提取表格并导出，スキルを使う。", 300)
)

func BenchmarkTokens(b *testing.B) {
	b.Run("ascii", func(b *testing.B) { benchTokens(b, asciiProse) })
	b.Run("cjk", func(b *testing.B) { benchTokens(b, cjkProse) })
}

func benchTokens(b *testing.B, s string) {
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Tokens(s)
	}
}

func BenchmarkClean(b *testing.B) {
	for name, f := range map[string]func(string){
		"Line": func(s string) { Line(s) }, "FindHidden": func(s string) { FindHidden(s) },
		"Block": func(s string) { Block(s) }, "Cut": func(s string) { Cut(s, 250) }, "Width": func(s string) { Width(s) },
	} {
		for kind, s := range map[string]string{"ascii": asciiProse[:len(asciiProse)-1], "cjk": cjkProse} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				b.SetBytes(int64(len(s)))
				for b.Loop() {
					f(s)
				}
			})
		}
	}
}
