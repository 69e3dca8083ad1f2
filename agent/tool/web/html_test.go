package web

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

func base(t testing.TB) *url.URL {
	u, err := url.Parse("https://example.com/dir/page.html?q")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestHTML(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"a  b\n c", "a b c"},
		{"<p>a</p><p>b</p>c", "a\n\nb\n\nc"},
		{"<div>a<div>b</div></div>c<br>d<br/><br>e", "a\nb\nc\nd\ne"},
		{"<h1>A</h1><h3 class='x>y'>B</h3>", "# A\n\n### B"},
		{"<b>a</b> <i>b</i><u>c</u>", "a bc"},
		{"<ul><li>a<li>b<ol><li>c</li><li>d</ol></ul><p>e", "- a\n- b\n  1. c\n  2. d\n\ne"},
		{"<li>a", "- a"},
		{"<a href='x y.html'>t</a>", "[t](https://example.com/dir/x%20y.html)"},
		{"see <a href=/top>the <b>top</b></a>.", "see [the top](https://example.com/top)."},
		{"<a href='#x'>t</a> <a href='javascript:x'>u</a> <a>v</a>", "t u v"},
		{"<a href=/x><img></a>y", "y"},
		{"<a href=/x>a<a href=/y>b", "[a](https://example.com/x)[b](https://example.com/y)"},
		{"<base href='https://other.org/d/'><a href=x>t</a>", "[t](https://other.org/d/x)"},
		{"<img alt='a &lt; b' src=x>", "[image: a < b]"},
		{"<pre>\n a\n  <b>b</b>\n</pre>c", "```\n a\n  b\n```\n\nc"},
		{"use <code>x  y</code>, now", "use `x y`, now"},
		{"<table><tr><th>a<th>b</tr><tr><td> c <td>d</table>", "a | b\nc | d"},
		{"a<hr>b", "a\n\n---\n\nb"},
		{"a<script>if (a</b) '<p>'</script>b<style>x{}</style>c", "abc"},
		{"<script>a</scripty></script >b", "b"},
		{"<noscript>a</noscript><svg><text>b</text><svg></svg>c</svg>d", "d"},
		{"<title> A &amp;\n B </title><title>C</title>x", "Title: A & B\n\nx"},
		{"a<!-- <p>b --> c<!doctype html>d<?xml ?>e", "a cde"},
		{"<div hidden>a<div>b</div>c</div>d", "d"},
		{"<span style='display : none'>a</span>b<span STYLE=\"x:y;Visibility:hidden\">c</span>", "b"},
		{"<p hidden>a<p>b", "b"},
		{"<br hidden>a<input hidden>b", "ab"},
		{"&lt;p&gt; &eacute; &#x4f60; &nope; &", "<p> é 你 &nope; &"},
		{"a < b <3 </> <", "a < b <3 <"},
		{"a<b", "a"},
		{"a<a href=\"x>b</a>", "a"},
		{"a<script>b", "a"},
		{"a<!-- b", "a"},
		{"<A HREF=/x>T</A><P>u", "[T](https://example.com/x)\n\nu"},
		{"<x-y =a b = c 'd'>e</x-y>f", "ef"},
		{"</p></pre></a></ul></code>x", "`x"},
		{"a\u00a0b", "a\u00a0b"},
	} {
		if got := fromHTML(base(t), tt.in); got != tt.want {
			t.Errorf("%s\n got %q\nwant %q", tt.in, got, tt.want)
		}
	}
}

// TestHTMLHostile: pages that are made to take long do not.
func TestHTMLHostile(t *testing.T) {
	for _, piece := range []string{"<", "</", "<a href=\"", "<!--", "<script>", "<pre></pre>", "<a href=x>", "<div hidden>", "<ul>", "<ul><li>", "</p>", "&", "&#", "<a ", "<td>", "<x =", "<title>"} {
		page := strings.Repeat(piece, 50_000)
		if got := fromHTML(base(t), page); len(got) > 40*len(page) {
			t.Errorf("%q grows to %d bytes", piece, len(got))
		}
	}
}

func TestPublic(t *testing.T) {
	for _, a := range []string{"1.1.1.1:80", "[2606:4700::1111]:443", "172.32.0.1:80", "[64:ff9b::101:101]:80", "192.0.1.1:1", "[::ffff:8.8.8.8]:80"} {
		if err := public(a); err != nil {
			t.Errorf("%s: %v", a, err)
		}
	}
	for _, a := range []string{
		"127.0.0.1:80", "127.9.9.9:80", "0.0.0.0:80", "0.1.2.3:80", "10.0.0.1:80", "172.16.0.1:80", "172.31.255.255:80", "192.168.1.1:80",
		"169.254.169.254:80", "100.64.0.1:80", "100.127.255.255:80", "192.0.0.1:80", "198.18.0.1:80", "198.19.255.255:80", "224.0.0.1:80", "240.0.0.1:80", "255.255.255.255:80",
		"[::1]:80", "[::]:80", "[fe80::1]:80", "[fe80::1%eth0]:80", "[fc00::1]:80", "[fd12::1]:80", "[ff02::1]:80", "[fec0::1]:80", "[2001:db8::1]:80", "[2001::1]:80",
		"[::ffff:127.0.0.1]:80", "[::ffff:10.0.0.1]:80", "[64:ff9b::7f00:1]:80", "[64:ff9b::a9fe:a9fe]:80", "[64:ff9b:1::1]:80", "[2002:7f00:1::]:80", "[2002:a00:1::1]:80", "nonsense", "",
	} {
		if public(a) == nil {
			t.Errorf("%s is fetched", a)
		}
	}
	for host, want := range map[string]bool{
		"example.com": true, "8.8.8.8": true, "local.example.com": true, "localhost": false, "LOCALHOST.": false, "a.localhost": false, "printer.local": false,
		"metadata.google.internal": false, "127.1": false, "2130706433": false, "0x7f000001": false, "0x7f.1": false, "::1": false, "1e100.net": true,
	} {
		if got := publicName(host) == nil; got != want {
			t.Errorf("%s: %v", host, got)
		}
	}
}

func FuzzHTML(f *testing.F) {
	for _, s := range []string{"<p>a<b c='d'>e</b>", "<!-- x", "<script>", "<ul><li><a href=x>y", "<pre>\n<td>", "<p hidden><tr>", "&#x110000;<title>&</title>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, page string) {
		got := fromHTML(base(t), page)
		if utf8.ValidString(page) && !utf8.ValidString(got) {
			t.Errorf("%q becomes %q", page, got)
		}
		if strings.Contains(got, "\n\n\n") && !strings.Contains(page, "pre") {
			t.Errorf("%q has empty lines in a row: %q", page, got)
		}
	})
}
