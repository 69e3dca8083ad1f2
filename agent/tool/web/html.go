package web

import (
	"bytes"
	"fmt"
	"html"
	"net/url"
	"strings"
)

const (
	// skipped are elements of which nothing is shown.
	skipped wordSet = " script style noscript template svg math iframe object canvas textarea select datalist "
	// apart are the elements that begin a line of their own; those of paragraphs
	// also have an empty line around them.
	apart wordSet = " address article aside body center dd details dialog div dl dt fieldset figcaption figure footer form " +
		"header html legend li main nav option section summary tbody td tfoot th thead tr "
	paragraphs wordSet = " blockquote h1 h2 h3 h4 h5 h6 hr ol p pre table ul "
	// loose elements end where another one of the two above begins or ends.
	loose wordSet = " p li dd dt td th tr option "
	// void elements have no end tag.
	void wordSet = " area base br col embed hr img input link meta source track wbr "
)

// fromHTML turns a page into text with the marks of Markdown for headings,
// lists, links and code. Scripts and what the page hides are left out: whatever
// a person would not see, a model should not be told by it.
func fromHTML(base *url.URL, page string) string {
	w := writer{base: base}
	readMarkup(page, w.text, w.tag, w.raw)
	w.endLink()
	body := strings.TrimSpace(string(w.out))
	if w.title != "" {
		return "Title: " + w.title + "\n\n" + body
	}
	return body
}

// A writer puts the text together.
type writer struct {
	base  *url.URL
	title string
	out   []byte
	feeds int  // newlines that are due before the next text
	space bool // a blank is due
	pre   int  // depth of pre elements
	lists []int
	cells int    // of the row so far
	hide  string // element of which nothing is shown until it ends; empty is none
	depth int    // of elements with that name in it
	link  string // where the open link leads
	from  int    // where its text begins in out
}

// feed asks for at least n newlines before the next text.
func (w *writer) feed(n int) {
	w.space = false
	if len(w.out) > 0 {
		w.feeds = max(w.feeds, n)
	}
}

// put writes text as it is, after what is due.
func (w *writer) put(s string) {
	if w.feeds > 0 {
		w.out = append(w.out, strings.Repeat("\n", min(w.feeds, 2))...)
		w.feeds, w.space = 0, false
	}
	if w.space && len(w.out) > 0 && w.out[len(w.out)-1] != '\n' {
		w.out = append(w.out, ' ')
	}
	w.space = false
	w.out = append(w.out, s...)
}

func (w *writer) text(s string) {
	switch {
	case w.hide != "":
	case w.pre > 0:
		s = strings.ReplaceAll(s, "\r\n", "\n")
		if bytes.HasSuffix(w.out, []byte("```\n")) {
			s = strings.TrimPrefix(s, "\n") // the one behind <pre> does not count
		}
		if s != "" {
			w.put(s)
		}
	default:
		rest := strings.TrimLeft(s, blanks)
		w.space = w.space || len(rest) < len(s)
		fields := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(blanks, r) })
		if len(fields) == 0 {
			return
		}
		w.put(strings.Join(fields, " "))
		w.space = strings.ContainsRune(blanks, rune(rest[len(rest)-1]))
	}
}

func (w *writer) raw(name, content string) {
	if name == "title" && w.title == "" && w.hide == "" {
		w.title = strings.Join(strings.Fields(html.UnescapeString(content)), " ")
	}
}

func (w *writer) tag(t tag) {
	if w.hide != "" && w.stillHidden(t) {
		return
	}
	if !t.end && !void.has(t.name) && (skipped.has(t.name) || isHidden(t)) {
		w.hide, w.depth = t.name, 1
		return
	}
	switch {
	case paragraphs.has(t.name):
		w.feed(2 - min(len(w.lists), 1)) // lists in lists stay together
	case apart.has(t.name) && t.name != "td" && t.name != "th":
		w.feed(1)
	}
	if t.end {
		w.endTag(t)
	} else {
		w.startTag(t)
	}
}

// stillHidden follows the elements in one that is hidden.
func (w *writer) stillHidden(t tag) bool {
	switch {
	case t.name == w.hide && !t.end && !loose.has(t.name):
		w.depth++
	case t.name == w.hide && t.end:
		if w.depth--; w.depth == 0 {
			w.hide = ""
		}
	case loose.has(w.hide) && (apart.has(t.name) || paragraphs.has(t.name)):
		w.hide = ""
		return false
	}
	return true
}

// isHidden reports whether the page itself says that an element is not shown.
func isHidden(t tag) bool {
	if _, ok := t.attrs["hidden"]; ok {
		return true
	}
	style := strings.ToLower(strings.Join(strings.Fields(t.attrs["style"]), ""))
	return strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
}

func (w *writer) startTag(t tag) {
	switch t.name {
	case "h1", "h2", "h3", "h4", "h5", "h6":
		w.put(strings.Repeat("#", int(t.name[1]-'0')) + " ")
	case "br":
		w.feed(1)
	case "hr":
		w.put("---")
		w.feed(2)
	case "ul":
		w.lists = append(w.lists, -1)
	case "ol":
		w.lists = append(w.lists, 0)
	case "li":
		w.item()
	case "tr":
		w.cells = 0
	case "td", "th":
		w.space = false
		if w.cells++; w.cells > 1 {
			w.put(" | ")
		}
	case "pre":
		w.put("```\n")
		w.pre++
	case "code":
		if w.pre == 0 {
			w.put("`")
		}
	case "img":
		if alt := strings.Join(strings.Fields(t.attrs["alt"]), " "); alt != "" {
			w.put("[image: " + alt + "]")
		}
	case "a":
		w.startLink(t.attrs["href"])
	case "base":
		if u, err := w.base.Parse(t.attrs["href"]); err == nil && t.attrs["href"] != "" {
			w.base = u
		}
	}
}

func (w *writer) endTag(t tag) {
	switch t.name {
	case "ul", "ol":
		if n := len(w.lists); n > 0 {
			w.lists = w.lists[:n-1]
		}
	case "pre":
		if w.pre > 0 {
			w.pre--
			w.out = append(bytes.TrimRight(w.out, "\n"), "\n```"...)
			w.feeds = 2
		}
	case "code":
		if w.pre == 0 {
			w.space = false
			w.put("`")
		}
	case "a":
		w.endLink()
	}
}

// maxIndent is how deep lists are indented.
const maxIndent = 8

func (w *writer) item() {
	n := len(w.lists)
	if n == 0 {
		w.put("- ")
		return
	}
	mark := "- "
	if w.lists[n-1] >= 0 {
		w.lists[n-1]++
		mark = fmt.Sprintf("%d. ", w.lists[n-1])
	}
	w.put(strings.Repeat("  ", min(n-1, maxIndent)) + mark)
}

// startLink opens a link that leads to another page.
func (w *writer) startLink(href string) {
	w.endLink() // links do not nest
	href = strings.TrimSpace(href)
	if href == "" || strings.HasPrefix(href, "#") || w.pre > 0 {
		return
	}
	u, err := w.base.Parse(href)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
		return
	}
	w.put("[")
	w.link, w.from = u.String(), len(w.out)
}

func (w *writer) endLink() {
	if w.link == "" {
		return
	}
	if len(w.out) == w.from {
		w.out = w.out[:w.from-1] // nothing in it
	} else {
		// Directly behind the text, whatever white space is due after it.
		w.out = append(w.out, "]("+w.link+")"...)
	}
	w.link = ""
}
