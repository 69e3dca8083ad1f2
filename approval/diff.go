package approval

import (
	"fmt"
	"strings"
)

// The limits of a diff that a person is to read.
const (
	contextLines = 3
	maxDiffLines = 400     // of all files
	maxCells     = 4 << 20 // of the table that finds common lines
)

// diffFiles shows how text files differ, unified. Of others it says that they
// do.
func diffFiles(old, now map[string]File) string {
	var b strings.Builder
	left := maxDiffLines
	for _, p := range allPaths(old, now) {
		was, before := old[p]
		is, after := now[p]
		if before && after && was.Sum == is.Sum {
			continue
		}
		name := fmt.Sprintf("%q", p)
		if strings.Trim(name, `"`) == p {
			name = p
		}
		var lines []string
		switch {
		case before && !was.Kept || after && !is.Kept:
			lines = []string{fmt.Sprintf("%s: %s", name, sizes(was, before, is, after))}
		default:
			lines = append([]string{"--- " + side(name, before), "+++ " + side(name, after)}, unified(split(was.Text), split(is.Text))...)
		}
		if len(lines) > left {
			fmt.Fprintf(&b, "%s\n[%d more lines of %s]\n", strings.Join(lines[:max(left, 1)], "\n"), len(lines)-max(left, 1), name)
			left = 0
			continue
		}
		left -= len(lines)
		b.WriteString(strings.Join(lines, "\n") + "\n")
	}
	return b.String()
}

func side(name string, there bool) string {
	if !there {
		return "(none)"
	}
	return name
}

// sizes tells of files that cannot be shown: not text, or no copy of them.
func sizes(was File, before bool, is File, after bool) string {
	switch {
	case !before:
		return fmt.Sprintf("new, %d bytes, not shown", is.Size)
	case !after:
		return fmt.Sprintf("gone, it had %d bytes", was.Size)
	}
	return fmt.Sprintf("changed from %d to %d bytes, not shown", was.Size, is.Size)
}

// split returns the lines of a text. That the last one has no end is told as
// diff tells it.
func split(s string) []string {
	if s == "" {
		return nil
	}
	lines := strings.SplitAfter(s, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	} else {
		lines[last] += "\n\\ No newline at end of file\n"
	}
	return lines
}

// An edit is one line of a comparison: kept ' ', removed '-', added '+'.
type edit struct {
	kind byte
	text string
}

// unified returns the hunks between two texts.
func unified(old, now []string) []string {
	all := edits(old, now)
	var out []string
	for i := 0; i < len(all); {
		if all[i].kind == ' ' {
			i++
			continue
		}
		start, end := max(0, i-contextLines), i
		for quiet := 0; end < len(all) && quiet <= 2*contextLines; end++ {
			if all[end].kind == ' ' {
				quiet++
			} else {
				quiet = 0
			}
		}
		for end > i && all[end-1].kind == ' ' {
			end--
		}
		end = min(len(all), end+contextLines)
		out = append(out, hunk(all, start, end)...)
		i = end
	}
	return out
}

func hunk(all []edit, start, end int) []string {
	var a, b, na, nb int
	for _, e := range all[:start] {
		a, b = advance(e, a, b)
	}
	for _, e := range all[start:end] {
		na, nb = advance(e, na, nb)
	}
	out := []string{fmt.Sprintf("@@ -%s +%s @@", span(a, na), span(b, nb))}
	for _, e := range all[start:end] {
		out = append(out, string(e.kind)+strings.TrimSuffix(e.text, "\n"))
	}
	return out
}

// span writes the place of a hunk as diff does: an empty one stands after the
// line before it.
func span(before, n int) string {
	if n == 0 {
		return fmt.Sprintf("%d,0", before)
	}
	return fmt.Sprintf("%d,%d", before+1, n)
}

func advance(e edit, a, b int) (int, int) {
	if e.kind != '+' {
		a++
	}
	if e.kind != '-' {
		b++
	}
	return a, b
}

// edits finds what two texts have in common. Where they differ too much for
// that to be cheap, everything between is replaced.
func edits(old, now []string) []edit {
	head := 0
	for head < len(old) && head < len(now) && old[head] == now[head] {
		head++
	}
	tail := 0
	for tail < len(old)-head && tail < len(now)-head && old[len(old)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	var out []edit
	for _, l := range old[:head] {
		out = append(out, edit{' ', l})
	}
	out = append(out, middle(old[head:len(old)-tail], now[head:len(now)-tail])...)
	for _, l := range old[len(old)-tail:] {
		out = append(out, edit{' ', l})
	}
	return out
}

func middle(old, now []string) (out []edit) {
	n, m := len(old), len(now)
	if n*m > maxCells {
		n, m = 0, 0 // nothing in common is looked for
	}
	// common[i][j] is how many lines old[i:] and now[j:] share.
	common := make([][]int32, n+1)
	for i := range common {
		common[i] = make([]int32, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if old[i] == now[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < n && j < m {
		switch {
		case old[i] == now[j]:
			out = append(out, edit{' ', old[i]})
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			out = append(out, edit{'-', old[i]})
			i++
		default:
			out = append(out, edit{'+', now[j]})
			j++
		}
	}
	for ; i < len(old); i++ {
		out = append(out, edit{'-', old[i]})
	}
	for ; j < len(now); j++ {
		out = append(out, edit{'+', now[j]})
	}
	return out
}
